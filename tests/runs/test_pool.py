"""Which pairs a run asks for, and the way from `lab pool` to a set that knows more."""

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from lab.cli import main
from lab.corpus.document import Corpus, Document
from lab.corpus.read import read_corpus
from lab.errors import RunError
from lab.relevance.query import Query
from lab.relevance.read import read_diagnostics
from lab.runs.pool import Source, candidates, pick

Call = Callable[..., tuple[int, str, str]]
DOCUMENTS = {
    "a": "pump pump pump",
    "b": "pump and many other words about the weather of the day and the night",
    "c": "pumps",
    "d": "seal of the motor",
}


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lab", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return (int(end.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An experiment over documents, judged per document, whose two systems cannot be told apart."""
    corpus = "".join(
        json.dumps({"doc_id": doc_id, "text": text}) + "\n" for doc_id, text in DOCUMENTS.items()
    )
    (tmp_path / "documents.jsonl").write_text(corpus)
    lines = [
        {"query_id": "q1", "text": "pump weather", "evidence": [{"doc_id": "a", "grade": 1}]},
        {"query_id": "q2", "text": "seal", "evidence": [{"doc_id": "d", "grade": 1}]},
    ]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "x.toml").write_text(
        'name = "x"\ncorpus = "documents.jsonl"\ndiagnostic_sets = ["set.jsonl"]\n'
        '[chunk]\nstrategy = "document"\n[retrieve]\nmode = "bm25"\n'
        '[bm25]\nanalyzer = ["auto", "english"]\n'
        '[measure]\nmetrics = ["recall@1"]\nselect_by = "ndcg@3"\n'
    )
    return tmp_path


def rows_of(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_text("utf-8"), newline="")))


def test_from_the_run_to_a_set_that_knows_more(place: Path, call: Call) -> None:
    assert call("run", place / "x.toml", "--out", place / "run")[0] == 0
    code, out, _ = call("pool", place / "run", "--budget", 2)
    assert code == 0
    rows = rows_of(place / "run" / "pool" / "sheet.csv")
    # Only the stemming system finds c; both have b, at different ranks.
    assert [(row["query_id"], row["doc_id"]) for row in rows] == [("q1", "b"), ("q1", "c")]
    assert "2 of 2 unjudged pairs" in out
    page = (place / "run" / "pool" / "label.html").read_text("utf-8")
    assert "bm25" not in page
    labels = place / "labels.csv"
    with labels.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(
            row | {"grade": grade, "annotator": "ann"}
            for row, grade in zip(rows, "10", strict=True)
        )
    code, out, _ = call("pool", "--merge", labels, "--out", place / "new")
    assert code == 0
    assert "labels: 1 relevant, 1 not relevant" in out
    first, _ = read_diagnostics(place / "new", read_corpus(place / "documents.jsonl"))
    assert {item.doc_id: item.grade for item in first.evidence} == {"a": 1, "b": 1, "c": 0}
    # What was judged is not asked for again.
    toml = (place / "x.toml").read_text().replace('"set.jsonl"', '"new"')
    (place / "y.toml").write_text(toml)
    assert call("run", place / "y.toml", "--out", place / "again")[0] == 0
    code, out, _ = call("pool", place / "again")
    assert "0 of 0 unjudged pairs" in out


def test_wrong_calls_are_told(place: Path, call: Call) -> None:
    assert call("pool")[0] == 2
    (place / "empty.csv").write_text("query_id,doc_id,grade\nq1,a,\n")
    code, _, err = call("pool", "--merge", place / "empty.csv")
    assert (code, "no row has a grade" in err) == (2, True)
    (place / "lost.csv").write_text("query_id,doc_id,grade\nq1,a,1\n")
    code, _, err = call("pool", "--merge", place / "lost.csv")
    assert (code, "name the run" in err) == (2, True)


def test_one_system_leaves_nothing_to_choose() -> None:
    corpus = read_corpus(Path("corpora/devices"))
    source = Source(pd.DataFrame(), [], corpus, "document", {})
    with pytest.raises(RunError, match="no label can change the choice"):
        pick(source, ["only"], "ndcg@10", 5)


def test_spans_of_several_chunkings_are_one_pair() -> None:
    corpus = Corpus([Document("d", "x" * 300), Document("e", "y" * 300)])
    rows = [
        ("one", 1, "d", 0, 100, False, False),
        ("one", 2, "e", 0, 100, True, True),
        ("two", 3, "d", 10, 200, False, False),
        ("two", 1, "d", 200, 300, False, False),
        ("two", 2, "e", 0, 100, True, True),
    ]
    names = ["system", "rank", "doc_id", "shown_start", "shown_end", "relevant", "evidence"]
    rankings = pd.DataFrame(rows, columns=names).assign(query_id="q")
    source = Source(rankings, [Query("q", "?")], corpus, "evidence", {})
    picked = pick(source, ["one", "two"], "ndcg@10", 5)
    assert [(pair.doc_id, pair.start, pair.end) for pair in picked.pairs] == [
        ("d", 0, 100),
        ("d", 200, 300),
    ]
    assert (picked.unjudged, picked.telling) == (2, 2)
    labelled = {"q": {("d", 200, 300)}}
    again = pick(Source(rankings, [Query("q", "?")], corpus, "evidence", labelled),
                 ["one", "two"], "ndcg@10", 5)  # fmt: skip
    assert [pair.start for pair in again.pairs] == [0]


def test_where_all_are_told_apart_the_unjudged_may_still_decide() -> None:
    table = pd.DataFrame({"system": ["a", "b", "c"], "unjudged_decides": [False, True, False]})

    def of(undecided: list[str], systems: pd.DataFrame) -> tuple[str, ...]:
        given = SimpleNamespace(
            manifest={"as_good_as_best": undecided, "best": "a"}, systems=systems
        )
        return candidates(given)  # type: ignore[arg-type]  # all that it reads

    assert of(["a"], table) == ("a", "b")
    assert of(["a", "c"], table) == ("a", "c")
    assert of(["a"], table.drop(columns="unjudged_decides")) == ("a",)
