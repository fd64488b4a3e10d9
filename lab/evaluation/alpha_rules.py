"""Rules that give every question an alpha of its own, as they were learned: plain values that
predict without the library that trained them, and go into JSON and back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from lab.arrays import NONE, Floats, Ints
from lab.errors import RunError
from lab.retrieval.config import RuleName

RULES: tuple[RuleName, ...] = get_args(RuleName)
# The alphas among which a rule chooses, the two legs alone included.
ALPHAS = np.round(np.linspace(0, 1, 21), 2)
DECIMALS = 6
FORMAT = 1

# What is known of questions before fusion: a column of numbers or texts a name.
Figures = Mapping[str, NDArray[Any]]


def best_alphas(curves: Floats) -> Floats:
    """The alpha at which each curve (questions x alphas) is highest, of several equal ones the
    middle."""
    rounded = np.round(curves, DECIMALS)
    highest = rounded == rounded.max(axis=1, keepdims=True)
    return np.array([ALPHAS[(places := np.flatnonzero(row))[len(places) // 2]] for row in highest])


@dataclass(frozen=True, eq=False)
class Groups:
    """A curve for every group of questions with one value of `column`, and `rest` for all others:
    what the metric is at each of `ALPHAS`, less the question's own mean. Without groups it is one
    alpha for all."""

    column: str
    rest: Floats
    groups: Mapping[str, Floats]

    def curves(self, figures: Figures) -> Floats:
        """Questions x alphas."""
        if not self.groups:
            count = len(next(iter(figures.values())))
            return np.tile(self.rest, (count, 1))
        return np.array([self.groups.get(str(name), self.rest) for name in figures[self.column]])

    @property
    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        groups = {name: curve.tolist() for name, curve in self.groups.items()}
        return {"column": self.column, "rest": self.rest.tolist(), "groups": groups}


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in order, the first the root: a question goes `left` where figure number `figure` is at
    most `threshold`, else `right`; at a leaf `figure` is NONE and `curve` (nodes x alphas) is
    what it gets."""

    figure: Ints
    threshold: Floats
    left: Ints
    right: Ints
    curve: Floats

    def curves(self, columns: Floats) -> Floats:
        """Questions x alphas, of questions x figures."""
        node = np.zeros(len(columns), dtype=np.int64)
        every = np.arange(len(columns))
        while (inner := self.figure[node] != NONE).any():
            goes_left = columns[every, self.figure[node]] <= self.threshold[node]
            node = np.where(inner, np.where(goes_left, self.left[node], self.right[node]), node)
        return np.asarray(self.curve[node])


@dataclass(frozen=True, eq=False)
class Forest:
    """The mean of trees over the figures `names`, read as single-precision numbers."""

    names: tuple[str, ...]
    trees: tuple[Tree, ...]

    def curves(self, figures: Figures) -> Floats:
        """Questions x alphas."""
        columns = matrix(figures, self.names)
        total = sum((tree.curves(columns) for tree in self.trees), np.zeros(len(ALPHAS)))
        return np.asarray(total / len(self.trees))

    @property
    def plain(self) -> dict[str, Any]:
        """As JSON has it; curves of leaves alone."""
        trees = []
        for tree in self.trees:
            leaves = tree.figure == NONE
            trees.append(
                {
                    "figure": tree.figure.tolist(),
                    "threshold": tree.threshold.tolist(),
                    "left": tree.left.tolist(),
                    "right": tree.right.tolist(),
                    "curve": tree.curve[leaves].tolist(),
                }
            )
        return {"names": list(self.names), "trees": trees}


Model = Groups | Forest


def matrix(figures: Figures, names: tuple[str, ...]) -> Floats:
    """Questions x figures, in the precision that trees are trained in."""
    columns = np.stack([figures[name] for name in names], axis=1)
    return columns.astype(np.float32).astype(np.float64)


@dataclass(frozen=True, eq=False)
class AlphaRule:
    """A rule by its name, with what it learned."""

    name: RuleName
    model: Model

    def alphas(self, figures: Figures) -> Floats:
        """The alpha of every question."""
        return best_alphas(self.model.curves(figures))

    def to_json(self) -> dict[str, Any]:
        """Plain values; `from_json` gives a rule back that predicts alike."""
        model = {type(self.model).__name__.lower(): self.model.plain}
        return {"format": FORMAT, "rule": self.name, "alphas": ALPHAS.tolist(), **model}

    @staticmethod
    def from_json(plain: Any) -> "AlphaRule":
        """Raises RunError for what `to_json` did not write."""
        try:
            if plain["format"] != FORMAT or plain["alphas"] != ALPHAS.tolist():
                raise ValueError("another format")
            if plain["rule"] not in RULES:
                raise ValueError(f"no rule '{plain['rule']}'")
            return AlphaRule(plain["rule"], _model(plain))
        except (KeyError, TypeError, ValueError, IndexError) as fault:
            raise RunError(
                f"weights of alpha: not what this version writes ({fault}); run the experiment "
                "again"
            ) from None


def _model(plain: Mapping[str, Any]) -> Model:
    if "groups" in plain:
        of = plain["groups"]
        groups = {name: _curve(curve) for name, curve in of["groups"].items()}
        return Groups(of["column"], _curve(of["rest"]), groups)
    of = plain["forest"]
    return Forest(tuple(of["names"]), tuple(map(_tree, of["trees"])))


def _curve(values: Any) -> Floats:
    curve = np.array(values, dtype=np.float64)
    if curve.shape[-1:] != ALPHAS.shape or not np.isfinite(curve).all():
        raise ValueError(f"expected {len(ALPHAS)} finite numbers")
    return curve


def _tree(plain: Mapping[str, Any]) -> Tree:
    figure = np.array(plain["figure"], dtype=np.int64)
    curve = np.zeros((len(figure), len(ALPHAS)))
    curve[figure == NONE] = _curve(plain["curve"])
    left, right = (np.array(plain[side], dtype=np.int64) for side in ("left", "right"))
    # A child comes after its parent, so that every walk ends.
    inner = np.flatnonzero(figure != NONE)
    children = np.concatenate((left[inner], right[inner]))
    if (children <= np.tile(inner, 2)).any() or (children >= len(figure)).any():
        raise ValueError("a tree whose branches do not lead on")
    return Tree(figure, np.array(plain["threshold"], dtype=np.float64), left, right, curve)
