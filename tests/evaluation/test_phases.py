"""What the places of the cuts add: arithmetic on paper, and equal systems whose only difference is
where their cuts fell."""

import numpy as np
import pytest
from scipy import stats

from lab.arrays import Floats
from lab.evaluation.choice import all_pairs
from lab.evaluation.clusters import each_question
from lab.evaluation.nested import best_of
from lab.evaluation.paired import compare
from lab.evaluation.phases import (
    Luck,
    PhaseScores,
    gaps_between,
    intervals_over_phases,
    over_phases,
    phase_errors,
    phase_means,
)
from lab.evaluation.power import Look, planned, units_needed
from lab.evaluation.verdict import ALPHA

# Deviations of the questions, of whole phases, and of single questions at single phases.
WORLDS = {
    "no luck in common": (0.3, 0.0, 0.3),
    "as much as questions": (0.3, 0.03, 0.2),
    "most of all": (0.1, 0.06, 0.2),
}


def drawn(seed: tuple[int, ...], world: str, phases: int, questions: int, systems: int) -> Floats:
    """Scores of equal systems, each with cuts of its own: phases x questions x systems."""
    of_question, of_phase, of_both = WORLDS[world]
    draw = np.random.default_rng(seed)
    return np.asarray(
        of_question * draw.standard_normal((1, questions, systems))
        + of_phase * draw.standard_normal((phases, 1, systems))
        + of_both * draw.standard_normal((phases, questions, systems))
    )


def wins(world: str, phases: int, questions: int, sets: int) -> tuple[float, float, float]:
    """Share of sets of equal systems in which one is told from another: a planned pair, the best of
    twelve, and any of eleven against one that was named."""
    units = each_question(questions)
    pair, best_of_all, named = 0, 0, 0
    for number in range(sets):
        values = drawn((questions, number), world, phases, questions, 12)
        scores, means = over_phases(values), phase_means(values)
        gaps, of_phases = scores[:, 1:] - scores[:, [0]], means[:, 1:] - means[:, [0]]
        pair += bool(
            compare(gaps[:, [0]], units, number, phase_means=of_phases[:, [0]]).p[0] < ALPHA
        )
        same = np.zeros(11, dtype=np.int64)
        family = compare(gaps, units, number, phase_means=of_phases, alike=same)
        named += bool((family.p_holm < ALPHA).any())
        best = int(best_of(scores.mean(axis=0)))
        found = all_pairs(scores, number, 499, phase_means=means, cuts=np.arange(12)).against(best)
        best_of_all += bool((found.tested.p < ALPHA).any())
    return pair / sets, best_of_all / sets, named / sets


def test_the_error_of_a_mean_over_phases_on_paper() -> None:
    # Means .70, .74, .78, .82: deviations -.06, -.02, .02, .06, variance .008 / 3; four phases.
    means = np.array([[0.70], [0.74], [0.78], [0.82]])
    assert phase_errors(means)[0] == pytest.approx(np.sqrt(0.008 / 3 / 4))
    assert phase_errors(np.full((4, 1), 0.7))[0] == 0


def test_the_degrees_of_freedom_are_satterthwaites() -> None:
    luck = Luck.beside(np.array([[0.0], [0.02], [0.04], [0.06]]), np.array([0.01]), 41)
    q, c = 0.01**2, float(luck.cuts[0]) ** 2
    assert luck.degrees[0] == pytest.approx((q + c) ** 2 / (q**2 / 40 + c**2 / 3))
    assert luck.together[0] == pytest.approx(np.sqrt(q + c))


def test_a_statistic_is_lowered_to_one_that_is_as_rare() -> None:
    """Root of 41 units: |sum| / root of squares r is t = r sqrt(40 / (41 - r^2))."""
    luck = Luck.beside(np.array([[0.0], [0.02], [0.04], [0.06]]), np.array([0.01]), 41)
    mean, ratio = np.array([0.03]), np.array([2.8])
    lowered = float(luck.lowered(ratio, mean, np.ones(1))[0])
    p = 2 * stats.t.sf(0.03 / luck.together[0], luck.degrees[0])
    t = lowered * np.sqrt(40 / (41 - lowered**2))
    assert 2 * stats.t.sf(t, 40) == pytest.approx(p)
    assert lowered < 2.8


def test_without_luck_nothing_changes() -> None:
    draw = np.random.default_rng(0)
    scores = draw.random((60, 5))
    means = np.tile(scores.mean(axis=0), (4, 1))
    units = each_question(60)
    plain, counted = compare(scores, units, 0), compare(scores, units, 0, phase_means=means)
    assert np.array_equal(plain.p, counted.p)
    assert np.allclose(plain.low, counted.low)
    pairs = [all_pairs(scores, 0, 499, phase_means=m, cuts=np.arange(5)) for m in (None, means)]
    assert np.array_equal(*(pair.against(2).tested.p for pair in pairs))


