"""Why a term matches nothing, told in the characters that matching uses."""

import pytest

from lab.diagnosis.vocabulary import unmatched
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.folding import fold


@pytest.mark.parametrize(
    ("question", "corpus", "why"),
    [
        ("STRASSE", "die Hauptstraße", "split by the analyzer"),
        ("diyarbakır", "ESKIDIYARBAKIRLI", "split by the analyzer"),
        ("valve", "die Hauptstraße", "not in the corpus"),
    ],
)
def test_a_term_inside_another_word_is_seen_however_it_is_written(
    question: str, corpus: str, why: str
) -> None:
    analyzer = ANALYZERS["auto"]
    held = set(analyzer(corpus))
    (word,) = unmatched(analyzer(question), corpus, analyzer, held, fold(corpus))
    assert word.why == why
