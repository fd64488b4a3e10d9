"""Bytes to text: UTF-8 first, always; another encoding is guessed only when that fails, and
said."""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from charset_normalizer import from_bytes

from lab.corpus.budget import Budget
from lab.corpus.lines import BOM
from lab.errors import CorpusError
from lab.sets.importing.formats.collection import Collection

MARKED = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Bytes shown to the detector; more makes it slow and no surer.
SAMPLE = 200_000
# Bytes that are unpacked at a time.
BLOCK = 2**20


def read_bytes(path: Path, budget: Budget) -> bytes:
    """The file's bytes, unpacked if it is .gz. Raises CorpusError when it cannot be read,
    TooMuchTextError as soon as more is unpacked than the budget has left."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            blocks = []
            while block := file.read(BLOCK):
                budget.take(len(block), path)
                blocks.append(block)
            return b"".join(blocks)
    except (OSError, EOFError, zlib.error) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise CorpusError(f"{path}: cannot be read ({reason})") from None


def decode(path: Path, into: Collection) -> str:
    """The file's text without a byte order mark; line ends stay as they are. A guessed encoding
    becomes a finding."""
    content = read_bytes(path, into.budget)
    try:
        return content.decode("utf-8").removeprefix(BOM)
    except UnicodeDecodeError as fault:
        text, encoding = _guess(path, content, fault)
        into.note(
            str(path),
            "mended",
            "encoding",
            f"byte {fault.start} is not UTF-8 (found 0x{content[fault.start]:02x}); read as "
            f"{encoding}, look at the text",
        )
        return text.removeprefix(BOM)


def _guess(path: Path, content: bytes, fault: UnicodeDecodeError) -> tuple[str, str]:
    marked = next((name for mark, name in MARKED if content.startswith(mark)), None)
    found = None if marked else from_bytes(content[:SAMPLE]).best()
    encoding = marked or (found.encoding if found else None)
    try:
        if encoding and "\0" not in (text := content.decode(encoding)):
            return text, encoding
    except (UnicodeDecodeError, LookupError):
        pass
    raise CorpusError(
        f"{path}: byte {fault.start} is not UTF-8 (found 0x{content[fault.start]:02x}) and no "
        "other encoding fits; "
        "save the file as UTF-8"
    ) from None


def placed_lines(path: Path, text: str) -> Iterator[tuple[str, str]]:
    """Place (`file:line`) and text of every line that is not blank."""
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        if line.strip():
            yield f"{path}:{number}", line
