// System A against system B: the mean difference and how sure it is, a bar a question, and what lost each piece under either.

const WIDE = 860, HIGH = 260;

/** An element of SVG. */
function draw(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Differences of two systems, question by question, the most won first. */
function differenceTable(data, a, b, metric) {
  const rows = data.questions.id.map((id, q) => {
    const first = score(data, a, q, metric), second = score(data, b, q, metric);
    return [id, data.questions.kind[q], first, second, first - second];
  });
  rows.sort((x, y) => y[4] - x[4] || (x[0] < y[0] ? -1 : 1));
  return { columns: ["query_id", "kind", data.systems.label[a], data.systems.label[b], "difference"], rows };
}

/** The mean difference of two systems with interval and p, where they were compared when the report was made. */
function pairOf(data, a, b, metric) {
  const forth = data.pairs[`${a},${b}`], back = data.pairs[`${b},${a}`];
  if (forth) return forth[metric];
  if (!back) return null;
  const [difference, low, high, p] = back[metric];
  return [-difference, -high, -low, p];
}

function differenceFigure(data, table, metric) {
  const moved = table.rows.filter((row) => Math.abs(row[4]) > 1e-9);
  const most = Math.max(...moved.map((row) => Math.abs(row[4])), 1e-9);
  const width = Math.min(24, (WIDE - 60) / moved.length), middle = HIGH / 2, scale = (HIGH / 2 - 24) / most;
  const bars = moved.map((row, place) => {
    const height = Math.abs(row[4]) * scale, up = row[4] > 0;
    const bar = draw("rect", { x: 50 + place * width, y: up ? middle - height : middle, width: Math.max(width - (width > 4 ? 1 : 0), 0.5), height, fill: up ? "var(--gain)" : "var(--loss)" }, draw("title", {}, `${row[0]} (${row[1]}) ${signed(row[4])}`));
    return draw("a", { class: "mark", href: `#q=${encodeURIComponent(row[0])}` }, bar);
  });
  const mark = (value) => draw("text", { x: 44, y: middle - value * scale + 4, "text-anchor": "end", class: "tick" }, signed(value, 2));
  const axis = draw("line", { x1: 50, x2: WIDE, y1: middle, y2: middle, stroke: "var(--soft)" });
  return draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": `Differences in ${data.metrics[metric]}` }, axis, mark(most), mark(0), mark(-most), ...bars);
}

/** How often cause x under one system meets cause y under the other, over all pieces; "found" is a hit. */
function confusion(data, a, b) {
  const order = ["found", ...data.causes.names.filter(Boolean)];
  const counts = new Map();
  for (let piece = 0; piece < data.pieces.query.length; piece++) {
    const key = `${causeOf(data, a, piece) || "found"}\n${causeOf(data, b, piece) || "found"}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const rows = order.filter((x) => order.some((y) => counts.has(`${x}\n${y}`))), columns = order.filter((y) => order.some((x) => counts.has(`${x}\n${y}`)));
  const cell = (x, y) => {
    const count = counts.get(`${x}\n${y}`);
    if (!count) return el("td", { class: "n" }, "");
    if (x === "found") return el("td", { class: "n" }, String(count));
    return el("td", { class: "n" }, el("a", { href: `#cause=${x}` }, String(count)));
  };
  const head = el("tr", {}, el("th", { scope: "col" }, "under A \\ under B"), ...columns.map((name) => el("th", { scope: "col", class: "n" }, name)));
  return el("table", { class: "mini" }, el("thead", {}, head), el("tbody", {}, ...rows.map((x) => el("tr", {}, el("th", { scope: "row" }, x), ...columns.map((y) => cell(x, y))))));
}

/** Everything that compares A with B, made anew when either changes. */
function showComparison(data, state) {
  const metric = data.metrics.indexOf(state.metric), { a, b } = state;
  const says = document.getElementById("difference-says"), room = document.getElementById("difference"), beneath = document.getElementById("difference-data");
  document.getElementById("confusion")?.replaceChildren(confusion(data, a, b));
  if (a === b) {
    says.textContent = "A and B are the same system: choose another to compare.";
    room.replaceChildren();
    beneath.replaceChildren();
    return;
  }
  const table = differenceTable(data, a, b, metric);
  const won = table.rows.filter((row) => row[4] > 1e-9).length, lost = table.rows.filter((row) => row[4] < -1e-9).length;
  const pair = pairOf(data, a, b, metric), mean = table.rows.reduce((sum, row) => sum + (row[4] || 0), 0) / table.rows.length;
  const sure = pair ? `${signed(pair[0])} [${signed(pair[1])}, ${signed(pair[2])}], p ${pair[3] < 0.001 ? "< 0.001" : pair[3].toFixed(3)} as a planned pair` : `${signed(mean)}; the interval is known for systems whose rankings are kept`;
  says.textContent = `${state.metric}, A minus B: ${sure}. A wins ${won} questions, loses ${lost}, and ${table.rows.length - won - lost} are equal.`;
  room.replaceChildren(won + lost ? differenceFigure(data, table, metric) : el("p", { class: "note" }, "No question differs."));
  beneath.replaceChildren(...dataBeneath("difference", () => table, () => [...room.querySelectorAll("svg")]));
}
