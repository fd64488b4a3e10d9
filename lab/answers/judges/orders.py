"""Preferences asked in both orders: how often a judge contradicts itself, and which place it
favours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lab.answers.judges.judgement import Preference

# 97.5% quantile of the normal distribution.
Z = 1.959964


@dataclass(frozen=True, slots=True)
class BothOrders:
    """One judge's pairs that were asked in both orders. `agreeing` chose the same answer twice (a
    tie twice included); `first_twice` and `second_twice` chose the same place twice. A judge that
    takes the second place with chance p whatever stands there has second_twice / pairs = p, and one
    that errs at random errs to both places alike, so `bias`, (second_twice - first_twice) / pairs,
    is the pull to the second place, with the 95% interval `low`, `high`. `discordant` are the pairs
    that leave every mean and go to a person. `wins` has, for every system, the settled pairs (the
    agreeing ones) that it stands in and its mean there, a win counting 1 and a tie half."""

    judge: str
    pairs: int
    agreeing: int
    first_twice: int
    second_twice: int
    bias: float
    low: float
    high: float
    discordant: tuple[tuple[str, str, str], ...]
    unpaired: int
    wins: tuple[tuple[str, int, float], ...] = ()

    @property
    def agreement(self) -> float:
        """Share of pairs with the same choice in both orders."""
        return self.agreeing / self.pairs if self.pairs else math.nan


def both_orders(preferences: Sequence[Preference]) -> tuple[BothOrders, ...]:
    """One row a judge, by name."""
    judges = sorted({preference.judge for preference in preferences})
    return tuple(_row(judge, [p for p in preferences if p.judge == judge]) for judge in judges)


def _row(judge: str, preferences: Sequence[Preference]) -> BothOrders:
    by_pair: dict[tuple[str, str, str], list[Preference]] = {}
    for preference in preferences:
        a, b = sorted((preference.first, preference.second))
        by_pair.setdefault((preference.query_id, a, b), []).append(preference)
    twice = {pair: asked for pair, asked in by_pair.items() if len(asked) == 2}
    agreeing = sum(one.chosen == other.chosen for one, other in twice.values())
    places = [{one.winner, other.winner} for one, other in twice.values()]
    first, second = places.count({"first"}), places.count({"second"})
    bias, low, high = _difference(first, second, len(twice))
    discordant = (pair for pair, (one, other) in twice.items() if one.chosen != other.chosen)
    return BothOrders(
        judge=judge,
        pairs=len(twice),
        agreeing=agreeing,
        first_twice=first,
        second_twice=second,
        bias=bias,
        low=low,
        high=high,
        discordant=tuple(sorted(discordant)),
        unpaired=len(by_pair) - len(twice),
        wins=_wins(
            [
                (a, b, one.chosen)
                for (_, a, b), (one, other) in twice.items()
                if one.chosen == other.chosen
            ]
        ),
    )


def _wins(settled: Sequence[tuple[str, str, str | None]]) -> tuple[tuple[str, int, float], ...]:
    """System, settled pairs and mean, by name; `settled` has both systems and the one chosen."""
    points: dict[str, list[float]] = {}
    for a, b, chosen in settled:
        for system in (a, b):
            point = 0.5 if chosen is None else float(chosen == system)
            points.setdefault(system, []).append(point)
    return tuple((system, len(won), sum(won) / len(won)) for system, won in sorted(points.items()))


def _difference(first: int, second: int, pairs: int) -> tuple[float, float, float]:
    """(second - first) / pairs of multinomial counts, with Agresti and Min's interval (2005: half a
    count more in each of both cells, two more pairs in all)."""
    if not pairs:
        return math.nan, math.nan, math.nan
    b, c, n = second + 0.5, first + 0.5, pairs + 2
    middle = (b - c) / n
    half = Z * math.sqrt(b + c - (b - c) ** 2 / n) / n
    return (second - first) / pairs, max(middle - half, -1.0), min(middle + half, 1.0)
