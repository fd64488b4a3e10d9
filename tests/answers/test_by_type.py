"""Answers by the type of their question."""

import pytest

from lab.answers.by_type import answer_scores, nugget_scores, step_order, type_of
from lab.relevance.query import Claim, Query


def test_facts_are_scored_by_words_and_numbers() -> None:
    scores = answer_scores(Query("q", "?", answer="9 bar", answer_type="fact"), "It is 9 bar.")
    # Words: it, is, 9, bar against 9, bar: P = 2/4, R = 1.
    assert (scores.exact, scores.numbers) == (0.0, 1.0)
    assert scores.score == scores.f1 == pytest.approx(2 / 3)
    assert answer_scores(Query("q", "?"), "anything").score is None


def test_nuggets_as_trec_scores_them() -> None:
    # Vital: support, none; okay: partial, support. Vital 1/2; weighted (1 + .25 + .5) / (2 + 1).
    scores = nugget_scores([1, 0, 0.5, 1], [True, True, False, False])
    assert scores.vital == 0.5
    assert scores.weighted == pytest.approx(1.75 / 3)
    assert scores.weighted_strict == pytest.approx(1.5 / 3)
    assert nugget_scores([1.0], [False]).vital is None
    assert nugget_scores([], []).weighted is None


def test_reasoning_counts_claims_covered_and_supported() -> None:
    claims = (Claim("acid reaches the bearing"), Claim("the gearbox cannot be repaired"))
    query = Query("q", "?", answer_type="reasoning", claims=claims)
    answer = "Because acid reaches the bearing."
    scores = answer_scores(query, answer, ["In two days acid reaches the bearing."])
    assert (scores.coverage, scores.supported) == (0.5, 1.0)
    assert answer_scores(query, answer, ["Nothing of the kind."]).supported == 0.0
    assert answer_scores(query, "No idea.", ["Nothing."]).supported is None


def test_operations_count_steps_and_their_order() -> None:
    steps = (Claim("Stop the pump"), Claim("Close the valve"), Claim("Drain the hose"))
    assert step_order(steps, "Stop the pump. Close the valve. Drain the hose.") == 1.0
    assert step_order(steps, "Drain the hose. Close the valve. Stop the pump.") == -1.0
    # (stop, close) in order, (stop, drain) in order, (close, drain) turned round: 1/3.
    answer = "Stop the pump. Drain the hose. Close the valve."
    assert step_order(steps, answer) == pytest.approx(1 / 3)
    assert step_order(steps, "Stop the pump.") is None
    query = Query("q", "?", answer_type="operation", claims=steps)
    assert answer_scores(query, "Stop the pump. Close the valve.").coverage == pytest.approx(2 / 3)


def test_opinions_have_coverage_and_never_f1() -> None:
    query = Query(
        "q", "?", answer="Bielke does not believe in the calendar.", answer_type="opinion"
    )
    scores = answer_scores(query, "Bielke does not believe in the calendar at all.")
    assert (scores.f1, scores.coverage, scores.claims_from_answer) == (None, 1.0, True)


def test_a_tag_says_the_type_where_the_question_does_not() -> None:
    assert type_of(Query("q", "?", tags={"answer_type": "procedure"})) == "operation"
    assert type_of(Query("q", "?", tags={"answer_type": "procedure"}, answer_type="fact")) == "fact"
    assert type_of(Query("q", "?")) == "fact"
