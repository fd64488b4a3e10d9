"""Plot: a figure with one sentence that says how to read it and the table it was drawn from; in a
notebook, in a file, and panel by panel in the page."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabWarning, RunError
from lab.report.figures.ink import INKS
from lab.report.figures.panel import NO_GLYPH, Marks, Panel, legend_lines, styled
from lab.report.figures.svg import svg_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

FILES = ("svg", "pdf", "png")
# Characters that a warning names.
SHOWN = 10


@dataclass(frozen=True, eq=False)
class Plot:
    """One plot of a run; `key` names it in links and files. Several panels stand side by side, in
    `columns` columns where there is room."""

    key: str
    title: str
    says: str
    panels: Sequence[Panel]
    table: "pd.DataFrame"
    columns: int = 1

    def save(self, *paths: str | Path) -> None:
        """Write it as files: SVG, PDF or PNG by the ending. The same run gives the same bytes.
        Raises RunError for any other ending, before anything is written."""
        wrong = [str(path) for path in paths if Path(path).suffix[1:].lower() not in FILES]
        if wrong:
            raise RunError(
                f"{path}: no format of figures; expected a name that ends with .svg, .pdf or .png"
                for path in wrong
            )
        with styled(self.key):
            figure = self._whole(Marks())
        with styled(self.key), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            for path in paths:
                metadata = {"CreationDate": None} if str(path).endswith("pdf") else {"Date": None}
                figure.savefig(
                    path,
                    dpi=200,
                    bbox_inches="tight",
                    metadata={} if str(path).endswith("png") else metadata,
                )

        _tell_missing(self.key, heard)

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        marks = Marks()
        with styled(self.key):
            figure = self._whole(marks)
            # Outside the report there is nowhere for a link to lead.
            return svg_of(figure, {key: (words, "") for key, (words, _) in marks.words.items()})

    def _whole(self, marks: Marks) -> "Figure":
        """All panels in one figure under the plot's title."""
        from matplotlib.figure import Figure

        columns = min(self.columns, len(self.panels))
        rows = -(-len(self.panels) // columns)
        width = sum(panel.width for panel in self.panels[:columns])
        height = sum(panel.height for panel in self.panels[::columns])
        figure = Figure(figsize=(width, height + 0.4), layout="constrained")
        figure.suptitle(self.title, fontsize=11, x=0.01, ha="left", color=INKS["ink"])
        grid = figure.add_gridspec(rows, columns)
        for place, panel in enumerate(self.panels):
            axes = figure.add_subplot(grid[divmod(place, columns)])
            panel.draw(axes, marks)
            axes.set_title(panel.name, loc="left", pad=6 + 15 * legend_lines(axes))
        return figure


def _tell_missing(key: str, heard: list[warnings.WarningMessage]) -> None:
    """One warning for all characters that no font of the machine can draw."""
    missing = [re.match(NO_GLYPH, str(warning.message)) for warning in heard]
    characters = sorted({chr(int(match[1])) for match in missing if match})
    if characters:
        shown = " ".join(characters[:SHOWN])
        message = (
            f"figure {key}: no font of this machine has {shown}; PDF and PNG show boxes in their "
            "place until one is installed that has them, such as Noto Sans CJK"
        )
        warnings.warn(LabWarning(message), stacklevel=3)
