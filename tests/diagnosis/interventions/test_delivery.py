"""Chunks of 20 characters, k = 1: the chunk before the evidence is found, the evidence is not."""

import pytest

from lab.diagnosis.interventions.chunk import CUT_LONGER
from lab.diagnosis.interventions.delivery import NEIGHBOURS, ONLY_NEIGHBOURS
from lab.diagnosis.interventions.fusion import ALPHA
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered

TEXTS = {"a": "abcdefghijklmnopqrst0123456789ABCDEFGHIJ", "b": "other"}
CHUNKS = {"mode": "dense", "chunk_strategy": "fixed", "chunk_size": 20}
FIRST_CHUNK = {TEXTS["a"][:20]: 0.9, "other": 0.5}
ASKED = query("question", "a", (24, 34))


def test_the_hit_beside_the_evidence_delivers_it() -> None:
    case = case_of(TEXTS, [ASKED], cosines=FIRST_CHUNK, **CHUNKS)
    assert causes(case) == {"question": "outranked"}
    assert recovered(case, NEIGHBOURS) == {"question": "deliver window(1)"}


def test_a_hit_in_another_document_delivers_nothing() -> None:
    case = case_of(TEXTS, [ASKED], cosines={"other": 0.5}, **CHUNKS)
    assert recovered(case, NEIGHBOURS) == {}


def test_a_window_must_fit_the_token_budget() -> None:
    # The evidence is seventh, beyond 5. Its window is the whole document, 8 words.
    others = {f"other {i}": f"other-{i}" for i in range(5)}
    spaced = {"a": "one two three four five six seven eight"} | others
    asked = query("question", "a", (24, 27))
    near = {"one two three four f": 0.9, **dict.fromkeys(others.values(), 0.5)}
    wide, narrow = (
        case_of(spaced, [asked], metric, cosines=near, **CHUNKS)
        for metric in ("recall@8tok", "recall@7tok")
    )
    assert recovered(wide, NEIGHBOURS) == {"question": "deliver window(1)"}
    assert recovered(narrow, NEIGHBOURS) == {}


@pytest.mark.parametrize("changed", [{"deliver": "window(1)"}, {"chunk_strategy": "document"}])
def test_what_is_delivered_wider_already_is_not_tried(changed: dict[str, str]) -> None:
    case = case_of(TEXTS, [ASKED], cosines={"other": 0.5}, **(CHUNKS | changed))
    assert NEIGHBOURS.applies_to(case).tolist() == []


def test_only_neighbours_bring_it_back_so_it_is_detached() -> None:
    case = case_of(TEXTS, [ASKED], cosines=FIRST_CHUNK, **CHUNKS)
    assert ONLY_NEIGHBOURS.applies_to(case).tolist() == []  # nothing has been tried yet
    known = case.after(NEIGHBOURS, {0: "deliver window(1)"})
    assert recovered(known, ONLY_NEIGHBOURS) == {"question": "deliver window(1)"}
    after = known.after(ONLY_NEIGHBOURS, {0: "deliver window(1)"})
    assert causes(after) == {"question": "detached"}
    assert list(after.changes(0).values()) == ["deliver window(1)"]  # told once
    assert CUT_LONGER.applies_to(after).tolist() == []
    # What an alpha proves stays outranked.
    proved = known.after(ALPHA, {0: "alpha 0"})
    assert ONLY_NEIGHBOURS.applies_to(proved).tolist() == []
