"""Which files are read as what: documents that are given win, and every file is read or told."""

import os
from pathlib import Path

import pytest

from lab.errors import CorpusError
from lab.importing.formats.read import read_collection
from tests.importing.given_files import folder_of, rules, texts


def test_every_file_that_is_not_read_is_told_with_its_reason(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "corpus.jsonl": '{"_id": "d", "text": "t"}',
        "README.md": "about",
        "a.run": "q1 Q0 d 1 0.5 tag\n",
        "film.mp4": b"\x00\x01\xff\xfe\x00",
    }
    read = read_collection(folder_of(tmp_path, files))
    assert {Path(f.place).name: f.rule for f in read.findings} == {
        "README.md": "about the set",
        "a.run": "file not used",
        "film.mp4": "unknown format",
    }


def test_a_table_of_unknown_columns_is_told_with_them(tmp_path: Path) -> None:
    files = {"d/a.txt": "alpha beta", "q.csv": "Frage,Quelle,Zitat\nWas?,a.txt,beta\n"}
    folder_of(tmp_path, files)
    [finding] = read_collection(tmp_path).findings
    assert (finding.rule, "Frage, Quelle, Zitat" in finding.message) == ("unknown format", True)
    columns = {"question": "Frage", "source": "Quelle", "quote": "Zitat"}
    read = read_collection(tmp_path, questions="q.csv", columns=columns)
    assert [(j.doc_id, j.quote) for j in read.judgements] == [("a.txt", "beta")]


def test_a_table_of_documents_does_not_replace_text_files(tmp_path: Path) -> None:
    files = {f"{n}.md": f"text {n}" for n in range(9)}
    folder_of(tmp_path, {**files, "glossary.csv": "id,text\nPX,a pump\n"})
    with pytest.raises(CorpusError, match=r"glossary\.csv holds documents, and 9 text files may"):
        read_collection(tmp_path)
    assert len(read_collection(tmp_path, documents="glossary.csv").documents) == 1
    both = read_collection(tmp_path, documents=[str(tmp_path), "glossary.csv"])
    assert len(both.documents) == 10


def test_several_documents_files_and_folders_can_be_named(tmp_path: Path) -> None:
    files = {
        "x/a.md": "a",
        "y/b.txt": "b",
        "y/c.html": "<p>c",
        "d.jsonl": '{"_id": "d", "text": "t"}',
    }
    folder_of(tmp_path, files)
    read = read_collection(tmp_path, documents=["x", "y"])
    assert texts(read) == {"x/a.md": "a", "y/b.txt": "b", "y/c.html": "c"}
    assert rules(read) == ["file not used"]
    assert texts(read_collection(tmp_path, documents="y")) == {"b.txt": "b", "c.html": "c"}


def test_files_that_cannot_be_read_are_all_named_and_nothing_is_imported(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.md": "fine",
        "b.docx": b"no zip",
        "c.jsonl.gz": b"not packed",
        "d.txt": b"\x00\xff\xfe\x00\x81",
        "e.xlsx": b"no zip",
        "f.jsonl": "{not json",
        "g.parquet": b"PAR1",
    }
    with pytest.raises(CorpusError) as fault:
        read_collection(folder_of(tmp_path, files))
    named = {Path(problem.split(":")[0]).name for problem in fault.value.problems}
    assert named == {"c.jsonl.gz", "d.txt", "e.xlsx", "f.jsonl", "g.parquet"}
    for name in named:
        (tmp_path / name).unlink()
    with pytest.raises(CorpusError, match=r"b\.docx: not a Word file"):
        read_collection(tmp_path)


def test_pipes_broken_links_and_links_that_lead_out_are_not_read(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "in", {"a.txt": "a"})
    (tmp_path / "secret.txt").write_text("secret")
    os.mkfifo(folder / "pipe.txt")
    (folder / "broken.txt").symlink_to("nowhere")
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "inside.txt").symlink_to(folder / "a.txt")
    read = read_collection(folder)
    assert texts(read) == {"a.txt": "a", "inside.txt": "a"}
    assert sorted(rules(read)) == ["link", "no file", "no file"]


def test_a_file_name_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a.txt": "a"})
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("x")
    except OSError:
        pytest.skip("this file system refuses names that are not UTF-8")
    with pytest.raises(CorpusError, match="the file's name is not UTF-8"):
        read_collection(tmp_path)


def test_a_document_about_formats_is_a_document(tmp_path: Path) -> None:
    files = {
        "notes.md": "TREC topics look like <top> <num> 1 and documents like <docno>.\n.I 1\n.W\n"
    }
    assert texts(read_collection(folder_of(tmp_path, files))) == {"notes.md": files["notes.md"]}


def test_the_head_of_a_markdown_file_is_its_title_and_metadata(tmp_path: Path) -> None:
    source = "---\ntitle: Pumps\nyear: 2024\n---\n# Heading\ntext\n"
    folder_of(tmp_path, {"a.md": source, "b.md": "# Valves\ntext"})
    first, second = (placed.document for placed in read_collection(tmp_path).documents)
    assert (first.title, dict(first.metadata)) == ("Pumps", {"year": "2024"})
    assert first.text.split() == ["#", "Heading", "text"]
    assert first.text.index("# Heading") == source.index("# Heading")
    assert second.title == "Valves"


def test_what_is_named_and_is_none_of_it_is_a_problem(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a.md": "a", "empty/x.bin": b"\x00"})
    os.mkfifo(tmp_path / "pipe")
    for named, problem in (
        ({"questions": "a.md"}, "expected an id and a text"),
        ({"questions": "empty"}, "is a folder; expected a file of questions"),
        ({"documents": "empty"}, "holds no text, HTML, Word or PDF file"),
        ({"documents": ["absent", "gone"]}, "absent: no such file"),
        ({"questions": "pipe"}, "is a pipe or a device"),
    ):
        with pytest.raises(CorpusError, match=problem):
            read_collection(tmp_path, **named)
