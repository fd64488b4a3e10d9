"""Questions without an answer on the first screen and in the report."""

from dataclasses import replace

from lab.report.figures.separation import separation
from lab.report.screens.unanswerable import unanswerable
from lab.sweeping.tables import run_of
from tests.diagnosis.test_accounts import result_of


def test_a_run_with_unanswerable_questions_says_what_scores_tell() -> None:
    run = run_of(result_of(1))
    reranked = next(
        name
        for name in run.systems
        if "hybrid" in name and "rerank" in name and "threshold" not in name
    )
    told = str(unanswerable(run, reranked, "this one"))
    assert "can this one tell that there is no answer?" in told
    assert "Questions without an answer: 1, with one: 25." in told
    cut = run.tables.thresholds[
        (run.tables.thresholds["system"] == reranked) & (run.tables.thresholds["kept"] >= 0.95)
    ].iloc[-1]
    assert f"rerank.threshold {cut['threshold']:.3f} does so and takes recall@5" in told
    assert f"would leave {cut['recall@5_refusing']:.3f}." in told
    plot = separation(run)
    assert plot is not None
    assert "Questions without an answer: 1, with one: 25." in plot.says
    assert set(plot.table["stage"]) == {"bm25", "dense", "reranker"}


def test_a_run_without_any_says_nothing(run) -> None:
    none = run.tables.separation.iloc[:0]
    run = replace(run, tables=replace(run.tables, separation=none))
    assert unanswerable(run, run.best, "it") is None
    assert separation(run) is None
