"""Labels come back into a copy of the set; the user's files stay as they are."""

import json
from pathlib import Path

import pytest

from lab.errors import DiagnosticsError
from lab.relevance.read import read_diagnostics
from lab.sets.pool.merge import earlier_labels, merge
from lab.sets.pool.sheet import Label, read_labels
from tests.given import corpus_of

TEXTS = {"a": "the pump leaks oil", "b": "seal of the pump is worn", "c": "weather"}
CORPUS = corpus_of(TEXTS)


def label(query_id: str, doc_id: str, grade: int, **more: object) -> Label:
    given = {"annotator": "ann", "reason": "why", "start": None, "end": None} | more
    return Label(place=f"x.csv:{doc_id}", query_id=query_id, doc_id=doc_id, grade=grade, **given)  # type: ignore[arg-type]


def spans(folder: Path) -> Path:
    folder.mkdir()
    lines = [
        {"query_id": "q1", "text": "leak?", "kind": "semantic", "tags": {"x": "y"},
         "evidence": [{"doc_id": "a", "quote": "leaks oil"}]},
        {"query_id": "q2", "text": "worn?", "evidence": []},
    ]  # fmt: skip
    (folder / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def merged(path: Path, labels: list[Label], out: Path, unit: str = "evidence"):
    return merge(labels, [path], read_diagnostics(path, CORPUS), CORPUS, unit, out)


def test_spans_become_alternatives_or_pieces(tmp_path: Path) -> None:
    path = spans(tmp_path / "set")
    before = (path / "set.jsonl").read_bytes()
    labels = [
        label("q1", "b", 2, start=0, end=12, quote="seal"),
        label("q1", "c", 0, start=0, end=7),
        label("q2", "b", 3, start=8, end=24, evidence=(20, 24)),
    ]
    found = merged(path, labels, tmp_path / "new")
    assert (found.relevant, found.irrelevant, found.answered) == (2, 1, ("q2",))
    first, second = read_diagnostics(tmp_path / "new", CORPUS)
    assert (first.kind, first.tags) == ("semantic", {"x": "y"})
    assert [[(i.doc_id, i.start, i.end, i.grade) for i in piece] for piece in first.pieces] == [
        [("a", 9, 18, 3), ("b", 0, 4, 2)]
    ]
    assert [(i.doc_id, i.start, i.end) for i in second.evidence] == [("b", 20, 24)]
    assert (path / "set.jsonl").read_bytes() == before
    kept = read_labels(tmp_path / "new" / "labels.csv")
    assert {(one.annotator, one.reason) for one in kept} == {("ann", "why")}
    assert earlier_labels([tmp_path / "new"])["q1"] == {("b", 0, 12), ("c", 0, 7)}


def test_needed_evidence_is_a_piece_of_its_own(tmp_path: Path) -> None:
    labels = [label("q1", "b", 2, quote="seal", counts="needed")]
    merged(spans(tmp_path / "set"), labels, tmp_path / "new")
    assert len(read_diagnostics(tmp_path / "new", CORPUS)[0].pieces) == 2


def beir(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "leak?", "metadata": {}}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1")
    return folder


def test_documents_are_judgements_with_zeros(tmp_path: Path) -> None:
    path = beir(tmp_path / "set")
    merged(path, [label("q1", "b", 1), label("q1", "c", 0)], tmp_path / "new", "document")
    (query,) = read_diagnostics(tmp_path / "new", CORPUS)
    assert {item.doc_id: item.grade for item in query.evidence} == {"a": 1, "b": 1, "c": 0}
    # A second merge keeps the labels of the first.
    merged(tmp_path / "new", [label("q1", "b", 1)], tmp_path / "newer", "document")
    assert len(read_labels(tmp_path / "newer" / "labels.csv")) == 3
    assert (tmp_path / "newer" / "qrels" / "test.tsv").read_text().count("\n") == 4


def test_document_sets_of_lines_hold_zeros_too(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text('{"query_id": "q1", "text": "?", "evidence": [{"doc_id": "a", "grade": 2}]}\n')
    merged(file, [label("q1", "b", 0)], tmp_path / "new", "document")
    (query,) = read_diagnostics(tmp_path / "new", CORPUS)
    assert {item.doc_id: item.grade for item in query.evidence} == {"a": 2, "b": 0}


def test_everything_that_cannot_be_merged_is_told_and_nothing_written(tmp_path: Path) -> None:
    path = spans(tmp_path / "set")
    labels = [
        label("q3", "a", 0),
        label("q1", "aa", 0),
        label("q1", "b", 2),
        label("q1", "c", 4, quote="weather"),
        label("q2", "b", 1, quote="the", start=0, end=4),
        label("q1", "b", 0),
    ]
    with pytest.raises(DiagnosticsError) as told:
        merged(path, labels, tmp_path / "new")
    said = "\n".join(told.value.problems)
    for part in (
        "no question 'q3'",
        "no document 'aa'",
        "has grade 0 here and 2 at x.csv:b; keep one (`lab agree` compares two sheets)",
        "has grade 2, but no evidence is marked in it",
        "grade is 4; expected 0, or 1 to 3",
        "has grade 1, but no evidence is marked in it",
    ):
        assert part in said
    assert not (tmp_path / "new").exists()


def test_a_judgement_of_the_set_is_not_overruled(tmp_path: Path) -> None:
    path = beir(tmp_path / "set")
    with pytest.raises(DiagnosticsError, match="has grade 0 here and 1 in the set"):
        merged(path, [label("q1", "a", 0)], tmp_path / "new", "document")


def test_no_folder_is_replaced(tmp_path: Path) -> None:
    path = spans(tmp_path / "set")
    with pytest.raises(DiagnosticsError, match="exists; name a new folder with --out"):
        merged(path, [label("q1", "c", 0)], path)
