// The table of systems: sorted, narrowed down by settings and words, and compared by ticks.

/** Sort the table by a column; its cells carry their values. */
function sortable(table) {
  table.querySelectorAll("thead button").forEach((button) => button.addEventListener("click", () => {
    const head = button.closest("th"), place = [...head.parentNode.children].indexOf(head);
    const numeric = table.tBodies[0].rows[0].children[place].dataset.value !== undefined;
    const before = head.getAttribute("aria-sort");
    const up = before ? before === "descending" : !numeric;
    table.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const value = (row) => row.children[place].dataset.value ?? row.children[place].textContent.trim();
    const rows = [...table.tBodies[0].rows].sort((x, y) => (numeric ? value(x) - value(y) : value(x).localeCompare(value(y), undefined, { numeric: true })) * (up ? 1 : -1));
    table.tBodies[0].append(...rows);
  }));
}

/** Show the rows that have every chosen setting and every word. */
function narrow(table, settings) {
  const words = document.getElementById("system-text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = [...document.querySelectorAll("[data-facet]")].map((select) => select.value);
  const rows = [...table.tBodies[0].rows];
  for (const row of rows) {
    const own = wanted.map((_, place) => row.children[2 + place].textContent);
    row.hidden = !(wanted.every((value, place) => !value || own[place] === value) && words.every((word) => row.dataset.system.toLowerCase().includes(word) || row.children[1].textContent.toLowerCase().includes(word)));
  }
  const shown = rows.filter((row) => !row.hidden).length;
  document.getElementById("system-count").textContent = shown === rows.length ? `${shown} systems` : `${shown} of ${rows.length} systems`;
}

/** The ticked systems side by side: every metric, then the selecting one by kind of question. */
function showTicked(data, table) {
  const room = document.getElementById("ticked");
  const ticked = [...table.querySelectorAll("input:checked")].map((box) => data.systemPlace.get(box.closest("tr").dataset.system));
  room.hidden = ticked.length < 2;
  if (room.hidden) return;
  const mean = (system, metric, questions) => {
    const known = questions.map((q) => score(data, system, q, metric)).filter((value) => !Number.isNaN(value));
    return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : NaN;
  };
  const every = data.questions.id.map((_, q) => q), select = data.metrics.indexOf(data.select_by);
  const kinds = [...new Set(data.questions.kind)].sort();
  const lines = [
    ...data.metrics.map((name, metric) => [name, every, metric]),
    ...(kinds.length > 1 ? kinds.map((kind) => [`${data.select_by}, ${kind}`, every.filter((q) => data.questions.kind[q] === kind), select]) : []),
  ];
  const body = lines.map(([name, questions, metric]) => {
    const values = ticked.map((system) => mean(system, metric, questions)), best = Math.max(...values);
    return el("tr", {}, el("th", { scope: "row" }, `${name} (${questions.length})`), ...values.map((value) => el("td", { class: value === best ? "n best" : "n" }, number(value))));
  });
  const found = (system, q) => score(data, system, q, select) > 0;
  const alone = ticked.map((system) => every.filter((q) => found(system, q) && ticked.every((other) => other === system || !found(other, q))).length);
  body.push(el("tr", {}, el("th", { scope: "row" }, "questions that only it finds"), ...alone.map((count) => el("td", { class: "n" }, String(count)))));
  const head = el("tr", {}, el("th", { scope: "col" }, "questions in brackets"), ...ticked.map((system) => el("th", { scope: "col", class: "n" }, data.systems.label[system])));
  room.replaceChildren(el("h3", {}, `${ticked.length} systems side by side`), el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Systems side by side" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...body))));
}

function systemsTable(data) {
  const table = document.getElementById("systems-table");
  sortable(table);
  document.getElementById("facets").addEventListener("input", () => narrow(table));
  table.addEventListener("change", () => showTicked(data, table));
  narrow(table);
}
