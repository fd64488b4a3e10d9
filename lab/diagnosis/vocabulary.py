"""Why a question's terms match nothing: not in the corpus, parted by the analyzer, or in another
script."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass

from lab.chunking.units import CJK
from lab.retrieval.analyzer import STOP_WORDS, Analyzer

HAN_OR_KANA = re.compile(f"[{CJK}]")


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A term of a question that finds nothing, and why: `not in the corpus`, `split by the
    analyzer` (the letters are there, cut into other terms), `other script` (the evidence is written
    in another script) or `not in the evidence`."""

    term: str
    why: str

    def __str__(self) -> str:
        return f"{self.term} ({self.why})"


def unmatched(
    terms: Iterable[str], evidence: str, analyzer: Analyzer, vocabulary: Container[str], folded: str
) -> tuple[Unmatched, ...]:
    """Searched terms that are not in the evidence, function words aside, those that match nothing
    at all first.

    `terms` are the question's with their synonyms, `vocabulary` holds the terms of the corpus,
    `folded` is the whole corpus as it is matched (see `lab.retrieval.folding`).
    """
    held, words = set(analyzer(evidence)), []
    scripts = (
        bool(HAN_OR_KANA.search(evidence)),
        bool(re.search(r"[^\W\d_]", HAN_OR_KANA.sub("", evidence))),
    )
    for term in dict.fromkeys(terms):
        if term in held or term in STOP_WORDS:
            continue
        is_cjk = bool(HAN_OR_KANA.search(term))
        if (is_cjk and not scripts[0]) or (
            not is_cjk and not scripts[1] and re.search(r"[^\W\d_]", term)
        ):
            words.append(Unmatched(term, "other script"))
        elif term in vocabulary:
            words.append(Unmatched(term, "not in the evidence"))
        else:
            words.append(
                Unmatched(term, "split by the analyzer" if term in folded else "not in the corpus")
            )
    return tuple(sorted(words, key=lambda word: word.why == "not in the evidence"))
