"""Folders of documents: heads of Markdown files, and files that are not read, which are named."""

import gzip
import os
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lab
from lab.cli import app
from lab.corpus.front_matter import first_heading, front_matter
from lab.errors import CorpusError

HEAD = """---
title: "Pump manual"
year: 2024
draft: false
tags: [pumps, seals]
authors:
  - Ada
  - Grace
note: |
  two
  lines
version: 1.10   # as printed
---
"""


def only(path: Path, text: str, name: str = "a.md") -> lab.Document:
    (path / name).write_bytes(text.encode())
    return lab.read_corpus(path)[name]


def test_front_matter_is_title_and_metadata_and_offsets_stay_those_of_the_file(
    tmp_path: Path,
) -> None:
    text = HEAD + "\n# The pump\n\nIt leaks.\n"
    document = only(tmp_path, text)
    assert document.title == "Pump manual"
    assert document.metadata == {
        "year": "2024",
        "draft": False,
        "tags": ["pumps", "seals"],
        "authors": ["Ada", "Grace"],
        "note": "two\nlines",
        "version": "1.10",
    }
    assert len(document.text) == len(text)
    assert document.text.split() == ["#", "The", "pump", "It", "leaks."]
    start = text.index("It leaks.")
    assert document.text[start : start + 9] == "It leaks."


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# The pump\n\ntext", "The pump"),
        ("text\n\n## Not this\n\n# But this #\n", "But this"),
        ("```sh\n# no title\n```\n# Title\n", "Title"),
        ("~~~~\n# no\n~~~\n# neither\n~~~~\n#  Yes  \n", "Yes"),
        ("#hashtag\n#!shebang\n", ""),
        ("    # code\n", ""),
        ("\r\n# CRLF\r\ntext", "CRLF"),
        ("", ""),
    ],
)
def test_a_first_heading_is_the_title_where_nothing_else_names_it(
    tmp_path: Path, text: str, title: str
) -> None:
    document = only(tmp_path, text)
    assert (document.title, document.text) == (title, text)
    assert only(tmp_path, text, "b.txt").title == ""


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nA line, then a rule.\n\n---\n# Title\n",
        "---\nnever: closed\n# Title\n",
        "text\n---\ntitle: x\n---\n",
        "---\n---\ntext",
        "----\ntitle: x\n----\n",
        "--- title: x\n---\n",
        " ---\ntitle: x\n---\n",
    ],
)
def test_what_is_no_front_matter_is_text(tmp_path: Path, text: str) -> None:
    assert only(tmp_path, text).text == text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_front_matter_of_any_line_end(end: str) -> None:
    text = f"---{end}title: Größe: 5{end}tags:{end}- a{end}- b{end}...{end}body"
    assert front_matter(text) == ({"title": "Größe: 5", "tags": ["a", "b"]}, len(text) - 4)


def test_the_head_and_the_headings_of_a_long_file_take_linear_time() -> None:
    for text in ("---\n" + "a: b\n" * 400_000, "#\n" * 800_000, "```\n" * 400_000):
        front_matter(text)
        first_heading(text)


def mixed(folder: Path) -> Path:
    folder.mkdir()
    (folder / "sub").mkdir()
    (folder / "a.md").write_text("the pump leaks")
    (folder / "sub" / "b.txt").write_text("the seal holds")
    for name in ("c.html", "d.docx", "sub/e.pdf", "f.csv", "g.md.gz", "h.html", "Makefile"):
        (folder / name).write_bytes(b"x")
    (folder / ".hidden").write_text("x")
    os.mkfifo(folder / "pipe.md")
    return folder


def test_files_that_are_not_read_are_named_by_check_and_run(tmp_path: Path) -> None:
    folder = mixed(tmp_path / "docs")
    corpus = lab.read_corpus(folder)
    assert [d.doc_id for d in corpus] == ["a.md", "sub/b.txt"]
    told = "\n".join(corpus.unread)
    for part in (
        "1 .csv files (f.csv)",
        "1 .docx files (d.docx)",
        "1 .pdf files (sub/e.pdf)",
        "1 .gz files (g.md.gz)",
        "2 .html files (c.html, h.html)",
        "1 what is no file (pipe.md)",
        "1 files without a kind (Makefile)",
    ):
        assert part in told
    assert ".hidden" not in told
    (tmp_path / "q.jsonl").write_text(
        '{"query_id": "q", "text": "leak", "evidence": [{"doc_id": "a.md", "quote": "leaks"}]}'
    )
    (tmp_path / "e.toml").write_text(
        f'corpus = "{folder}"\ndiagnostic_sets = ["{tmp_path}/q.jsonl"]\n[retrieve]\nmode = "bm25"'
    )
    for command in (
        ["check", str(tmp_path / "e.toml")],
        ["check", str(folder), str(tmp_path / "q.jsonl")],
        ["run", str(tmp_path / "e.toml"), "--out", str(tmp_path / "run")],
    ):
        shown = CliRunner().invoke(app, command)
        for name in ("c.html", "d.docx", "e.pdf", "f.csv", "g.md.gz"):
            assert name in shown.output, command


