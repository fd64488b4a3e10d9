"""Mining `chunk_boundary` questions: evidence that a cut parts, each with a control of equal length
and word rarity that lies in the middle of a chunk."""

import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.chunking.chunk import Chunking
from lab.chunking.cuts import Cuts
from lab.sets.probe.mined import Mined, MinedKind
from lab.sets.probe.passages import Passage
from lab.sets.probe.words import Rarity

WORDS = 4
LEAST_WORDS = 3
# At least this share of a parted passage lies on either side of the cut.
SIDE = 0.25
# A control may differ by this share in length and in the mean idf of its words, and keeps this far
# from any cut.
LENGTH_TOLERANCE, IDF_TOLERANCE, ROOM = 0.2, 0.15, 25


@dataclass(frozen=True, slots=True)
class _Probe:
    """A passage (its number among all) with the words that ask for it."""

    number: int
    words: tuple[str, ...]


def boundary_questions(
    rarity: Rarity, chunking: Chunking, label: str, prefix: str, count: int, seed: int
) -> MinedKind:
    """At most `count` pairs, two questions each. Cuts are drawn by `seed`; a cut whose passage has
    no fitting control is left out.

    The words of a question come from one side of the cut, as a person asks by the half that is
    known for the other; the control's come from the same share of its own text, or it would be the
    easier question for another reason.
    """
    cuts = Cuts(chunking)
    controls, parted = _controls(rarity, cuts), _parted(rarity, cuts)
    random.Random(seed).shuffle(parted)
    pairs: list[tuple[_Probe, _Probe, int]] = []
    used: set[int] = set()
    tried = 0
    for number, cut in parted:
        if len(pairs) == count:
            break
        tried += 1
        share = _asked_share(rarity.passages[number], cut)
        probe = _Probe(number, _words(rarity, number, share))
        control = (
            _control(rarity, probe, share, controls, used) if _asks(rarity, probe.words) else None
        )
        if control is not None:
            used.add(control.number)
            pairs.append((probe, control, cut))
    left_out = {
        "cuts whose passage has no fitting control": tried - len(pairs),
        "cuts beyond --count": len(parted) - tried,
    }
    pairs.sort(key=lambda pair: pair[0].number)
    questions = tuple(
        question
        for number, (probe, control, cut) in enumerate(pairs, start=1)
        for question in (
            _mined(
                rarity,
                probe,
                f"{prefix}-cb-{number:04}",
                number,
                label,
                difficulty="hard",
                boundary="cut",
                cut=str(cut),
            ),
            _mined(
                rarity,
                control,
                f"{prefix}-cb-{number:04}c",
                number,
                label,
                difficulty="easy",
                boundary="control",
            ),
        )
    )
    return MinedKind(questions, left_out)


def _mined(
    rarity: Rarity, probe: _Probe, query_id: str, pair: int, label: str, **tags: str
) -> Mined:
    passage = rarity.passages[probe.number]
    return Mined(
        query_id,
        " ".join(probe.words),
        "chunk_boundary",
        (passage,),
        {**tags, "chunks": label, "pair": f"{pair:04}"},
    )


def _candidates(rarity: Rarity) -> Iterator[tuple[int, Passage]]:
    """Passages that can be quoted as they are; a heading is quoted with what follows, which is a
    passage itself."""
    return (
        (number, p)
        for number, p in enumerate(rarity.passages)
        if p.kind != "heading" and p.quotable
    )


def _parted(rarity: Rarity, cuts: Cuts) -> list[tuple[int, int]]:
    """Passages that no chunk holds, with the cut that leaves enough on either side."""
    passages = []
    for number, passage in _candidates(rarity):
        document, side = (
            cuts.chunking.corpus.position[passage.doc_id],
            SIDE * (passage.end - passage.start),
        )
        inside = cuts.inside(document, passage.start, passage.end)
        fair = [cut for cut in inside if passage.start + side <= cut <= passage.end - side]
        if fair and -cuts.margin(document, passage.start, passage.end) >= side:
            passages.append((number, fair[0]))
    return passages


def _controls(rarity: Rarity, cuts: Cuts) -> list[tuple[int, int]]:
    """(length, number) of the passages that a chunk holds with room on both sides, ascending."""
    position = cuts.chunking.corpus.position
    return sorted(
        (len(passage.text), number)
        for number, passage in _candidates(rarity)
        if cuts.margin(position[passage.doc_id], passage.start, passage.end) >= ROOM
    )


def _asked_share(passage: Passage, cut: int) -> tuple[float, float]:
    """The longer side of the cut as shares of the passage's length."""
    share = (cut - passage.start) / (passage.end - passage.start)
    return (0.0, share) if share >= 0.5 else (share, 1.0)


def _words(rarity: Rarity, number: int, share: tuple[float, float]) -> tuple[str, ...]:
    """The rarest words that lie wholly between two shares of a passage."""
    low, high = (part * len(rarity.passages[number].text) for part in share)
    return rarity.rarest(
        [word.text for word in rarity.words[number] if low <= word.start and word.end <= high],
        WORDS,
    )


def _asks(rarity: Rarity, words: tuple[str, ...]) -> bool:
    """Whether there are enough words and no other passage holds them all."""
    return len(words) >= LEAST_WORDS and rarity.holders(words) == 1


def _control(
    rarity: Rarity,
    probe: _Probe,
    share: tuple[float, float],
    controls: Sequence[tuple[int, int]],
    used: set[int],
) -> _Probe | None:
    """The unused control that differs least from the probe in length and rarity together."""
    length, idf = len(rarity.passages[probe.number].text), rarity.mean_idf(probe.words)
    first = bisect_left(controls, ((1 - LENGTH_TOLERANCE) * length, 0))
    last = bisect_right(controls, ((1 + LENGTH_TOLERANCE) * length, len(rarity.passages)))
    best, closest = LENGTH_TOLERANCE + IDF_TOLERANCE, None
    for size, number in sorted(
        controls[first:last], key=lambda control: (abs(control[0] - length), control)
    ):
        longer = abs(size - length) / length
        if longer >= best:
            break
        words = () if number in used else _words(rarity, number, share)
        if len(words) != len(probe.words):
            continue
        rarer = abs(rarity.mean_idf(words) - idf) / idf
        if rarer <= IDF_TOLERANCE and longer + rarer < best and _asks(rarity, words):
            best, closest = longer + rarer, _Probe(number, words)
    return closest
