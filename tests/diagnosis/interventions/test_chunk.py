"""Chunks of 20 characters, and k = 1: one chunk has to hold the evidence. The encoder finds the
texts that are named, and the other document before all others."""

import pytest

from lab.arrays import Span
from lab.diagnosis.chunk_edits import ChunkEdit
from lab.diagnosis.interventions.chunk import CUT_AROUND, CUT_ELSEWHERE, CUT_LONGER
from lab.diagnosis.interventions.delivery import NEIGHBOURS
from lab.diagnosis.interventions.fusion import ALPHA
from lab.diagnosis.interventions.intervention import Case
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered

TEXT = "abcdefghijklmnopqrst0123456789ABCDEFGHIJ" + "x" * 20


def case(span: Span, near: str) -> Case:
    """The evidence is `span` of TEXT; `near` is the one text that is nearer to the question than
    the other document."""
    return case_of(
        {"a": TEXT, "b": "other"},
        [query("question", "a", span)],
        cosines={near: 0.9, "other": 0.5},
        mode="dense",
        chunk_strategy="fixed",
        chunk_size=20,
    )


def cut(edit: ChunkEdit) -> tuple[Span, tuple[int, ...]]:
    assert edit.reads == (edit.start, edit.end)
    return edit.reads, edit.removed


def test_one_chunk_around_a_parted_piece() -> None:
    # As long as the old ones with the evidence in its middle: 10 of 20 characters leave 5 each
    # side.
    parted = case((15, 25), near=TEXT[10:30])
    assert causes(parted) == {"question": "split"}
    assert cut(parted.replay.edits.around(0)) == ((10, 30), (0, 1))
    assert recovered(parted, CUT_ELSEWHERE) == {"question": "a chunk that holds it whole"}


@pytest.mark.parametrize(
    ("behind", "span", "removed"), [(True, (0, 25), (0,)), (False, (15, 40), (1,))]
)
def test_the_cut_moved_keeps_what_stands_on_the_other_side(
    behind: bool, span: Span, removed: tuple[int, ...]
) -> None:
    parted = case((15, 25), near=TEXT[slice(*span)])
    assert cut(parted.replay.edits.moved(0, behind)) == (span, removed)
    words = f"the cut moved {'behind' if behind else 'before'} it"
    assert recovered(parted, CUT_ELSEWHERE) == {"question": words}
    # Where its neighbours bring a split piece back already, moving the cut decides nothing.
    known = parted.after(NEIGHBOURS, {0: "deliver window(1)"})
    assert recovered(known, CUT_ELSEWHERE) == {}


def test_what_a_whole_chunk_brings_back_was_split() -> None:
    # Two chunks hold it and two hits are read, but none is among the candidates: the encoder is
    # blamed until the cut is.
    lost = case_of(
        {"a": TEXT, "b": "other", "c": "another"},
        [query("question", "a", (15, 25))],
        cosines={TEXT[10:30]: 0.9, "other": 0.5, "another": 0.6},
        mode="dense",
        chunk_strategy="fixed",
        chunk_size=20,
        depth=2,
        metric="recall@2",
    )
    assert causes(lost) == {"question": "semantic_gap"}
    back = CUT_ELSEWHERE.rerun(lost, CUT_ELSEWHERE.applies_to(lost))
    after = lost.after(CUT_ELSEWHERE, back)
    assert causes(after) == {"question": "split"}
    assert after.proved(0)
    assert (causes(lost), lost.recovered) == ({"question": "semantic_gap"}, {})  # a value


@pytest.mark.parametrize(
    ("near", "words"),
    [
        ((19, 39), "a chunk of the same length with it in the middle"),
        ((24, 34), "a chunk 0.5 times as long"),
    ],
)
def test_a_chunk_closer_around_a_whole_piece(near: Span, words: str) -> None:
    # The evidence is [24, 34) of the chunk [20, 40): in the middle of 20 characters 5 stand before
    # it, of 10 it is all there is.
    whole = case((24, 34), TEXT[slice(*near)])
    assert causes(whole) == {"question": "outranked"}
    assert recovered(whole, CUT_AROUND) == {"question": words}
    assert recovered(whole, CUT_LONGER) == {}
    after = whole.after(CUT_AROUND, {0: words})
    assert causes(after) == {"question": "diluted"}
    assert CUT_LONGER.applies_to(after).tolist() == []


def test_a_longer_chunk_reaches_what_the_piece_speaks_of() -> None:
    # 40 characters with [24, 34) in the middle: 15 on each side. Only the chunk that holds the
    # evidence goes; the others stay beside it.
    whole = case((24, 34), near=TEXT[9:49])
    assert cut(whole.replay.edits.around(0, 2.0)) == ((9, 49), (1,))
    assert recovered(whole, CUT_AROUND) == {}
    assert recovered(whole, CUT_LONGER) == {"question": "a chunk twice as long"}


def test_what_the_blamed_stage_proves_is_not_cut_closer() -> None:
    whole = case((24, 34), near=TEXT[24:34])
    assert CUT_AROUND.applies_to(whole).tolist() == [0]
    assert CUT_AROUND.applies_to(whole.after(ALPHA, {0: "alpha 0"})).tolist() == []
