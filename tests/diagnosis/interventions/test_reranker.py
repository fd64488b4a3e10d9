"""BM25 has the evidence first, the reranker the other document."""

from lab.diagnosis.interventions.reranker import NO_RERANKER, NO_THRESHOLD
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered

TEXTS = {"a": "pump pump", "b": "a pump for fog"}
ASKED = query("pump", "a", (0, 4))


def test_the_ranking_before_the_reranker_has_it() -> None:
    case = case_of(TEXTS, [ASKED], scores={"a pump for fog": 1.0}, rerank_depth=2)
    assert causes(case) == {"pump": "demoted"}
    assert recovered(case, NO_RERANKER) == {"pump": "no reranker"}
    assert recovered(case, NO_THRESHOLD) == {}


def test_the_reranker_has_it_first_and_its_threshold_cuts_it() -> None:
    scores = {"pump pump": 0.4, "a pump for fog": 0.3}
    case = case_of(TEXTS, [ASKED], scores=scores, rerank_depth=2, threshold=0.5)
    assert causes(case) == {"pump": "cut"}
    assert recovered(case, NO_THRESHOLD) == {"pump": "no threshold"}


def test_without_a_reranker_there_is_none_to_leave_out() -> None:
    case = case_of(TEXTS, [query("fog", "a", (0, 4))])
    assert NO_RERANKER.applies_to(case).tolist() == []
    assert recovered(case, NO_THRESHOLD) == {}
