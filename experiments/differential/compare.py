"""The lab's readers against others on real files: words that two others agree on and a reader lacks
(lost), and words of a reader that none of the others has (glued, or misread).

usage: python experiments/differential/compare.py FOLDER [--html N] [--worst N]

Files of one content count once; HTML pages are taken evenly from all packages. A word is lost as
often as two others have it more often. Of a page, what the lab leaves out as its frame (README of
diagnostic sets) is taken out of the others' pages too, by another parser, and counted on its own.
Prints the table of experiments/README.md and, for the lab, the files that lose most.
"""

import argparse
import hashlib
import logging
import re
import signal
import sys
import tempfile
import time
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import chain, zip_longest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from extractors import EXTRACTORS, source_of

# Larger files take minutes in the slowest reader and say nothing more.
LARGEST = {"html": 100_000, "pdf": 250_000}
LARGE = 2_000_000
SECONDS = 60
SUFFIXES = {"html": (".html", ".htm")}
# Readers by which others are measured; those built on a parser that the lab uses are not.
REFERENCES = {
    "html": ("html-text", "inscriptis", "beautifulsoup4"),
    "docx": ("python-docx", "mammoth", "docx2python"),
    "pdf": ("pypdf", "pdfplumber"),
    "xlsx": ("openpyxl", "pandas"),
    "csv": ("csv", "pandas", "polars"),
}
FRAME = "nav, [role=navigation], [role=banner], [role=contentinfo]"
SECTIONS = "article main section blockquote details dialog fieldset figure td".split()
CONTROLS = "select button datalist template noscript iframe object annotation".split()


@dataclass
class Measured:
    """What one reader did with the files of a format."""

    files: int = 0
    refused: int = 0
    agreed: int = 0
    lost: int = 0
    crossed: int = 0
    words: int = 0
    alone: int = 0
    seconds: float = 0.0
    paths: list[Path] = field(default_factory=list)
    worst: list[tuple[int, int, Path, Counter[str], Counter[str]]] = field(default_factory=list)


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def files_of(folder: Path, kind: str, most: int) -> list[Path]:
    """Distinct files of a format, taken evenly from the folders below."""
    suffixes = SUFFIXES.get(kind, (f".{kind}",))
    seen: set[str] = set()
    groups: list[list[Path]] = []
    for group in sorted(path for path in (folder / "files").iterdir() if path.is_dir()):
        found = []
        for path in sorted(group.rglob("*")):
            if path.suffix.lower() in suffixes and path.is_file() and not path.is_symlink():
                if not 0 < path.stat().st_size <= LARGEST.get(kind, LARGE):
                    continue
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                if digest not in seen:
                    seen.add(digest)
                    found.append(path)
        groups.append(found)
    return [path for path in chain(*zip_longest(*groups)) if path is not None][:most]


