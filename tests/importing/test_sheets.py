"""Question sheets as people keep them: csv, tsv and xlsx, quotes located in the documents given."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.corpus.read import read_corpus
from lab.errors import CorpusError
from lab.importing.convert import Imported, import_source
from lab.relevance.query import Query
from lab.relevance.read import read_diagnostics
from tests.importing.given_files import folder_of, paragraph, pdf_file, word_file, workbook

MANUALS = {
    f"docs/manual {n}.md": f"# Manual {n}\n\nPrime pump PX-{n}\nbefore the first start.\n"
    f"Check seal SL-{n} after {n} hours.\n"
    for n in range(1, 155)
}
HEADER = ("query_id", "question", "answer", "doc_id", "quote", "level")
ROWS = [
    (
        "k1",
        "How is PX-1 started?",
        "primed",
        "manual 1.md",
        "Prime pump PX-1 before the first",
        "easy",
    ),
    (
        "k2",
        "When is SL-2 checked?",
        "after 2 hours",
        "Manual 2",
        "Check seal SL-2 after 2 hours.",
        2,
    ),
    ("k3", "What is in manual 3?", "", r"C:\docs\manual 3.MD", None, None),
]


def sheet(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    """The rows as the file's extension says."""
    if path.suffix == ".xlsx":
        return workbook(path, {"Questions": rows})
    text = io.StringIO()
    separator = "\t" if path.suffix == ".tsv" else ","
    csv.writer(text, delimiter=separator).writerows(
        [["" if cell is None else cell for cell in row] for row in rows]
    )
    path.write_text(text.getvalue(), "utf-8")
    return path


def imported(folder: Path, rows: Sequence[Sequence[object]], name: str = "q.csv") -> Imported:
    """The import of a sheet beside the manuals."""
    folder_of(folder, MANUALS)
    path = sheet(folder / name, rows)
    return import_source(str(folder / "docs"), folder / "set", questions=str(path))


def asked(done: Imported) -> dict[str, Query]:
    return {q.query_id: q for q in read_diagnostics(done.folder, read_corpus(done.folder))}


def quoted(done: Imported) -> dict[str, list[tuple[str, str]]]:
    """Document and text of all evidence, white space folded, by question."""
    corpus = read_corpus(done.folder)
    return {
        name: [
            (
                item.doc_id,
                " ".join(
                    corpus[item.doc_id].text[slice(*item.span(corpus[item.doc_id].text))].split()
                ),
            )
            for item in query.evidence
        ]
        for name, query in asked(done).items()
    }


def rules(done: Imported) -> list[str]:
    return [finding.rule for finding in done.findings]


@pytest.mark.parametrize("name", ["q.csv", "q.tsv", "q.xlsx"])
def test_a_sheet_gives_questions_with_answers_tags_and_located_evidence(
    tmp_path: Path, name: str
) -> None:
    done = imported(tmp_path, [HEADER, *ROWS], name)
    assert (done.documents, done.questions, done.judgements) == (154, 3, 3)
    assert quoted(done) == {
        "k1": [("manual 1.md", "Prime pump PX-1 before the first")],
        "k2": [("manual 2.md", "Check seal SL-2 after 2 hours.")],
        "k3": [("manual 3.md", " ".join(MANUALS["docs/manual 3.md"].split()))],
    }
    read = asked(done)
    assert [q.answer for q in read.values()] == ["primed", "after 2 hours", ""]
    assert [dict(q.tags) for q in read.values()] == [{"level": "easy"}, {"level": "2"}, {}]
    told = [f.message for f in done.findings if f.rule == "columns"]
    assert told == [
        "query_id from 'query_id'; question from 'question'; answer from 'answer'; source from "
        "'doc_id'; quote from 'quote'; tags from level"
    ]


@pytest.mark.parametrize(
    "header",
    [
        ("Question", "Answer", "Source", "Passage"),
        ("query", "reference", "file", "context"),
        ("user_input", "ground truth", "Document", "reference_contexts"),
        ("QUESTION", "answer", "File Name", "Quote"),
    ],
)
def test_the_names_that_people_give_columns_are_known(
    tmp_path: Path, header: tuple[str, ...]
) -> None:
    done = imported(tmp_path, [header, *(row[1:5] for row in ROWS)])
    assert done.judgements == 3
    assert list(asked(done)) == ["q0001", "q0002", "q0003"], "questions are numbered by row"
    assert asked(done)["q0001"].answer == "primed"


