"""Reading questions: evidence is located or refused, and every faulty line is told at once."""

import json
import warnings
from pathlib import Path

import pytest

import lab
from lab.errors import DiagnosticsError
from lab.relevance.query import Claim, Turn
from tests.conftest import SHARED
from tests.given import corpus_of

CORPUS = corpus_of(
    {"d1": "The pump leaks.\nReplace the   seal, then the seal again.", "d2": "Fuse 4 A."}
)


def write(path: Path, *records: object) -> Path:
    path.write_text(
        "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records), "utf-8"
    )
    return path


def question(**evidence: object) -> dict[str, object]:
    return {"query_id": "q", "text": "why?", "evidence": [{"doc_id": "d1", **evidence}]}


def problems_of(path: Path) -> list[str]:
    with pytest.raises(DiagnosticsError) as error:
        lab.read_diagnostics(path, CORPUS)
    return list(error.value.problems)


@pytest.mark.parametrize(
    ("evidence", "span"),
    [
        ({"quote": "pump leaks"}, (4, 14)),
        ({"quote": "leaks. Replace the seal"}, (9, 34)),
        ({"quote": "seal", "occurrence": 2}, (45, 49)),
        ({"start": 0, "end": 3}, (0, 3)),
        ({"start": 4, "end": 8, "quote": "pump"}, (4, 8)),
        ({}, (None, None)),
    ],
)
def test_evidence_is_located(
    tmp_path: Path, evidence: dict[str, object], span: tuple[int, int]
) -> None:
    (query,) = lab.read_diagnostics(write(tmp_path / "q.jsonl", question(**evidence)), CORPUS)
    (item,) = query.evidence
    assert (item.start, item.end) == span


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ({"quote": "pump leeks"}, "nearest text: 'pump leaks"),
        ({"quote": "zzz"}, "nothing there resembles it"),
        ({"quote": "seal"}, 'stands 2 times (at 30, 45); add "occurrence": 1..2'),
        ({"quote": "seal", "occurrence": 3}, "occurrence is 3, but the quote stands 2 times"),
        ({"start": 4, "end": 8, "quote": "fuse"}, "text at 4-8 is 'pump', not the quote 'fuse'"),
        ({"start": 9, "end": 900}, "lie outside the document; expected 0 <= start < end <= 56"),
        ({"start": 5, "end": 5}, "lie outside the document"),
        ({"start": 28, "end": 30}, "hold only white space"),
        ({"start": "1", "end": 3}, "expected two integers"),
        ({"quote": "pump", "grade": 4}, "grade is 4; expected 1"),
        ({"quote": "pump", "grade": True}, "grade is True"),
        ({"quote": "pump", "role": "main"}, "role is 'main'"),
        ({"quote": "pump", "qoute": "x"}, "unknown key 'qoute'; did you mean 'quote'?"),
        ({"quote": " "}, "quote is ' '"),
        ({"doc_id": "d3", "quote": "pump"}, "document 'd3' is not in the corpus; known: d1, d2"),
    ],
)
def test_evidence_that_cannot_be_located_names_line_and_remedy(
    tmp_path: Path, evidence: dict[str, object], expected: str
) -> None:
    (problem,) = problems_of(write(tmp_path / "q.jsonl", question(**evidence)))
    assert problem.startswith(f"{tmp_path}/q.jsonl:1: evidence 1")
    assert expected in problem


def test_every_faulty_line_of_every_file_is_told(tmp_path: Path) -> None:
    write(
        tmp_path / "a.jsonl",
        question(quote="pump"),
        "{",
        {"query_id": "r"},
        {"query_id": "s", "text": "?", "kindd": "x"},
    )
    write(
        tmp_path / "b.jsonl",
        question(quote="pump"),
        {"query_id": "t", "text": "?", "tags": 3, "evidence": {}},
    )
    (tmp_path / "c.jsonl").write_bytes(b"\xff\n")
    places = [
        problem.removeprefix(f"{tmp_path}/").split(": ")[0] for problem in problems_of(tmp_path)
    ]
    assert places == [
        "a.jsonl:2",
        "a.jsonl:3",
        "a.jsonl:4",
        "b.jsonl:1",
        "b.jsonl:2",
        "b.jsonl:2",
        "c.jsonl",
    ]


def test_a_set_named_twice_is_a_repeat_not_double_weight(tmp_path: Path) -> None:
    file = write(tmp_path / "q.jsonl", question(quote="pump"))
    with pytest.raises(DiagnosticsError, match="query_id 'q' was already used"):
        lab.read_diagnostics([tmp_path, file], CORPUS)


def test_no_question_is_an_error(tmp_path: Path) -> None:
    assert "no such file" in problems_of(tmp_path / "absent")[0]
    assert "holds no .jsonl" in problems_of(tmp_path)[0]
    assert "holds no question" in problems_of(write(tmp_path / "q.jsonl", ""))[0]


