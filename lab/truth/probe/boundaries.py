"""Mining `chunk_boundary` questions: evidence that a cut parts, each with a control of equal length and word rarity that lies
in the middle of a chunk."""

import random
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from lab.chunking.chunk import Chunking
from lab.chunking.cuts import Cuts
from lab.truth.probe.mined import Mined
from lab.truth.probe.passages import Passage
from lab.truth.probe.words import Rarity, content_words

WORDS = 4
LEAST_WORDS = 3
# At least this share of a parted passage lies on either side of the cut.
SIDE = 0.25
# A control may differ by this share in length and in the mean idf of its words, and keeps this far from any cut.
LENGTH_TOLERANCE, IDF_TOLERANCE, ROOM = 0.2, 0.15, 25


@dataclass(frozen=True, slots=True)
class _Probe:
    """A passage with the words that ask for it and their mean idf."""

    passage: Passage
    words: tuple[str, ...]
    idf: float


def boundary_questions(rarity: Rarity, chunking: Chunking, label: str, prefix: str, count: int, seed: int) -> list[Mined]:
    """At most `count` pairs, two questions each. Cuts are drawn by `seed`; a cut whose passage has no fitting control is left
    out.

    The words of a question come from one side of the cut, as a person asks by the half that is known for the other; the
    control's come from the same share of its own text, or it would be the easier question for another reason.
    """
    cuts, controls = Cuts(chunking), _controls(rarity, chunking)
    parted = _parted(rarity, chunking, cuts)
    rng = random.Random(seed)
    rng.shuffle(parted)
    pairs: list[tuple[_Probe, _Probe, int]] = []
    used: set[int] = set()
    for passage, cut in parted:
        if len(pairs) == count:
            break
        low, high = _asked_share(passage, cut)
        probe = _probe(rarity, passage, low, high)
        found = None if probe is None else _control(rarity, probe, low, high, controls, used)
        if probe is not None and found is not None:
            used.add(found[0])
            pairs.append((probe, found[1], cut))
    pairs.sort(key=lambda pair: (pair[0].passage.doc_id, pair[0].passage.start))
    questions = []
    for number, (probe, control, cut) in enumerate(pairs, start=1):
        tags = {"difficulty": "hard", "chunks": label, "pair": f"{number:04}"}
        cut_tags = tags | {"boundary": "cut", "cut": str(cut)}
        questions.append(Mined(f"{prefix}-cb-{number:04}", " ".join(probe.words), "chunk_boundary", (probe.passage,), cut_tags))
        control_tags = tags | {"difficulty": "easy", "boundary": "control"}
        questions.append(
            Mined(f"{prefix}-cb-{number:04}c", " ".join(control.words), "chunk_boundary", (control.passage,), control_tags)
        )
    return questions


def _parted(rarity: Rarity, chunking: Chunking, cuts: Cuts) -> list[tuple[Passage, int]]:
    """Passages that no chunk holds, with the cut that leaves enough on either side."""
    found = []
    for passage in rarity.passages:
        if passage.kind == "heading" or not passage.quotable:
            continue
        document = chunking.corpus.position[passage.doc_id]
        side = SIDE * (passage.end - passage.start)
        inside = [
            cut for cut in cuts.inside(document, passage.start, passage.end) if passage.start + side <= cut <= passage.end - side
        ]
        if inside and -cuts.margin(document, passage.start, passage.end) >= side:
            found.append((passage, inside[0]))
    return found


def _controls(rarity: Rarity, chunking: Chunking) -> list[Passage]:
    """Passages that a chunk holds with room on both sides, by length."""
    cuts = Cuts(chunking)
    found = [
        passage
        for passage in rarity.passages
        if passage.kind != "heading"
        and passage.quotable
        and cuts.margin(chunking.corpus.position[passage.doc_id], passage.start, passage.end) >= ROOM
    ]
    return sorted(found, key=_length)


def _asked_share(passage: Passage, cut: int) -> tuple[float, float]:
    """The longer side of the cut as shares of the passage's length."""
    share = (cut - passage.start) / (passage.end - passage.start)
    return (0.0, share) if share >= 0.5 else (share, 1.0)


def _probe(rarity: Rarity, passage: Passage, low: float, high: float) -> _Probe | None:
    """A question of the rarest words between two shares of a passage; None where there are too few, or where another passage
    holds them as well."""
    length = len(passage.text)
    words = rarity.rarest(content_words(passage.text[round(low * length) : round(high * length)]), WORDS)
    # A cut may part a word; half a word is known nowhere and asks for nothing.
    words = tuple(word for word in words if rarity.frequency[word])
    if len(words) < LEAST_WORDS or rarity.holders(words) > 1:
        return None
    return _Probe(passage, words, rarity.mean_idf(words))


def _control(
    rarity: Rarity, probe: _Probe, low: float, high: float, controls: Sequence[Passage], used: set[int]
) -> tuple[int, _Probe] | None:
    """The unused control that differs least in length and rarity together, and its number."""
    best: tuple[float, int, _Probe] | None = None
    length = len(probe.passage.text)
    low_end, high_end = (
        bisect_left(controls, size, key=_length)
        for size in ((1 - LENGTH_TOLERANCE) * length, (1 + LENGTH_TOLERANCE) * length + 1)
    )
    for number in sorted(range(low_end, high_end), key=lambda number: abs(_length(controls[number]) - length)):
        longer = abs(_length(controls[number]) - length) / length
        if best is not None and longer >= best[0]:
            break
        other = None if number in used else _probe(rarity, controls[number], low, high)
        if other is None or len(other.words) != len(probe.words):
            continue
        rarer = abs(other.idf - probe.idf) / probe.idf if probe.idf else 0.0
        if rarer <= IDF_TOLERANCE and (best is None or longer + rarer < best[0]):
            best = longer + rarer, number, other
    return None if best is None else best[1:]


def _length(passage: Passage) -> int:
    return len(passage.text)
