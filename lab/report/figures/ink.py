"""The colours of every figure: one meaning each, told apart without colour too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# On paper. Every colour has a name, under which the page has one for its light and one for its
# dark theme; each has a contrast of at least 3 to the paper (text: 4.5).
INKS = {
    "ink": "#16191d",
    "soft": "#575f6a",
    "line": "#dfe3e8",
    "card": "#ffffff",
    "bm25": "#9a6700",
    "dense": "#0b57a4",
    "hybrid": "#7c3aad",
    "foreign": "#57606a",
    "kind-1": "#00736b",
    "kind-2": "#b0206f",
    "kind-3": "#5b6b00",
    "kind-4": "#8a4b2a",
    "kind-5": "#3949ab",
    "kind-6": "#a02c2c",
    "gain": "#0a6b45",
    "loss": "#a8321c",
    "shade-1": "#f2f6fb",
    "shade-2": "#cfe0f1",
    "shade-3": "#9cc3e6",
    "shade-4": "#2f6fad",
    "shade-5": "#0b4a8f",
    "on-light": "#16191e",
    "on-dark": "#fffffe",
}
SHADES = tuple(INKS[f"shade-{step}"] for step in range(1, 6))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
DASHES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (2, 1)))


@dataclass(frozen=True, slots=True)
class Look:
    """How one system or kind is drawn everywhere: its colour, and a marker and a dash for whoever
    does not see colours."""

    colour: str
    marker: str
    dash: Any

    @property
    def line(self) -> dict[str, Any]:
        """For a line with markers."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.dash}


def looks_of_systems(modes: Sequence[str]) -> list[Look]:
    """The looks of a few systems: the colour says the mode, marker and dash which of them it is."""
    return [
        Look(INKS[mode], MARKERS[place % len(MARKERS)], DASHES[place % len(DASHES)])
        for place, mode in enumerate(modes)
    ]


def looks_of_kinds(kinds: Sequence[str]) -> dict[str, Look]:
    """The looks of the kinds of questions, in the order of their names."""
    return {
        kind: Look(
            INKS[f"kind-{place % 6 + 1}"],
            MARKERS[place % len(MARKERS)],
            DASHES[(place + 1) % len(DASHES)],
        )
        for place, kind in enumerate(sorted(kinds))
    }


def on_shade(step: int) -> str:
    """The colour of text on a shade (0 to 4) with a contrast of at least 4.5."""
    return INKS["on-dark"] if step > 2 else INKS["on-light"]
