"""The choice: nested folds, the one-standard-error rule, chances to lead, power, the Pareto front,
weights, cases."""

import numpy as np
import pytest
from scipy.special import stdtrit
from scipy.stats import nct

from lab.evaluation.cases import cases
from lab.evaluation.choice import all_pairs
from lab.evaluation.clusters import Clusters, clustered, each_question
from lab.evaluation.costs import Costs
from lab.evaluation.nested import nested
from lab.evaluation.pareto import pareto_front, weighted
from lab.evaluation.power import (
    Look,
    detectable_difference,
    planned,
    typical_standard_error,
    units_needed,
)
from lab.evaluation.selection import Selection, select
from lab.evaluation.significance import sign_patterns

NOBODY = np.nan


def costs(
    tokens: list[float], latency: list[float] | None = None, stages: list[float] | None = None
) -> Costs:
    systems = len(tokens)
    return Costs(
        np.array(tokens),
        np.array(latency or [NOBODY] * systems),
        np.array(stages or [1.0] * systems),
    )


def choose(
    scores: np.ndarray, clusters: Clusters, groups: Clusters, spent: Costs, seed: int
) -> Selection:
    names = [f"system {place}" for place in range(scores.shape[1])]
    return select(scores, clusters, groups, spent, seed, names)


def nearly_equal(systems: int = 3) -> np.ndarray:
    base = np.random.default_rng(0).random((80, 1)) * 0.5
    noise = np.random.default_rng(1).normal(0, 0.1, (80, systems))
    return base + noise - noise.mean(axis=0) + 0.2


def test_the_cheapest_within_one_error_is_recommended() -> None:
    scores, units = nearly_equal(), each_question(80)
    assert choose(scores, units, units, costs([900, 500, 800]), 0).recommended == 1


def test_costs_within_a_tenth_are_equal_then_latency_then_stages_decide() -> None:
    scores, units = nearly_equal(), each_question(80)
    assert (
        choose(scores, units, units, costs([520, 500, 900], latency=[0.1, 0.5, 0.1]), 0).recommended
        == 0
    )
    assert (
        choose(scores, units, units, costs([520, 500, 900], stages=[1, 3, 1]), 0).recommended == 0
    )


def test_a_cheap_but_worse_system_is_not_recommended() -> None:
    scores = np.hstack([nearly_equal(1), nearly_equal(1) - 0.15])
    units = each_question(80)
    choice = choose(scores, units, units, costs([900, 100]), 0)
    assert choice.recommended == choice.best == 0
    assert choice.undecided == (0,)


def test_chances_to_lead_add_up_and_equals_share_them() -> None:
    scores = np.hstack([nearly_equal(2), nearly_equal(2)])
    units = each_question(80)
    chances = choose(scores, units, units, costs([1] * 4), 0).probability_best
    assert chances.sum() == pytest.approx(1)
    assert chances[:2] == pytest.approx(chances[2:])


def test_ties_for_the_best_go_to_the_cheaper_then_to_the_first_name_in_any_order() -> None:
    base = np.random.default_rng(3).random((40, 1))
    worse = base - 0.2
    # Another question for question, equal on average.
    swapped = base[np.roll(np.arange(40), 1)]
    scores, units = np.hstack([worse, base, swapped, base]), each_question(40)
    names, tokens = np.array(["d", "c", "b", "a"]), np.array([1.0, 900, 500, 500])
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(4)
        spent = costs(tokens[order].tolist())
        found = select(scores[:, order], units, units, spent, 0, names[order].tolist())
        assert names[order][found.best] == names[order][found.recommended] == "a"
        assert sorted(names[order][list(found.tied)]) == ["b", "c"]
        picked = dict(zip(names[order], found.nested.picked, strict=True))
        assert (picked["c"], picked["d"]) == (0, 0), "a, its equal at less cost, is picked for c"


def test_nested_on_paper() -> None:
    """Two groups, two systems, each better on one group: what wins on one always loses on the
    other."""
    scores = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.9], [0.0, 0.9]])
    found = nested(scores, Clusters(np.array([0, 0, 1, 1]), "document"), seed=0)
    assert (found.folds, found.honest) == (2, 0.0)
    assert found.apparent == pytest.approx(0.5)
    assert found.optimism == pytest.approx(0.5)
    assert found.picked.tolist() == [0.5, 0.5]


def test_groups_are_never_torn() -> None:
    groups = clustered(np.repeat(np.arange(25), 4))
    scores = np.zeros((100, 25))
    scores[np.arange(100), groups.of] = 1.0
    assert nested(scores, groups, seed=0).honest == 0.0, (
        "a system that only knows one document never scores on another"
    )


def test_one_group_cannot_be_left_out() -> None:
    assert np.isnan(
        nested(
            np.random.default_rng(0).random((5, 2)),
            Clusters(np.zeros(5, dtype=np.int64), "document"),
            0,
        ).honest
    )


