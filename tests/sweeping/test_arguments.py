"""A sweep takes what people hold: paths, mappings, lists; and tells what it cannot take."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lab
from lab.errors import ConfigError, CorpusError, DiagnosticsError
from lab.sweeping.arguments import as_measure
from tests.conftest import ROOT

CORPUS = ROOT / "corpora" / "devices"
SET = ROOT / "diagnostic_sets" / "devices" / "exact_id.jsonl"
GRID = {"mode": "bm25", "chunk_size": range(300, 500, 100)}


def test_paths_mappings_and_lists_are_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = ["recall@5", "ndcg@10"]
    run = lab.sweep(str(CORPUS), [SET], GRID, metrics, cache=str(tmp_path / "c.sqlite"))
    assert run.metrics == ("recall@5", "ndcg@10")
    assert len(run.systems) == 2
    assert "note:" in capsys.readouterr().err
    corpus = lab.read_corpus(CORPUS)
    queries = lab.read_diagnostics(SET, corpus)
    again = lab.sweep(corpus, queries, lab.Grid(**GRID), {"metrics": metrics}, progress=False)
    assert again.table().equals(run.table())
    assert capsys.readouterr().err == ""


def test_a_list_of_metrics_is_chosen_by_its_last() -> None:
    assert as_measure(["recall@5", "mrr"]).select_by == "mrr"
    assert as_measure("mrr").metrics == ("mrr",)
    assert as_measure(None) == lab.Measure()


def test_documents_and_questions_are_taken_as_people_hold_them() -> None:
    texts = {"a": "the pump leaks", "b": "replace the seal of the motor"}
    documents = [lab.Document(doc_id, text) for doc_id, text in texts.items()]
    table = pd.DataFrame({"doc_id": list(texts), "text": list(texts.values())})
    asked = [lab.Query("q1", "pump leak", evidence=(lab.Evidence("a"),))]
    rows = pd.DataFrame({"query_id": ["q1"], "text": ["pump leak"], "doc_id": ["a"]})
    grid = {"mode": "bm25", "k1": np.array([0.8, 1.2]), "chunk_strategy": "document"}
    first = lab.sweep(lab.Corpus(documents), asked, grid, progress=None).table()
    for corpus in (texts, documents, iter(documents), table):
        assert lab.sweep(corpus, asked, grid, progress=None).table().equals(first)
    assert lab.sweep(texts, rows, grid, progress=None).table().equals(first)
    session = lab.Session(table, rows)
    assert session.evaluate(mode="bm25", chunk_strategy="document").means()["ndcg@10"] == 1.0
    assert repr(lab.Corpus(documents)) == "Corpus(2 documents, 43 characters)"


def test_what_cannot_be_taken_is_told() -> None:
    with pytest.raises(CorpusError, match="the corpus is a list"):
        lab.sweep(["text"], [])  # type: ignore[list-item]
    corpus = lab.Corpus([lab.Document("a", "text")])
    with pytest.raises(DiagnosticsError, match="1 of 2 questions are none, such as 3"):
        lab.sweep(corpus, [lab.Query("q", "x"), 3])  # type: ignore[list-item]
    with pytest.raises(DiagnosticsError, match="the questions are a int"):
        lab.sweep(corpus, 3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the grid is a int"):
        lab.sweep(corpus, [lab.Query("q", "x")], 3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="measure is empty"):
        lab.sweep(corpus, [lab.Query("q", "x")], measure=[])