def test_an_interval_grows_with_the_spread_and_stays_within_its_bounds() -> None:
    draw = np.random.default_rng(1)
    scores, units = draw.random((80, 1)), each_question(80)
    centre, widths = float(scores.mean()), []
    for spread in (0.0, 0.01, 0.05, 0.4):
        means = centre + spread * np.array([[-1.0], [1.0], [-0.5], [0.5]])
        low, high = intervals_over_phases(scores, units, 0, means)
        assert 0 <= low[0] <= centre <= high[0] <= 1
        widths.append(high[0] - low[0])
    assert widths == sorted(widths)
    assert widths[0] < widths[1]


def test_where_all_questions_agree_the_phases_alone_are_uncertain() -> None:
    scores, units = np.full((30, 1), 0.5), each_question(30)
    means = np.array([[0.45], [0.5], [0.5], [0.55]])
    low, high = intervals_over_phases(scores, units, 0, means, bounds=None)
    half = stats.t.ppf(0.975, 3) * means.std(ddof=1) / 2
    assert high[0] - 0.5 == pytest.approx(half)
    assert 0.5 - low[0] == pytest.approx(half)


def test_phases_without_a_value_are_left_out_of_means() -> None:
    values = np.array([[[0.2], [np.nan]], [[0.6], [np.nan]], [[np.nan], [np.nan]]])
    assert over_phases(values)[0, 0] == pytest.approx(0.4)
    assert np.isnan(over_phases(values)[1, 0])
    assert phase_means(values)[:2, 0].tolist() == [0.2, 0.6]


def test_sides_of_other_phases_are_as_far_apart_as_the_luck_of_both() -> None:
    before, after = np.array([[0.1], [0.2], [0.3]]), np.array([[0.5], [0.6], [0.55], [0.65]])
    gaps = gaps_between(before, after)
    assert gaps is not None
    assert gaps.mean() == pytest.approx(after.mean() - before.mean())
    both = np.hypot(phase_errors(before), phase_errors(after))
    assert phase_errors(gaps) == pytest.approx(both)
    assert gaps_between(None, None) is None
    assert phase_errors(gaps_between(before, None)) == pytest.approx(phase_errors(before))


def test_systems_with_the_same_cuts_share_their_luck() -> None:
    """Two systems over one chunking that the cuts move alike are told apart; over two chunkings
    with the same figures they are not."""
    draw = np.random.default_rng(3)
    moved = 0.1 * np.array([1.0, -1.0, 0.6, -0.6])[:, None]
    base = draw.random(100)
    first, second = base + moved, base + 0.04 + 0.05 * draw.standard_normal(100) + moved
    together = PhaseScores(np.stack([first, second], axis=2), np.array([0, 0]))
    assert together.gap_errors(0)[1] == 0
    apart = PhaseScores(np.stack([first, second[::-1]], axis=2), np.array([0, 1]))
    assert apart.gap_errors(0)[1] > 0.05
    p = [
        all_pairs(over_phases(of.values), 0, 499, phase_means=of.means, cuts=of.cuts)
        .against(1)
        .tested.p[0]
        for of in (together, apart)
    ]
    assert p[0] < ALPHA < p[1]


def test_more_questions_do_not_settle_what_the_cuts_leave_open() -> None:
    look = planned(100)
    assert units_needed(0.05, 0.02, 100, look) is not None
    plain, lucky = (units_needed(0.05, 0.02, 100, look, cuts=cuts) for cuts in (0.0, 0.01))
    assert plain is not None
    assert lucky is not None
    assert lucky > plain
    assert units_needed(0.05, 0.02, 100, Look(look.critical), cuts=0.02) is None


def test_equal_systems_with_other_cuts_seldom_have_a_winner() -> None:
    pair, best, named = wins("as much as questions", 4, 100, 60)
    assert pair <= 0.1
    assert best <= 0.1
    assert named <= 0.1


def test_without_counting_the_cuts_a_winner_would_be_named() -> None:
    world, found = "most of all", 0
    for number in range(60):
        scores = over_phases(drawn((100, number), world, 4, 100, 12))
        best = int(best_of(scores.mean(axis=0)))
        found += bool((all_pairs(scores, number, 499).against(best).tested.p < ALPHA).any())
    assert found >= 30, "the world is too tame to show the fault that is guarded against"


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("phases", [3, 4, 8])
def test_false_wins_of_lucky_cuts(
    world: str, phases: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for questions in (40, 150):
        pair, best, named = wins(world, phases, questions, 400)
        with capsys.disabled():
            print(
                f"\n{world}, {phases} phases, {questions} questions: false wins of a planned pair "
                f"{pair:.3f}, of the best of 12 {best:.3f}, of 11 against one {named:.3f}",
                end="",
            )
        # 400 sets: a share of 5% is measured within 2.2%; three phases say least.
        most = 0.085 if phases == 3 else 0.072
        assert max(pair, best, named) <= most
