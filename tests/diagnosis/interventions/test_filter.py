"""The filter leaves out the only document that has the evidence."""

from lab.corpus.document import Document
from lab.corpus.filter import Filter
from lab.diagnosis.interventions.filter import NO_FILTER
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered

NEW = Filter.of({"year": {"gte": 2020}})
DOCUMENTS = [
    Document("a", "pump pump", metadata={"year": 2019}),
    Document("b", "a pump for fog", metadata={"year": 2021}),
]


def test_without_it_the_evidence_leads() -> None:
    case = case_of(DOCUMENTS, [query("pump", "a", (0, 4), filter=NEW)], filter=True)
    assert causes(case) == {"pump": "cut"}
    assert recovered(case, NO_FILTER) == {"pump": "no filter"}


def test_without_it_the_evidence_is_still_second() -> None:
    case = case_of(DOCUMENTS, [query("fog pump", "a", (0, 4), filter=NEW)], filter=True)
    assert causes(case) == {"fog pump": "cut"}
    assert recovered(case, NO_FILTER) == {}


def test_a_filter_that_is_not_used_leaves_nothing_out() -> None:
    case = case_of(DOCUMENTS, [query("fog pump", "a", (0, 4), filter=NEW)])
    assert causes(case) == {"fog pump": "outranked"}
    assert NO_FILTER.applies_to(case).tolist() == []
