"""Own metrics: a function of the user's is a metric like others, in Python and in a file."""

from pathlib import Path

import numpy as np
import pytest

import lab
from lab.config.experiment import read_experiment
from lab.config.measure import Measure
from lab.config.own_metrics import load_function, refuse_python
from lab.errors import ConfigError
from lab.evaluation.own import RankedQuestion
from lab.relevance.query import Evidence
from lab.sweeping.sweep import sweep

CORPUS = lab.Corpus(
    [lab.Document("a", "the pump leaks oil"), lab.Document("b", "the motor seal is worn")]
)
QUERIES = [
    lab.Query("q1", "pump oil", evidence=(Evidence("a", 4, 8),)),
    lab.Query("q2", "pump", evidence=(Evidence("b", 4, 9),)),
]
GRID = lab.Grid(mode="bm25", chunk_strategy="document")


def reciprocal(ranked: RankedQuestion) -> float:
    """1 / rank of the first complete piece."""
    ranks = [piece.rank for piece in ranked.pieces if piece.rank is not None]
    return 1 / min(ranks) if ranks else 0.0


def mentions_oil(ranked: RankedQuestion) -> float:
    return float(any("oil" in hit.text and hit.relevant for hit in ranked.hits[:1]))


def test_a_callable_stands_among_the_metrics() -> None:
    measure = Measure(
        metrics=("recall@1", "mrr", reciprocal, mentions_oil), select_by="python:reciprocal"
    )
    result = sweep(CORPUS, QUERIES, GRID, measure)
    assert result.metrics == ("recall@1", "mrr", "python:reciprocal", "python:mentions_oil")
    values = result.tables.values[0]
    assert np.array_equal(values[:, 1], values[:, 2])
    assert values[:, 3].tolist() == [1.0, 0.0]
    table = result.table()
    assert table["python:reciprocal"].tolist() == [0.5]
    assert measure.model_dump(mode="json")["metrics"][2] == "python:reciprocal"


def test_what_a_function_sees() -> None:
    seen: list[RankedQuestion] = []

    def spy(ranked: RankedQuestion) -> float:
        seen.append(ranked)
        return 0.5

    sweep(CORPUS, QUERIES, GRID, Measure(metrics=("mrr", spy), select_by="mrr"))
    first = next(ranked for ranked in seen if ranked.query.query_id == "q1")
    (hit,) = first.hits
    assert (hit.rank, hit.doc_id, hit.start, hit.end, hit.text, hit.relevant) == (
        1, "a", 0, 18, "the pump leaks oil", True)  # fmt: skip
    (piece,) = first.pieces
    assert (piece.grade, piece.core, piece.rank) == (3, True, 1)
    second = next(ranked for ranked in seen if ranked.query.query_id == "q2")
    assert second.pieces[0].rank is None


def test_functions_that_fail_are_named_with_their_question() -> None:
    def divides(ranked: RankedQuestion) -> float:
        return 1 / (len(ranked.hits) - 1)

    def large(ranked: RankedQuestion) -> float:
        return 2.0

    for function, said in ((divides, "ZeroDivisionError"), (large, "gave 2.0; expected a number")):
        with pytest.raises(
            ConfigError, match=f"python:{function.__name__}', question 'q1'"
        ) as told:
            sweep(CORPUS, QUERIES, GRID, Measure(metrics=(function,), select_by="mrr"))
        assert said in str(told.value)


def test_functions_need_names_of_their_own() -> None:
    with pytest.raises(ConfigError, match="has no name of its own"):
        Measure(metrics=("recall@5", lambda ranked: 1.0))
    with pytest.raises(ConfigError, match="python:lost, which is no function"):
        sweep(CORPUS, QUERIES, GRID, Measure(metrics=("python:lost",), select_by="mrr"))


def test_a_file_names_a_function_and_runs_only_when_loaded(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"doc_id": "a", "text": "the pump leaks oil"}\n')
    (tmp_path / "set.jsonl").write_text(
        '{"query_id": "q1", "text": "pump", "evidence": [{"doc_id": "a", "quote": "leaks"}]}\n'
    )
    (tmp_path / "mine.py").write_text(
        "open(__file__ + '.ran', 'w').close()\n\n\n"
        "def first(ranked):\n    return float(bool(ranked.hits))\n"
    )
    toml = tmp_path / "x.toml"
    toml.write_text(
        'corpus = "corpus.jsonl"\ndiagnostic_sets = ["set.jsonl"]\n[measure]\n'
        'metrics = ["recall@1"]\nselect_by = "recall@1"\npython = "mine.py:first"\n'
    )
    measure = read_experiment(toml).measure
    assert measure.python == (f"{tmp_path / 'mine.py'}:first",)
    assert measure.measured == ("recall@1", "python:first")
    with pytest.raises(ConfigError, match="add --allow-commands if you trust this file"):
        refuse_python(measure.python)
    with pytest.raises(ConfigError, match="no function 'fist'; did you mean 'first'"):
        load_function(f"{tmp_path / 'mine.py'}:fist")
    ran = tmp_path / "mine.py.ran"
    ran.unlink()
    assert measure.own_metrics()["first"](RankedQuestion(QUERIES[0], (), ())) == 0.0
    assert ran.exists()


def test_wrong_places_are_told(tmp_path: Path) -> None:
    for place in ("mine.py", "mine:first", "mine.py:not a name"):
        with pytest.raises(ConfigError, match=r"expected 'file\.py:name'"):
            Measure(python=place)
    (tmp_path / "x.toml").write_text(
        'corpus = "."\ndiagnostic_sets = ["."]\n[measure]\npython = "gone.py:first"\n'
    )
    with pytest.raises(ConfigError, match=r"measure.python 'gone\.py' does not exist"):
        read_experiment(tmp_path / "x.toml")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(ConfigError, match="cannot be run: ZeroDivisionError"):
        load_function(f"{tmp_path / 'broken.py'}:first")
