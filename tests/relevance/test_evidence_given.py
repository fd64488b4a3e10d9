"""Questions and evidence made in Python are checked and located as those of a file are."""

import json
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lab
from lab.errors import DiagnosticsError
from lab.relevance.evidence import given
from lab.relevance.locate import find_quote, nearest_text
from lab.relevance.query import Turn
from tests.given import corpus_of

CORPUS = corpus_of({"d1": "The pump leaks.\nReplace the   seal, then the seal.", "\xfcber": "Fuse"})
GRID = lab.Grid(mode="bm25", chunk_strategy="document")


def asked(*evidence: lab.Evidence, **fields: Any) -> list[lab.Query]:
    return [lab.Query("q", "why?", evidence=evidence, **fields)]


@pytest.mark.parametrize(
    ("evidence", "problem"),
    [
        (lab.Evidence("d1", 9, 4), "start 9, end 4 lie outside the document"),
        (lab.Evidence("d1", -3, 4), "start -3, end 4 lie outside the document"),
        (lab.Evidence("d1", 4, 9000), "expected 0 <= start < end <= 50"),
        (lab.Evidence("d1", 5, 5), "lie outside the document"),
        (lab.Evidence("d1", 28, 30), "hold only white space"),
        (lab.Evidence("d1", 4, None), "start 4 and end None; expected two integers"),
        (lab.Evidence("d1", 4.0, 8.0), "expected two integers"),  # type: ignore[arg-type]
        (lab.Evidence("d1", True, 8), "expected two integers"),
        (lab.Evidence("d1", 4, 8, grade=0), "grade is 0; expected 1 (helpful), 2 or 3"),
        (lab.Evidence("d1", 4, 8, grade=1.0), "grade is 1.0"),  # type: ignore[arg-type]
        (lab.Evidence("d1", grade=5000), "grade is 5000; expected a whole number from -1000"),
        (lab.Evidence("d1", 4, 8, role="main"), "role is 'main'"),  # type: ignore[arg-type]
        (lab.Evidence("d1", quote="pump leeks"), "nearest text: 'pump leaks"),
        (lab.Evidence("d1", quote="seal"), 'stands 2 times (at 30, 45); add "occurrence": 1..2'),
        (lab.Evidence("d1", quote="seal", occurrence=3), "occurrence is 3"),
        (lab.Evidence("d1", quote="seal", occurrence=True), "occurrence is True"),
        (lab.Evidence("d1", 4, 8, quote="fuse"), "text at 4-8 is 'pump', not the quote 'fuse'"),
        (lab.Evidence("d9", quote="pump"), "document 'd9' is not in the corpus"),
        (lab.Evidence(3), "doc_id is 3"),  # type: ignore[arg-type]
        ("d1", "evidence 1 is 'd1'; expected an Evidence"),
    ],
)
def test_a_sweep_refuses_evidence_that_a_file_could_not_have(evidence: Any, problem: str) -> None:
    with pytest.raises(DiagnosticsError) as error:
        lab.sweep(CORPUS, asked(evidence), GRID)
    (told,) = error.value.problems
    assert told.startswith("query 'q': evidence 1")
    assert problem in told


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"query_id": ""}, "query_id is ''"),
        ({"query_id": 7}, "query_id is 7"),
        ({"text": None}, "text is None"),
        ({"tags": ["a"]}, "tags are ['a']"),
        ({"tags": {"a": 1}}, "tags are {'a': 1}"),
        ({"variants": "why"}, "variants are 'why'"),
        ({"history": "why"}, "history is 'why'; expected a tuple"),
        ({"history": ({"role": "user", "text": "why"},)}, "turn 1 of the history is {'role'"),
        ({"history": (Turn("you", "why"),)}, "turn 1 of the history: role is 'you'"),
        ({"history": (Turn("user", "half \ud800"),)}, "half of a surrogate pair"),
        ({"evidence": lab.Evidence("d1")}, "expected a tuple"),
        ({"text": "half \ud800"}, "half of a surrogate pair"),
        ({"answer": 3}, "answer is 3"),
    ],
)
def test_a_sweep_refuses_questions_of_wrong_types(fields: Any, problem: str) -> None:
    query = lab.Query(**({"query_id": "q", "text": "?", "evidence": ()} | fields))
    with pytest.raises(DiagnosticsError) as error:
        lab.sweep(CORPUS, [query], GRID)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("evidence", "span"),
    [
        (lab.Evidence("d1", quote="pump leaks"), (4, 14)),
        (lab.Evidence("d1", quote="leaks. Replace the seal"), (9, 34)),
        (lab.Evidence("d1", quote="seal", occurrence=2), (45, 49)),
        (lab.Evidence("d1", 4, 8, quote="pump"), (4, 8)),
        (lab.Evidence("u\u0308ber", quote="Fuse"), (0, 4)),
    ],
)
def test_quotes_made_in_python_are_located(evidence: lab.Evidence, span: tuple[int, int]) -> None:
    (query,) = given(asked(evidence), CORPUS)
    (item,) = query.evidence
    assert (item.start, item.end, item.quote) == (*span, None)
    assert item.doc_id in CORPUS


