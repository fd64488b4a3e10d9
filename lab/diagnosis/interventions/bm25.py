"""The lexical leg with another formula, or over other terms."""

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from lab.arrays import Ints
from lab.config.config import Config
from lab.diagnosis.causes import CANDIDATES
from lab.diagnosis.interventions.intervention import (
    Case,
    Intervention,
    Recovered,
    no_units,
    tried_in_turn,
)
from lab.diagnosis.vocabulary import HAN_OR_KANA
from lab.retrieval.analyzer import AnalyzerName

# BM25 at the ends of what can be set: words count once or again and again, long chunks are as good
# as short ones or not.
FORMULAS: tuple[dict[str, float | str], ...] = (
    {"k1": 0.0},
    {"k1": 3.0},
    {"b": 0.0},
    {"b": 1.0},
    {"variant": "l"},
)


def _outranked_alone(case: Case) -> Ints:
    """Outranked by BM25 alone: where both legs rank together, another BM25 is no change of the
    fusion alone."""
    return case.of("outranked") if case.config.mode == "bm25" else no_units()


def _lost_by_bm25(case: Case) -> Ints:
    if case.config.bm25 is None:
        return no_units()
    return np.union1d(case.of(*CANDIDATES), _outranked_alone(case))


def _other_formulas(case: Case) -> Iterator[tuple[Config, str]]:
    lexical = case.config.bm25
    assert lexical is not None  # only systems of BM25 are asked
    for change in FORMULAS:
        other = lexical.model_copy(update=change)
        if other != lexical:
            text = " ".join(f"{key} {value}" for key, value in change.items())
            yield case.config.model_copy(update={"bm25": other}), text


def _other_analyzers(case: Case) -> Iterator[tuple[Config, str]]:
    lexical = case.config.bm25
    assert lexical is not None  # only systems with BM25 are asked
    analyzer = other_analyzer(lexical.analyzer, [q.text for q in case.replay.pieces.queries])
    other = lexical.model_copy(update={"analyzer": analyzer})
    yield case.config.model_copy(update={"bm25": other}), f"analyzer {analyzer}"


def other_analyzer(name: AnalyzerName, questions: list[str]) -> AnalyzerName:
    """The one that is worth an index: words for Chinese, else stems without stop words; back to the
    default from either."""
    # What most questions are written in decides: one Chinese name makes no Chinese corpus.
    chinese = sum(bool(HAN_OR_KANA.search(text)) for text in questions)
    if 2 * chinese > len(questions) and find_spec("jieba") is not None:
        return "auto" if name == "jieba" else "jieba"
    return "english" if name in ("auto", "stop", "jieba") else "auto"


def _rerun_formulas(case: Case, units: Ints) -> Recovered:
    return tried_in_turn(case, units, _other_formulas(case))


def _rerun_analyzers(case: Case, units: Ints) -> Recovered:
    return tried_in_turn(case, units, _other_analyzers(case))


OTHER_BM25 = Intervention(
    "other BM25",
    size=12,
    proves=("lexical_gap", "outranked"),
    applies_to=_outranked_alone,
    rerun=_rerun_formulas,
)
OTHER_ANALYZER = Intervention(
    "another analyzer",
    size=13,
    proves=("lexical_gap", "both", "outranked"),
    applies_to=_lost_by_bm25,
    rerun=_rerun_analyzers,
)
