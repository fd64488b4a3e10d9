// Plots: drawn when they come into view, with Plotly unpacked at the first of them; each with its table and CSV.

let plotly = null;

/** Plotly, unpacked and run once. */
function loadPlotly() {
  plotly ??= unzip("plotly").then((source) => {
    document.head.append(el("script", {}, source));
    return window.Plotly;
  });
  return plotly;
}

/** Colours of the page's theme for a figure; Plotly knows nothing of CSS. */
function themed(layout) {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim();
  const paper = style.getPropertyValue("--card").trim();
  const line = style.getPropertyValue("--line").trim();
  const soft = style.getPropertyValue("--soft").trim();
  return { ...layout, font: { ...layout.font, color: ink }, modebar: { bgcolor: "rgba(0,0,0,0)", color: soft, activecolor: ink }, hoverlabel: { bgcolor: paper, bordercolor: line, font: { color: ink }, align: "left" } };
}

async function draw(holder, figure) {
  const Plotly = await loadPlotly();
  holder.lab = figure;
  const options = { displayModeBar: false, responsive: true };
  await Plotly.react(holder, figure.data, themed(figure.layout), options);
  holder.dataset.drawn = "yes";
}

/** Figures have the width of the screen; on paper they get that of the page, and the screen's back afterwards. */
const PAPER_WIDTH = 690;

function fitToPaper() {
  const drawn = () => [...document.querySelectorAll("[data-drawn]")];
  window.addEventListener("beforeprint", () => drawn().forEach((holder) => window.Plotly.relayout(holder, { width: PAPER_WIDTH })));
  window.addEventListener("afterprint", () => drawn().forEach((holder) => window.Plotly.relayout(holder, { width: null, autosize: true })));
}

function redrawAll() {
  for (const holder of document.querySelectorAll("[data-drawn]")) draw(holder, holder.lab);
}

/** A CSV cell; text that a spreadsheet would run as a formula gets a leading apostrophe. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function save(name, table) {
  const lines = [table.columns, ...table.rows].map((row) => row.map(csvCell).join(","));
  const link = el("a", { href: URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

const SHOWN_ROWS = 500;

/** The data beneath a plot: a table that is made when it is opened, and a button for the CSV. */
function dataBeneath(key, table) {
  const details = el("details", { class: "data" }, el("summary", {}, `Data (${table().rows.length} rows)`));
  details.addEventListener("toggle", () => {
    details.querySelector(".scroll")?.remove();
    if (!details.open) return;
    const { columns, rows } = table();
    const cell = (value) => el("td", { class: typeof value === "number" ? "n" : null }, typeof value === "number" ? String(+value.toPrecision(6)) : value === null ? "–" : String(value));
    const body = rows.slice(0, SHOWN_ROWS).map((row) => el("tr", {}, ...row.map(cell)));
    const note = rows.length > SHOWN_ROWS ? el("p", { class: "note" }, `The first ${SHOWN_ROWS} rows; the CSV holds all.`) : null;
    const head = el("thead", {}, el("tr", {}, ...columns.map((column) => el("th", { scope: "col" }, column))));
    details.append(el("div", { class: "scroll", tabindex: 0 }, el("table", {}, head, el("tbody", {}, ...body)), note));
  });
  const button = el("button", { type: "button", class: "quiet", onclick: () => save(`${key}.csv`, table()) }, "CSV");
  return el("div", { class: "beneath" }, details, button);
}

/** Draw a plot when it is near the screen, and all of them when the browser has time, so that printing finds them. */
function drawLater(holders) {
  const queue = new Map(holders.map(([holder, figure]) => [holder, figure]));
  const take = (holder) => {
    const figure = queue.get(holder);
    if (!figure) return;
    queue.delete(holder);
    draw(holder, figure);
  };
  const near = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting).forEach((e) => take(e.target)), { rootMargin: "300px" });
  for (const holder of queue.keys()) near.observe(holder);
  const idle = window.requestIdleCallback ?? ((run) => setTimeout(run, 200));
  const next = () => {
    const [holder] = queue.keys();
    if (holder) {
      take(holder);
      idle(next);
    }
  };
  setTimeout(() => idle(next), 400);
}

function showPlots(plots) {
  const room = document.getElementById("plot-cards");
  const holders = [];
  for (const plot of plots) {
    const holder = el("div", { class: "figure", style: `min-height:${plot.figure.layout.height ?? 380}px`, role: "img", "aria-label": `${plot.title}. ${plot.says}` });
    const wide = plot.wide ? "card wide" : "card";
    room.append(el("article", { class: wide, id: `plot-${plot.key}` }, el("h3", {}, plot.title), el("p", { class: "says" }, plot.says), holder, dataBeneath(plot.key, () => plot.table)));
    holders.push([holder, plot.figure]);
  }
  drawLater(holders);
}

