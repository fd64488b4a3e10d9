// The list of questions: filtered and sorted as arrays of numbers, and only the rows in view are in the page.

const ROW = 58;
const SPARE = 6;

/** What a question has to have to pass the filter of outcomes. */
const OUTCOMES = {
  missed: (data, state, q) => data.piecesOf[q].some((piece) => !completeRank(data, state.a, piece) || completeRank(data, state.a, piece) > data.k),
  won: (data, state, q, gap) => gap > 1e-9,
  lost: (data, state, q, gap) => gap < -1e-9,
  same: (data, state, q, gap) => Math.abs(gap) <= 1e-9,
  nobody: (data, state, q) => data.systems.name.every((_, system) => !findsAny(data, system, q)),
  only: (data, state, q) => findsAny(data, state.a, q) && data.systems.name.every((_, system) => system === state.a || !findsAny(data, system, q)),
};

/** Whether any evidence of a question is complete within the cut-off. */
function findsAny(data, system, q) {
  return data.piecesOf[q].some((piece) => completeRank(data, system, piece) && completeRank(data, system, piece) <= data.k);
}

/** Questions that pass the filters, in the wanted order, as indexes. */
function selected(data, state) {
  const metric = data.metrics.indexOf(state.metric);
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const difference = (q) => score(data, state.a, q, metric) - score(data, state.b, q, metric);
  const passing = [];
  for (let q = 0; q < data.questions.id.length; q++) {
    if (state.kind && data.questions.kind[q] !== state.kind) continue;
    if (state.tag && !data.questions.tags[q].includes(state.tag)) continue;
    if (words.length && !words.every((word) => data.haystack[q].includes(word))) continue;
    if (state.cause && !data.piecesOf[q].some((piece) => causeOf(data, state.a, piece) === state.cause)) continue;
    if (state.outcome && !OUTCOMES[state.outcome](data, state, q, difference(q))) continue;
    passing.push(q);
  }
  const key = {
    id: (q) => data.questions.id[q],
    text: (q) => data.questions.text[q],
    cause: (q) => causesOf(data, state.a, q),
    a: (q) => score(data, state.a, q, metric),
    b: (q) => score(data, state.b, q, metric),
    gap: difference,
  }[state.sort];
  const keys = new Map(passing.map((q) => [q, key(q)]));
  const sign = state.descending ? -1 : 1;
  return passing.sort((x, y) => {
    const first = keys.get(x), second = keys.get(y);
    return first < second ? -sign : first > second ? sign : x - y;
  });
}

/** The causes of a question's misses under a system, in one word. */
function causesOf(data, system, q) {
  const names = new Set(data.piecesOf[q].map((piece) => causeOf(data, system, piece)).filter(Boolean));
  return [...names].join(", ");
}

class QuestionList {
  constructor(data, holder, open) {
    this.data = data;
    this.holder = holder;
    this.open = open;
    this.canvas = el("div", { class: "canvas", role: "presentation" });
    holder.append(this.canvas);
    holder.addEventListener("scroll", () => this.paint());
    holder.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.paint()).observe(holder);
    this.passing = [];
    this.current = null;
  }

  /** Show other questions; the one that is open stays marked. */
  show(passing, state) {
    this.passing = passing;
    this.state = state;
    this.canvas.style.height = `${passing.length * ROW}px`;
    this.painted = null;
    this.paint();
  }

  mark(q) {
    this.current = q;
    this.painted = null;
    const place = this.passing.indexOf(q);
    if (place >= 0) {
      const top = place * ROW;
      if (top < this.holder.scrollTop) this.holder.scrollTop = top;
      if (top + ROW > this.holder.scrollTop + this.holder.clientHeight) this.holder.scrollTop = top + ROW - this.holder.clientHeight;
    }
    this.paint();
  }

  paint() {
    const first = Math.max(0, Math.floor(this.holder.scrollTop / ROW) - SPARE);
    const last = Math.min(this.passing.length, Math.ceil((this.holder.scrollTop + this.holder.clientHeight) / ROW) + SPARE);
    if (this.painted === `${first}-${last}`) return;
    this.painted = `${first}-${last}`;
    this.canvas.replaceChildren(...Array.from({ length: Math.max(0, last - first) }, (_, i) => this.row(first + i)));
    const shown = this.passing.slice(first, last).includes(this.current);
    if (shown) this.holder.setAttribute("aria-activedescendant", `question-${this.current}`);
    else this.holder.removeAttribute("aria-activedescendant");
  }

  row(place) {
    const { data, state } = this, q = this.passing[place], metric = data.metrics.indexOf(state.metric);
    const first = score(data, state.a, q, metric), second = score(data, state.b, q, metric), gap = first - second;
    const verdict = gap > 1e-9 ? "up" : gap < -1e-9 ? "down" : "";
    const cause = causesOf(data, state.a, q);
    return el("div", { class: "question", role: "option", id: `question-${q}`, "aria-setsize": this.passing.length, "aria-posinset": place + 1, "aria-selected": q === this.current ? "true" : "false", style: `top:${place * ROW}px`, onclick: () => this.open(q) },
      el("span", { class: "text", dir: "auto", title: data.questions.text[q] }, data.questions.text[q] || "(no text)"),
      el("span", { class: "about" }, el("span", { class: "id" }, data.questions.id[q]), el("span", { class: "cause" }, [data.questions.kind[q], cause].filter(Boolean).join(" · "))),
      el("span", { class: "scores" }, `A ${number(first, 2)} `, `B ${number(second, 2)} `, el("b", { class: verdict }, signed(gap, 2))));
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 8, PageUp: -8, Home: -1e9, End: 1e9 };
    if (!(event.key in steps) || !this.passing.length) return;
    event.preventDefault();
    const place = this.passing.indexOf(this.current);
    this.open(this.passing[Math.max(0, Math.min(this.passing.length - 1, place + steps[event.key]))]);
  }
}
