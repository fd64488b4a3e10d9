"""The evidence is second, within k = 5, but 4 tokens hold the first hit only."""

from lab.diagnosis.interventions.budget import LARGER_BUDGET
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered

TEXTS = {"a": "pump and oil and more words", "b": "pump pump"}
ASKED = query("pump", "a", (9, 12))


def test_within_k_but_beyond_the_budget() -> None:
    case = case_of(TEXTS, [ASKED], "recall@4tok")
    assert causes(case) == {"pump": "cut"}
    assert (case.ranks.limit.tolist(), case.ranks.k.tolist()) == ([1], [5])
    assert recovered(case, LARGER_BUDGET) == {"pump": "a larger token budget"}


def test_no_budget_brings_back_what_is_below_k() -> None:
    case = case_of(TEXTS, [ASKED], "recall@1")
    assert causes(case) == {"pump": "outranked"}
    assert recovered(case, LARGER_BUDGET) == {}
