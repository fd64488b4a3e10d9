"""Every kind of run can be reported, shown and exported: one system, judged documents, foreign
retrievers, nothing missed."""

import re
from collections.abc import Sequence

import pytest

from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.pipeline.foreign.hits import Hit
from lab.relevance.query import Query
from lab.report.export.export import FORMATS, PAPER, export
from lab.report.figures.every import all_plots
from lab.report.notebook import html_of
from lab.report.page.page import page
from lab.report.screens.terminal import first_screen
from lab.runs.run import Run
from lab.sweeping.sweep import sweep
from tests.given import GivenEncoder
from tests.report.given_run import small_corpus, small_queries
from tests.report.test_screens import printed


class Theirs:
    """A foreign retriever: it finds one right passage, one document that nobody has, and nothing
    else."""

    identity = "theirs 1"

    def search(self, queries: Sequence[Query], depth: int) -> list[list[Hit]]:
        return [[Hit("valve.md", 0, 29), Hit("gone", text="nowhere")] for _ in queries]


def run_of(**changes: object) -> Run:
    settings = {
        "grid": Grid(model="given"),
        "measure": Measure(),
        "queries": small_queries(),
    } | changes
    queries: tuple[Query, ...] = settings.pop("queries")  # type: ignore[assignment]  # by name above
    return sweep(small_corpus(), queries, encoders={"given": GivenEncoder()}, **settings)  # type: ignore[arg-type]


RUNS = {
    "one system": {"grid": Grid(mode="bm25")},
    "one leg": {"grid": Grid(mode="bm25", chunk_size=(30, 80))},
    "documents": {"measure": Measure(unit="document")},
    "whole documents": {"grid": Grid(mode="bm25", chunk_strategy="document")},
    "foreign": {"grid": Grid(model="given", chunk_size=80), "retrievers": {"theirs": Theirs()}},
    "a foreign one is the best": {
        "grid": Grid(mode="dense", model="given"),
        "retrievers": {"theirs": Theirs(), "ours": Theirs()},
    },
    "nothing missed": {
        "queries": small_queries()[1:2],
        "grid": Grid(mode="bm25", chunk_strategy="document"),
    },
    "a cost and a budget": {
        "measure": Measure(metrics=("recall@20tok", "context_tokens@5", "ndcg@10"))
    },
    "one question": {"queries": small_queries()[:1]},
}


@pytest.mark.parametrize("kind", RUNS)
def test_every_kind_of_run_is_reported_and_exported(kind, tmp_path):
    run = run_of(**RUNS[kind])
    shown = page(run)
    assert shown.count("<svg") == sum(len(plot.panels) for plot in all_plots(run))
    assert not re.search(r"\bnan\b", shown[: shown.index("<script")], re.IGNORECASE)
    assert printed(run, 80)
    assert html_of(run)
    assert first_screen(run)
    for to in (*FORMATS, *PAPER):
        assert export(run, to, tmp_path / to)
