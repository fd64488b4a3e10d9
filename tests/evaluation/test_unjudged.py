"""What the unjudged could turn, worked on paper and against trying every judgement."""

from itertools import product

import numpy as np
import pytest

from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.evaluation.metrics import Metric, parse_metric
from lab.evaluation.scores import SystemRun, score
from lab.evaluation.unjudged import (
    Unjudged,
    can_turn,
    decided_by_unjudged,
    unjudged,
)
from lab.relevance.judge import judge_for
from lab.relevance.pieces import Pieces, pieces
from lab.relevance.query import Evidence, Query
from tests.given import corpus_of, ranking_of

CORPUS = corpus_of(dict.fromkeys("abcdefghuvwxyz", "x"))


def run_of(asked: Pieces, ranked: list[str]) -> SystemRun:
    judge = judge_for(asked, chunk(CORPUS, ChunkConfig(strategy="document")))
    rows = [{CORPUS.position[name]: -float(i) for i, name in enumerate(row)} for row in ranked]
    judged = judge.judge(ranking_of(rows, max(map(len, rows))))
    return SystemRun(judge, judged, np.ones(len(CORPUS), dtype=np.int64))


def asked_of(*judged: dict[str, int]) -> Pieces:
    return pieces(
        [
            Query(f"q{i}", "?", evidence=tuple(Evidence(d, grade=g) for d, g in row.items()))
            for i, row in enumerate(judged)
        ],
        "document",
    )


def against(metric: str, judged: dict[str, int], leader: str, other: str) -> Unjudged:
    asked = asked_of(judged)
    return unjudged(asked, [run_of(asked, [leader]), run_of(asked, [other])], parse_metric(metric))


def test_precision_on_paper() -> None:
    # The leader shows a and b, both relevant; the other a, x, y: at most two of three.
    found = against("precision@3", {"a": 1, "b": 1, "c": 0}, "abc", "axy")
    assert found.judged == pytest.approx([1, 1 / 3])
    assert found.difference == pytest.approx([0, 1 / 3])
    assert found.least == pytest.approx([0, -1 / 3])
    assert found.decides.tolist() == [False, True]


def test_recall_counts_what_is_relevant_then() -> None:
    # x relevant as well: 2 of 3 against 1 + 1 of 3.
    found = against("recall@3", {"a": 1, "b": 1, "c": 0}, "abc", "axc")
    assert found.least == pytest.approx([0, 0])
    assert not found.decides.any()


def test_what_both_show_counts_where_the_other_has_it_higher() -> None:
    found = against("mrr@3", {"a": 1, "b": 0}, "aux", "xau")
    # As judged 1 and 1/2; x stands higher in the other and is relevant there, u is not: 1/1 both.
    assert found.least == pytest.approx([0, 0])


def test_judged_to_the_end_nothing_can_turn() -> None:
    found = against("ndcg@3", {"a": 1, "b": 0, "c": 0, "d": 0}, "abc", "bcd")
    assert found.least == pytest.approx(found.difference)
    assert not found.decides.any()


@pytest.mark.parametrize("metric", ["precision@4", "recall@4", "ndcg@4", "hit_rate@2", "rbp_0.8@4"])
def test_no_judgement_of_what_only_one_shows_turns_it_further(metric: str) -> None:
    """Rankings that share nothing unjudged: every assignment of grade 1 or 0 is tried."""
    draw = np.random.default_rng(3)
    for _ in range(15):
        leader = "".join(draw.permutation(list("abcuv"))[:4])
        other = "".join(draw.permutation(list("abcxy"))[:4])
        judged = {"a": 1, "b": 1, "c": int(draw.integers(0, 2))}
        found = against(metric, judged, leader, other)
        if found.leader == 1:
            leader, other = other, leader
        worst = np.inf
        for grades in product((0, 1), repeat=4):
            asked = asked_of(judged | dict(zip("uvxy", grades, strict=True)))
            runs = [run_of(asked, [leader]), run_of(asked, [other])]
            values = score(asked, runs, [parse_metric(metric)])[:, 0, 0]
            worst = min(worst, values[0] - values[1])
        assert found.least[1 - found.leader] == pytest.approx(worst, abs=1e-9)


def test_which_metrics_can_be_turned() -> None:
    assert can_turn(parse_metric("ndcg@10"))
    assert can_turn(Metric("rbp", persistence=0.8))
    assert not can_turn(parse_metric("bpref"))
    assert not can_turn(parse_metric("ndcg_condensed@10"))


def test_the_line_names_who_is_concerned() -> None:
    found = against("precision@3", {"a": 1, "b": 1, "c": 0}, "abc", "axy")
    line = decided_by_unjudged(found, ["one", "two"])
    assert line.startswith(
        "unjudged decides: one leads 1 of 1 other systems in precision@3 by less than"
    )
    assert "(two)" in line
    assert line.endswith("100% of what the leader shows is judged")
