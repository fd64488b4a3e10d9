"""The table of interventions, and what it proves."""

from dataclasses import replace

import pytest

from lab.diagnosis.causes import CAUSES
from lab.diagnosis.interventions.candidates import MORE_CANDIDATES
from lab.diagnosis.interventions.chunk import CUT_ELSEWHERE
from lab.diagnosis.interventions.fusion import ALPHA
from lab.diagnosis.interventions.order import INTERVENTIONS, Proof, intervened, proof
from tests.diagnosis.interventions.given_case import case_of, causes, query


def test_every_cause_but_what_cannot_be_tried_has_a_proof() -> None:
    proved = {cause for intervention in INTERVENTIONS for cause in intervention.proves}
    assert proved == set(CAUSES) - {"not_returned", "unseen"}


def test_names_and_sizes_are_one_to_one() -> None:
    sizes = {intervention.name: intervention.size for intervention in INTERVENTIONS}
    assert sorted(sizes.values()) == list(range(1, len(sizes) + 1))
    assert all(sizes[intervention.name] == intervention.size for intervention in INTERVENTIONS)


def test_what_claims_a_piece_proves_its_claim() -> None:
    assert all(not i.claims or i.claims in i.proves for i in INTERVENTIONS)


def test_the_smallest_change_of_the_blamed_stage_is_the_remedy() -> None:
    changes = {CUT_ELSEWHERE: "cut it", MORE_CANDIDATES: "depth 8", ALPHA: "alpha 0-0.5"}
    told = ("alpha 0-0.5", "depth 8", "cut it")
    assert proof("both", changes) == Proof(True, "depth 8", told)
    assert proof("outranked", changes) == Proof(True, "alpha 0-0.5", told)
    assert proof("split", changes) == Proof(True, "cut it", told)
    assert proof("demoted", changes) == Proof(False, "alpha 0-0.5", told)


@pytest.mark.parametrize("cause", CAUSES)
def test_what_nothing_brings_back_gets_advice(cause: str) -> None:
    advice = f"nothing tried brings it back; {CAUSES[cause].remedy}"
    assert proof(cause, {}) == Proof(False, advice, ())


def test_all_are_tried_and_the_case_before_stays_as_it_was() -> None:
    case = case_of(
        {"a": "the pump", "b": "a valve"},
        [query("pump", "a", (4, 8))],
        cosines={"a valve": 1.0},
        mode="hybrid",
        alpha=0.8,
    )
    after = intervened(case)
    assert causes(after) == {"pump": "outranked"}
    assert proof("outranked", after.changes(0)) == Proof(True, "alpha 0-0.5", ("alpha 0-0.5",))
    assert case.recovered == {}
    assert replace(case, recovered={}).codes is case.codes


def test_what_brought_a_piece_back_first_is_what_is_said() -> None:
    case = case_of({"a": "pump", "b": "fog"}, [query("fog", "a", (0, 4))])
    after = case.after(ALPHA, {0: "alpha 0"}).after(ALPHA, {0: "alpha 1"})
    assert after.changes(0) == {ALPHA: "alpha 0"}
