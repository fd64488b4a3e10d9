"""Which labels matter, worked on paper."""

import numpy as np
import pytest

from lab.arrays import NEVER
from lab.evaluation.incomplete import UNJUDGED
from lab.evaluation.metrics import parse_metric
from lab.evaluation.pooling import Pool, choose, weight, worth


def pool(ranks: list[list[int]], grade: list[int] | None = None) -> Pool:
    """Ranks of every pair under every system, 0 for not at all."""
    table = np.array(ranks).T
    return Pool(
        np.arange(len(ranks)),
        np.where(table == 0, NEVER, table),
        np.array(grade or [UNJUDGED] * len(ranks)),
    )


def test_what_all_have_alike_and_what_is_judged_is_worth_nothing() -> None:
    pairs = pool([[1, 1], [1, 0], [2, 0], [3, 3], [1, 0]], [-1, -1, -1, -1, 0])
    worths = worth(pairs, [0, 1], weight(parse_metric("ndcg@10")))
    # The deviation of two values is half of their distance: 1 and 1 / log2(3) against nothing.
    assert worths == pytest.approx([0, 0.5, 0.5 / np.log2(3), 0, 0])
    assert choose(worths, 5).tolist() == [1, 2]
    assert choose(worths, 1).tolist() == [1]


def test_only_candidates_count() -> None:
    pairs = pool([[1, 1, 0], [0, 1, 1]])
    assert worth(pairs, [0, 1], weight(parse_metric("recall@5"))).tolist() == [0, 0.5]
    assert worth(pairs, [0, 1, 2], weight(parse_metric("recall@5"))) == pytest.approx(
        [np.sqrt(2) / 3, np.sqrt(2) / 3]
    )


def test_weights_follow_the_metric() -> None:
    ranks = np.array([1, 2, 4])
    for metric, expected in {
        "ndcg@10": [1, 1 / np.log2(3), 1 / np.log2(5)],
        "map": [1, 0.5, 0.25],
        "rbp_0.8": [1, 0.8, 0.8**3],
        "precision@5": [1, 1, 1],
    }.items():
        assert weight(parse_metric(metric))(ranks) == pytest.approx(expected)


def test_the_order_is_that_of_the_change_of_all_differences() -> None:
    """Variance over systems is the sum over pairs of systems of squared changes, up to a factor."""
    draw = np.random.default_rng(1)
    ranks = draw.integers(0, 8, size=(30, 5)).tolist()
    of_rank = weight(parse_metric("ndcg@10"))
    pairs = pool(ranks)
    added = np.where(pairs.ranks < NEVER, of_rank(np.where(pairs.ranks < NEVER, pairs.ranks, 1)), 0)
    squared = [
        sum((added[a, p] - added[b, p]) ** 2 for a in range(5) for b in range(a)) for p in range(30)
    ]
    assert worth(pairs, range(5), of_rank) ** 2 * 25 == pytest.approx(squared)
