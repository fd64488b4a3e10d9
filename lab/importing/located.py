"""Where the quotes of judgements stand in the documents."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lab.corpus.document import Document
from lab.importing.formats.collection import Finding, Judgement
from lab.relevance.folded import Folded, folded, folds
from lab.relevance.locate import nearest_text
from lab.relevance.query import Evidence
from lab.relevance.quotes import Quotes, Starts

# A quote without an offset that stands in more places than these is a name, not evidence.
MANY = 10
# Characters of documents that are searched at once for quotes of unknown documents.
TOGETHER = 4_000_000
BETWEEN = "\0"
# Lost quotes that are shown with the nearest text, and characters of documents among which it is
# looked for where the document is not known: it takes a pass over all of them.
EXPLAINED = 20
SEARCHED = 5_000_000


@dataclass
class Places:
    """Where a quote stands: how often, the first places, and that nearest to each offset that was
    claimed for it; `spaced` says that white space or signs differ."""

    count: int = 0
    first: list[tuple[str, int, int]] = field(default_factory=list)
    nearest: dict[int, tuple[str, int, int]] = field(default_factory=dict)
    spaced: bool = False


Wanted = Mapping[str, Iterable[int]]


def locate(
    judgements: Sequence[Judgement], documents: Mapping[str, Document], findings: list[Finding]
) -> list[list[Evidence]]:
    """The evidence of every judgement, in their order: the quote's span; several spans, as
    alternatives, where nothing says which is meant; none where it is not there.

    Every document is passed over a few times, however many quotes are looked for in it.
    """
    by_document: dict[str, dict[str, set[int]]] = {}
    anywhere: dict[str, set[int]] = {}
    for judgement in judgements:
        if judgement.doc_id is None:
            anywhere[_sought(judgement)] = set()
        elif judgement.quote is not None:
            claims = by_document.setdefault(judgement.doc_id, {}).setdefault(
                _clean(judgement.quote), set()
            )
            claims.update(() if judgement.start is None else (judgement.start,))
    places = {
        doc_id: find([(doc_id, documents[doc_id].text)], wanted)
        for doc_id, wanted in by_document.items()
    }
    everywhere = find([(d.doc_id, d.text) for d in documents.values()], anywhere)
    locating = _Locating(documents, findings)
    return [
        locating.evidence(
            judgement,
            everywhere.get(_sought(judgement), Places())
            if judgement.doc_id is None
            else places.get(judgement.doc_id, {}).get(_clean(judgement.quote or ""), Places()),
        )
        for judgement in judgements
    ]


def _clean(quote: str) -> str:
    return quote.encode("utf-8", "replace").decode()


def _sought(judgement: Judgement) -> str:
    """What is looked for in all documents: the passage, or the quote where it is known alone."""
    return _clean(judgement.within or judgement.quote or "").strip()


def find(texts: Sequence[tuple[str, str]], wanted: Wanted) -> dict[str, Places]:
    """The places of every quote in texts by id: letter by letter, and only for those that stand
    nowhere with any white space for any other, and any dash or quotation mark for its like."""
    places: dict[str, Places] = {}
    if not wanted:
        return places
    quotes = Quotes(wanted)
    for batch in _batches(texts):
        for quote, starts in quotes.places(batch.text):
            batch.note(places.setdefault(quote, Places()), starts, len(quote), wanted[quote])
    spaced: dict[str, list[str]] = {}
    for quote in wanted:
        if quote not in places and quote.strip():
            for words in folds(quote):
                spaced.setdefault(words, []).append(quote)
    if spaced:
        quotes = Quotes(spaced)
        for batch in _batches([(doc_id, text) for doc_id, text in texts], spaced=True):
            for words, starts in quotes.places(batch.text):
                for quote in spaced[words]:
                    known = places.setdefault(quote, Places(spaced=True))
                    batch.note(known, starts, len(words), wanted[quote])
    return places


@dataclass
class _Batch:
    """Texts joined to one, so that many short ones are searched as fast as a long one."""

    text: str
    ids: list[str]
    begins: list[int]
    folded: list[Folded] | None

    def note(self, known: Places, starts: Starts, size: int, claims: Iterable[int]) -> None:
        """Add the places that begin at `starts`, which rise."""
        for start in starts[: MANY + 1 - len(known.first)]:
            known.first.append(self._span(int(start), size))
        known.count += len(starts)
        for claim in claims:
            # Claims are offsets in one document, so there is one text here.
            places = range(len(starts))
            at = bisect_right(places, claim, key=lambda n: self._span(int(starts[n]), size)[1])
            close = [self._span(int(start), size) for start in starts[max(at - 1, 0) : at + 1]]
            known.nearest[claim] = min(close, key=lambda span: (abs(span[1] - claim), span))

    def _span(self, start: int, size: int) -> tuple[str, int, int]:
        number = bisect_right(self.begins, start) - 1
        start -= self.begins[number]
        if self.folded is None:
            return self.ids[number], start, start + size
        return self.ids[number], *self.folded[number].span(start, size)


def _batches(texts: Sequence[tuple[str, str]], spaced: bool = False) -> Iterator[_Batch]:
    waiting: list[tuple[str, str]] = []
    size = 0
    for doc_id, text in texts:
        if size + len(text) > TOGETHER and waiting:
            yield _batch(waiting, spaced)
            waiting, size = [], 0
        waiting.append((doc_id, text))
        size += len(text)
    if waiting:
        yield _batch(waiting, spaced)


def _batch(texts: Sequence[tuple[str, str]], spaced: bool) -> _Batch:
    folds = [folded(text) for _, text in texts] if spaced else None
    parts = [f.text for f in folds] if folds is not None else [text for _, text in texts]
    begins, at = [], 0
    for part in parts:
        begins.append(at)
        at += len(part) + len(BETWEEN)
    return _Batch(BETWEEN.join(parts), [doc_id for doc_id, _ in texts], begins, folds)


class _Locating:
    """Judgements turned into evidence one by one; findings are noted in their order."""

    def __init__(self, documents: Mapping[str, Document], findings: list[Finding]) -> None:
        self._documents, self._findings = documents, findings
        self._explained = 0

    def evidence(self, judgement: Judgement, places: Places) -> list[Evidence]:
        if judgement.quote is None:
            assert judgement.doc_id is not None
            return [Evidence(judgement.doc_id, grade=judgement.grade, group=judgement.group)]
        quote = _clean(judgement.quote)
        if not quote.strip():
            self._drop(judgement, "empty quote", f"{_shown(quote)} holds no text")
            return []
        if judgement.doc_id is None and judgement.within is not None:
            places = self._inside(quote, places)
        if not places.count:
            self._lost(judgement, quote)
            return []
        group = judgement.group
        spans = places.first
        shown = _shown(quote)
        if judgement.start is not None:
            spans = [places.nearest[judgement.start]]
            if spans[0][1] != judgement.start:
                of = f", the nearest of {places.count} places" if places.count > 1 else ""
                self._mend(
                    judgement,
                    "wrong offset",
                    f"{shown} is not at {judgement.start}; it stands at {spans[0][1]}{of}",
                )
        elif places.count > MANY:
            message = f"{shown} stands {places.count} times and does not say where the answer is"
            self._drop(judgement, "quote stands too often", message)
            return []
        elif places.count > 1:
            self._mend(
                judgement,
                "quote stands several times",
                f"{shown} stands {places.count} times; any of them counts",
            )
            words = re.sub(r"[^a-z0-9]+", " ", quote.lower())[:40].strip()
            group = group or f"any of: {words} @{spans[0][1]}"
        if places.spaced:
            doc_id, start, end = spans[0]
            there = self._documents[doc_id].text[start:end]
            if there.split() == quote.split():
                message = f"{shown} stands at {start}, otherwise spaced"
                self._mend(judgement, "white space differs", message)
            else:
                self._mend(judgement, "signs differ", f"{shown} stands as {_shown(there)}")
        return [
            Evidence(doc_id, start, end, judgement.grade, group=group)
            for doc_id, start, end in spans
        ]

    def _inside(self, quote: str, passages: Places) -> Places:
        """The quote's places in the places of the passage that it stands in."""
        inside = Places(passages.count)
        for doc_id, start, end in passages.first[:MANY]:
            read = find([("", self._documents[doc_id].text[start:end])], {quote: ()})
            if quote in read:
                _, begin, stop = read[quote].first[0]
                inside.first.append((doc_id, start + begin, start + stop))
        inside.count = len(inside.first) and passages.count
        return inside

    def _lost(self, judgement: Judgement, quote: str) -> None:
        """Say that a quote is nowhere, the first ones with the text that comes nearest."""
        where = "" if judgement.start is None else f" (offset {judgement.start} was claimed)"
        near = ""
        if self._explained < EXPLAINED:
            self._explained += 1
            near = self._nearest(judgement, quote)
        self._drop(judgement, "quote is not in the text", f"{_shown(quote)}{where}{near}")

    def _nearest(self, judgement: Judgement, quote: str) -> str:
        doc_id = judgement.doc_id
        searched = sum(len(document.text) for document in self._documents.values())
        if doc_id is None and searched <= SEARCHED:
            words = set(quote.lower().split())
            shared = {
                document.doc_id: len(words.intersection(document.text.lower().split()))
                for document in self._documents.values()
            }
            doc_id = max(sorted(shared), key=lambda name: shared[name], default=None)
        if doc_id is None:
            return ""
        near = nearest_text(self._documents[doc_id].text, quote)
        return f"; nearest text in '{doc_id}': {_shown(near)}" if near else ""

    def _drop(self, judgement: Judgement, rule: str, message: str) -> None:
        self._findings.append(Finding(judgement.place, "dropped", rule, message))

    def _mend(self, judgement: Judgement, rule: str, message: str) -> None:
        self._findings.append(Finding(judgement.place, "mended", rule, message))


def _shown(quote: str) -> str:
    return repr(quote if len(quote) <= 60 else quote[:57] + "...")