const AXIS = { zeroline: false, gridcolor: "rgba(128,128,128,0.22)", automargin: true };

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Differences of two systems, question by question, sorted: a bar a question. */
function differenceTable(data, a, b, metric) {
  const rows = data.questions.id.map((id, q) => {
    const first = score(data, a, q, metric), second = score(data, b, q, metric);
    return [id, data.questions.kind[q], first, second, first - second];
  });
  rows.sort((x, y) => y[4] - x[4] || (x[0] < y[0] ? -1 : 1));
  return { columns: ["query_id", "kind", data.systems.label[a], data.systems.label[b], "difference"], rows };
}

function differenceFigure(data, table, metric) {
  const moved = table.rows.filter((row) => Math.abs(row[4]) > 1e-9);
  const colours = moved.map((row) => (row[4] > 0 ? "#0072B2" : "#D55E00"));
  const text = moved.map((row) => `${escaped(row[0])} (${escaped(row[1])})`);
  const bars = { type: "bar", x: moved.map((_, i) => i + 1), y: moved.map((row) => row[4]), text, textposition: "none", hovertemplate: "%{text}<br>%{y:+.3f}<extra></extra>", marker: { color: colours, line: { width: 0 } } };
  const layout = { height: 320, bargap: 0, margin: { l: 60, r: 20, t: 10, b: 45 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: "system-ui, sans-serif", size: 13 }, xaxis: { ...AXIS, title: { text: "questions that differ, most won first", font: { size: 13 } } }, yaxis: { ...AXIS, title: { text: `difference in ${data.metrics[metric]}`, font: { size: 13 } }, range: [-1.05, 1.05] } };
  return { data: [bars], layout };
}

/** How often cause x under one system meets cause y under the other, over all pieces; "found" is a hit. */
function confusionTable(data, a, b) {
  const counts = new Map();
  for (let piece = 0; piece < data.pieces.query.length; piece++) {
    const key = JSON.stringify([causeOf(data, a, piece) || "found", causeOf(data, b, piece) || "found"]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const rows = [...counts].map(([key, count]) => [...JSON.parse(key), count]).sort((x, y) => y[2] - x[2]);
  return { columns: [data.systems.label[a], data.systems.label[b], "pieces"], rows };
}

function confusionFigure(data, table, a, b) {
  const order = ["found", ...data.causes.names.filter((name) => name)];
  const ys = order.filter((name) => table.rows.some((row) => row[0] === name));
  const xs = order.filter((name) => table.rows.some((row) => row[1] === name));
  const counts = new Map(table.rows.map((row) => [row[0] + "\n" + row[1], row[2]]));
  const z = ys.map((y) => xs.map((x) => counts.get(y + "\n" + x) ?? 0));
  const map = { type: "heatmap", z, x: xs, y: ys, text: z.map((row) => row.map((n) => n || "")), texttemplate: "%{text}", colorscale: [[0, "#f2f6fb"], [0.5, "#7fb2da"], [1, "#0b4a8f"]], zmax: Math.max(1, ...z.flatMap((row, i) => row.filter((_, j) => ys[i] !== xs[j]))), zmin: 0, showscale: false, xgap: 2, ygap: 2, hovertemplate: "%{y} → %{x}: %{z}<extra></extra>" };
  const layout = { height: 130 + 34 * ys.length, margin: { l: 110, r: 20, t: 10, b: 90 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: "system-ui, sans-serif", size: 13 }, xaxis: { ...AXIS, type: "category", showgrid: false, title: { text: "under B", font: { size: 13 } } }, yaxis: { ...AXIS, type: "category", showgrid: false, autorange: "reversed", title: { text: "under A", font: { size: 13 } } } };
  return { data: [map], layout };
}

/** The two plots that compare system A with system B, redrawn when either changes. */
function showComparison(data, state) {
  const metric = data.metrics.indexOf(state.metric);
  const difference = differenceTable(data, state.a, state.b, metric);
  const won = difference.rows.filter((row) => row[4] > 1e-9).length, lost = difference.rows.filter((row) => row[4] < -1e-9).length;
  document.getElementById("difference-says").textContent = `${state.metric}, A minus B: A wins ${won} questions, loses ${lost}, and ${difference.rows.length - won - lost} are equal.`;
  const parts = [["difference", difference, differenceFigure(data, difference, metric)]];
  if (data.causes) {
    const confusion = confusionTable(data, state.a, state.b);
    parts.push(["confusion", confusion, confusionFigure(data, confusion, state.a, state.b)]);
  }
  for (const [key, table, figure] of parts) {
    draw(document.getElementById(key), figure);
    document.getElementById(`${key}-data`).replaceChildren(dataBeneath(key, () => table));
  }
}
