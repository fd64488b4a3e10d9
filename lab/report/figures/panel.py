"""Panel: one pair of axes of a plot, the style that all of them share, and what their marks say."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from lab.errors import visible
from lab.report.figures.ink import INKS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# In points: an inch, what lies left of the axes, a letter of a legend, a handle with its blanks.
POINTS, MARGIN, LETTER, HANDLE = 72.0, 60.0, 4.6, 44.0
# Fonts by name: the first that a machine has; those behind it fill in what it lacks.
FONTS = (
    "DejaVu Sans",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "PingFang SC",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Arial Unicode MS",
)
# Characters of a name beside an axis.
LONGEST = 48
NO_GLYPH = r"Glyph (\d+) .*missing from font"
STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INKS["line"],
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INKS["soft"],
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INKS["ink"],
    "axes.titlesize": 10,
    "figure.facecolor": INKS["card"],
    "font.size": 9,
    "grid.color": INKS["line"],
    "grid.linewidth": 0.7,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.markersize": 5,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "text.color": INKS["ink"],
    "text.parse_math": False,
    "xtick.color": INKS["soft"],
    "xtick.major.size": 0,
    "ytick.color": INKS["soft"],
    "ytick.major.size": 0,
}


@dataclass(frozen=True)
class Marks:
    """What a reader is told on pointing at a mark, and where a click leads, by the mark's id in the
    SVG. Files have neither."""

    words: dict[str, tuple[str, str]] = field(default_factory=dict)

    def tell(self, mark: "Artist", words: str, link: str = "") -> None:
        """Say this of a mark; `link` is a state of the report, such as `kind=keyword`."""
        key = f"mark-{len(self.words)}"
        mark.set_gid(key)
        self.words[key] = words, link


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes: its name above it, how it is drawn, and its size in inches."""

    name: str
    draw: "Callable[[Axes, Marks], None]"
    width: float = 6.4
    height: float = 3.6


@contextmanager
def styled(salt: str) -> Iterator[None]:
    """The style of all figures, while they are drawn and written; ids in an SVG follow from the
    salt."""
    import matplotlib as mpl

    style: Any = {**STYLE, "font.family": fonts(), "svg.hashsalt": salt}
    with mpl.rc_context(style), warnings.catch_warnings():
        # Where text stays text the reader's fonts draw it; files tell of it themselves.
        warnings.filterwarnings("ignore", message=NO_GLYPH)
        yield


@cache
def fonts() -> list[str]:
    """Those of the fonts that this machine has."""
    from matplotlib.font_manager import fontManager

    known = set(fontManager.get_font_names())
    return [name for name in FONTS if name in known]


def shortened(name: str) -> str:
    """A name as it fits beside an axis, on one line; a longer one would leave no room for it."""
    line = " ".join(visible(name).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def ends(value: float, low: float, high: float) -> list[list[float]]:
    """An interval as error bars have it. A bootstrap's need not hold the mean, and may be unknown
    (NaN)."""
    below, above = value - low, high - value
    return [
        [max(below, 0.0) if below == below else 0.0],
        [max(above, 0.0) if above == above else 0.0],
    ]


def legend(axes: "Axes") -> None:
    """A legend above the axes, clear of what is drawn, in as many columns as there is room for."""
    names = axes.get_legend_handles_labels()[1]
    if names:
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=_columns(axes, names),
            borderaxespad=0.2,
            handlelength=2.6,
        )


def _columns(axes: "Axes", names: Sequence[str]) -> int:
    figure, spec = axes.get_figure(root=True), axes.get_subplotspec()
    width = figure.get_figwidth() * POINTS if figure else 0.0
    room = width / (spec.get_gridspec().ncols if spec else 1) - MARGIN
    column = max(len(name) for name in names) * LETTER + HANDLE
    return max(1, min(len(names), int(room / column)))


def legend_lines(axes: "Axes") -> int:
    """How many lines the legend above the axes takes."""
    names = axes.get_legend_handles_labels()[1]
    return -(-len(names) // _columns(axes, names)) if axes.get_legend() else 0