def test_a_table_s_contexts_are_looked_for_in_the_documents_given(tmp_path: Path) -> None:
    rows = [
        (
            f"When is SL-{n} checked?",
            f"after {n} hours",
            json.dumps([f"Check seal SL-{n} after {n} hours."]),
        )
        for n in range(1, 16)
    ]
    done = imported(tmp_path, [("user_input", "reference", "reference_contexts"), *rows])
    assert (done.documents, done.questions, done.judgements) == (154, 15, 15)
    assert quoted(done)["q0007"] == [("manual 7.md", "Check seal SL-7 after 7 hours.")]
    assert "passages" in rules(done)
    alone = import_source(str(tmp_path / "q.csv"), tmp_path / "alone")
    assert (alone.documents, alone.judgements) == (15, 15), "without others they are the documents"
    named = import_source(
        str(tmp_path / "docs"),
        tmp_path / "named",
        documents=str(tmp_path / "q.csv"),
        questions=str(tmp_path / "q.csv"),
        judgements=str(tmp_path / "q.csv"),
    )
    assert named.documents == 15, "what the user names is taken"


def test_passages_that_a_retriever_returned_are_evidence_where_they_hold_the_answer(
    tmp_path: Path,
) -> None:
    contexts = json.dumps(
        ["Check seal SL-4 after 4 hours.", "Prime pump PX-4 before the first start."]
    )
    row = ("When is SL-4 checked?", "after 4 hours", contexts)
    done = imported(tmp_path, [("question", "ground_truth", "contexts"), row])
    assert quoted(done) == {"q0001": [("manual 4.md", "after 4 hours")]}


def test_rows_of_one_question_are_one_question_with_all_their_evidence(tmp_path: Path) -> None:
    rows = [
        ("Which seal?", "SL-5", "manual 5", "SL-5"),
        ("Which seal?", "SL-5", "manual 6", "SL-6"),
    ]
    done = imported(tmp_path, [("question", "answer", "source", "quote"), *rows])
    assert quoted(done) == {"q0001": [("manual 5.md", "SL-5"), ("manual 6.md", "SL-6")]}


def test_several_quotes_and_sources_of_a_cell_belong_together(tmp_path: Path) -> None:
    rows = [
        ("a?", '["manual 5", "manual 6"]', '["SL-5", "SL-6"]'),
        ("b?", "manual 7", "['SL-7', 'PX-7']"),
        ("c?", '["manual 8", "manual 9"]', ""),
    ]
    done = imported(tmp_path, [("question", "source", "quote"), *rows])
    assert {name: [doc for doc, _ in items] for name, items in quoted(done).items()} == {
        "q0001": ["manual 5.md", "manual 6.md"],
        "q0002": ["manual 7.md", "manual 7.md"],
        "q0003": ["manual 8.md", "manual 9.md"],
    }


def test_rows_that_lose_their_evidence_are_listed_with_the_nearest_text(tmp_path: Path) -> None:
    rows = [
        ("fine?", "manual 1", "PX-1"),
        ("wrong quote?", "manual 2", "Check seal SL-3 after 2 hours."),
        ("wrong file?", "manual 999.md", None),
        ("other file?", "old manual.pdf", "Check seal SL-9 after 9 hours."),
    ]
    done = imported(tmp_path, [("question", "file", "quote"), *rows])
    assert quoted(done)["q0004"] == [("manual 9.md", "Check seal SL-9 after 9 hours.")]
    lost = [
        (f.place.rpartition(":")[2], f.rule, f.message)
        for f in done.findings
        if f.action == "dropped"
    ]
    assert [(line, rule) for line, rule, _ in lost] == [
        ("4", "judged document is absent"),
        ("3", "quote is not in the text"),
    ]
    assert "nearest text in 'manual 2.md': 'Check seal SL-2 after 2 hours.'" in lost[1][2]