def test_files_beside_a_table_or_a_documents_folder_are_named(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text('{"doc_id": "a", "text": "b"}\n')
    for name in ("queries.jsonl", "README.md", "import-report.txt", "more.md", "b.pdf", "x.py"):
        (tmp_path / name).write_text("x")
    assert [
        line.split("not read: ")[1].split(";")[0] for line in lab.read_corpus(tmp_path).unread
    ] == [
        "1 .md files (more.md)",
        "1 .pdf files (b.pdf)",
    ]
    (tmp_path / "documents.jsonl").unlink()
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents/a.txt").write_text("b")
    assert "more.md" in "".join(lab.read_corpus(tmp_path).unread)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without leave")
def test_folders_and_files_that_may_not_be_read_are_named() -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = mixed(Path(place) / "docs")
        (folder / "sub").chmod(0o700)
        (folder / "a.md").chmod(0o600)
        told = Path(place) / "told"
        told.touch()
        told.chmod(0o666)
        child = os.fork()
        if not child:
            os.seteuid(65534)
            try:
                lab.read_corpus(folder)
            except CorpusError as fault:
                told.write_text(str(fault))
            os._exit(0)
        os.waitpid(child, 0)
        assert f"{folder}/sub: cannot be read (Permission denied)" in told.read_text()
        assert f"{folder}/a.md: cannot be read (Permission denied)" in told.read_text()


def test_links_that_lead_out_of_the_corpus_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/s.md").write_text("secret")
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("a")
    (folder / "inside.md").symlink_to("a.md")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "sub").symlink_to(tmp_path / "outside")
    (folder / "broken.md").symlink_to("nowhere.md")
    corpus = lab.read_corpus(folder)
    assert [d.doc_id for d in corpus] == ["a.md", "inside.md"]
    told = "\n".join(corpus.unread)
    assert "2 links that lead out of the folder (out.md, sub)" in told
    assert "1 what is no file (broken.md)" in told
    (folder / "documents.jsonl").symlink_to(tmp_path / "secret.md")
    with pytest.raises(CorpusError, match="is a link that leads out of its folder"):
        lab.read_corpus(folder)


def test_a_file_name_that_is_not_utf8_is_told_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("b")
    with pytest.raises(CorpusError, match=r"caf\\xe9.md': the file's name is not UTF-8; rename it"):
        lab.read_corpus(tmp_path)


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "x" * 5000])
def test_names_that_no_file_can_have_are_told(name: str) -> None:
    with pytest.raises(CorpusError, match=r"cannot be read|no such folder"):
        lab.read_corpus(name)


@pytest.mark.parametrize("name", ["a.pdf", "a.html", "a.docx", "a.csv", "a.md.gz"])
def test_a_file_of_another_format_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"text"))
    with pytest.raises(CorpusError, match=r"is no .txt, .md or .jsonl file; `lab import` may read"):
        lab.read_corpus(tmp_path / name)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"doc_id": "a", "text": "b", "v": NaN}', "NaN is no number of JSON"),
        ('{"doc_id": "a", "text": "b", "v": -Infinity}', "Infinity is no number of JSON"),
        ('{"doc_id": "a", "text": "b", "v": 1e999}', "1e999 is too large for a number"),
        ('{"doc_id": "a", "text": "b", "text": "c"}', "the key 'text' stands twice"),
        ('{"doc_id": "a", "text": "b", "m": {"k": 1, "k": 2}}', "the key 'k' stands twice"),
        ('{"doc_id": "a\\ud800", "text": "b"}', "half of a surrogate pair"),
        ('{"doc_id": "a", "text": "b", "m": "\\ud83d"}', "half of a surrogate pair"),
        ('{"doc_id": true, "text": "b"}', "'doc_id' is True; expected a non-empty string"),
        ('{"doc_id": 1.5, "text": "b"}', "'doc_id' is 1.5; expected a non-empty string"),
        ('{"doc_id": "a", "text": ["b"]}', "'text' is a list; expected text"),
        ('{"doc_id": "a", "text": "b", "v": ' + "1" * 5000 + "}", "not JSON that can be read"),
        ("[" * 100_000, "not JSON that can be read"),
    ],
)
def test_json_is_read_as_its_standard_has_it(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "documents.jsonl").write_text(f'{{"doc_id": "ok", "text": ""}}\n{line}\n')
    with pytest.raises(CorpusError) as error:
        lab.read_corpus(tmp_path)
    (told,) = error.value.problems
    assert f"{tmp_path}/documents.jsonl:2: " in told
    assert problem in told
