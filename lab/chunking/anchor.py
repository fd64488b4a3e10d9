"""Anchoring: strings that some splitter made of a document, put back to offsets of its text."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lab.arrays import Span

# A string and where its splitter says it begins, None where it does not say.
Piece = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class Anchored:
    """Spans of the strings that were found, the strings that were not, and how many non-blank
    characters of the text lie in no span."""

    spans: tuple[Span, ...]
    lost: tuple[str, ...]
    uncovered: int


def anchor(text: str, pieces: Sequence[Piece], reach: Callable[[Span], int]) -> Anchored:
    """Find every string after the one before it, white space left aside, for splitters strip and
    fold it.

    A string belongs where it adds something and leaves no gap: not before `reach(span)` of the span
    before it (how far an overlap goes back) and not after the first character that no span holds
    yet. Of several such places the one that the splitter names is taken, else the first that has
    the string's own white space, else the first. Only where there is none may it begin later. A
    place that a splitter names is not believed where the text differs.
    """
    offsets = [offset for offset, character in enumerate(text) if not character.isspace()]
    visible = "".join(text[offset] for offset in offsets)
    spans: list[Span] = []
    lost: list[str] = []
    held = missed = (
        0  # counts of visible characters: those passed so far, and those of them in no span
    )
    for string, named in pieces:
        core = "".join(string.split())
        if not core:
            continue
        back = reach(spans[-1]) if spans else 0
        first, new = bisect_left(offsets, back), held - len(core) + 1
        places = _places(visible, core, max(first, new), held)
        if not places and spans and back < spans[-1][1]:
            # Its splitter counts the overlap otherwise, so goes further back; rarely, a string has
            # nothing new.
            first = bisect_left(offsets, spans[-1][0])
            places = _places(visible, core, max(first, new), held) or _places(
                visible, core, first, held
            )
        place = _best(places, string, named, text, offsets) if places else visible.find(core, held)
        if place < 0:
            lost.append(string)
            continue
        missed += max(place - held, 0)
        held = max(held, place + len(core))
        spans.append(_whole(text, string, offsets[place], offsets[place + len(core) - 1] + 1))
    return Anchored(tuple(spans), tuple(lost), missed + len(visible) - held)


def _places(visible: str, core: str, first: int, last: int) -> list[int]:
    """Every place in [first, last] at which the string stands."""
    places = []
    place = visible.find(core, first, last + len(core))
    while place >= 0:
        places.append(place)
        place = visible.find(core, place + 1, last + len(core))
    return places


def _best(
    places: Sequence[int], string: str, named: int | None, text: str, offsets: Sequence[int]
) -> int:
    stripped, lead = string.strip(), len(string) - len(string.lstrip())
    named_places = [
        place for place in places if named is not None and offsets[place] == named + lead
    ]
    exact = [place for place in places if text.startswith(stripped, offsets[place])]
    return (named_places or exact or places)[0]


def _whole(text: str, string: str, start: int, end: int) -> Span:
    """The span with the white space that the string has around it, where the text has the same."""
    lead, trail = len(string) - len(string.lstrip()), len(string) - len(string.rstrip())
    wide = start - lead, end + trail
    return wide if wide[0] >= 0 and text[slice(*wide)] == string else (start, end)
