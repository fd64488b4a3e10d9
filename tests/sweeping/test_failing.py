"""A reranker that fails takes its own systems out of a sweep; the others finish."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lab
from lab.errors import ModelError
from tests.given import GivenReranker, corpus_of

TEXTS = {"d1": "the pump leaks", "d2": "a red fuse", "d3": "the valve is stuck"}
QUERIES = [
    lab.Query("q1", "pump", evidence=(lab.Evidence("d1"),)),
    lab.Query("q2", "fuse", evidence=(lab.Evidence("d2"),)),
]
MEASURE = lab.Measure(metrics=("mrr",), select_by="mrr")


class Broken(GivenReranker):
    def score(self, questions: Any, texts: Any, progress: Any) -> Any:
        raise RuntimeError("out of memory")


class Nan(GivenReranker):
    def score(self, questions: Any, texts: Any, progress: Any) -> Any:
        return np.full(len(texts), np.nan)


class Wide(GivenReranker):
    def score(self, questions: Any, texts: Any, progress: Any) -> Any:
        return np.zeros((len(texts), 2))


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Broken, "reranker 'mine' failed with RuntimeError: out of memory"),
        (Nan, "reranker 'mine' gave a score that is no finite number"),
        (Wide, "reranker 'mine' gave an array of shape (2, 2)"),
    ],
)
def test_a_failing_reranker_leaves_the_others(kind: type, reason: str, tmp_path: Path) -> None:
    grid = lab.Grid(
        chunk_strategy="document", mode="bm25", rerank_model=("good", "mine"), rerank_depth=(0, 3)
    )
    rerankers = {"good": GivenReranker({TEXTS["d1"]: 1.0}), "mine": kind({}, identity="mine")}
    run = lab.sweep(
        corpus_of(TEXTS), QUERIES, grid, MEASURE, cache=tmp_path / "c.sqlite", rerankers=rerankers
    )
    assert len(run.systems) == 2
    assert not any("mine" in name for name in run.systems)
    told = [note for note in run.notes if "left out of every choice" in note]
    assert len(told) == 1
    assert told[0].startswith("1 system failed")
    assert reason in told[0]
    assert np.isfinite(run.tables.values).all()


def test_where_nothing_is_left_the_fault_is_told(tmp_path: Path) -> None:
    grid = lab.Grid(mode="bm25", rerank_model="mine", rerank_depth=3)
    with pytest.raises(ModelError, match="out of memory"):
        lab.sweep(
            corpus_of(TEXTS),
            QUERIES,
            grid,
            MEASURE,
            cache=tmp_path / "c.sqlite",
            rerankers={"mine": Broken({}, identity="mine")},
        )
