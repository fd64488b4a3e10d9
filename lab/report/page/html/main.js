// The page's state, its links, and what happens when either changes.
// A link holds everything: #q=question&s=system&vs=other&metric=...&kind=...&tag=...&cause=...&outcome=...&text=...&sort=...

const state = { text: "", kind: "", tag: "", cause: "", outcome: "", metric: "", a: 0, b: 0, q: null, sort: "gap", descending: false };
const FILTERS = ["text", "kind", "tag", "cause", "outcome"];

/** Take over what a link says. A link with both systems is whole: what it does not name is as at first; of any other the rest
 * stays, but for the filters, which belong together. What it names and the report does not hold is returned in words. */
function readLink(data) {
  const hash = location.hash.slice(1), strange = [];
  if (!hash.includes("=")) return { named: false, strange, section: hash };
  const link = new URLSearchParams(hash);
  const place = (key, places, what, use) => {
    if (!link.has(key)) return;
    if (places.has(link.get(key))) use(places.get(link.get(key)));
    else strange.push(`no ${what} “${link.get(key)}”`);
  };
  place("s", data.systemPlace, "system", (a) => {
    if (a === state.b && !link.has("vs")) state.b = state.a;
    state.a = a;
  });
  place("vs", data.systemPlace, "system", (b) => { state.b = b; });
  place("q", data.place, "question", (q) => { state.q = q; });
  place("metric", new Map(data.metrics.map((name) => [name, name])), "metric", (metric) => { state.metric = metric; });
  const whole = link.has("vs"), filtered = FILTERS.some((key) => link.has(key));
  if (whole || filtered) for (const key of FILTERS) state[key] = link.get(key) ?? "";
  if (!(state.outcome in OUTCOMES)) state.outcome = "";
  if (whole && !link.has("metric")) state.metric = data.select_by;
  if (whole) [state.sort, state.descending] = ["gap", false];
  if (link.has("sort")) [state.sort, state.descending] = [link.get("sort").replace("-", "") || "gap", link.get("sort").startsWith("-")];
  return { named: true, strange, section: link.get("at") };
}

function linkOf(data) {
  const link = new URLSearchParams();
  if (state.q !== null) link.set("q", data.questions.id[state.q]);
  link.set("s", data.systems.name[state.a]);
  link.set("vs", data.systems.name[state.b]);
  if (state.metric !== data.select_by) link.set("metric", state.metric);
  for (const key of FILTERS) if (state[key]) link.set(key, state[key]);
  if (state.sort !== "gap" || state.descending) link.set("sort", (state.descending ? "-" : "") + state.sort);
  return `#${link}`;
}

/** Put the state into the address: as a new entry of the history for a step of the reader's, else in place of the present one. */
function writeLink(data, step) {
  const link = linkOf(data);
  if (link === location.hash) return;
  if (step) history.pushState(null, "", link);
  else history.replaceState(null, "", link);
}

function options(select, entries, value) {
  select.replaceChildren(...entries.map(([key, text]) => el("option", { value: key }, text)));
  select.value = String(value);
}

function chooseTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const now = document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  });
}

