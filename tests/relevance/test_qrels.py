"""Qrels: one language, read alike by every command that takes judgements."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lab
from lab.cli import app
from lab.errors import DiagnosticsError, LabWarning
from lab.relevance.qrels import read_qrels
from lab.sets.annotators import read_annotators
from tests.given import corpus_of


def qrels(tmp_path: Path, content: bytes) -> tuple[dict[str, dict[str, int]], list[str]]:
    file = tmp_path / "test.tsv"
    file.write_bytes(content)
    problems: list[str] = []
    found: dict[str, dict[str, int]] = {}
    for row in read_qrels(file, problems):
        found.setdefault(row.query_id, {})[row.doc_id] = row.grade
    return found, [problem.removeprefix(f"{tmp_path}/") for problem in problems]


@pytest.mark.parametrize(
    "content",
    [
        b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n",
        b"q1\td1\t1\nq2\td2\t2\n",
        b"q1 0 d1 1\nq2 0 d2 2\n",
        b"q1\t0\td1\t1\r\nq2\t0\td2\t2\r\n\r\n",
        b"\xef\xbb\xbfq1 0 d1 1\r\nq2 0 d2 2\r\n",
        b"# judged in May\nq1 0 d1 1\n# and\nq2 0 d2 2\n",
        b"# judged in May\nquery-id\tcorpus-id\tscore\nq1\td1\t1.0\nq2\td2\t2.0\n",
        b"topic iter docno rel\nq1 0 d1 1e0\nq2 0 d2 2.\n",
        b"q1\td1\t1\t\nq2\td2\t2\t\n",
    ],
    ids=[
        "beir",
        "no header",
        "trec",
        "tabs and crlf",
        "B09 byte order mark",
        "trec with comments",
        "beir with a comment and grades of one decimal",
        "another header",
        "tabs at the line ends",
    ],
)
def test_b28_qrels_of_three_or_four_columns(tmp_path: Path, content: bytes) -> None:
    assert qrels(tmp_path, content) == ({"q1": {"d1": 1}, "q2": {"d2": 2}}, [])


def test_b28_a_grade_that_is_no_number_names_its_line(tmp_path: Path) -> None:
    _, problems = qrels(tmp_path, b"query-id\tcorpus-id\tscore\nq1\td1\thigh\n")
    assert problems == ["test.tsv:2: grade is 'high'; expected a whole number from -1000 to 1000"]


def test_b29_ids_with_blanks_are_read_from_tabs_and_other_column_counts_are_errors(
    tmp_path: Path,
) -> None:
    assert qrels(tmp_path, b"q 1\t0\tdoc one\t1\n\n")[0] == {"q 1": {"doc one": 1}}
    _, problems = qrels(tmp_path, b"q 1 0 doc one 1\nq1 d1\n")
    assert [problem.split(";")[0] for problem in problems] == [
        "test.tsv:1: 6 columns",
        "test.tsv:2: 2 columns",
    ]


def test_b30_the_same_judgement_twice_counts_once_and_is_told(tmp_path: Path) -> None:
    with pytest.warns(
        LabWarning,
        match=r"test.tsv:2: 'q1' and 'd1' were judged alike at .*test.tsv:1; counted once",
    ):
        assert qrels(tmp_path, b"q1 0 d1 1\nq1 0 d1 1\n") == ({"q1": {"d1": 1}}, [])


def test_b30_two_grades_for_one_pair_are_an_error_that_names_both_lines(tmp_path: Path) -> None:
    found, problems = qrels(tmp_path, b"q1 0 d1 1\nq1 0 d1 0\n")
    assert found == {"q1": {"d1": 1}}
    assert problems == [
        f"test.tsv:2: 'q1' and 'd1' have grade 0 here and 1 at {tmp_path}/test.tsv:1; keep one"
    ]


@pytest.mark.parametrize(
    "grade", ["inf", "nan", "9223372036854775808", "1" * 5000, "1e300", "0.5", "", "true", "1_0"]
)
def test_what_is_no_grade_is_told_with_its_line(tmp_path: Path, grade: str) -> None:
    (tmp_path / "q").write_text(f"q1\t0\td1\t1\nq1\t0\td2\t{grade}\n")
    problems: list[str] = []
    assert [row.doc_id for row in read_qrels(tmp_path / "q", problems)] == ["d1"]
    (problem,) = problems
    assert problem.startswith(f"{tmp_path}/q:2: ")
    assert len(problem) < 300


def test_smart_judgements_are_relevant_pairs_not_grades_of_0(tmp_path: Path) -> None:
    (tmp_path / "CISI.REL").write_text("     1     28 0 0.000000\n     1     35 0 0.000000\n")
    assert [(r.query_id, r.doc_id, r.grade) for r in read_qrels(tmp_path / "CISI.REL", [])] == [
        ("1", "28", 1),
        ("1", "35", 1),
    ]


def test_packed_judgements_are_read_and_a_cut_file_is_named(tmp_path: Path) -> None:
    packed = gzip.compress(b"q1 0 d1 1\n" * 1 + b"q2 0 d2 1\n" * 1)
    (tmp_path / "a.gz").write_bytes(packed)
    assert len(list(read_qrels(tmp_path / "a.gz", []))) == 2
    (tmp_path / "cut.gz").write_bytes(packed[:-9])
    with pytest.raises(DiagnosticsError, match=r"cut.gz: cannot be read"):
        list(read_qrels(tmp_path / "cut.gz", []))


@pytest.mark.parametrize(
    "judgements",
    [
        "query-id\tcorpus-id\tscore\nq1\td1\t1.0\n",
        "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
        "q1 0 d1 1\n",
        "# judged in May\nq1 0 d1 1\n",
        "# judged in May\nquery-id\tcorpus-id\tscore\nq1\td1\t1.0\n",
        "q1\td1\t1\n",
    ],
)
def test_check_agree_and_compare_read_the_same_judgements(tmp_path: Path, judgements: str) -> None:
    beir = tmp_path / "beir"
    (beir / "qrels").mkdir(parents=True)
    (beir / "corpus.jsonl").write_text(json.dumps({"_id": "d1", "text": "the pump leaks"}) + "\n")
    (beir / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": "which leaks"}) + "\n")
    qrels_file = beir / "qrels" / "test.tsv"
    qrels_file.write_text(judgements)
    (query,) = lab.read_diagnostics(beir, lab.read_corpus(beir))
    assert [(item.doc_id, item.grade) for item in query.evidence] == [("d1", 1)]
    assert read_annotators(qrels_file, qrels_file, None).a == {("q1", "d1"): 1}
    (tmp_path / "r.run").write_text("q1 Q0 d1 1 0.5 t\n")
    run = str(tmp_path / "r.run")
    told = CliRunner().invoke(app, ["compare", run, run, "--qrels", str(qrels_file), "--json"])
    assert told.exit_code == 0, told.output
    assert {
        line["a"] for line in json.loads(told.output)["lines"] if line["metric"] == "recall@5"
    } == {1.0}


def test_judgements_in_another_normal_form_meet_their_documents(tmp_path: Path) -> None:
    beir = tmp_path / "beir"
    (beir / "qrels").mkdir(parents=True)
    (beir / "queries.jsonl").write_text(json.dumps({"_id": "fra\u0301ge", "text": "?"}) + "\n")
    (beir / "qrels" / "test.tsv").write_text("fr\xe1ge\tu\u0308ber.txt\t1\n", "utf-8")
    (query,) = lab.read_diagnostics(beir, corpus_of({"\xfcber.txt": "text"}))
    assert (query.query_id, query.evidence[0].doc_id) == ("fra\u0301ge", "\xfcber.txt")
