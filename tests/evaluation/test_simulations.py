"""What the procedures promise, checked on sets whose truth is known. The slow ones print the
figures the README records."""

from collections.abc import Callable

import numpy as np
import pytest

from lab.arrays import Floats
from lab.evaluation.clusters import clustered, each_question
from lab.evaluation.intervals import mean_intervals
from lab.evaluation.nested import best_of, nested
from lab.evaluation.power import detectable_difference, planned_critical, typical_standard_error
from lab.evaluation.selection import Costs, select
from lab.evaluation.significance import ALPHA, against_best, holm, sign_flip_test
from tests.evaluation.worlds import equal_systems, scored

Law = Callable[[np.random.Generator, tuple[int, ...]], Floats]

SIZES = (50, 100, 300)
SYSTEMS = 66


def false_wins(questions: int, systems: int, sets: int) -> tuple[float, float]:
    """Share of sets of equal systems in which the best one is told from any other: by the lab's
    test, and by Holm over the comparisons with the winner alone."""
    units, ours, naive = each_question(questions), 0, 0
    for number in range(sets):
        scores = equal_systems((questions, number), questions, systems)
        best = int(best_of(scores.mean(axis=0)))
        ours += bool((against_best(scores, best, number, 999).tested.p < ALPHA).any())
        others = np.delete(scores, best, axis=1)
        naive += bool(
            (
                holm(sign_flip_test(units.sums(scores[:, [best]] - others), number, 999).p) < ALPHA
            ).any()
        )
    return ours / sets, naive / sets


def estimates(questions: int, systems: int, sets: int) -> tuple[float, float]:
    """Mean error of the cross-validated and of the apparent score of the best of equal systems."""
    truth = equal_systems((7,), 2_000_000, 1).mean()
    found = [
        nested(
            equal_systems((1, questions, n), questions, systems),
            each_question(questions),
            n,
            repeats=2,
        )
        for n in range(sets)
    ]
    return float(np.mean([f.honest for f in found]) - truth), float(
        np.mean([f.apparent for f in found]) - truth
    )


def coverage(draw: Law, questions: int, sets: int = 2_000) -> float:
    """Share of intervals that hold the true mean; every column is a set of questions."""
    truth = draw(np.random.default_rng(1), (4_000_000,)).mean()
    low, high = mean_intervals(
        draw(np.random.default_rng(questions), (questions, sets)),
        each_question(questions),
        0,
        resamples=1_999,
    )
    return float(((low <= truth) & (truth <= high)).mean())


def found_planted(
    questions: int, systems: int, sets: int, times: float = 2.0
) -> tuple[float, float]:
    """Share of sets in which a system that is better by `times` the detectable difference leads and
    is recommended, and in which besides no other is left undecided."""
    units, leads, alone = each_question(questions), 0, 0
    for number in range(sets):
        scores = equal_systems((3, questions, number), questions, systems)
        planted = number % systems
        error = typical_standard_error(scores, 0, units)
        critical = against_best(scores, 0, number, 499).critical
        gap = times * detectable_difference(error, critical)
        # A gap within [0, 1] has to fit: everything is halved first, then one system is lifted,
        # noise and all.
        lifted = scores / 2
        lifted[:, planted] += gap / 2
        choice = select(
            lifted,
            units,
            units,
            Costs(np.ones(systems), np.full(systems, np.nan), np.ones(systems)),
            number,
        )
        leads += choice.best == choice.recommended == planted
        alone += choice.undecided == (planted,)
    return leads / sets, alone / sets


LAWS: dict[str, Law] = {
    "ndcg": lambda draw, shape: scored(draw.standard_normal(shape)),
    "recall": lambda draw, shape: (draw.random(shape) < 0.8).astype(float),
    "precision": lambda draw, shape: draw.binomial(3, 0.4, shape) / 3,
    "near the ceiling": lambda draw, shape: (draw.random(shape) < 0.93).astype(float),
}


def test_equal_systems_seldom_have_a_winner() -> None:
    ours, naive = false_wins(50, 20, 150)
    assert ours <= 0.06
    assert naive >= 0.15, "the world is too tame to show the fault that is guarded against"


def test_nested_estimate_is_unbiased_where_the_winner_flatters_itself() -> None:
    honest, apparent = estimates(50, SYSTEMS, 700)
    assert abs(honest) <= 0.005
    assert apparent >= 0.05


@pytest.mark.parametrize("law", LAWS)
def test_intervals_cover(law: str) -> None:
    assert 0.93 <= coverage(LAWS[law], 100, 1_000) <= 0.97


def test_clustered_intervals_cover_where_plain_ones_are_too_narrow() -> None:
    draw, documents, each = np.random.default_rng(0), 40, 5
    labels = np.repeat(np.arange(documents), each)
    sets = np.sqrt(0.5) * draw.standard_normal((documents, 1_000))[labels] + np.sqrt(
        0.5
    ) * draw.standard_normal((len(labels), 1_000))
    covered = {}
    for name, units in (
        ("documents", clustered(labels)),
        ("questions", each_question(len(labels))),
    ):
        low, high = mean_intervals(sets, units, 0, bounds=None, resamples=1_999)
        covered[name] = float(((low <= 0) & (high >= 0)).mean())
    assert 0.93 <= covered["documents"] <= 0.97
    assert covered["questions"] < 0.85


def test_a_gap_of_twice_the_detectable_difference_is_found() -> None:
    leads, alone = found_planted(100, 20, 40)
    assert leads >= 0.9
    assert alone >= 0.9


def test_the_detectable_difference_is_detected_four_times_in_five() -> None:
    sets = np.random.default_rng(0).standard_normal((1_000, 100, 1))
    shift = detectable_difference(1 / np.sqrt(100), planned_critical(100))
    found = np.mean(
        [sign_flip_test(differences + shift, 0, 999).p[0] < ALPHA for differences in sets]
    )
    assert 0.76 <= found <= 0.84


@pytest.mark.slow
@pytest.mark.parametrize("questions", SIZES)
def test_the_whole_grid_under_the_null(questions: int, capsys: pytest.CaptureFixture[str]) -> None:
    ours, naive = false_wins(questions, SYSTEMS, 1_000)
    honest, apparent = estimates(questions, SYSTEMS, 2_000)
    covered = {law: coverage(LAWS[law], questions) for law in LAWS}
    leads, alone = found_planted(questions, SYSTEMS, 200)
    with capsys.disabled():
        print(
            f"\n{questions} questions, {SYSTEMS} equal systems: false wins {ours:.3f} (Holm over "
            f"the winner's row {naive:.3f})"
        )
        print(
            f"  error of the nested estimate {honest:+.4f}, of the apparent score {apparent:+.4f}"
        )
        print("  coverage: " + ", ".join(f"{law} {share:.3f}" for law, share in covered.items()))
        print(
            f"  planted gap of twice the detectable difference: found {leads:.3f}, told from all "
            f"others {alone:.3f}"
        )
    assert ours <= 0.06
    assert abs(honest) <= 0.005
    # Near the ceiling 50 questions with two outcomes cannot hit 95%: one more outcome inside makes
    # it 98%.
    assert all(
        0.93 <= share <= (1 if law == "near the ceiling" else 0.97)
        for law, share in covered.items()
    )
    assert leads >= 0.9
    assert alone >= 0.9