def test_evidence_by_quote_and_by_offsets_give_the_same_figures() -> None:
    by_quote, by_span = lab.Evidence("d1", quote="pump leaks"), lab.Evidence("d1", 4, 14)
    tables = [
        lab.sweep(CORPUS, [lab.Query("q", "pump", evidence=(item,))], GRID).table()
        for item in (by_quote, by_span)
    ]
    assert tables[0].equals(tables[1])


def test_every_problem_of_every_question_is_told_at_once() -> None:
    queries = [lab.Query(f"q{n}", "?", evidence=(lab.Evidence("d1", 9, 4),)) for n in range(3)]
    with pytest.raises(DiagnosticsError) as error:
        lab.sweep(CORPUS, queries, GRID)
    assert len(error.value.problems) == 3


def test_a_set_of_another_corpus_is_told_as_such(tmp_path: Path) -> None:
    lines = [
        {
            "query_id": f"q{n}",
            "text": "?",
            "evidence": [{"doc_id": f"x{n}", "quote": "a"}] * (1 + n % 2),
        }
        for n in range(178)
    ]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DiagnosticsError) as error:
        lab.read_diagnostics(tmp_path / "q.jsonl", CORPUS)
    first, *rest = error.value.problems
    assert first == "0 of 178 questions fit: another corpus?"
    assert len(rest) == 6
    assert rest[0].startswith(
        f"{tmp_path}/q.jsonl:1: evidence 1: document 'x0' is not in the corpus"
    )
    assert rest[-1] == "and 262 more problems like these"
    lines.append({"query_id": "fits", "text": "?", "evidence": [{"doc_id": "d1", "quote": "pump"}]})
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DiagnosticsError) as error:
        lab.read_diagnostics(tmp_path / "q.jsonl", CORPUS)
    assert len(error.value.problems) == 267


def test_a_document_of_the_same_name_in_other_normal_forms_is_told(tmp_path: Path) -> None:
    # e with dot below and circumflex, half composed and fully decomposed: the composed name is
    # neither, and could be both.
    names = ("\u1eb9\u0302", "e\u0323\u0302")
    corpus = corpus_of(dict.fromkeys(names, "text"))
    record = {"query_id": "q", "text": "?", "evidence": [{"doc_id": "\u1ec7", "quote": "text"}]}
    (tmp_path / "q.jsonl").write_text(json.dumps(record))
    with pytest.raises(DiagnosticsError, match="2 of the same name in other normal forms are"):
        lab.read_diagnostics(tmp_path / "q.jsonl", corpus)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("answer", 3),
        ("answer", ["a"]),
        ("tags", {"a": None}),
        ("tags", {"a": ["b"]}),
        ("tags", [1]),
        ("kind", None),
        ("variants", [1]),
        ("history", [{"role": "user"}]),
        ("text", ["?"]),
        ("query_id", 1.0),
    ],
)
def test_types_are_strict(tmp_path: Path, field: str, value: Any) -> None:
    record = {"query_id": "q", "text": "?"} | {field: value}
    (tmp_path / "q.jsonl").write_text(json.dumps(record))
    with pytest.raises(DiagnosticsError):
        lab.read_diagnostics(tmp_path / "q.jsonl", CORPUS)


def test_tags_keep_numbers_as_written_and_truth_as_yes_and_no(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"query_id": "q", "text": "?", "tags": {"a": 3, "b": true}}')
    (query,) = lab.read_diagnostics(tmp_path / "q.jsonl", CORPUS)
    assert query.tags == {"a": "3", "b": "yes"}


