"""Mining `keyword` questions: the rarest words of a passage that no other passage holds
together."""

import random
from collections import Counter
from collections.abc import Sequence, Set

from lab.sets.probe.mined import Mined, MinedKind
from lab.sets.probe.passages import LONGEST, SHORTEST, Passage
from lab.sets.probe.words import Rarity

WORDS = 4
# Rare: in at most this share of the passages (and in any two).
RARE = 0.005

Asked = tuple[Passage, Sequence[str]]


def keyword_questions(
    rarity: Rarity, asked_for: Set[Passage], prefix: str, count: int, seed: int
) -> MinedKind:
    """At most `count` questions, drawn by `seed` and spread over the documents; passages
    `asked_for` already are left alone."""
    limit = max(2, int(RARE * len(rarity.passages)))
    possible: list[Asked] = []
    left_out: Counter[str] = Counter()
    for passage, words in zip(rarity.passages, rarity.words, strict=True):
        chosen = rarity.rarest(
            [word.text for word in words if rarity.frequency[word.text] <= limit], WORDS
        )
        if not passage.quotable:
            left_out[f"passages outside {SHORTEST} to {LONGEST} characters"] += 1
        elif passage in asked_for:
            left_out["passages that a boundary probe asks for"] += 1
        elif len(chosen) < WORDS:
            left_out[f"passages with fewer than {WORDS} rare words"] += 1
        elif rarity.holders(chosen) > 1:
            left_out["passages that share their rare words with another"] += 1
        else:
            possible.append((passage, chosen))
    random.Random(seed).shuffle(possible)
    asked = sorted(_spread(possible, count), key=lambda pair: (pair[0].doc_id, pair[0].start))
    left_out["passages beyond --count"] = len(possible) - len(asked)
    questions = tuple(
        Mined(
            f"{prefix}-kw-{number:04}",
            " ".join(words),
            "keyword",
            (passage,),
            {"difficulty": "easy"},
        )
        for number, (passage, words) in enumerate(asked, start=1)
    )
    return MinedKind(questions, left_out)


def _spread(possible: Sequence[Asked], count: int) -> Sequence[Asked]:
    """Every document's first, then every document's second, and so on: a long document does not
    fill the set."""
    taken: Counter[str] = Counter()
    rounds: list[tuple[int, int]] = []
    for place, (passage, _) in enumerate(possible):
        rounds.append((taken[passage.doc_id], place))
        taken[passage.doc_id] += 1
    return [possible[place] for _, place in sorted(rounds)[:count]]
