"""The waterfall: what no ranking has room for first, ceilings that a ranking could reach, worked on
paper and on Cranfield."""

from pathlib import Path

import numpy as np
import pytest

from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus, Document
from lab.corpus.read import read_corpus
from lab.diagnosis.waterfall import NO_PLACE, waterfall
from lab.relevance.query import Evidence, Query
from lab.relevance.read import read_diagnostics
from lab.report.figures.losses import biggest_loss
from lab.report.figures.losses import waterfall as waterfall_plot
from lab.report.losses import losses
from lab.sweeping.sweep import sweep


def steps_of(*questions: tuple[int, str]) -> dict[str, tuple[float, ...]]:
    """Cause -> (pieces, lost, verified, left, ceiling) of questions given as (reachable, causes):
    a letter a piece, `.` a hit, `o` outranked, `l` lexical_gap, capitals verified."""
    names = {".": "", "o": "outranked", "l": "lexical_gap"}
    letters = "".join(causes for _, causes in questions)
    found = waterfall(
        "all",
        np.repeat(np.arange(len(questions)), [len(causes) for _, causes in questions]),
        [names[letter.lower()] for letter in letters],
        [letter.isupper() for letter in letters],
        np.repeat([room for room, _ in questions], [len(causes) for _, causes in questions]),
    )
    return {s.cause: (s.pieces, s.lost, s.verified, s.left, s.ceiling) for s in found}


def test_room_comes_first_and_each_cause_bears_its_share_of_it() -> None:
    # Four pieces, two places, one hit: two can never be held; of three misses a third is blamed.
    steps = steps_of((2, ".ooL"))
    assert steps[NO_PLACE] == pytest.approx((2, 0.5, 0.5, 0.5, 0.25))
    assert steps["lexical_gap"] == pytest.approx((1, 1 / 12, 1 / 12, 0.5 - 1 / 12, 0.5))
    # Both outranked ones back would still leave two places: recall 0.5, not 0.75.
    assert steps["outranked"] == pytest.approx((2, 1 / 6, 0.0, 0.25, 0.5))


def test_with_room_enough_nothing_is_capped() -> None:
    steps = steps_of((3, ".oL"), (1, "."))
    assert NO_PLACE not in steps
    assert steps["lexical_gap"] == pytest.approx((1, 1 / 6, 1 / 6, 5 / 6, 5 / 6))
    assert steps["outranked"] == pytest.approx((1, 1 / 6, 0.0, 2 / 3, 5 / 6))


def test_a_question_may_be_full_of_hits_and_still_lack_room() -> None:
    assert steps_of((2, "..oo")) == {
        NO_PLACE: pytest.approx((2, 0.5, 0.5, 0.5, 0.5)),
        "outranked": pytest.approx((2, 0.0, 0.0, 0.5, 0.5)),
    }


def test_steps_add_up_and_no_ceiling_passes_the_room() -> None:
    draw = np.random.default_rng(5)
    for _ in range(200):
        questions = []
        for _ in range(int(draw.integers(1, 6))):
            causes = "".join(draw.choice(list(".oOlL"), int(draw.integers(1, 8))))
            questions.append((int(draw.integers(causes.count("."), len(causes) + 1)), causes))
        room = np.mean([places / len(causes) for places, causes in questions])
        recall = np.mean([causes.count(".") / len(causes) for _, causes in questions])
        steps = steps_of(*questions)
        assert sum(step[1] for step in steps.values()) == pytest.approx(1 - recall)
        for cause, (_, lost, verified, _, ceiling) in steps.items():
            assert -1e-12 <= verified <= lost + 1e-12
            assert recall - 1e-12 <= ceiling <= room + 1e-12
            assert cause == NO_PLACE or ceiling >= recall + lost - 1e-12


def test_cranfield_promises_what_five_places_can_hold(shared: Path, cache: Path) -> None:
    folder = shared / "bench" / "beir" / "cranfield"
    corpus = read_corpus(folder)
    queries = read_diagnostics(folder, corpus)
    measure = Measure(metrics=("recall@5",), select_by="recall@5")
    grid = Grid(mode="bm25", chunk_strategy="document", analyzer="english")
    result = sweep(corpus, queries, grid, measure, cache=cache)
    assert (result.tables.evidence.groupby("query_id").size() > 5).sum() == 117
    table = result.waterfall()
    steps = table[table["kind"] == "all"].set_index("cause")
    assert steps.index[0] == NO_PLACE
    assert round(steps.loc[NO_PLACE, "left"], 3) == 0.767
    assert round(steps.loc["outranked", "ceiling"], 3) == 0.637
    assert steps.loc["outranked", "pieces"] == 758
    assert (steps["ceiling"] <= steps.loc[NO_PLACE, "left"]).all()
    said = biggest_loss(result, result.best)
    assert said is not None
    assert "with all of it back it would be 0.637" in said
    assert "could reach more than 0.767" in said
    assert f"- {NO_PLACE} 23.3%" in losses(result).plain
    plot = waterfall_plot(result, result.best)
    assert plot is not None
    assert plot.table["cause"].iloc[0] == NO_PLACE


def test_a_chunk_with_two_pieces_leaves_room_for_both() -> None:
    text = "alpha beta gamma delta. " * 4
    corpus = Corpus([Document("d", text), Document("e", "epsilon zeta")])
    pieces = [Evidence("d", 0, 5), Evidence("d", 6, 10), Evidence("e", 0, 7), Evidence("e", 8, 12)]
    measure = Measure(metrics=("recall@1",), select_by="recall@1")
    grid = Grid(mode="bm25", chunk_strategy="document")
    query = Query("q", "alpha epsilon", evidence=tuple(pieces))
    result = sweep(corpus, [query], grid, measure)
    assert result.tables.evidence["reachable"].tolist() == [2] * 4
    steps = waterfall("all", np.zeros(4, dtype=np.int64), ["", "", "outranked", "outranked"],
                      [False] * 4, np.full(4, 2))  # fmt: skip
    (room,) = [step for step in steps if step.cause == NO_PLACE]
    assert room.left == 0.5
