// One question: its evidence in its place with the cuts drawn, and the rankings of two systems side by side.

const AROUND = 120, BEGINNING = 320;

/** The evidence spans of a question in one document. */
function evidenceIn(data, q, doc) {
  return data.piecesOf[q].filter((piece) => data.pieces.doc[piece] === doc && data.pieces.start[piece] >= 0).map((piece) => [data.pieces.start[piece], data.pieces.end[piece]]);
}

/** Text of a span: evidence marked, cuts drawn. Everything is text nodes. */
function marked(data, doc, start, end, spans, cuts = []) {
  const borders = new Set([start, end]);
  for (const [from, to] of spans) for (const border of [from, to]) if (start < border && border < end) borders.add(border);
  for (const cut of cuts) if (start < cut && cut < end) borders.add(cut);
  const ordered = [...borders].sort((x, y) => x - y), parts = [];
  for (let i = 0; i + 1 < ordered.length; i++) {
    const [from, to] = [ordered[i], ordered[i + 1]], text = textOf(data, doc, from, to);
    if (text === null) return [el("em", { class: "note" }, "text left out for the size of this page")];
    if (cuts.includes(from)) parts.push(el("span", { class: "cut", title: `cut at ${from}` }, el("span", { class: "hidden" }, "(cut)")));
    parts.push(spans.some(([a, b]) => a <= from && to <= b) ? el("mark", {}, text) : text);
  }
  return parts;
}

/** Rows of a system's ranking for a question; null where rankings are not kept. */
function rowsOf(data, system, q) {
  const ranking = data.rankings[system];
  if (!ranking) return null;
  return Array.from({ length: ranking.first[q + 1] - ranking.first[q] }, (_, i) => ranking.first[q] + i);
}

/** Places where a system's chunks begin or end inside a stretch of a document, known from the chunks that hold evidence. */
function cutsOf(data, system, q, doc, start, end) {
  const ranking = data.rankings[system], rows = rowsOf(data, system, q) ?? [];
  const borders = rows.filter((row) => ranking.doc[row] === doc && ranking.evidence[row]).flatMap((row) => [ranking.start[row], ranking.end[row]]);
  return [...new Set(borders)].filter((border) => start < border && border < end);
}

/** A document as readers know it: its title where it has one, its id, and a span. */
function placeOf(data, doc, start, end) {
  const title = data.documents.title[doc], id = data.documents.id[doc];
  const span = start < 0 ? "" : `:${start}–${end}`;
  return el("span", { dir: "auto" }, title && title !== id ? `${title} (${id})` : id, span);
}

function pieceCard(data, state, q, piece, place) {
  const { doc: docs, start: starts, end: ends, grade } = data.pieces;
  const doc = docs[piece], whole = starts[piece] < 0;
  const rank = (system) => completeRank(data, system, piece) || "never";
  const head = el("div", { class: "piece-head" }, el("strong", {}, `Evidence ${place + 1}`), ` grade ${grade[piece]} · `, placeOf(data, doc, starts[piece], ends[piece]));
  const ranks = el("div", { class: "piece-ranks" }, `complete at rank: A ${rank(state.a)} · B ${rank(state.b)}`);
  const card = el("div", { class: "piece" }, head, ranks);
  for (const [letter, system] of [["A", state.a], ["B", state.b]]) {
    const cause = causeOf(data, system, piece);
    if (cause) card.append(el("div", { class: "proof" }, el("b", {}, `${letter}: ${cause}`), proofOf(data, system, piece)));
  }
  if (whole) {
    const [beginning] = data.documents.segments[doc];
    if (beginning) card.append(el("p", { class: "passage", dir: "auto" }, Array.from(beginning[1]).slice(0, BEGINNING).join("")));
  } else {
    const segment = data.documents.segments[doc].find((s) => s[0] <= starts[piece] && starts[piece] < s[0] + s[1].length);
    const from = Math.max(starts[piece] - AROUND, segment ? segment[0] : starts[piece]);
    const span = [[starts[piece], ends[piece]]];
    const length = segment ? Array.from(segment[1]).length + segment[0] : ends[piece];
    const to = Math.min(ends[piece] + AROUND, length);
    const cuts = cutsOf(data, state.a, q, doc, from, to);
    card.append(el("p", { class: "passage", dir: "auto" }, ...marked(data, doc, from, to, span, cuts)));
    if (cuts.some((cut) => starts[piece] < cut && cut < ends[piece])) card.append(el("p", { class: "note" }, "The cuts are those of system A's chunks."));
  }
  return card;
}

/** How a cause was proved, in a sentence. */
function proofOf(data, system, piece) {
  const at = system * data.pieces.query.length + piece;
  const proof = data.causes.proofs?.[at];
  return proof ? ` — ${proof}` : "";
}

