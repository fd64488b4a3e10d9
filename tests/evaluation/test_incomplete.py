"""Metrics for incomplete judgements: worked on paper, and equal to ir-measures on random worlds."""

from pathlib import Path

import ir_measures
import numpy as np
import pytest

from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.errors import ConfigError
from lab.evaluation.metrics import parse_metric
from lab.evaluation.scores import SystemRun, check_unit, score
from lab.relevance.judge import judge_for
from lab.relevance.pieces import pieces
from lab.relevance.query import Evidence, Query
from lab.runs.side import trec_side
from tests.given import corpus_of, ranking_of

# The lab's name of each metric and that of ir-measures, which computes RBP without a cut alone.
NAMES = {
    "judged@5": "Judged@5",
    "judged@20": "Judged@20",
    "bpref": "Bpref",
    "ndcg_condensed@3": "nDCG(judged_only=True)@3",
    "ndcg_condensed@10": "nDCG(judged_only=True)@10",
    "rbp_0.8": "RBP(p=0.8,rel=1)",
    "rbp_0.95": "RBP(p=0.95,rel=1)",
}


def values_of(
    judged: list[dict[str, int]], ranked: list[list[str]], metrics: list[str]
) -> np.ndarray:
    """Questions x metrics, given grades by document and the documents found, best first."""
    names = sorted({name for row in (*judged, *ranked) for name in row})
    corpus = corpus_of(dict.fromkeys(names, "x"))
    queries = [
        Query(f"q{i:03d}", "?", evidence=tuple(Evidence(d, grade=g) for d, g in grades.items()))
        for i, grades in enumerate(judged)
    ]
    asked = pieces(queries, "document")
    rows = [{corpus.position[name]: -float(i) for i, name in enumerate(row)} for row in ranked]
    judge = judge_for(asked, chunk(corpus, ChunkConfig(strategy="document")))
    ranking = ranking_of(rows, max(1, *map(len, rows)))
    run = SystemRun(judge, judge.judge(ranking), np.ones(len(names), dtype=np.int64))
    return score(asked, [run], [parse_metric(metric) for metric in metrics])[0]


def test_worked_on_paper() -> None:
    # Of a (2), b (0), c (1) judged, the ranking is x a y b c: x and y were never judged.
    metrics = ["judged@1", "judged@2", "judged@9", "bpref", "ndcg_condensed@3", "rbp_0.8",
               "rbp_residual_0.8", "rbp_0.5@2", "rbp_residual_0.5@2"]  # fmt: skip
    (row,) = values_of([{"a": 2, "b": 0, "c": 1}], [list("xaybc")], metrics)
    assert row == pytest.approx(
        [
            0,
            1 / 2,
            3 / 5,
            # R = 2, N = 1: a has none above, c one of min(2, 1).
            (1 + 0) / 2,
            # a b c: 2 + 1 / log2(4), of 2 + 1 / log2(3).
            (2 + 1 / 2) / (2 + 1 / np.log2(3)),
            0.2 * (0.8 + 0.8**4),
            0.2 * (1 + 0.8**2) + 0.8**5,
            0.5 * 0.5,
            0.5 + 0.5**2,
        ]
    )


def test_no_hit_and_nothing_judged_irrelevant() -> None:
    metrics = ["judged@3", "bpref", "ndcg_condensed@3", "rbp_0.8", "rbp_residual_0.8"]
    nothing, positives = values_of([{"a": 1}, {"a": 1, "c": 1}], [[], ["b", "a"]], metrics)
    assert nothing.tolist() == [0, 0, 0, 0, 1]
    assert positives == pytest.approx([0.5, 0.5, 1 / (1 + 1 / np.log2(3)), 0.16, 0.2 + 0.64])


@pytest.mark.parametrize("seed", range(4))
def test_parity_with_ir_measures(seed: int) -> None:
    draw = np.random.default_rng(seed)
    judged, ranked = [], []
    for _ in range(40):
        grades = draw.choice([0, 0, 1, 2, 3], size=int(draw.integers(1, 12)))
        grades[0] = 2
        judged.append({f"d{d:02d}": int(g) for d, g in zip(draw.permutation(40), grades)})  # noqa: B905
        ranked.append([f"d{d:02d}" for d in draw.permutation(40)[: int(draw.integers(1, 30))]])
    ours = values_of(judged, ranked, list(NAMES))
    qrels = [
        ir_measures.Qrel(f"q{q:03d}", d, g) for q, row in enumerate(judged) for d, g in row.items()
    ]
    run = [
        ir_measures.ScoredDoc(f"q{q:03d}", d, -float(place))
        for q, row in enumerate(ranked)
        for place, d in enumerate(row)
    ]
    parsed = {ir_measures.parse_measure(theirs): ours for ours, theirs in NAMES.items()}
    theirs = np.zeros(ours.shape)
    for value in ir_measures.iter_calc(list(parsed), qrels, run):
        column = list(NAMES).index(parsed[value.measure])
        theirs[int(value.query_id[1:]), column] = value.value
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_names_are_read_and_wrong_ones_refused() -> None:
    assert parse_metric("RBP_0.80").label == "rbp_0.8"
    assert parse_metric("rbp_residual_0.95@10").label == "rbp_residual_0.95@10"
    for wrong, said in {
        "rbp": "needs a persistence between 0 and 1, like 'rbp_0.8'",
        "rbp_1.5": "needs a persistence between 0 and 1",
        "ndcg_0.8@10": "'ndcg' has no parameter",
        "judged": "needs a cut-off",
        "bpref@10": "has no cut-off",
        "rbp_0.8@100tok": "only recall and precision",
        "bprefs": "did you mean 'bpref'",
    }.items():
        with pytest.raises(ConfigError, match=said):
            parse_metric(wrong)


def test_sets_of_spans_have_no_such_metrics() -> None:
    check_unit([parse_metric("recall@5"), parse_metric("bpref")], "document")
    with pytest.raises(ConfigError, match="names bpref, which counts judged documents"):
        check_unit([parse_metric("recall@5"), parse_metric("bpref")], "evidence")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_bpref_is_what_trec_eval_printed_for_real_runs(shared: Path, number: int) -> None:
    """Three runs over CACM and what trec_eval 8.1 printed for each question, to four digits."""
    folder = shared / "data" / "cacm"
    printed = {}
    output = folder / "trec_eval_output" / f"trec_eval_result_{number}.txt"
    for line in output.read_text().splitlines():
        name, query_id, value = line.split()
        if name == "bpref" and query_id != "all":
            printed[query_id] = float(value)
    side = trec_side(folder / "runs" / f"cacm_core_{number}", folder / "cacm.qrels", ["bpref"])
    ours = side.scores["bpref"]
    assert len(printed) >= 51
    for query_id, value in printed.items():
        assert ours[query_id] == pytest.approx(value, abs=5.1e-5), query_id
