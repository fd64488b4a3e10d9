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
KOREAN, CHINESE, JAPANESE = ("cp949", "euc_kr", "johab"), "gb18030", "euc_jp"
EAST_ASIAN = (*KOREAN, CHINESE, "big5", "gb2312", "gbk", "cp950", "big5hkscs")
CYRILLIC = ("cp1251", "koi8_r", "cp866")
# Characters of two bytes, and what their first bytes say: in EUC-KR Hangul begins with 0xB0 to 0xC8
# and what follows is rare; in EUC-JP kana begin with 0xA4 and 0xA5.
PAIR = re.compile(rb"[\x81-\xfe][\x41-\xfe]")
RARE_IN_KOREAN, KANA = range(0xC9, 0xFE), range(0xA4, 0xA6)
MOST = 0.1
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
    return WESTERN if western else _more_likely(content, likely[0].encoding)


def _more_likely(content: bytes, guess: str) -> str:
    """Another encoding than the guess where what the guess would show is written by nobody: Korean
    full of rare Chinese characters, Chinese where kana would stand, lines of half-width kana."""
    leads = [pair[0] for pair in PAIR.findall(content[:SAMPLE])]
    if guess in KOREAN and _share(leads, RARE_IN_KOREAN) > MOST:
        return CHINESE
    if guess in EAST_ASIAN and _share(leads, KANA) > MOST and _fits(content, JAPANESE):
        return JAPANESE
    shown = content[:SAMPLE].decode(guess, "ignore")
    kana = sum("\uff61" <= character <= "\uff9f" for character in shown)
    if 2 * kana <= len(shown):
        return guess
    return max(CYRILLIC, key=lambda name: _lower_cyrillic(content[:SAMPLE].decode(name, "ignore")))


def _share(leads: list[int], among: range) -> float:
    return sum(lead in among for lead in leads) / max(len(leads), 1)


def _fits(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _lower_cyrillic(text: str) -> int:
    return sum("\u0430" <= character <= "\u044f" for character in text)


def placed_lines(path: Path, text: str) -> Iterator[tuple[str, str]]:
    """Place (`file:line`) and text of every line that is not blank."""
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        if line.strip():
            yield f"{path}:{number}", line
