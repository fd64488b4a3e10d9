"""Reading documents: encodings, broken lines, repeats, and a fingerprint that depends on nothing
but the documents."""

from pathlib import Path

import pytest

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from lab.errors import CorpusError
from lab.retrieval.bm25 import build
from lab.retrieval.config import BM25Config


def problems_of(path: Path) -> list[str]:
    with pytest.raises(CorpusError) as error:
        lab.read_corpus(path)
    return [problem.replace(str(path), "") for problem in error.value.problems]


def test_b09_byte_order_mark_crlf_and_zero_width_space(tmp_path: Path) -> None:
    (tmp_path / "reset.txt").write_bytes(b"\xef\xbb\xbfReset code\r\nERR\xe2\x80\x8b-4042 seen\r\n")
    corpus = lab.read_corpus(tmp_path)
    assert corpus["reset.txt"].text == "Reset code\r\nERR\u200b-4042 seen\r\n"
    found = build(chunk(corpus, ChunkConfig()), BM25Config()).search(["Reset", "ERR-4042"], 3)
    assert found.lengths.tolist() == [1, 1]


def test_b09_jsonl_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(b'\xef\xbb\xbf{"_id":"d1","text":"Reset"}\r\n')
    assert [(d.doc_id, d.text) for d in lab.read_corpus(tmp_path)] == [("d1", "Reset")]


def test_b30_a_document_id_used_twice_names_both_lines(tmp_path: Path) -> None:
    lines = [
        '{"_id":"d1","text":"one"}',
        '{"_id":"d2","text":"two"}',
        '{"_id":"d1","text":"other"}',
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines), "utf-8")
    assert problems_of(tmp_path) == [
        "/corpus.jsonl:3: _id 'd1' was already used at /corpus.jsonl:1; ids must be unique"
    ]


def test_b31_a_broken_line_is_named_by_its_physical_number(tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text(
        '{"_id":"d1","text":"ok"}\n\n{"_id":"d2","text":"cut off\n{"_id":"d3","text":"ok"}\n',
        "utf-8",
    )
    (problem,) = problems_of(tmp_path)
    assert problem.startswith("/corpus.jsonl:3: not JSON (")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[1,2]", "found a list, expected an object"),
        ('{"text":"no id"}', "'_id' is missing; expected a non-empty string"),
        ('{"_id":" ","text":"t"}', "'_id' is ' '; expected a non-empty string"),
        ('{"_id":"d","text":["t"]}', "'text' is a list; expected text"),
        ('{"_id":"d","text":"cut \\ud83d"}', "half of a surrogate pair"),
    ],
)
def test_b31_lines_that_hold_no_document(tmp_path: Path, line: str, expected: str) -> None:
    (tmp_path / "corpus.jsonl").write_text(line + "\n", "utf-8")
    (problem,) = problems_of(tmp_path)
    assert problem.startswith("/corpus.jsonl:1: ")
    assert expected in problem


def test_b31_missing_and_null_text_is_an_empty_document_and_a_title_is_joined_by_one_blank(
    tmp_path: Path,
) -> None:
    lines = [
        '{"_id":"a"}',
        '{"_id":"b","text":null}',
        '{"_id":"c","title":"T","text":"B"}',
        '{"_id":"d","title":"","text":"B"}',
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines), "utf-8")
    corpus = lab.read_corpus(tmp_path)
    assert [d.text for d in corpus] == ["", "", "T B", "B"]
    chunking = chunk(corpus, ChunkConfig())
    assert (len(chunking), chunking.blank) == (2, 2)


def test_every_bad_line_is_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text(
        '{"doc_id": 7, "text": "ok"}\n{\n3\n{"doc_id": "7"}\n{"text": 1}\n', "utf-8"
    )
    assert [problem.split(":")[1] for problem in problems_of(tmp_path)] == ["2", "3", "4", "5"]


def test_documents_jsonl_keeps_title_and_metadata_apart(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text(
        '{"doc_id": 7, "title": "T", "text": "x", "lang": "en"}\n', "utf-8"
    )
    (document,) = lab.read_corpus(tmp_path)
    assert (document.doc_id, document.title, document.text, dict(document.metadata)) == (
        "7",
        "T",
        "x",
        {"lang": "en"},
    )


def test_a_folder_of_text_files_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.MD").write_text("# B\n", "utf-8")
    (tmp_path / "a.txt").write_text("  a\n\n", "utf-8")
    (tmp_path / "picture.png").write_bytes(b"\xff")
    assert [(d.doc_id, d.text) for d in lab.read_corpus(tmp_path)] == [
        ("a.txt", "  a\n\n"),
        ("sub/b.MD", "# B\n"),
    ]


def test_every_file_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_bytes("Größe".encode("latin-1"))
    (tmp_path / "c.txt").write_text("fine", "utf-8")
    assert problems_of(tmp_path) == [
        f"/{name}: byte 2 is not UTF-8 (found 0xf6); save the file as UTF-8"
        for name in ("a.txt", "b.txt")
    ]


def test_nothing_to_read(tmp_path: Path) -> None:
    assert "no such folder" in problems_of(tmp_path / "absent")[0]
    assert "no .txt" in problems_of(tmp_path)[0]
    (tmp_path / "documents.jsonl").write_text("\n", "utf-8")
    assert "holds no document" in problems_of(tmp_path)[0]
    with pytest.raises(CorpusError, match="no document"):
        Corpus([])


def test_order_and_fingerprint_depend_on_the_documents_alone() -> None:
    documents = [Document(f"d{i}", f"text {i}") for i in range(5)]
    one, other = Corpus(documents), Corpus(reversed(documents))
    assert [d.doc_id for d in one] == [d.doc_id for d in other]
    assert one.fingerprint == other.fingerprint
    changed = [Document("d0", "text 0 "), *documents[1:]]
    assert Corpus(changed).fingerprint != one.fingerprint
    assert Corpus([Document("ab", "c")]).fingerprint != Corpus([Document("a", "bc")]).fingerprint


def test_documents_of_one_id_are_refused() -> None:
    with pytest.raises(CorpusError, match="'d' is used more than once"):
        Corpus([Document("d", "a"), Document("d", "b")])
