"""Mining `exact_id` questions: an identifier, the passage that says what it is, and its near
misses."""

import random
from collections import defaultdict
from collections.abc import Sequence

from lab.corpus.document import Corpus
from lab.sets.identifiers import find_identifiers, siblings
from lab.sets.probe.mined import Mined
from lab.sets.probe.passages import HAN, Passage, passages

# More places than these that are equally likely to explain an identifier mean that it names no one
# thing.
ALTERNATIVES = 3
# An identifier this early in a passage is what the passage is about.
FIRST = 12
SIBLINGS_SHOWN = 5
# What people type: mostly the identifier itself.
ENGLISH = ("{}", "what is {}", "{} meaning", "What does {} mean?")
CHINESE = ("{}", "{}是什么", "{} 的含义", "{}表示什么？")


def identifier_questions(corpus: Corpus, prefix: str, count: int, seed: int) -> list[Mined]:
    """At most `count` questions, those with near misses first, then a seeded choice."""
    explained = _explained(corpus)
    near = siblings(explained)
    rng = random.Random(seed)
    order = sorted(explained)
    rng.shuffle(order)
    chosen = sorted(sorted(order, key=lambda identifier: not near[identifier])[:count])
    questions = []
    for number, identifier in enumerate(chosen, start=1):
        places = explained[identifier]
        chinese = any(HAN.search(place.text) for place in places)
        text = rng.choice(CHINESE if chinese else ENGLISH).format(identifier)
        tags = {"difficulty": "hard" if near[identifier] else "easy"}
        if near[identifier]:
            tags["siblings"] = " ".join(near[identifier][:SIBLINGS_SHOWN])
        questions.append(Mined(f"{prefix}-id-{number:04}", text, "exact_id", tuple(places), tags))
    return questions


def _explained(corpus: Corpus) -> dict[str, Sequence[Passage]]:
    """Identifier -> the passages that explain it, for those that have few."""
    found: dict[str, dict[int, list[Passage]]] = defaultdict(lambda: defaultdict(list))
    for document in corpus:
        for passage in passages(document):
            if passage.kind != "heading" and not passage.quotable:
                continue
            seen: set[str] = set()
            for (start, _), identifier in find_identifiers(passage.text):
                if identifier not in seen:
                    seen.add(identifier)
                    found[identifier][_precedence(passage, start)].append(passage)
    best = {identifier: ranked[min(ranked)] for identifier, ranked in found.items()}
    return {
        identifier: places for identifier, places in best.items() if len(places) <= ALTERNATIVES
    }


def _precedence(passage: Passage, start: int) -> int:
    """How likely the passage explains an identifier that stands at `start`: 0 a heading names it, 1
    a row, item or sentence begins with it, 2 it is mentioned."""
    if passage.kind == "heading" and "\n" not in passage.text[:start]:
        return 0
    return 1 if start <= FIRST else 2
