// The list of questions: filtered and sorted as arrays of numbers, and only the rows in view are in the page.

const ROW = 36;
const SPARE = 8;

/** Questions that pass the filters, in the wanted order, as indexes. */
function selected(data, state) {
  const metric = data.metrics.indexOf(state.metric);
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const count = data.questions.id.length;
  const found = [];
  for (let q = 0; q < count; q++) {
    if (state.kind && data.questions.kind[q] !== state.kind) continue;
    if (state.tag && !data.questions.tags[q].includes(state.tag)) continue;
    if (words.length && !words.every((word) => data.haystack[q].includes(word))) continue;
    if (state.cause && !data.piecesOf[q].some((piece) => causeOf(data, state.a, piece) === state.cause)) continue;
    if (state.outcome) {
      const first = score(data, state.a, q, metric), gap = first - score(data, state.b, q, metric);
      if (state.outcome === "missed" && !data.piecesOf[q].some((piece) => completeRank(data, state.a, piece) === 0 || completeRank(data, state.a, piece) > 10)) continue;
      if (state.outcome === "won" && !(gap > 1e-9)) continue;
      if (state.outcome === "lost" && !(gap < -1e-9)) continue;
      if (state.outcome === "same" && Math.abs(gap) > 1e-9) continue;
    }
    found.push(q);
  }
  const key = {
    id: (q) => data.questions.id[q],
    text: (q) => data.questions.text[q],
    cause: (q) => causesOf(data, state.a, q),
    a: (q) => score(data, state.a, q, metric),
    b: (q) => score(data, state.b, q, metric),
    gap: (q) => score(data, state.a, q, metric) - score(data, state.b, q, metric),
  }[state.sort];
  const keys = new Map(found.map((q) => [q, key(q)]));
  const sign = state.descending ? -1 : 1;
  return found.sort((x, y) => {
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
    this.found = [];
    this.current = null;
  }

  /** Show other questions; the one that is open stays marked. */
  show(found, state) {
    this.found = found;
    this.state = state;
    this.canvas.style.height = `${found.length * ROW}px`;
    this.holder.setAttribute("aria-rowcount", found.length);
    this.painted = null;
    this.paint();
  }

  mark(q) {
    this.current = q;
    this.painted = null;
    const place = this.found.indexOf(q);
    if (place >= 0) {
      const top = place * ROW;
      if (top < this.holder.scrollTop) this.holder.scrollTop = top;
      if (top + ROW > this.holder.scrollTop + this.holder.clientHeight) this.holder.scrollTop = top + ROW - this.holder.clientHeight;
    }
    this.paint();
  }

  paint() {
    const first = Math.max(0, Math.floor(this.holder.scrollTop / ROW) - SPARE);
    const last = Math.min(this.found.length, Math.ceil((this.holder.scrollTop + this.holder.clientHeight) / ROW) + SPARE);
    if (this.painted === `${first}-${last}`) return;
    this.painted = `${first}-${last}`;
    this.canvas.replaceChildren(...Array.from({ length: Math.max(0, last - first) }, (_, i) => this.row(first + i)));
    this.holder.setAttribute("aria-activedescendant", this.current === null ? "" : `question-${this.current}`);
  }

  row(place) {
    const { data, state } = this, q = this.found[place], metric = data.metrics.indexOf(state.metric);
    const first = score(data, state.a, q, metric), gap = first - score(data, state.b, q, metric);
    const verdict = gap > 1e-9 ? "up" : gap < -1e-9 ? "down" : "";
    const row = el("div", { class: "question", role: "row", id: `question-${q}`, "aria-rowindex": place + 1, "aria-selected": q === this.current ? "true" : "false", style: `top:${place * ROW}px`, onclick: () => this.open(q) },
      el("span", { role: "gridcell", class: "id" }, data.questions.id[q]),
      el("span", { role: "gridcell", class: "text", title: data.questions.text[q] }, data.questions.text[q]),
      el("span", { role: "gridcell", class: "cause" }, causesOf(data, state.a, q)),
      el("span", { role: "gridcell", class: "n" }, number(first, 2)),
      el("span", { role: "gridcell", class: "n" }, number(score(data, state.b, q, metric), 2)),
      el("span", { role: "gridcell", class: `n ${verdict}` }, signed(gap, 2)));
    return row;
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9 };
    if (!(event.key in steps) || !this.found.length) return;
    event.preventDefault();
    const place = this.found.indexOf(this.current);
    this.open(this.found[Math.max(0, Math.min(this.found.length - 1, place + steps[event.key]))]);
  }
}