def test_a_beir_folder_is_read_and_its_faults_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    write(
        tmp_path / "queries.jsonl",
        {"_id": "q1", "text": "one"},
        {"_id": "q2", "text": "two"},
        {"_id": "q3", "text": "unjudged"},
    )
    judgements = tmp_path / "qrels" / "test.tsv"
    judgements.write_text("query-id\tcorpus-id\tscore\nq2\td2\t2\nq1\td1\t1\n", "utf-8")
    found = lab.read_diagnostics(tmp_path, CORPUS)
    assert [(q.query_id, [(e.doc_id, e.grade, e.whole) for e in q.evidence]) for q in found] == [
        ("q1", [("d1", 1, True)]),
        ("q2", [("d2", 2, True)]),
    ]
    judgements.write_text("q9\td2\t2\nq1\td9\t1\n", "utf-8")
    assert [problem.split("test.tsv")[1] for problem in problems_of(tmp_path)] == [
        ":1: query 'q9' is not in queries.jsonl",
        ":2: document 'd9' is not in the corpus; known: d1, d2",
    ]
    judgements.unlink()
    assert "cannot be read" in problems_of(tmp_path)[0]


@pytest.mark.parametrize("name", ["chroma", "xquad-zh", "policyqa"])
def test_public_sets_are_read_without_a_problem(name: str, shared: Path) -> None:
    corpus = lab.read_corpus(shared / "bench" / "spans" / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        queries = lab.read_diagnostics(SHARED / "bench" / "spans" / name / "queries.jsonl", corpus)
    for query in queries:
        for item in query.evidence:
            assert corpus[item.doc_id].text[item.start : item.end].strip()


def test_what_a_right_answer_says_is_read(tmp_path: Path) -> None:
    corpus = corpus_of({"a": "Close the valve. Press start."})
    line = {
        "query_id": "q",
        "text": "How?",
        "answer_type": "operation",
        "claims": [{"text": "close it", "evidence": [0]}, {"text": "start", "vital": False}],
        "evidence": [
            {"doc_id": "a", "quote": "Close the valve.", "order": 1},
            {"doc_id": "a", "quote": "Press start.", "order": 2},
        ],
    }
    file = tmp_path / "set.jsonl"
    file.write_text(json.dumps(line), "utf-8")
    (query,) = lab.read_diagnostics(file, corpus)
    assert query.answer_type == "operation"
    assert query.claims == (Claim("close it", (0,)), Claim("start", (), False))
    assert [item.order for item in query.evidence] == [1, 2]


def test_every_fault_of_claims_is_told_at_once(tmp_path: Path) -> None:
    corpus = corpus_of({"a": "Close the valve."})
    line = {
        "query_id": "q",
        "text": "How?",
        "answer_type": "recipe",
        "claims": ["x", {"text": " "}, {"text": "y", "evidence": [1]}, {"text": "z", "vital": 1}],
        "evidence": [{"doc_id": "a", "quote": "Close the valve.", "order": "first"}],
    }
    file = tmp_path / "set.jsonl"
    file.write_text(json.dumps(line), "utf-8")
    with pytest.raises(DiagnosticsError) as fault:
        lab.read_diagnostics(file, corpus)
    told = "\n".join(fault.value.problems)
    for part in (
        "order is 'first'",
        "answer_type is 'recipe'; expected one of fact, reasoning, operation, opinion",
        "claim 1 is a str",
        "claim 2: text is ' '",
        "claim 3: evidence is [1]; expected places from 0 to 0",
        "claim 4: vital is 1",
    ):
        assert part in told


def test_the_conversation_before_a_question_is_read(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "text": "Which pump has two heads?"},
        {"role": "assistant", "text": "The DP46."},
    ]
    corpus = corpus_of({"a": "Close the valve."})
    lines = [
        {"query_id": "q1", "text": "And how is it stopped?", "history": turns},
        {"query_id": "q2", "text": "How?", "history": None},
    ]
    file = tmp_path / "set.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    first, second = lab.read_diagnostics(file, corpus)
    assert first.history == (
        Turn("user", "Which pump has two heads?"),
        Turn("assistant", "The DP46."),
    )
    assert second.history == ()
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "qrels" / "test.tsv").write_text("q\ta\t1\n")
    (folder / "queries.jsonl").write_text(
        json.dumps({"_id": "q", "text": "And how is it stopped?", "history": turns})
    )
    (query,) = lab.read_diagnostics(folder, corpus)
    assert query.history == first.history


def test_every_fault_of_a_history_is_told_at_once(tmp_path: Path) -> None:
    turns = [
        "hello",
        {"role": "system", "text": "Be kind."},
        {"role": "user", "text": " "},
        {"role": "user", "text": "Why?", "who": "Ann"},
        {"text": 3},
    ]
    file = tmp_path / "set.jsonl"
    lines = [
        {"query_id": "q1", "text": "?", "history": turns},
        {"query_id": "q2", "text": "?", "history": "Why?"},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    with pytest.raises(DiagnosticsError) as fault:
        lab.read_diagnostics(file, corpus_of({"a": "x"}))
    place = f"{file}:1: turn"
    assert list(fault.value.problems) == [
        f"{place} 1 of the history is a str; expected an object with role, text",
        f"{place} 2 of the history: role is 'system'; expected 'user' or 'assistant'",
        f"{place} 3 of the history: text is ' '; expected what was said",
        f"{place} 4 of the history: unknown key 'who'; known: role, text",
        f"{place} 5 of the history: role is None; expected 'user' or 'assistant'",
        f"{place} 5 of the history: text is 3; expected what was said",
        f"{file}:2: 'history' is a str; expected a list of turns like "
        '{"role": "user", "text": "..."}',
    ]
