"""What even all chunks together do not hold."""

from lab.diagnosis.interventions.corpus import ALL_CHUNKS
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered


def test_evidence_past_the_end_of_the_text_is_nowhere() -> None:
    case = case_of(
        {"a": "pump", "b": "fog"}, [query("pump", "a", (10, 20)), query("fog", "a", (0, 4))]
    )
    assert causes(case) == {"pump": "not_in_corpus", "fog": "lexical_gap"}
    assert recovered(case, ALL_CHUNKS) == {"pump": "not even all chunks together hold it"}