def test_power_on_paper() -> None:
    # Noncentral t of 99 degrees of freedom: P(T > 1.9842) = 0.8 at 2.8295.
    found = detectable_difference(0.02, 100, planned(100))
    assert found == pytest.approx(0.02 * 2.83, rel=0.02)
    assert 1 - nct.cdf(stdtrit(99, 0.975), 99, found / 0.02) == pytest.approx(0.8, abs=0.01)
    # With many units z stands for t: (1.96 + 0.8416)^2 standard errors.
    many = units_needed(0.01, 0.02, 100, planned(100))
    assert many == pytest.approx(100 * (0.02 * 2.8016 / 0.01) ** 2, rel=0.01)
    assert units_needed(0.0, 0.02, 100, planned(100)) is None


def test_a_permutations_critical_value_is_no_number_of_standard_errors() -> None:
    # r = 3 of 25 units is t = 3 sqrt(24 / 16) = 3.674.
    found = detectable_difference(0.1, 25, Look(3.0))
    assert 1 - nct.cdf(3.674, 24, found / 0.1) == pytest.approx(0.8, abs=0.03)
    assert found > 0.1 * (3.0 + 0.8416) * 1.15


@pytest.mark.parametrize("units", [1, 2, 5])
def test_too_few_units_detect_nothing(units: int) -> None:
    assert detectable_difference(0.1, units, planned(units)) == np.inf


def test_so_many_units_settle_what_all_agree_in() -> None:
    # (1 + 0.2)^n >= 1 / 0.05.
    assert units_needed(0.2, 1e-6, 8, planned(8)) == 17
    # Losses in fewer than one unit in ten are left out: (10 / 9)^n >= 20.
    assert units_needed(0.001, 1e-9, 8, planned(8)) == 29


def test_four_times_the_questions_halve_the_detectable_difference() -> None:
    scores = np.random.default_rng(0).random((100, 5))
    small = typical_standard_error(scores, 0, each_question(100))
    large = typical_standard_error(np.tile(scores, (4, 1)), 0, each_question(400))
    assert large == pytest.approx(small / 2, rel=0.01)


def test_pareto_front_on_paper() -> None:
    quality = np.array([0.9, 0.8, 0.8, 0.7, 0.9])
    spent = np.array([[900.0, NOBODY], [500, 1], [600, 1], [500, 1], [900, 1]])
    assert pareto_front(quality, spent).tolist() == [True, True, False, False, True]


def test_a_dearer_cost_keeps_a_system_on_the_front_only_if_it_buys_something() -> None:
    assert pareto_front(np.array([0.9, 0.9]), np.array([[100.0, 2], [100, 1]])).tolist() == [
        False,
        True,
    ]


def test_weights_are_shares() -> None:
    values = np.array([[0.2, 0.5, 1.0]])
    assert weighted(values, ("recall@5", "precision@3", "ndcg@10"), {"recall@5": 1, "ndcg@10": 3})[
        0
    ] == pytest.approx(0.8)


def test_cases_part_the_set() -> None:
    scores = np.array([[1, 1, 1], [0, 0, 0], [0, 0.5, 0], [0.2, 0, 0.9]])
    found = cases(scores, ["a", "b", "c", "d"], 0, 2)
    assert (found.by_all, found.by_none, found.by_some) == (("a",), ("b",), (("c", 1), ("d", 2)))
    assert (found.won, found.lost) == ((), ("d",))


def test_what_is_cheaper_is_said_of_every_cost_that_was_measured() -> None:
    spent = Costs(
        np.array([500.0, 900, 540]),
        np.array([0.1, 0.1, np.nan]),
        np.array([1.0, 3, 3]),
        np.array([10.0, 10, 40]),
    )
    assert spent.cheaper(0, 1) == {"context tokens": (500, 900), "stages": (1, 3)}
    assert spent.cheaper(0, 2) == {"index bytes": (10, 40), "stages": (1, 3)}, "540 is as good"
    assert spent.cheaper(2, 0) == {}
    assert spent.cheapest(np.arange(3)).tolist() == [0]


def test_verdicts_on_the_best_tell_undecided_from_what_no_outcome_could_settle() -> None:
    draw = np.random.default_rng(0)
    best = draw.uniform(0.4, 0.6, (60, 1))
    few = best.copy()
    few[:3] -= 0.4
    noise = draw.normal(0, 0.05, (60, 1))
    close = best - 0.002 + noise - noise.mean()
    scores = np.hstack([best, best, best - 0.3, close, few])
    units = each_question(60)
    found = choose(scores, units, units, costs([1.0, 2, 3, 4, 5]), 0)
    assert found.verdicts == ["same", "same", "worse", "undecided", "cannot be settled"]


def test_the_largest_scaled_difference_is_that_of_every_pair_in_every_flip() -> None:
    sums = np.random.default_rng(3).normal(size=(17, 6)).round(2)
    sums[:, 4] = sums[:, 1]  # a pair without a difference
    flips = 700  # more than two blocks
    signs = np.concatenate(list(sign_patterns(17, 5, flips)))
    by_hand = [
        max(
            abs(float(row @ (sums[:, a] - sums[:, b])))
            / float(np.linalg.norm(sums[:, a] - sums[:, b]))
            for a in range(6)
            for b in range(a)
            if not np.array_equal(sums[:, a], sums[:, b])
        )
        for row in signs
    ]
    assert all_pairs(sums, 5, flips).largest == pytest.approx(sorted(by_hand), abs=1e-12)
