"""Mining `exact_id` questions: an identifier, the passage that says what it is, and its near
misses."""

import random
from collections import defaultdict
from collections.abc import Sequence

from lab.corpus.document import Corpus
from lab.sets.identifiers import TOKEN, find_identifiers, siblings
from lab.sets.probe.mined import Mined, MinedKind
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


def identifier_questions(corpus: Corpus, prefix: str, count: int, seed: int) -> MinedKind:
    """At most `count` questions, those with near misses first, then a seeded choice."""
    explained, left_out = _explained(corpus)
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
    left_out["identifiers beyond --count"] = len(explained) - len(chosen)
    return MinedKind(tuple(questions), left_out)


def _explained(corpus: Corpus) -> tuple[dict[str, Sequence[Passage]], dict[str, int]]:
    """Identifier -> the passages that explain it, for those that have few; and how many were left
    out, by reason."""
    ranked: dict[str, dict[int, list[Passage]]] = defaultdict(lambda: defaultdict(list))
    everywhere = {name for document in corpus for _, name in find_identifiers(document.text)}
    for document in corpus:
        for passage in passages(document):
            if not passage.explains:
                continue
            seen: set[str] = set()
            for (start, _), identifier in find_identifiers(passage.text):
                if identifier not in seen and _says_more(passage.text, identifier):
                    seen.add(identifier)
                    ranked[identifier][_precedence(passage, start)].append(passage)
    best = {identifier: places[min(places)] for identifier, places in ranked.items()}
    explained: dict[str, Sequence[Passage]] = {
        name: places for name, places in best.items() if len(places) <= ALTERNATIVES
    }
    return explained, {
        f"identifiers that more than {ALTERNATIVES} places explain alike": len(best)
        - len(explained),
        "identifiers that no heading, row, item or sentence explains": len(everywhere - set(best)),
    }


def _says_more(text: str, identifier: str) -> bool:
    """Whether a passage holds any word beside the identifier."""
    rest = text.replace(identifier, " ")
    return bool(TOKEN.search(rest) or HAN.search(rest))


def _precedence(passage: Passage, start: int) -> int:
    """How likely the passage explains an identifier that stands at `start`: 0 a heading names it, 1
    a row, item or sentence begins with it, 2 it is mentioned."""
    if passage.kind == "heading" and "\n" not in passage.text[:start]:
        return 0
    return 1 if start <= FIRST else 2
