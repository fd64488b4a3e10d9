"""BM25 gives the evidence 1 and the other document 0, the encoder the reverse (min-max of two):
fused, the evidence has 1 - alpha and the other alpha, so it leads up to 0.5."""

import numpy as np
import pytest

from lab.diagnosis.interventions.fusion import ALPHA, OTHER_FUSION
from lab.diagnosis.interventions.intervention import Case
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered

TEXTS = {"a": "the pump", "b": "a valve"}
PUMP = query("pump", "a", (4, 8))
COSINES = {"a valve": 1.0}
HYBRID = {"mode": "hybrid", "alpha": 0.8}


def test_every_alpha_at_which_the_evidence_leads() -> None:
    case = case_of(TEXTS, [PUMP], cosines=COSINES, **HYBRID)
    assert causes(case) == {"pump": "outranked"}
    assert recovered(case, ALPHA) == {"pump": "alpha 0-0.5"}


def test_with_a_reranker_the_middle_of_the_widest_step_is_tried() -> None:
    # It sees one candidate, so it changes nothing. Rounding lets the evidence lead to a little over
    # 0.5, so the middle is a little over 0.25: in one digit 0.3.
    case = case_of(TEXTS, [PUMP], cosines=COSINES, rerank_depth=1, **HYBRID)
    assert recovered(case, ALPHA) == {"pump": "alpha 0.3"}


@pytest.mark.parametrize(
    ("other", "expected"), [("a pump valve", {}), ("a valve", {"pump": "alpha 0"})]
)
def test_what_the_reranker_puts_ahead_must_be_a_candidate(
    other: str, expected: dict[str, str]
) -> None:
    # It puts the other document first wherever it sees it. At alpha 0 the encoder brings no
    # candidates, and BM25 brings the other one only if it speaks of pumps.
    case = case_of(
        {"a": "the pump", "b": other},
        [PUMP],
        cosines={other: 1.0},
        scores={other: 1.0},
        rerank_depth=2,
        **HYBRID,
    )
    assert recovered(case, ALPHA) == expected


def test_a_grid_without_the_other_leg_has_no_alpha() -> None:
    case = case_of(TEXTS, [PUMP], cosines=COSINES, mode="dense", depth=1)
    assert causes(case) == {"pump": "semantic_gap"}
    assert recovered(case, ALPHA) == recovered(case, OTHER_FUSION) == {}


def test_reciprocal_ranks_where_no_alpha_of_the_scores_does_it() -> None:
    # The evidence is second in both legs and far behind their first ones, which the other leg does
    # not have among its two. Reciprocal ranks give it 1/62 at any alpha, and alpha/61 and
    # (1 - alpha)/61 to these. Of equal scores, rounded to 6 decimals, the first document leads, so
    # the evidence does while alpha/61 < 0.0161285: up to 0.9838, and from 1 - 0.9838.
    texts = {"a": "oil pump", "b": "fog fog", "e": "pump day"}
    cosines = {"fog fog": 1.0, "pump day": 0.3}
    case = case_of(texts, [query("pump oil", "e", (5, 8))], cosines=cosines, depth=2, **HYBRID)
    assert recovered(case, ALPHA) == {}
    assert recovered(case, OTHER_FUSION) == {"pump oil": "rrf at alpha 0.01616-0.9838"}


def test_pieces_that_an_alpha_proves_are_not_asked_of_another_fusion() -> None:
    case = case_of(TEXTS, [PUMP], cosines=COSINES, **HYBRID)
    after = case.after(ALPHA, ALPHA.rerun(case, ALPHA.applies_to(case)))
    assert OTHER_FUSION.applies_to(case).tolist() == [0]
    assert OTHER_FUSION.applies_to(after).tolist() == []


def scores_at(case: Case, alphas: list[float]) -> list[list[float]]:
    query_of_rows = case.replay.pieces.query[[0] * len(alphas)]
    stages = case.replay.stages
    return stages.first_stage_at(case.config, query_of_rows, np.array(alphas)).scores.tolist()


def test_rows_fused_at_alphas_of_their_own() -> None:
    # 0.25: 0.75 for the evidence, 0.25 for the other. A leg of weight 0 brings no candidates: at 0
    # the evidence alone, at 1 both as the encoder has them.
    case = case_of(TEXTS, [PUMP], cosines=COSINES, **HYBRID)
    quarter, end, start = scores_at(case, [0.25, 1.0, 0.0])
    assert quarter[:2] == pytest.approx([0.75, 0.25])
    assert end[:2] == pytest.approx([1.0, 0.0])
    assert start[0] == pytest.approx(1.0)
    assert start[1] == float("-inf")
