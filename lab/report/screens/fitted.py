"""Tables that fit the screen: no word and no number is cut. Where the screen is narrow, columns
that may be missed are left out and named; where that is not enough, names stand on lines of their
own."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

# Blanks between columns; the narrow ones only where the wide ones would not do.
WIDE, NARROW = 2, 1

# A name says what a row is about; figures are numbers, words stand left; spare figures may be left
# out.
Kind = Literal["name", "figure", "word", "spare"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column by what it is for."""

    title: str
    kind: Kind = "figure"


def metric_columns(metrics: Sequence[str], chosen: str) -> list[Column]:
    """A column a metric; all but the one that chooses may be left out."""
    return [Column(metric, "figure" if metric == chosen else "spare") for metric in metrics]


def number(value: float) -> str:
    """A score, or a count that stands among scores; a dash for none."""
    if math.isnan(value):
        return "-"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.0f}"


@dataclass(slots=True)
class FittedTable:
    """Rows of cells under `columns`, names first; `elsewhere` says where the columns that are left
    out can be read. Columns are wide enough for the rows `alike` of other tables too."""

    columns: Sequence[Column]
    elsewhere: str = ""
    alike: Sequence[Sequence[str]] = ()
    rows: list[list[Text]] = field(default_factory=list)

    def add(self, *cells: str | Text) -> None:
        """One more row, a cell a column."""
        self.rows.append([cell if isinstance(cell, Text) else Text(cell) for cell in cells])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room, names = options.max_width, self._of("name")
        for gap in (WIDE, NARROW):
            shown = self._fitting(room, names, gap)
            if shown:
                yield self._line(shown, None, gap)
                yield from (self._line(shown, row, gap) for row in self.rows)
                break
        else:
            shown = self._fitting(room - WIDE, [], WIDE)
            yield from self._stacked(shown) if shown else self._in_words()
        spare = [self.columns[place].title for place in self._of("spare") if place not in shown]
        if spare:
            where = f" ({self.elsewhere})" if self.elsewhere else ""
            yield Text(f"not shown for want of width: {', '.join(spare)}{where}", "dim")

    def _of(self, kind: Kind) -> list[int]:
        return [place for place, column in enumerate(self.columns) if column.kind == kind]

    def _width(self, place: int) -> int:
        cells = (row[place].cell_len for row in self.rows)
        others = (cell_len(row[place]) for row in self.alike)
        return max([cell_len(self.columns[place].title), *cells, *others])

    def _fitting(self, room: int, names: Sequence[int], gap: int) -> list[int]:
        """The columns that fit beside these names, in their order; none if not even those that
        must not be missed do."""
        kept = {*names, *self._of("figure"), *self._of("word")}
        used = sum(self._width(place) + gap for place in kept) - gap
        if used > room:
            return []
        for place in self._of("spare"):
            wider = used + self._width(place) + gap
            if wider <= room:
                kept.add(place)
                used = wider
        return sorted(kept)

    def _line(
        self, shown: Sequence[int], row: Sequence[Text] | None, gap: int, indent: int = 0
    ) -> Text:
        """One row, or the titles; numbers stand right."""
        line = Text(" " * indent, no_wrap=True, overflow="ignore")
        for place in shown:
            column = self.columns[place]
            cell = Text(column.title, "bold") if row is None else row[place]
            blank = Text(" " * (self._width(place) - cell.cell_len))
            right = column.kind in ("figure", "spare")
            parts = (blank, cell) if right else (cell, blank)
            line.append_text(Text.assemble(*parts, " " * gap))
        line.rstrip()
        return line

    def _stacked(self, shown: Sequence[int]) -> Iterator[Text]:
        """Names on lines of their own, their figures beneath."""
        yield Text(", ".join(self.columns[place].title for place in self._of("name")), "bold")
        yield self._line(shown, None, WIDE, WIDE)
        for row in self.rows:
            yield from self._names(row)
            yield self._line(shown, row, WIDE, WIDE)

    def _in_words(self) -> Iterator[Text]:
        """Every figure behind its title, for a screen that holds no row of them."""
        for row in self.rows:
            yield from self._names(row)
            figures = [
                f"{column.title} {row[place].plain}"
                for place, column in enumerate(self.columns)
                if column.kind not in ("name", "spare")
            ]
            yield Text("  " + ", ".join(figures))

    def _names(self, row: Sequence[Text]) -> Iterator[Text]:
        said = [row[place] for place in self._of("name") if row[place].plain]
        if said:
            yield Text("  ").join(said)
