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
from lab.importing.formats.collection import Collection

MARKED = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Bytes shown to the detector; more makes it slow and no surer.
SAMPLE = 200_000
WESTERN = "cp1252"
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
    """The file's text without a byte order mark; line ends stay as they are. An encoding other than
    UTF-8 becomes a finding."""
    return decoded(path, read_bytes(path, into.budget), into)


def decoded(path: Path, content: bytes, into: Collection, declared: str = "") -> str:
    """Text of bytes that are read already; `declared` is the encoding that the file itself names,
    tried where UTF-8 does not fit."""
    try:
        return content.decode("utf-8").removeprefix(BOM)
    except UnicodeDecodeError as fault:
        text, encoding, reason = _other(path, content, fault, declared)
        into.note(
            str(path),
            "mended",
            "encoding",
            f"byte {fault.start} is not UTF-8 (found 0x{content[fault.start]:02x}); read as "
            f"{encoding}{reason}",
        )
        return text.removeprefix(BOM)


def _other(
    path: Path, content: bytes, fault: UnicodeDecodeError, declared: str
) -> tuple[str, str, str]:
    """Text, encoding and why that one: a byte order mark, what the file says, or a guess."""
    marked = next((name for mark, name in MARKED if content.startswith(mark)), "")
    tried = ((marked, ", as its first bytes say"), (declared, ", as the file says"))
    for encoding, reason in (*tried, (_guess(content), ", a guess; look at the text")):
        try:
            if encoding and "\0" not in (text := content.decode(encoding)):
                return text, encoding, reason
        except (UnicodeDecodeError, LookupError):
            continue
    raise CorpusError(
        f"{path}: byte {fault.start} is not UTF-8 (found 0x{content[fault.start]:02x}) and no "
        "other encoding fits; save the file as UTF-8"
    ) from None


def _guess(content: bytes) -> str:
    """The likeliest encoding, empty for none. Where Western text (cp1252) is as likely as another,
    it is that: single-byte encodings differ in a few letters, and most such files are Western."""
    likely = [
        match
        for match in from_bytes(content[:SAMPLE])
        if b"\0" in content or not match.encoding.startswith(("utf_16", "utf_32"))
    ]
    if not likely:
        return ""
    western = any(
        WESTERN in (match.encoding, *match.could_be_from_charset) and match.chaos <= likely[0].chaos
        for match in likely
    )
    return WESTERN if western else likely[0].encoding


def placed_lines(path: Path, text: str) -> Iterator[tuple[str, str]]:
    """Place (`file:line`) and text of every line that is not blank."""
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        if line.strip():
            yield f"{path}:{number}", line
