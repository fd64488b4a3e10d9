"""Plot: a figure with one sentence that says how to read it and the table it was drawn from. And its colours."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

# Okabe & Ito's colours: told apart by people with any colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A8A")
BLUES = [[0.0, "#f2f6fb"], [0.25, "#c6dbef"], [0.5, "#7fb2da"], [0.75, "#3a7fbf"], [1.0, "#0b4a8f"]]
GREY = "#8A8A8A"


@dataclass(frozen=True, eq=False)
class Plot:
    """One plot of a report; `key` names it in links and files."""

    key: str
    title: str
    says: str
    figure: "go.Figure"
    table: "pd.DataFrame"


def blank(**layout: Any) -> "go.Figure":
    """An empty figure in the lab's style; the page adds its own background and ink."""
    import plotly.graph_objects as go

    figure = go.Figure()
    axis = {
        "showline": False,
        "zeroline": False,
        "gridcolor": "rgba(128,128,128,0.22)",
        "automargin": True,
        "title": {"font": {"size": 13}},
    }
    figure.update_layout(
        template=None,
        colorway=list(COLOURS),
        font={"family": "system-ui, sans-serif", "size": 13},
        height=380,
        margin={"l": 60, "r": 20, "t": 30, "b": 50},
        hoverlabel={"align": "left"},
        xaxis=axis,
        yaxis=axis,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        plot_bgcolor="rgba(0,0,0,0)",
        paper_bgcolor="rgba(0,0,0,0)",
    )
    figure.update_layout(**layout)
    return figure


def plain(text: object) -> str:
    """Text for a figure: Plotly reads a little markup in labels, so what comes from documents is escaped."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
