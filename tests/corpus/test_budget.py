"""The budget of text: what does not fit is refused by name while it is read, packed or not; nothing
else changes."""

import gzip
import json
import sys
import zipfile
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from lab.corpus import budget
from lab.corpus.budget import VARIABLE, Budget, allowed, memory
from lab.corpus.read import read_corpus
from lab.errors import ConfigError, LabError, TooMuchTextError
from lab.importing.formats.read import read_collection

LIMIT = 10_000
ROWS = [{"doc_id": f"d{n}", "text": "pump " * 100} for n in range(100)]  # 50,000 characters


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "10kB")


def lines(rows: list[dict[str, str]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def jsonl(folder: Path) -> Path:
    (folder / "documents.jsonl").write_text(lines(ROWS))
    return folder


def one_long_line(folder: Path) -> Path:
    (folder / "documents.jsonl").write_text(json.dumps({"doc_id": "d", "text": "x" * 50_000}))
    return folder


def texts(folder: Path) -> Path:
    for row in ROWS:
        (folder / f"{row['doc_id']}.md").write_text(row["text"])
    return folder


def packed(folder: Path) -> Path:
    (folder / "documents.jsonl.gz").write_bytes(gzip.compress(lines(ROWS).encode()))
    return folder


def parquet(folder: Path) -> Path:
    # The texts are one entry of a dictionary: the file says that it unpacks to next to nothing.
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), folder / "documents.parquet")
    said = pyarrow.parquet.read_metadata(folder / "documents.parquet").row_group(0).total_byte_size
    assert said < LIMIT
    return folder


def plain_parquet(folder: Path) -> Path:
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist(ROWS), folder / "documents.parquet", use_dictionary=False
    )
    return folder


def word(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "a.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", "<w>" + "pump " * 10_000 + "</w>")
    return folder


@pytest.mark.parametrize("made", [jsonl, one_long_line, texts], ids=lambda made: made.__name__)
def test_a_corpus_larger_than_the_budget_is_refused(made: object, tmp_path: Path) -> None:
    with pytest.raises(
        TooMuchTextError, match=r"more than 10 KB of text .*LAB_TEXT_BUDGET says so"
    ):
        read_corpus(made(tmp_path))  # type: ignore[operator]  # a maker of files


@pytest.mark.parametrize(
    "made", [jsonl, texts, packed, parquet, plain_parquet, word], ids=lambda made: made.__name__
)
def test_an_import_larger_than_the_budget_is_refused_and_within_it_is_read(
    made: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = made(tmp_path)  # type: ignore[operator]  # a maker of files
    with pytest.raises(TooMuchTextError, match="more than 10 KB of text"):
        read_collection(source)
    monkeypatch.setenv(VARIABLE, "1MB")
    if made is not word:
        assert len(read_collection(source).documents) == 100


def test_a_large_file_of_no_known_kind_beside_the_documents_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_bytes(b"x" * 50_000)
    (tmp_path / "a.md").write_text("pump")
    found = read_collection(tmp_path)
    assert [placed.document.doc_id for placed in found.documents] == ["a.md"]
    assert [finding.rule for finding in found.findings] == ["unknown format"]


def test_unpacking_stops_at_the_budget(tmp_path: Path) -> None:
    import resource

    # 200 MB of zeros in less than 1 MB: reading on would hold them all.
    with gzip.open(tmp_path / "documents.jsonl.gz", "wb", compresslevel=1) as file:
        for _ in range(200):
            file.write(bytes(10**6))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TooMuchTextError):
        read_collection(tmp_path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < (
        100_000 if sys.platform == "linux" else 10**8
    )


def test_the_budget_is_an_eighth_of_memory_or_what_the_variable_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sizes = {"500": 500, "1.5kB": 1500, "2 GB": 2 * 10**9, "3m": 3 * 10**6}
    for wish, size in sizes.items():
        monkeypatch.setenv(VARIABLE, wish)
        assert allowed() == size
    for wish in ("much", "-1", "0", "0 GB", "1e3"):
        monkeypatch.setenv(VARIABLE, wish)
        with pytest.raises(ConfigError, match="LAB_TEXT_BUDGET is"):
            allowed()
    monkeypatch.delenv(VARIABLE)
    (tmp_path / "memory.max").write_text("8000\n")
    (tmp_path / "other").write_text("max\n")
    monkeypatch.setattr(
        budget, "LIMITS", (tmp_path / "memory.max", tmp_path / "other", tmp_path / "absent")
    )
    assert (memory(), allowed(), Budget().left) == (8000, 1000, 1000)


def test_bytes_that_are_not_utf_8_are_placed_in_the_whole_file(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_bytes(
        b'\xef\xbb\xbf{"doc_id": "a", "text": "x"}\r\n{"doc_id": "b", "text": "\xff"}\n'
    )
    with pytest.raises(LabError, match=r"byte 58 is not UTF-8 \(found 0xff\)"):
        read_corpus(tmp_path)
    (tmp_path / "documents.jsonl").write_bytes(
        b'\xef\xbb\xbf{"doc_id": "a", "text": "x"}\r\n\n{"doc_id": "b", "text": "y"}'
    )
    assert [document.text for document in read_corpus(tmp_path)] == ["x", "y"]
