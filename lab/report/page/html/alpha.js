// A slider over alpha: the evidence's exact rank, and the shown candidates fused anew.

/** The rank at which a piece is complete at an alpha before any reranker; 0 beyond the cap. The ends of the scale are steps of their own. */
function rankAt(curve, piece, alpha) {
  const from = curve.first[piece], to = curve.first[piece + 1];
  for (let step = from; step < to; step++) {
    const [low, high] = [curve.low[step], curve.high[step]];
    if (low === high ? alpha === low : low <= alpha && alpha < high && alpha > 0) return curve.complete[step];
  }
  return curve.complete[to - 1];
}

/** Rows of a ranking in their order at an alpha: a leg of weight 0 brings no candidates, the other keeps its own order. */
function fusedAt(ranking, rows, alpha) {
  const leg = alpha === 0 ? "bm25_rank" : alpha === 1 ? "dense_rank" : null;
  if (leg) return rows.filter((row) => ranking[leg][row]).sort((x, y) => ranking[leg][x] - ranking[leg][y]);
  const scored = rows.filter((row) => !Number.isNaN(ranking.bm25_part[row])).map((row) => [row, Math.round(((1 - alpha) * ranking.bm25_part[row] + alpha * ranking.dense_part[row]) * 1e6)]);
  return scored.sort((x, y) => y[1] - x[1]).map(([row]) => row);
}

/** The slider of system A for a question; nothing where its curves are not kept. */
function alphaSlider(data, state, q) {
  const curve = data.curves[state.a], ranking = data.rankings[state.a], rows = rowsOf(data, state.a, q);
  if (!curve || !rows) return null;
  const given = data.alphas[state.a], own = Array.isArray(given) ? given[q] : given;
  const shown = el("output", {}), pieces = el("p", { class: "piece-ranks" }), hits = el("ol", { class: "fused" });
  const slider = el("input", { type: "range", min: 0, max: 1, step: 0.005, value: own, "aria-label": "alpha, the weight of the dense leg" });
  const move = () => {
    const alpha = Number(slider.value);
    shown.textContent = `alpha ${alpha.toFixed(3)}${alpha === own ? ", the system's own" : ""}`;
    pieces.textContent = data.piecesOf[q].map((piece, place) => `Evidence ${place + 1}: rank ${rankAt(curve, piece, alpha) || "beyond 10"}`).join(" · ");
    hits.replaceChildren(...fusedAt(ranking, rows, alpha).slice(0, 10).map((row) => el("li", { class: ranking.relevant[row] ? "relevant" : ranking.evidence[row] ? "part" : "" }, placeOf(data, ranking.doc[row], ranking.shown_start[row], ranking.shown_end[row]))));
  };
  slider.addEventListener("input", move);
  move();
  return el("details", { class: "alpha" }, el("summary", {}, "Move alpha"), el("div", { class: "slider" }, slider, shown), pieces, hits, el("p", { class: "note" }, "Ranks of the evidence are exact, among all candidates and before any reranker; the list holds those that A's ranking keeps."));
}
