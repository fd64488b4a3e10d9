"""An encoder that reads three words of a chunk of five."""

from lab.diagnosis.interventions.encoder import READ_TO_END
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered

TEXTS = {"a": "one two three pump oil", "b": "other"}
ASKED = query("question", "a", (14, 22))


def test_its_tail_read_as_well() -> None:
    case = case_of(
        TEXTS, [ASKED], cosines={"pump oil": 0.9, "other": 0.5}, max_tokens=3, mode="dense"
    )
    assert causes(case) == {"question": "truncated"}
    (tail,) = case.replay.ranker.tails(case.config.dense).values()  # type: ignore[arg-type]  # dense
    assert (tail.start, tail.end, tail.begin) == (14, 22, 14)
    assert recovered(case, READ_TO_END) == {"question": "the encoder reading the chunk to its end"}


def test_a_tail_that_is_not_near_either() -> None:
    case = case_of(TEXTS, [ASKED], cosines={"other": 0.5}, max_tokens=3, mode="dense")
    assert causes(case) == {"question": "truncated"}
    assert recovered(case, READ_TO_END) == {}


def test_an_encoder_that_reads_all_of_it() -> None:
    case = case_of(TEXTS, [ASKED], cosines={"other": 0.5}, max_tokens=5, mode="dense")
    assert causes(case) == {"question": "outranked"}
    assert READ_TO_END.applies_to(case).tolist() == []
