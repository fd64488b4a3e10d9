"""Zip files that hold XML (.docx, .xlsx): what they unpack to is bounded before anything is
parsed."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from lab.corpus.budget import Budget, told
from lab.errors import CorpusError

# Bytes that are unpacked at a time.
BLOCK = 2**20
FAULTS = (
    OSError,
    EOFError,
    KeyError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
# A part that is larger than this and packed better is a bomb: text packs to a fifth, and the XML of
# a large table of numbers, the best of 90 files measured, to a 40th.
LARGE = 10_000_000
RATIO = 200


def blocks(path: Path, archive: zipfile.ZipFile, part: str, budget: Budget) -> Iterator[bytes]:
    """A part's bytes, counted against the budget. Raises CorpusError where it is a bomb;
    zipfile itself stops at the size that the part declares."""
    info = archive.getinfo(part)
    if info.file_size > LARGE and info.file_size > RATIO * info.compress_size:
        raise CorpusError(
            f"{path}: {part} unpacks from {told(info.compress_size)} to {told(info.file_size)}, "
            f"more than {RATIO} times as much; no document does"
        )
    with archive.open(info) as file:
        while block := file.read(BLOCK):
            budget.take(len(block), path)
            yield block


def check(path: Path, budget: Budget, kind: str) -> None:
    """Unpack every part once and throw it away. Raises CorpusError where it is no zip file or a
    bomb, TooMuchTextError where it is too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            for part in archive.namelist():
                for _ in blocks(path, archive, part, budget):
                    pass
    except FAULTS as fault:
        raise CorpusError(f"{path}: not {kind} ({fault}); save it again") from None
