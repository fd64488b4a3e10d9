"""Learning an alpha for every question, so that what it is worth is known: chosen and trained on
other documents than those it is judged on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lab.arrays import Bools, Floats, Ints
from lab.evaluation.alpha_rules import (
    ALPHAS,
    DECIMALS,
    AlphaRule,
    Figures,
    Forest,
    Groups,
    Model,
    Tree,
    best_alphas,
    matrix,
)
from lab.evaluation.clusters import Clusters
from lab.evaluation.intervals import standard_errors
from lab.evaluation.nested import FOLDS, fold_of_unit
from lab.retrieval.config import RuleName

COMMON = "common"
INNER_FOLDS = 5
# Questions of all that a group's mean is drawn towards the common one by (as if so many more had
# been asked), and the least questions of a leaf.
PULLS = (5.0, 20.0)
LEAVES = (10, 30)
TREES = 32
MOST_LEAVES = 32

# Figures and centred curves of the training questions, and a seed -> what was learned of them.
Fit = Callable[[Figures, Floats, int], Model]


@dataclass(frozen=True, eq=False)
class Learned:
    """What a rule gives. `alphas` are the questions' own, each by a rule that was chosen and
    trained on the folds without its document: what they score is an honest estimate of the whole
    procedure. `rule` is chosen and trained on all questions, for use. `picked` says in which share
    of the folds each candidate was chosen; `folds` how many there were, 0 where there is one unit
    and nothing can be left out: then every alpha is 0.5."""

    alphas: Floats
    rule: AlphaRule
    picked: Mapping[str, float]
    folds: int


def learn(
    name: RuleName | None, figures: Figures, curves: Floats, groups: Clusters, seed: int
) -> Learned:
    """Learn a rule from the metric of every question at each of `ALPHAS` (`curves`, questions x
    alphas), units of `groups` kept whole; None learns one alpha for all.

    In every outer fold the candidates (one alpha for all among them) are compared by
    cross-validation over the other folds (Varma & Simon 2006), and the best is trained on these;
    of equals the simpler. There is one division into folds, for a ranking has one alpha.
    """
    candidates = _candidates(name)
    folds = min(FOLDS, len(groups))
    _, final = _chosen(candidates, figures, curves, groups, seed)
    rule = AlphaRule(name or "learned", final)
    if folds < 2:
        return Learned(np.full(len(curves), 0.5), rule, {}, 0)
    fold = _folds(groups, folds, seed)
    alphas, picks = np.empty(len(curves)), dict.fromkeys(candidates, 0)
    for held_out in range(folds):
        inside = fold != held_out
        picked, model = _chosen(
            candidates, _rows(figures, inside), curves[inside], _units(groups, inside), seed
        )
        alphas[~inside] = best_alphas(model.curves(_rows(figures, ~inside)))
        picks[picked] += 1
    shares = {candidate: count / folds for candidate, count in picks.items()}
    return Learned(alphas, rule, shares, folds)


def _candidates(name: RuleName | None) -> dict[str, Fit]:
    """By name, the simplest first."""
    candidates: dict[str, Fit] = {COMMON: _common}
    if name == "learned":
        candidates |= {f"forest of leaves of {least}": _forest(least) for least in LEAVES[::-1]}
    elif name is not None:
        column = name.removeprefix("by_")
        candidates |= {f"{column}, pulled by {pull:g}": _grouped(column, pull) for pull in PULLS}
    return candidates


def _chosen(
    candidates: Mapping[str, Fit], figures: Figures, curves: Floats, groups: Clusters, seed: int
) -> tuple[str, Model]:
    """The candidate with the highest score on questions left out, trained on all of these; one
    alpha for all unless it gains more than one standard error over that (Breiman et al. 1984,
    3.4.3)."""
    centred = curves - curves.mean(axis=1, keepdims=True)
    folds = min(INNER_FOLDS, len(groups))
    scores = {name: np.zeros(len(curves)) for name in candidates}
    if folds > 1 and len(candidates) > 1:
        fold = _folds(groups, folds, seed + 1)
        for held_out in range(folds):
            inside = fold != held_out
            known, asked = _rows(figures, inside), _rows(figures, ~inside)
            for name, fit in candidates.items():
                alphas = best_alphas(fit(known, centred[inside], seed).curves(asked))
                scores[name][~inside] = at(centred[~inside], alphas)
    best = max(candidates, key=lambda name: round(float(scores[name].sum()), DECIMALS))
    gains = (scores[best] - scores[COMMON])[:, None]
    if gains.mean() <= standard_errors(gains, groups)[0]:
        best = COMMON
    return best, candidates[best](figures, centred, seed)


def at(curves: Floats, alphas: Floats) -> Floats:
    """What every question scores at its alpha, one of `ALPHAS`."""
    return np.asarray(curves[np.arange(len(curves)), np.searchsorted(ALPHAS, alphas)])


def _common(figures: Figures, centred: Floats, seed: int) -> Model:
    return Groups("", np.round(centred.mean(axis=0), DECIMALS), {})


def _grouped(column: str, pull: float) -> Fit:
    def fit(figures: Figures, centred: Floats, seed: int) -> Model:
        names, rest = figures[column].astype(str), centred.mean(axis=0)
        of = {}
        for name in np.unique(names).tolist():
            members = centred[names == name]
            of[name] = np.round(
                (members.sum(axis=0) + pull * rest) / (len(members) + pull), DECIMALS
            )
        return Groups(column, np.round(rest, DECIMALS), of)

    return fit


def _forest(least: int) -> Fit:
    """Extremely randomised trees (Geurts, Ernst & Wehenkel 2006): of trees with random cuts the
    mean varies smoothly with the figures."""

    def fit(figures: Figures, centred: Floats, seed: int) -> Model:
        from sklearn.ensemble import ExtraTreesRegressor

        names = tuple(name for name in sorted(figures) if figures[name].dtype.kind == "f")
        forest = ExtraTreesRegressor(
            TREES,
            min_samples_leaf=least,
            max_leaf_nodes=MOST_LEAVES,
            max_features=0.5,
            random_state=seed,
        )
        forest.fit(matrix(figures, names), centred)
        return Forest(names, tuple(_tree(estimator.tree_) for estimator in forest.estimators_))

    return fit


def _tree(grown: "object") -> Tree:
    """scikit-learn's arrays in the order in which a child follows its parent."""
    left, right, figure, threshold, value = (
        np.array(getattr(grown, name))
        for name in ("children_left", "children_right", "feature", "threshold", "value")
    )
    leaf = left < 0
    return Tree(
        figure=np.where(leaf, -1, figure).astype(np.int64),
        threshold=np.where(leaf, 0.0, threshold),
        left=np.where(leaf, 0, left).astype(np.int64),
        right=np.where(leaf, 0, right).astype(np.int64),
        curve=np.where(leaf[:, None], np.round(value[:, :, 0], DECIMALS), 0.0),
    )


def _folds(groups: Clusters, folds: int, seed: int) -> Ints:
    """The fold of every question."""
    sizes = np.bincount(groups.of)
    return np.asarray(fold_of_unit(sizes, folds, np.random.default_rng(seed))[groups.of])


def _rows(figures: Figures, inside: Bools) -> Figures:
    return {name: column[inside] for name, column in figures.items()}


def _units(groups: Clusters, inside: Bools) -> Clusters:
    """The units of some questions, numbered anew."""
    return Clusters(np.unique(groups.of[inside], return_inverse=True)[1], groups.unit)
