"""Number formats of a workbook that carry meaning: 42 that is shown as 0042, 0.5 as 50%. Readers of
values do not have them, so they are taken from the file's own tables of styles."""

import posixpath
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.corpus.budget import Budget
from lab.importing.formats.unpacked import blocks
from lab.importing.formats.word_xml import namespaced

# Formats that every workbook has by number (ECMA-376, 18.8.30).
GIVEN = {9: "0%", 10: "0.00%"}
# Quoted or escaped text, colours and conditions, and the characters that stand for themselves.
PARTS = re.compile(r'"([^"]*)"|\\(.)|\[[^\]]*\]|_.|\*.|(.)')
PLAIN = frozenset("0 -/().:")


@dataclass(frozen=True, slots=True)
class Shown:
    """How a number is written: `parts` are literal texts and the digits' places (None)."""

    parts: tuple[str | None, ...] = ()
    percent: int | None = None

    def of(self, value: float) -> str | None:
        """The number as it is shown; None where the format has no word on it."""
        if self.percent is not None:
            return f"{value * 100:.{self.percent}f}%"
        if value != int(value):
            return None
        places = self.parts.count(None)
        digits = str(abs(int(value))).zfill(places)
        first, rest = digits[: len(digits) - places + 1], iter(digits[len(digits) - places + 1 :])
        written, begun = "-" if value < 0 else "", False
        for part in self.parts:
            if part is not None:
                written += part
            elif begun:
                written += next(rest)
            else:
                written, begun = written + first, True
        return written


def shown_by(code: str) -> Shown | None:
    """How a format code writes a number, if that says more than the number: zeros in front, text
    around it, or percent. None for all others, among them dates and those with digits that may be
    absent."""
    section = code.split(";")[0]
    percent = re.fullmatch(r"0(?:\.(0+))?\s?%", section.strip())
    if percent:
        return Shown(percent=len(percent[1] or ""))
    parts: list[str | None] = []
    for quoted, escaped, plain in PARTS.findall(section):
        if plain and plain not in PLAIN:
            return None
        if plain == ".":
            return None
        if plain == "0":
            parts.append(None)
        elif quoted or escaped or plain:
            parts.append(quoted or escaped or plain)
    says = parts.count(None) > 1 or any(part and part.strip() for part in parts)
    return Shown(tuple(parts)) if None in parts and says else None


def formats(path: Path, budget: Budget) -> dict[str, dict[tuple[int, int], Shown]]:
    """Sheet -> (row, column) from 0 -> how the cell's number is written, where that says more than
    the number. Empty where the workbook has no such format."""
    with zipfile.ZipFile(path) as archive:
        styles = _styles(path, archive, budget)
        if not styles:
            return {}
        return {
            name: _cells(path, archive, part, styles, budget)
            for name, part in _sheets(path, archive, budget).items()
        }


def _elements(path: Path, archive: zipfile.ZipFile, part: str, budget: Budget) -> Any:
    """Calls `begin(name, attributes)` for every element of a part; nothing where it is absent."""

    def each(begin: Any) -> None:
        if part not in archive.namelist():
            return
        parser = namespaced()
        parser.StartElementHandler = lambda tag, given: begin(
            tag.rpartition(" ")[2],
            {name.rpartition(" ")[2]: value for name, value in given.items()},
        )
        for block in blocks(path, archive, part, budget):
            parser.Parse(block, False)
        parser.Parse(b"", True)

    return each


def _styles(path: Path, archive: zipfile.ZipFile, budget: Budget) -> dict[int, Shown]:
    """Number of a cell's style -> how it writes numbers."""
    codes: dict[int, str] = dict(GIVEN)
    used: list[int] = []
    inside = ""

    def begin(name: str, given: Mapping[str, str]) -> None:
        nonlocal inside
        if name in ("cellStyleXfs", "cellXfs", "cellStyles", "dxfs"):
            inside = name
        elif name == "numFmt" and given.get("numFmtId", "").isdecimal():
            codes[int(given["numFmtId"])] = given.get("formatCode", "")
        elif name == "xf" and inside == "cellXfs":
            number = given.get("numFmtId", "0")
            used.append(int(number) if number.isdecimal() else 0)

    _elements(path, archive, "xl/styles.xml", budget)(begin)
    found = {place: shown_by(codes[number]) for place, number in enumerate(used) if number in codes}
    return {place: shown for place, shown in found.items() if shown is not None}


def _sheets(path: Path, archive: zipfile.ZipFile, budget: Budget) -> dict[str, str]:
    """Name of a sheet -> its part."""
    targets: dict[str, str] = {}
    sheets: dict[str, str] = {}

    def relation(name: str, given: Mapping[str, str]) -> None:
        if name == "Relationship" and "Target" in given:
            target = posixpath.normpath(posixpath.join("/xl", given["Target"])).lstrip("/")
            targets[given.get("Id", "")] = target

    def sheet(name: str, given: Mapping[str, str]) -> None:
        if name == "sheet" and given.get("id", "") in targets:
            sheets[given.get("name", "")] = targets[given["id"]]

    _elements(path, archive, "xl/_rels/workbook.xml.rels", budget)(relation)
    _elements(path, archive, "xl/workbook.xml", budget)(sheet)
    return sheets


def _cells(
    path: Path, archive: zipfile.ZipFile, part: str, styles: Mapping[int, Shown], budget: Budget
) -> dict[tuple[int, int], Shown]:
    found: dict[tuple[int, int], Shown] = {}

    def begin(name: str, given: Mapping[str, str]) -> None:
        place = re.fullmatch(r"([A-Z]{1,3})(\d{1,7})", given.get("r", "")) if name == "c" else None
        style = given.get("s", "")
        if place and style.isdecimal() and int(style) in styles and given.get("t", "n") == "n":
            column = 0
            for letter in place[1]:
                column = column * 26 + ord(letter) - ord("A") + 1
            found[int(place[2]) - 1, column - 1] = styles[int(style)]

    _elements(path, archive, part, budget)(begin)
    return found