def test_questions_from_a_frame() -> None:
    frame = pd.DataFrame(
        {
            "query_id": ["a", "a", "b", "c"],
            "question": ["leak?", "leak?", "seal?", "none?"],
            "doc_id": ["d1", "d1", None, None],
            "quote": ["pump leaks", None, "Replace the seal", None],
            "start": [None, 0, None, None],
            "end": [None, 3, None, None],
            "grade": [3, 2, 1, None],
            "answer": ["yes", "yes", None, None],
            "hard": [True, True, False, False],
        }
    )
    found = lab.queries_from_frame(frame, CORPUS)
    assert [(q.query_id, q.text, q.answer, dict(q.tags)) for q in found] == [
        ("a", "leak?", "yes", {"hard": "yes"}),
        ("b", "seal?", "", {"hard": "no"}),
        ("c", "none?", "", {"hard": "no"}),
    ]
    assert [(e.doc_id, e.start, e.end, e.grade) for q in found for e in q.evidence] == [
        ("d1", 4, 14, 3),
        ("d1", 0, 3, 2),
        ("d1", 16, 34, 1),
    ]


def test_a_frame_without_ids_is_numbered_and_a_set_read_as_a_frame_is_that_set(
    tmp_path: Path,
) -> None:
    found = lab.queries_from_frame(pd.DataFrame({"text": ["a", "b"]}), CORPUS)
    assert [query.query_id for query in found] == ["q1", "q2"]
    (tmp_path / "q.jsonl").write_text(
        '{"query_id": "x", "text": "?", "evidence": [{"doc_id": "d1", "quote": "pump"}]}\n'
        '{"query_id": "y", "text": "!", "tags": {"t": "u"}, "evidence": [{"doc_id": "d1"}]}\n'
    )
    frame = pd.read_json(tmp_path / "q.jsonl", lines=True)
    assert lab.queries_from_frame(frame, CORPUS) == lab.read_diagnostics(tmp_path, CORPUS)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"query": ["a"]}, "no column 'text'"),
        ({"text": [None]}, "row 0: 'text' is missing"),
        ({"text": [3]}, "row 0: 'text' is 3"),
        ({"text": ["a"], "doc_id": ["d9"], "quote": ["x"]}, "document 'd9' is not in the corpus"),
        ({"text": ["a"], "quote": ["zzz"]}, "quote 'zzz' is in no document"),
        ({"text": ["a"], "quote": ["s"], "occurrence": [1]}, "stands in 2 documents: d1, \xfcber"),
        ({"text": ["a"], "start": [0], "end": [3]}, "'doc_id' is missing"),
        ({"text": ["a", "b"], "query_id": ["q", "q"]}, "row 1: says otherwise of question 'q'"),
        ({"text": ["a"], "query_id": [None]}, "'query_id' is missing"),
        ({"text": []}, "holds no row"),
    ],
)
def test_bad_rows_of_questions_are_told(columns: dict[str, Any], problem: str) -> None:
    with pytest.raises(DiagnosticsError) as error:
        lab.queries_from_frame(pd.DataFrame(columns), CORPUS)
    assert problem in str(error.value)


@pytest.mark.parametrize("text", ["a " * 400_000, "a" * 800_000, "ab\n" * 300_000])
def test_quotes_of_any_text_are_looked_for_in_linear_time(text: str) -> None:
    begin = time.perf_counter()
    for quote in (text[:3000] + " b", "a  a a " * 300 + "c", text[:5000]):
        find_quote(text, quote)
        nearest_text(text, quote)
    assert time.perf_counter() - begin < 10


def test_many_wrong_quotes_and_documents_are_told_in_seconds(tmp_path: Path) -> None:
    corpus = corpus_of({f"doc-{n:05d}": f"text {n} " * 200 for n in range(900)})
    lines = [
        {
            "query_id": f"q{n}",
            "text": "?",
            "evidence": [
                {"doc_id": f"dok-{n:05d}"},
                {"doc_id": "doc-00001", "quote": f"no {n}" * 50},
            ],
        }
        for n in range(2000)
    ]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    begin = time.perf_counter()
    with pytest.raises(DiagnosticsError):
        lab.read_diagnostics(tmp_path / "q.jsonl", corpus)
    assert time.perf_counter() - begin < 10
