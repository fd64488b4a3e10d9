// The page's state, its links (#q=question&s=system&vs=other), and what happens when either changes.

const state = { text: "", kind: "", tag: "", cause: "", outcome: "", metric: "", a: 0, b: 0, q: null, sort: "gap", descending: false };

function readLink(data) {
  const link = new URLSearchParams(location.hash.slice(1));
  if (link.has("s") && data.systemPlace.has(link.get("s"))) state.a = data.systemPlace.get(link.get("s"));
  if (link.has("vs") && data.systemPlace.has(link.get("vs"))) state.b = data.systemPlace.get(link.get("vs"));
  if (link.has("q") && data.place.has(link.get("q"))) state.q = data.place.get(link.get("q"));
  return link.has("q") || link.has("s");
}

function writeLink(data) {
  const link = new URLSearchParams();
  if (state.q !== null) link.set("q", data.questions.id[state.q]);
  link.set("s", data.systems.name[state.a]);
  link.set("vs", data.systems.name[state.b]);
  history.replaceState(null, "", `#${link}`);
}

function options(select, entries, value) {
  select.replaceChildren(...entries.map(([key, text]) => el("option", { value: key }, text)));
  select.value = String(value);
}

/** Sort the table of systems by a column; its cells carry their values. */
function sortable(table) {
  table.querySelectorAll("thead button").forEach((button) => button.addEventListener("click", () => {
    const head = button.closest("th"), place = [...head.parentNode.children].indexOf(head);
    const up = head.getAttribute("aria-sort") === "descending";
    table.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const value = (row) => row.children[place].dataset.value ?? row.children[place].textContent;
    const numeric = table.tBodies[0].rows[0].children[place].dataset.value !== undefined;
    const rows = [...table.tBodies[0].rows].sort((x, y) => (numeric ? value(x) - value(y) : value(x).localeCompare(value(y))) * (up ? 1 : -1));
    table.tBodies[0].append(...rows);
  }));
}

function chooseTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  button.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    redrawAll();
  });
  dark.addEventListener("change", redrawAll);
}

function explorer(data) {
  const get = (id) => document.getElementById(id);
  state.metric = data.select_by;
  [state.a, state.b] = [data.recommended, data.baseline];
  const linked = readLink(data);
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

  const detail = get("detail");
  const list = new QuestionList(data, get("list"), (q) => open(q));
  const open = (q, link = true) => {
    state.q = q;
    list.mark(q);
    showQuestion(data, state, q, detail);
    if (link) writeLink(data);
  };
  const refresh = () => {
    const found = selected(data, state);
    get("count").textContent = `${found.length} of ${data.questions.id.length} questions`;
    list.show(found, state);
    for (const button of document.querySelectorAll("#list-head button")) {
      button.setAttribute("aria-pressed", button.dataset.sort === state.sort ? "true" : "false");
      button.dataset.way = button.dataset.sort === state.sort ? (state.descending ? "down" : "up") : "";
    }
    return found;
  };
  const changed = () => {
    const found = refresh();
    showComparison(data, state);
    const q = state.q ?? found[0];
    if (q !== undefined) open(q, state.q !== null);
    if (state.q !== null) writeLink(data);
  };
  const fields = { "f-text": "text", "f-kind": "kind", "f-tag": "tag", "f-cause": "cause", "f-outcome": "outcome" };
  for (const [id, key] of Object.entries(fields)) get(id).addEventListener("input", (event) => { state[key] = event.target.value; list.holder.scrollTop = 0; refresh(); });
  for (const [id, key] of [["f-a", "a"], ["f-b", "b"]]) get(id).addEventListener("change", (event) => { state[key] = Number(event.target.value); changed(); });
  get("f-metric").addEventListener("change", (event) => { state.metric = event.target.value; changed(); });
  get("swap").addEventListener("click", () => { [state.a, state.b] = [state.b, state.a]; get("f-a").value = state.a; get("f-b").value = state.b; changed(); });
  for (const button of document.querySelectorAll("#list-head button")) button.addEventListener("click", () => {
    state.descending = state.sort === button.dataset.sort ? !state.descending : ["a", "b", "gap"].includes(button.dataset.sort);
    state.sort = button.dataset.sort;
    refresh();
  });
  for (const row of document.querySelectorAll("#systems-table tbody tr")) row.querySelector("button")?.addEventListener("click", () => {
    state.a = data.systemPlace.get(row.dataset.system);
    get("f-a").value = state.a;
    changed();
    writeLink(data);
    get("questions").scrollIntoView({ behavior: "smooth" });
  });
  window.addEventListener("hashchange", () => {
    if (!readLink(data)) return;
    [get("f-a").value, get("f-b").value] = [state.a, state.b];
    changed();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      get("f-text").focus();
      get("questions").scrollIntoView();
    }
  });
  changed();
  if (linked) get("questions").scrollIntoView();
}

async function start() {
  chooseTheme();
  fitToPaper();
  sortable(document.getElementById("systems-table"));
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  const page = JSON.parse(await unzip("data"));
  const data = decode(page.explorer);
  explorer(data);
  showPlots(page.plots);
  document.documentElement.dataset.ready = "yes";
}

start();