def without_frame(path: Path) -> str:
    """A page's source without what the lab takes for its frame, by another parser."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(source_of(path), "lxml")
    for element in page(["script", "style", *CONTROLS]):
        element.decompose()
    for element in page.select(FRAME):
        element.decompose()
    for element in page(["header", "footer", "aside"]):
        if not element.decomposed and element.find_parent(SECTIONS) is None:
            element.decompose()
    main = [e for e in page.select("main, [role=main]") if e.get_text().strip()]
    return "".join(map(str, main)) if main else str(page)


class TooSlowError(Exception):
    """A reader that takes longer than all others."""


def timed(extract: object, path: Path, measured: Measured | None = None) -> Counter[str] | None:
    """The words of a file, None where the reader refuses it."""

    def stop(*_: object) -> None:
        raise TooSlowError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    begin = time.process_time()
    try:
        return words(extract(path))  # type: ignore[operator]
    except Exception:
        return None
    finally:
        signal.alarm(0)
        if measured is not None:
            measured.seconds += time.process_time() - begin


def agreement(others: Sequence[Counter[str]]) -> tuple[Counter[str], Counter[str]]:
    """How often at least two have a word, and how often any has it."""
    both: Counter[str] = Counter()
    either: Counter[str] = Counter()
    for number, one in enumerate(others):
        either |= one
        for other in others[number + 1 :]:
            both |= one & other
    return both, either


def compare(kind: str, paths: Iterable[Path]) -> tuple[dict[str, Measured], int]:
    """Every reader of a format measured by the others, and the words of frames."""
    readers = EXTRACTORS[kind]
    measured = {name: Measured() for name in readers}
    framed = 0
    ours = next(iter(readers))
    for path in paths:
        found = {name: timed(extract, path, measured[name]) for name, extract in readers.items()}
        references = {name: found[name] for name in REFERENCES[kind] if found[name] is not None}
        reduced = references
        if kind == "html":
            reduced = _reduced(path, references)
            framed += agreement([c for c in references.values() if c])[0].total()
            framed -= agreement([c for c in reduced.values() if c])[0].total()
        for name, own in found.items():
            pool = reduced if name == ours else references
            others = [c for other, c in pool.items() if other != name and c is not None]
            if len(others) >= 2:
                _note(measured[name], path, own, others, list(references.values()))
    return measured, framed


def _reduced(path: Path, references: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as file:
        file.write('<meta charset="utf-8">' + without_frame(path))
        file.flush()
        read = {name: timed(EXTRACTORS["html"][name], Path(file.name)) for name in references}
    return {name: counts for name, counts in read.items() if counts is not None}


def _note(
    measured: Measured,
    path: Path,
    own: Counter[str] | None,
    others: Sequence[Counter[str]],
    whole: Sequence[Counter[str]],
) -> None:
    measured.files += 1
    if own is None:
        measured.refused += 1
        measured.paths.append(path)
        return
    both, _ = agreement(others)
    _, either = agreement([*others, *whole])
    lost, alone = both - own, own - either
    measured.agreed += both.total()
    measured.lost += lost.total()
    # `4<i>xx</i>` is one word where a browser shows it, and two for most others.
    whole_words = own - both
    measured.crossed += sum(
        count
        for word, count in lost.items()
        if any(word in longer and word != longer for longer in whole_words)
    )
    measured.words += own.total()
    measured.alone += alone.total()
    measured.worst.append((lost.total(), alone.total(), path, lost, alone))


def row(kind: str, name: str, m: Measured) -> str:
    library = name.removeprefix("lab (").removesuffix(")")
    try:
        shown = f"{name} {version(library)}"
    except Exception:
        shown = name
    lost, alone = (
        f"{100 * part / whole:.3f}" if whole else "-"
        for part, whole in ((m.lost, m.agreed), (m.alone, m.words))
    )
    return (
        f"| {kind} | {shown} | {m.files} | {m.refused} | {m.agreed:,} | {lost} | {alone} | "
        f"{m.seconds:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--html", type=int, default=1200, help="most HTML pages")
    parser.add_argument("--worst", type=int, default=8, help="files shown for each format")
    parser.add_argument("--formats", nargs="*", default=list(EXTRACTORS))
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    print("| format | reader | files | refused | words agreed on | lost % | alone % | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    shown = []
    for kind in options.formats:
        most = options.html if kind == "html" else 400
        measured, framed = compare(kind, files_of(options.folder, kind, most))
        for name, result in measured.items():
            if result.files:
                print(row(kind, name, result), flush=True)
        if framed:
            shown.append(f"{kind}: {framed:,} words of frames are left out")
        ours = next(iter(measured.values()))
        if ours.lost:
            shown.append(
                f"{kind}: {ours.crossed:,} of {ours.lost:,} lost words are parts of words that "
                "stand whole here"
            )
        worst = ours.worst
        shown += [f"{kind} refused: {path}" for path in ours.paths]
        for part in (0, 1):
            for entry in sorted(worst, key=lambda e: -e[part])[: options.worst]:
                if entry[part]:
                    said = ", ".join(w for w, _ in entry[3 + part].most_common(8))
                    what = ("lost", "alone")[part]
                    shown.append(f"{kind} {what} {entry[part]}: {entry[2]}: {said}")
    print("\n" + "\n".join(shown))


if __name__ == "__main__":
    main()
