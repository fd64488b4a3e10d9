"""A feature lifts the other document over the evidence."""

from lab.corpus.document import Document
from lab.diagnosis.interventions.features import WITHOUT_FEATURES
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered

DOCUMENTS = [
    Document("a", "pump pump", metadata={"year": 2019}),
    Document("b", "a pump for fog", metadata={"year": 2021}),
]


def test_without_the_features_the_evidence_leads() -> None:
    case = case_of(DOCUMENTS, [query("pump", "a", (0, 4))], features={"year": 1.0})
    assert causes(case) == {"pump": "outranked"}
    assert recovered(case, WITHOUT_FEATURES) == {"pump": "no features"}


def test_a_system_without_features_is_not_tried() -> None:
    case = case_of(DOCUMENTS, [query("fog pump", "a", (0, 4))])
    assert causes(case) == {"fog pump": "outranked"}
    assert WITHOUT_FEATURES.applies_to(case).tolist() == []
