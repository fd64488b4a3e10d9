"""Copies of one text stand before the evidence: counted once, they leave it the second place."""

from lab.diagnosis.interventions.duplicates import DUPLICATES_ONCE
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered

COPY = "guide for the daily care of every machine in the hall"
COSINES = {f"{COPY} {i}": 0.9 for i in range(3)} | {"wipe it with a dry cloth": 0.5}
TEXTS = {f"copy {i}": f"{COPY} {i}" for i in range(3)} | {"z": "wipe it with a dry cloth"}
ASKED = query("question", "z", (15, 24))


def test_counted_once_the_evidence_is_second() -> None:
    # Of the 9 shingles of three words in a copy 8 stand in the others: 8/9 is more than 0.8.
    case = case_of(TEXTS, [ASKED], "recall@2", cosines=COSINES, mode="dense")
    assert causes(case) == {"question": "outranked"}
    assert case.ranks.final.tolist() == [4]
    assert recovered(case, DUPLICATES_ONCE) == {"question": "near-duplicates counted once"}
    after = case.after(DUPLICATES_ONCE, DUPLICATES_ONCE.rerun(case, case.missed))
    assert causes(after) == {"question": "crowded"}


def test_counted_once_they_still_leave_no_first_place() -> None:
    case = case_of(TEXTS, [ASKED], "recall@1", cosines=COSINES, mode="dense")
    assert recovered(case, DUPLICATES_ONCE) == {}


def test_what_no_ranking_holds_and_documents_are_not_compared() -> None:
    lost = case_of(TEXTS, [ASKED], "recall@2", cosines=COSINES, mode="dense", depth=3)
    assert DUPLICATES_ONCE.applies_to(lost).tolist() == []
    document = case_of(TEXTS, [query("question", "z", None)], "recall@2", cosines=COSINES)
    assert DUPLICATES_ONCE.applies_to(document).tolist() == []