function copyButtons() {
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

/** The controls of the questions; `changed` is called with whether the list alone has to change. */
function controls(data, changed) {
  const get = (id) => document.getElementById(id);
  const kinds = [...new Set(data.questions.kind)].sort(), tags = [...new Set(data.questions.tags.flat())].sort();
  const systems = data.systems.label.map((label, place) => [place, label + (data.chosen.includes(place) ? "" : "  (scores only)")]);
  options(get("f-kind"), [["", "every kind"], ...kinds.map((kind) => [kind, kind])], "");
  options(get("f-tag"), [["", "every tag"], ...tags.map((tag) => [tag, tag])], "");
  options(get("f-metric"), data.metrics.map((metric) => [metric, metric]), state.metric);
  options(get("f-a"), systems, state.a);
  options(get("f-b"), systems, state.b);
  if (data.causes) options(get("f-cause"), [["", "every cause"], ...data.causes.names.filter(Boolean).map((name) => [name, name])], "");
  else get("f-cause").closest("label").hidden = true;
  if (!tags.length) get("f-tag").closest("label").hidden = true;
  if (kinds.length < 2) get("f-kind").closest("label").hidden = true;
  for (const key of FILTERS) get(`f-${key}`).addEventListener("input", (event) => { state[key] = event.target.value; get("list").scrollTop = 0; changed(false); });
  for (const key of ["a", "b"]) get(`f-${key}`).addEventListener("change", (event) => { state[key] = Number(event.target.value); changed(true); });
  get("f-metric").addEventListener("change", (event) => { state.metric = event.target.value; changed(true); });
  get("swap").addEventListener("click", () => { [state.a, state.b] = [state.b, state.a]; changed(true); });
  get("clear").addEventListener("click", () => { for (const key of FILTERS) state[key] = ""; changed(false); });
  for (const button of document.querySelectorAll("#list-head button")) button.addEventListener("click", () => {
    state.descending = state.sort === button.dataset.sort ? !state.descending : ["a", "b", "gap"].includes(button.dataset.sort);
    state.sort = button.dataset.sort;
    changed(false);
  });
  return () => {
    for (const key of [...FILTERS, "a", "b", "metric"]) if (get(`f-${key}`).value !== String(state[key])) get(`f-${key}`).value = state[key];
    for (const button of document.querySelectorAll("#list-head button")) {
      button.setAttribute("aria-pressed", button.dataset.sort === state.sort ? "true" : "false");
      button.dataset.way = button.dataset.sort === state.sort ? (state.descending ? "down" : "up") : "";
    }
  };
}

function explorer(data) {
  const get = (id) => document.getElementById(id), detail = get("detail");
  state.metric = data.select_by;
  [state.a, state.b] = [data.recommended, data.compared];
  const open = (q, step = true) => {
    state.q = q;
    list.mark(q);
    showQuestion(data, state, q, detail);
    get("status").textContent = `Open: ${data.questions.id[q]}`;
    if (step) writeLink(data, true);
  };
  const list = new QuestionList(data, get("list"), open);
  const showState = controls(data, (both) => { both ? showAll(true) : showList(true); });
  const showList = (step) => {
    const passing = selected(data, state);
    showState();
    get("count").replaceChildren(passing.length ? `${passing.length} of ${data.questions.id.length} questions` : "No question matches; clear the filters to see all.");
    list.show(passing, state);
    if (step) writeLink(data, false);
    return passing;
  };
  const showAll = (step) => {
    const passing = showList(step);
    showComparison(data, state);
    const q = state.q !== null ? state.q : passing[0];
    if (q === undefined) detail.replaceChildren(el("p", { class: "note" }, "No question is open."));
    else if (state.q !== null) open(q, false);
    else {
      list.mark(q);
      showQuestion(data, state, q, detail);
    }
  };
  const follow = () => {
    const { named, strange, section } = readLink(data);
    get("notice").hidden = !strange.length;
    get("notice").textContent = strange.length ? `The link names what this report does not hold: ${strange.join(", ")}. It may be of another run.` : "";
    if (named) showAll(false);
    const target = section ? get(section) : named ? get("questions") : null;
    target?.scrollIntoView();
  };
  window.addEventListener("hashchange", follow);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      get("f-text").focus();
      get("questions").scrollIntoView();
    }
  });
  showAll(false);
  if (location.hash.length > 1) follow();
}

async function start() {
  chooseTheme();
  copyButtons();
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  if (!("DecompressionStream" in window)) throw new Error("this browser is too old to unpack the page's data");
  const page = JSON.parse(await unzip("data"));
  const data = decode(page.explorer);
  document.documentElement.dataset.script = "yes";
  systemsTable(data);
  explorer(data);
  putDataBeneath(page.tables);
  document.documentElement.dataset.ready = "yes";
}

start().catch((fault) => {
  delete document.documentElement.dataset.script;
  const notice = document.getElementById("notice");
  notice.hidden = false;
  notice.textContent = `The questions cannot be filtered here: ${fault.message}. The tables and plots of this page are complete without it.`;
});
