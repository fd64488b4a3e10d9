"""One hand in several corpora: phrases that documents of different authors would not share."""

import calendar
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from lab.chunking.units import CJK
from lab.corpus.document import Corpus
from lab.retrieval.analyzer import STOP_WORDS
from lab.sets.audit.finding import Finding, listed

# Words of a phrase; a Chinese, Japanese or Korean character is a word, and says half as much.
LENGTH, LENGTH_CJK = 5, 10
# So many words of a phrase must not be stop words, or all texts would share it.
TELLING = 2
# Phrases shared for every pair of words. Public corpora (policies, articles, reports) share up to
# 4.3e-9 of these, three that one author wrote 3.0e-9, 12e-9 and 30e-9 (experiments/README.md).
UNRELATED = 8e-9
# Below this many words nothing is said.
FEWEST_WORDS = 2_000
WORD = re.compile(rf"[{CJK}]|[^\W\d_{CJK}]+(?:'[^\W\d_{CJK}]+)?")
NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{3,}\b")
LOWER = re.compile(r"\b[a-z]{4,}\b")
DATES = frozenset((*calendar.month_name, *calendar.day_name))


@dataclass(frozen=True, slots=True)
class Hand:
    """How a corpus is written: its phrases, how many words it has, its capitalised words inside
    sentences, and its plain ones."""

    phrases: frozenset[str]
    words: int
    capitalised: frozenset[str]
    plain: frozenset[str]

    @staticmethod
    def of(corpus: Corpus) -> "Hand":
        phrases, capitalised, plain, count = set[str](), set[str](), set[str](), 0
        for document in corpus:
            read = WORD.findall(document.text.lower())
            count += len(read)
            phrases |= _phrases(read)
            capitalised |= set(NAME.findall(document.text))
            plain |= set(LOWER.findall(document.text))
        return Hand(frozenset(phrases), count, frozenset(capitalised), frozenset(plain))


def _phrases(read: list[str]) -> set[str]:
    """Runs of words that say something."""
    single = sum(len(word) == 1 for word in read)
    length = LENGTH_CJK if 2 * single > len(read) else LENGTH
    return {
        " ".join(read[place : place + length])
        for place in range(len(read) - length + 1)
        if sum(word not in STOP_WORDS for word in read[place : place + length]) >= TELLING
    }


def one_hand(corpora: Mapping[str, Corpus]) -> Iterator[Finding]:
    """Pairs of corpora that share more phrases than texts of different authors do: what holds in
    both of them was not found twice. `corpora` gives documents by name; of one alone there is
    nothing to say."""
    hands = {name: Hand.of(corpus) for name, corpus in corpora.items()}
    plain = frozenset[str]().union(*(hand.plain for hand in hands.values()))
    for (name, hand), (other_name, other) in combinations(hands.items(), 2):
        common = sorted(hand.phrases & other.phrases)
        expected = UNRELATED * hand.words * other.words
        if min(hand.words, other.words) < FEWEST_WORDS or len(common) <= expected:
            continue
        names = sorted(
            word
            for word in hand.capitalised & other.capitalised - DATES
            if word.lower() not in plain
        )
        yield Finding(
            "warning",
            "one author's phrases across corpora",
            f"{name} and {other_name} share {len(common)} phrases, texts of different authors as "
            f"long as these up to {expected:.0f}: {listed(map(repr, common))}"
            + (f"; and names: {listed(names)}" if names else ""),
            "count them as one replication of a result, not two, or let another hand write one",
            (*common, *names),
        )
