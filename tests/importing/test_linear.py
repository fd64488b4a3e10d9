"""Inputs that were read in quadratic time: eight times as much takes no more than about eight times
as long, whatever the machine."""

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.errors import CorpusError
from lab.importing.convert import import_source
from lab.importing.formats.read import read_collection
from tests.importing.given_files import folder_of, paragraph, table, word_file

# Eight times the input takes 64 times as long where reading is quadratic. Below the least time the
# clock and what every import does once decide.
TIMES = 8
ALLOWED = 24
LEAST = 0.02


def nested_tables(folder: Path, size: int) -> None:
    inner = paragraph("x")
    body = "<w:tbl><w:tr><w:tc>" * size + inner + "</w:tc></w:tr></w:tbl>" * size
    word_file(folder / "a.docx", body)


def nested_boxes(folder: Path, size: int) -> None:
    word_file(folder / "a.docx", "<w:p><w:r><w:t>x</w:t>" * size + "</w:r></w:p>" * size)


def table_rows(folder: Path, size: int) -> None:
    word_file(folder / "a.docx", table(*[(paragraph("a"), paragraph("b"))] * size))


def html_of(source: str) -> Callable[[Path, int], None]:
    return lambda folder, size: void(folder_of(folder, {"a.html": f"x {source * size}"}))


def trec_of(source: str) -> Callable[[Path, int], None]:
    return lambda folder, size: void(
        folder_of(folder, {"a.trec": f"<DOC><DOCNO>1</DOCNO>\n{source * size}</DOC>"})
    )


def squad(folder: Path, size: int) -> None:
    """A context of `size` kilobytes with answers that are not in it, and one that is."""
    context = " ".join(f"word{n % 977} of line {n}" for n in range(size * 50)) + " found here"
    answers = [{"text": f"word{n} is not in line {n}", "answer_start": 5} for n in range(size * 2)]
    answers.append({"text": "found here", "answer_start": 0})
    question = {"id": "q", "question": "?", "answers": answers}
    paragraphs = [{"context": context, "qas": [question]}]
    folder_of(folder, {"d.json": json.dumps({"data": [{"title": "A", "paragraphs": paragraphs}]})})


def sheet(folder: Path, size: int) -> None:
    """Documents, and as many quotes without a document, half of which are nowhere."""
    for n in range(size):
        folder_of(
            folder, {f"docs/{n}.txt": f"Check seal SL-{n} after {n} hours. " * 3 + f"end {n}."}
        )
    rows = "".join(
        f"q{n}?,after {n} hours. Check {'seal' if n % 2 else 'valve'}\n" for n in range(size)
    )
    folder_of(folder, {"q.csv": f"question,quote\n{rows}"})


def void(_: object) -> None:
    """Nothing, of whatever was made."""


CASES: dict[str, tuple[Callable[[Path, int], None], int]] = {
    "tables in tables": (nested_tables, 500),
    "paragraphs in paragraphs": (nested_boxes, 2_000),
    "rows of a table": (table_rows, 1_000),
    "blanks in pre": (lambda f, n: void(folder_of(f, {"a.html": f"<pre>{' ' * n}x"})), 100_000),
    "open tags without end": (html_of("<b "), 20_000),
    "open formatting": (html_of("<p><font size=1>x"), 2_000),
    "declarations": (html_of("<!["), 20_000),
    "open comments": (html_of("<!--"), 20_000),
    "open quotes in tags": (html_of('<a href="'), 20_000),
    "text elements left open": (trec_of("<TEXT>\n"), 2_500),
    "less than signs": (trec_of("a < b <c "), 5_000),
    "answers that are not there": (squad, 20),
    "quotes of unknown documents": (sheet, 60),
}


@pytest.mark.parametrize("name", CASES)
def test_time_grows_with_the_input_and_not_with_its_square(tmp_path: Path, name: str) -> None:
    make, size = CASES[name]

    def seconds(times: int) -> float:
        folder = tmp_path / str(times)
        folder.mkdir()
        make(folder, size * times)
        best = []
        for attempt in range(3):
            begin = time.process_time()
            # Some are refused by name, which must not take longer either.
            with contextlib.suppress(CorpusError):
                import_source(str(folder), tmp_path / f"out {times} {attempt}")
            best.append(time.process_time() - begin)
        return min(best)

    assert seconds(TIMES) < ALLOWED * max(seconds(1), LEAST)


def test_memory_follows_the_text_and_not_the_tags(tmp_path: Path) -> None:
    import tracemalloc

    word_file(tmp_path / "a.docx", paragraph("x") + "<w:a/>" * 150_000)
    tracemalloc.start()
    read_collection(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000, "the part is 1 MB, and its tree of elements would be 20"