const LEGS = [["bm25", "BM25"], ["dense", "dense"], ["fused", "fused"]];

const BADGES = { relevant: "evidence", part: "part of evidence", injected: "injected" };

function hitCard(data, ranking, row, q) {
  const doc = ranking.doc[row], spans = evidenceIn(data, q, doc);
  const state = ranking.relevant[row] ? "relevant" : ranking.evidence[row] ? "part" : data.documents.id[doc].startsWith(data.injected) ? "injected" : "";
  const stages = LEGS.filter(([leg]) => ranking[`${leg}_rank`][row] || !Number.isNaN(ranking[`${leg}_score`][row])).map(([leg, name]) => {
    const rank = ranking[`${leg}_rank`][row], value = ranking[`${leg}_score`][row];
    return el("span", { class: "stage" }, `${name} ${Number.isNaN(value) ? "" : number(value)}`, el("small", {}, rank ? ` #${rank}` : " beyond depth"));
  });
  const rerank = ranking.rerank_score[row];
  if (!Number.isNaN(rerank)) stages.push(el("span", { class: "stage" }, `reranker ${number(rerank)}`));
  const badge = state ? el("span", { class: `badge ${state}` }, BADGES[state]) : null;
  return el("li", { class: `hit ${state}` },
    el("div", { class: "hit-head" }, el("b", {}, ranking.rank[row] ? String(ranking.rank[row]) : "–"), el("span", { class: "where" }, placeOf(data, doc, ranking.shown_start[row], ranking.shown_end[row])), badge),
    el("div", { class: "stages" }, ...stages),
    el("p", { class: "passage", dir: "auto" }, ...marked(data, doc, ranking.shown_start[row], ranking.shown_end[row], spans)));
}

function rankingColumn(data, state, letter, system, q) {
  const rows = rowsOf(data, system, q);
  const head = el("h4", {}, `${letter}: ${data.systems.label[system]}`);
  const column = el("section", { class: "column" }, head);
  if (rows === null) {
    const kept = data.chosen.map((s) => data.systems.label[s]).join("; ");
    column.append(el("p", { class: "note" }, `Full rankings are kept for ${data.chosen.length} systems: ${kept}.`));
    return column;
  }
  const ranking = data.rankings[system];
  const [ranked, lost] = [rows.filter((row) => ranking.rank[row]), rows.filter((row) => !ranking.rank[row])];
  column.append(el("ol", { class: "hits" }, ...ranked.map((row) => hitCard(data, ranking, row, q))));
  if (!ranked.length) column.append(el("p", { class: "note" }, "This system returned nothing."));
  if (lost.length) column.append(el("h5", {}, "Evidence that no rank holds"), el("ol", { class: "hits" }, ...lost.map((row) => hitCard(data, ranking, row, q))));
  return column;
}

function scoreTable(data, state, q) {
  const rows = data.metrics.map((name, metric) => {
    const a = score(data, state.a, q, metric), b = score(data, state.b, q, metric), gap = a - b;
    return el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "n" }, number(a)), el("td", { class: "n" }, number(b)), el("td", { class: `n ${gap > 1e-9 ? "up" : gap < -1e-9 ? "down" : ""}` }, signed(gap)));
  });
  const head = el("tr", {}, el("th", { scope: "col" }, "metric"), el("th", { scope: "col", class: "n" }, "A"), el("th", { scope: "col", class: "n" }, "B"), el("th", { scope: "col", class: "n" }, "A − B"));
  return el("table", { class: "mini" }, el("thead", {}, head), el("tbody", {}, ...rows));
}

function showQuestion(data, state, q, room) {
  const { id, text, kind, tags, answer, beside } = data.questions;
  const chips = [kind[q], ...tags[q]].map((tag) => el("span", { class: "chip" }, tag));
  room.replaceChildren(
    el("header", {}, el("div", { class: "over" }, el("code", {}, id[q]), ...chips), el("h3", { dir: "auto" }, text[q] || "(no text)"), answer[q] ? el("p", { class: "answer", dir: "auto" }, el("b", {}, "Answer: "), answer[q]) : null, ...beside[q].map(line => el("p", { class: "answer" }, line))),
    scoreTable(data, state, q),
    el("div", { class: "pieces" }, ...data.piecesOf[q].map((piece, place) => pieceCard(data, state, q, piece, place))),
    ...[alphaSlider(data, state, q)].filter(Boolean),
    el("div", { class: "columns" }, rankingColumn(data, state, "A", state.a, q), state.b === state.a ? null : rankingColumn(data, state, "B", state.b, q)));
  room.scrollTop = 0;
}
