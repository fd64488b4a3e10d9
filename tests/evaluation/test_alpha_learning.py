"""Learning an alpha a question: what is planted is found, what is not is not, and nothing leaks."""

from collections.abc import Sequence

import numpy as np
import pytest

from lab.arrays import Floats
from lab.evaluation.alpha_learning import at, learn
from lab.evaluation.alpha_rules import ALPHAS, RULES, Figures
from lab.evaluation.clusters import Clusters
from lab.evaluation.intervals import mean_intervals
from lab.retrieval.config import RuleName


def planted(documents: int, seed: int, each: int = 4) -> tuple[Figures, Floats, Clusters]:
    """So many questions each document: three of five score 1 at an alpha below 0.25, the others
    above 0.75, elsewhere 0.3; one figure of five tells them apart but for noise, as do kind and
    length. (Were they as many, leaving out a few would turn the common alpha from side to side.)
    """
    draw = np.random.default_rng(seed)
    count = each * documents
    by_code = np.arange(count) % 5 < 3
    low = np.where(by_code, 0.0, 0.75)[:, None]
    curves = np.where((low <= ALPHAS) & (low + 0.25 >= ALPHAS), 1.0, 0.3)
    figures: dict[str, np.ndarray] = {name: draw.normal(size=count) for name in "abcd"}
    figures["codes"] = by_code + 0.2 * draw.normal(size=count)
    figures["kind"] = np.where(by_code, "exact_id", "semantic")
    figures["length"] = np.where(by_code, "1-3 words", "8-14 words")
    return figures, curves, Clusters(np.repeat(np.arange(documents), each), "document")


def gain(rule: RuleName, figures: Figures, curves: Floats, groups: Clusters) -> Floats:
    """Of every question, by the rule less by one alpha for all."""
    common = at(curves, learn(None, figures, curves, groups, 0).alphas)
    return at(curves, learn(rule, figures, curves, groups, 0).alphas) - common


def oracle(curves: Floats, figures: Figures, groups: Clusters) -> float:
    common = at(curves, learn(None, figures, curves, groups, 0).alphas)
    return float((curves.max(axis=1) - common).mean())


def shuffled(curves: Floats, seed: int) -> Floats:
    return curves[np.random.default_rng(seed).permutation(len(curves))]


@pytest.mark.parametrize("rule", RULES)
def test_planted_halves_give_most_of_what_the_oracle_gains(rule: RuleName) -> None:
    figures, curves, groups = planted(6, 1, each=12)
    assert gain(rule, figures, curves, groups).mean() >= 0.8 * oracle(curves, figures, groups)


def test_where_nothing_is_to_be_gained_all_have_one_alpha() -> None:
    figures, curves, groups = planted(4, 1, each=12)
    same = np.tile(curves[0], (len(curves), 1))
    for rule in RULES:
        assert gain(rule, figures, same, groups).tolist() == [0.0] * len(curves)


@pytest.mark.parametrize("rule", ["by_kind", "learned"])
def test_what_a_document_scores_says_nothing_of_its_own_alphas(rule: RuleName) -> None:
    # The labels of one document are turned round: its own questions keep their alphas.
    figures, curves, groups = planted(5, 2, each=12)
    members = groups.of == 3
    turned = np.where(members[:, None], curves[:, ::-1], curves)
    before, after = (learn(rule, figures, of, groups, 0) for of in (curves, turned))
    assert before.alphas[members].tolist() == after.alphas[members].tolist()
    assert before.folds == 5


def test_equal_inputs_give_equal_rules() -> None:
    figures, curves, groups = planted(3, 3, each=16)
    first, second = (learn("learned", figures, curves, groups, 5) for _ in range(2))
    assert first.rule.to_json() == second.rule.to_json()
    assert first.alphas.tolist() == second.alphas.tolist()


def test_with_one_unit_nothing_is_estimated() -> None:
    figures, curves, _ = planted(1, 0)
    one = learn("by_kind", figures, curves, Clusters(np.zeros(4, dtype=np.int64), "document"), 0)
    assert (one.alphas.tolist(), one.folds) == ([0.5] * 4, 0)


def covers(gains: Sequence[Floats], groups: Clusters) -> float:
    """The share of sets whose interval of the mean holds 0."""
    ends = [mean_intervals(of[:, None], groups, 0, bounds=None) for of in gains]
    return float(np.mean([low[0] <= 0 <= high[0] for low, high in ends]))


def test_shuffled_labels_by_kind_gain_nothing() -> None:
    # The scores of any other question in place of its own: 20 sets, at the 5% level one may miss.
    gains, groups = [], planted(20, 0)[2]
    for seed in range(20):
        figures, curves, _ = planted(20, seed)
        gains.append(gain("by_kind", figures, shuffled(curves, seed), groups))
    assert covers(gains, groups) >= 0.85
    assert abs(float(np.mean(gains))) < 0.02


@pytest.mark.slow
def test_simulation_planted_and_shuffled() -> None:
    """Prints the share of the oracle's gain on planted halves, and how often the interval of what a
    rule gains on shuffled labels holds 0."""
    groups = planted(30, 0)[2]
    for rule in RULES:
        shares, gains = [], []
        for seed in range(20):
            figures, curves, _ = planted(30, seed)
            own = gain(rule, figures, curves, groups).mean()
            shares.append(own / oracle(curves, figures, groups))
            gains.append(gain(rule, figures, shuffled(curves, seed), groups))
        print(
            f"{rule}: planted {min(shares):.0%} to {max(shares):.0%} of the oracle's gain; "
            f"shuffled {np.mean(gains):+.4f}, interval holds 0 in {covers(gains, groups):.0%}"
        )
        assert min(shares) >= 0.8
        assert covers(gains, groups) >= 0.85
