"""Plot: a figure with one sentence that says how to read it and the table it was drawn from. And
its colours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

# Okabe & Ito's colours: told apart by people with any colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A8A")
BLUES = [[0.0, "#f2f6fb"], [0.25, "#c6dbef"], [0.5, "#7fb2da"], [0.75, "#3a7fbf"], [1.0, "#0b4a8f"]]
GREY = "#8A8A8A"
# Between panels side by side, a share of the width.
GAP = 0.04


@dataclass(frozen=True, eq=False)
class Figure:
    """A Plotly figure as the plain data that plotly.js reads. Plotly's own objects check every
    value as it is set, which takes longer than a small sweep; a notebook gets one (`plotly`), the
    page needs none."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]

    def add(self, kind: str, **trace: Any) -> None:
        """One more trace, such as a `scatter`."""
        self.data.append({"type": kind, **trace})

    @property
    def plotly(self) -> "go.Figure":
        """The figure as Plotly's object, every value checked."""
        import plotly.graph_objects as go

        return go.Figure({"data": self.data, "layout": self.layout | {"template": "none"}})


@dataclass(frozen=True, eq=False)
class Plot:
    """One plot of a report; `key` names it in links and files."""

    key: str
    title: str
    says: str
    figure: Figure
    table: "pd.DataFrame"


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis in the lab's style."""
    return {
        "showline": False,
        "zeroline": False,
        "gridcolor": "rgba(128,128,128,0.22)",
        "automargin": True,
        "title": {"text": title, "font": {"size": 13}},
        **more,
    }


def blank(x: str = "", y: str = "", **layout: Any) -> Figure:
    """An empty figure in the lab's style, its axes named; the page adds its own background and
    ink."""
    style = {
        "colorway": list(COLOURS),
        "font": {"family": "system-ui, sans-serif", "size": 13},
        "height": 380,
        "margin": {"l": 60, "r": 20, "t": 30, "b": 50},
        "hoverlabel": {"align": "left"},
        "xaxis": axis(x),
        "yaxis": axis(y),
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
    }
    return Figure([], style | layout)


def numbers(count: int) -> list[str]:
    """What Plotly puts behind `x` and `y` for each panel's axes: the first pair has no number."""
    return ["", *map(str, range(2, count + 1))]


def side_by_side(
    figure: Figure, names: Sequence[str], x: dict[str, Any], y: dict[str, Any]
) -> list[str]:
    """Give a figure panels of these names side by side, with such axes; the numbers of the panels'
    axes. All share one scale upwards, which the first shows."""
    width, found = (1 - GAP * (len(names) - 1)) / len(names), numbers(len(names))
    above = {
        "xref": "paper",
        "yref": "paper",
        "y": 1.0,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 14},
    }
    for place, number in enumerate(found):
        left = place * (width + GAP)
        figure.layout[f"xaxis{number}"] = x | {
            "anchor": f"y{number}",
            "domain": [left, left + width],
        }
        shared = {"matches": "y", "showticklabels": False} if place else {}
        figure.layout[f"yaxis{number}"] = y | {"anchor": f"x{number}"} | shared
        heading = {"text": plain(names[place]), "x": left + width / 2, **above}
        figure.layout.setdefault("annotations", []).append(heading)
    return found


def plain(text: object) -> str:
    """Text for a figure: Plotly reads a little markup in labels, so what comes from documents is
    escaped."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
