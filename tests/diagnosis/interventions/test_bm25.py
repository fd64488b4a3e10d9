"""Another formula and other terms for the lexical leg alone."""

import pytest

from lab.diagnosis.interventions.bm25 import OTHER_ANALYZER, OTHER_BM25, other_analyzer
from lab.retrieval.analyzer import AnalyzerName
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered


def test_a_formula_in_which_a_word_counts_once() -> None:
    # Both words stand in two of three texts, so they weigh alike. At k1 3 and b 0 a word nine times
    # has 9 * 4 / (9 + 3) = 3, and each of the evidence's two has 1; at k1 0 all have 1.
    texts = {"a": "pump oil", "b": "pump " * 9, "c": "oil"}
    case = case_of(texts, [query("pump oil", "a", (5, 8))], k1=3.0, b=0.0)
    assert causes(case) == {"pump oil": "outranked"}
    assert recovered(case, OTHER_BM25) == {"pump oil": "k1 0.0"}


def test_stems_match_what_words_do_not() -> None:
    texts = {"a": "all pumps were oiled", "b": "fog"}
    case = case_of(texts, [query("oiling of the pump", "a", (4, 9))])
    assert causes(case) == {"oiling of the pump": "lexical_gap"}
    assert recovered(case, OTHER_ANALYZER) == {"oiling of the pump": "analyzer english"}
    assert OTHER_BM25.applies_to(case).tolist() == []  # no formula finds what shares no term


def test_where_both_legs_rank_together_another_bm25_proves_nothing() -> None:
    texts = {"a": "the pump", "b": "a valve"}
    case = case_of(
        texts, [query("pump", "a", (4, 8))], cosines={"a valve": 1.0}, mode="hybrid", alpha=0.8
    )
    assert causes(case) == {"pump": "outranked"}
    assert OTHER_BM25.applies_to(case).tolist() == OTHER_ANALYZER.applies_to(case).tolist() == []


@pytest.mark.parametrize(
    ("name", "questions", "other"),
    [
        ("auto", ["how do I oil it", "who is 王小明"], "english"),
        ("english", ["how do I oil it"], "auto"),
        ("auto", ["王小明是谁", "错误码", "oil"], "jieba"),
        ("jieba", ["王小明是谁", "错误码", "oil"], "auto"),
    ],
)
def test_what_most_questions_are_written_in_decides(
    name: AnalyzerName, questions: list[str], other: str
) -> None:
    pytest.importorskip("jieba")
    assert other_analyzer(name, questions) == other