def test_a_sheet_of_which_no_row_fits_is_refused_with_its_rows(tmp_path: Path) -> None:
    rows = [("a?", "manual 1", "nowhere"), ("b?", "manual 999", None)]
    with pytest.raises(CorpusError) as fault:
        imported(tmp_path, [("question", "file", "quote"), *rows])
    assert "none of the 2 judgements fits" in fault.value.problems[0]
    assert len(fault.value.problems) == 3
    assert not (tmp_path / "set").exists()


def test_every_bad_row_is_told_at_once(tmp_path: Path) -> None:
    rows = [
        ("", "manual 1", "PX-1", 3),
        ("grade?", "manual 1", "PX-1", 7),
        ("grade?", "manual 1", "PX-1", "x"),
        ("two?", '["manual 1", "manual 2", "manual 3"]', '["a", "b"]', 3),
    ]
    with pytest.raises(CorpusError) as fault:
        imported(tmp_path, [("question", "file", "quote", "grade"), *rows])
    assert [problem.partition(": ")[0].rpartition(":")[2] for problem in fault.value.problems] == [
        "2",
        "3",
        "4",
        "5",
    ]


def test_questions_without_any_evidence_are_kept_and_told(tmp_path: Path) -> None:
    done = imported(tmp_path, [("question", "answer"), ("a?", "b"), ("c?", "d")])
    assert (done.questions, done.judgements) == (2, 0)
    assert rules(done).count("question without judgement") == 2
    assert [q.answer for q in asked(done).values()] == ["b", "d"]


def test_sheets_of_other_columns_and_nameless_columns_are_told(tmp_path: Path) -> None:
    folder_of(tmp_path, MANUALS)
    sheets = {
        "Readme": [],
        "Questions": [
            [None, None, None],
            ["question", "file", "quote", None],
            ["a?", "manual 1", "PX-1", "kept"],
        ],
        "Notes": [["anything", "else"], ["x", "y"]],
        "More": [["question", "file", "quote"], ["b?", "manual 2", "PX-2"]],
    }
    path = workbook(tmp_path / "q.xlsx", sheets)
    done = import_source(str(tmp_path / "docs"), tmp_path / "set", questions=str(path))
    assert (done.questions, done.judgements) == (2, 2)
    assert [rule for rule in rules(done) if rule in ("another sheet", "column without a name")] == [
        "column without a name",
        "another sheet",
    ]
    assert dict(asked(done)["q0001"].tags) == {"column 4": "kept"}


def test_a_mixed_folder_and_a_workbook_of_questions(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2", reason="the extra 'pdf' is not installed")
    docs = folder_of(
        tmp_path / "docs",
        {
            "pumps.md": "---\ntitle: Pumps\n---\n# Pumps\n\nCheck the seal after 400 hours.\n",
            "safety.html": "<nav>Home</nav><article><p>Press the red button to stop.</article>",
            "picture.png": b"\x89PNG\r\n\x1a\n\x00\x00",
        },
    )
    word_file(docs / "valves.docx", paragraph("VX", "<w:noBreakHyphen/>", "77 opens at 6 bar."))
    pdf_file(docs / "motors.pdf", ("The motor of the accu-", "mulator runs at 1,450 rpm."))
    rows = [
        ("Question", "Answer", "Source", "Passage"),
        ("When is the seal checked?", "400 hours", "pumps.md", "Check the seal after 400 hours."),
        ("What opens at 6 bar?", "VX-77", "valves", "VX-77 opens at 6 bar."),
        ("How fast?", "1,450 rpm", "motors.pdf", "The motor of the accumulator runs at 1,450"),
        ("How do I stop it?", "red", "safety.html", "Press the green button to stop."),
    ]
    path = workbook(tmp_path / "q.xlsx", {"Questions": rows, "Notes": [["todo"], ["call"]]})
    done = import_source(str(docs), tmp_path / "set", questions=str(path))
    assert (done.documents, done.questions, done.judgements) == (4, 4, 3)
    assert rules(done) == [
        "unknown format",
        "word parted at a line end",
        "page frame",
        "columns",
        "another sheet",
        "document name",
        "quote is not in the text",
        "question without judgement",
    ]
    assert read_corpus(done.folder)["pumps.md"].title == "Pumps"
