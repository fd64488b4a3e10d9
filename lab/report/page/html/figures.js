// What lies beneath the figures: their data as a table and as CSV, and the figure itself as a file.

/** A CSV cell; text that a spreadsheet would run as a formula gets a leading apostrophe. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value === "string" && /^\s*[=+\-@]|^[\t\r]/.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function saveAs(name, type, content) {
  const link = el("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

function saveCsv(name, table) {
  const lines = [table.columns, ...table.rows].map((row) => row.map(csvCell).join(","));
  saveAs(`${name}.csv`, "text/csv", "\ufeff" + lines.join("\r\n") + "\r\n");
}

/** The colours of a figure stand behind the page's names for them; a file has no such names. */
function saveSvg(name, svg) {
  const copy = svg.cloneNode(true);
  copy.querySelectorAll("a").forEach((link) => link.replaceWith(...link.childNodes));
  const text = new XMLSerializer().serializeToString(copy).replace(/var\(--[\w-]+, (#[0-9a-f]+)\)/gi, "$1");
  saveAs(`${name}.svg`, "image/svg+xml", text);
}

const SHOWN_ROWS = 500;

/** The data beneath a plot: a table that is made when it is opened, and buttons for files. */
function dataBeneath(key, table, figures) {
  const details = el("details", { class: "data" }, el("summary", {}, `Data (${table().rows.length} rows)`));
  details.addEventListener("toggle", () => {
    details.querySelector(".scroll")?.remove();
    if (!details.open) return;
    const { columns, rows } = table();
    const cell = (value) => el("td", { class: typeof value === "number" ? "n" : null }, typeof value === "number" ? String(+value.toPrecision(6)) : value === null ? "–" : String(value));
    const body = rows.slice(0, SHOWN_ROWS).map((row) => el("tr", {}, ...row.map(cell)));
    const note = rows.length > SHOWN_ROWS ? el("p", { class: "note" }, `The first ${SHOWN_ROWS} rows; the CSV holds all.`) : null;
    const head = el("thead", {}, el("tr", {}, ...columns.map((column) => el("th", { scope: "col" }, column))));
    details.append(el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Data of ${key}` }, el("table", {}, head, el("tbody", {}, ...body)), note));
  });
  const csv = el("button", { type: "button", class: "quiet", onclick: () => saveCsv(key, table()) }, "CSV");
  const svg = el("button", { type: "button", class: "quiet", onclick: () => figures().forEach((figure, place) => saveSvg(place ? `${key}-${place + 1}` : key, figure)) }, "SVG");
  return [details, csv, svg];
}

function putDataBeneath(tables) {
  for (const holder of document.querySelectorAll("[data-table]")) {
    const key = holder.dataset.table, card = holder.closest("article");
    holder.replaceChildren(...dataBeneath(key, () => tables[key], () => [...card.querySelectorAll("svg")]));
  }
}
