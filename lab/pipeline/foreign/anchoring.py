"""Anchoring: hits of a foreign retriever found again in the corpus, those of its final ranking and
those of every stage that it shows."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

import numpy as np

from lab.arrays import NONE
from lab.chunking.chunk import Chunking
from lab.corpus.document import Corpus, Document
from lab.pipeline.foreign.hits import Hit
from lab.pipeline.foreign.reply import Call
from lab.pipeline.foreign.visible import Rows, Visible, stage_hits
from lab.relevance.locate import find_quote
from lab.retrieval.ranking import Ranking

# Hits that the corpus does not hold keep their ranks as documents of their own. The largest code
# point sorts them last, so that the numbers of the real documents stay as they are.
ABSENT = "\U0010ffff"
# The lab's own chunk ids, as its run files name hits.
CHUNK_ID = re.compile(r"(.+):(\d{1,18})-(\d{1,18})", re.DOTALL)

Place = tuple[str, int, int]


@dataclass(frozen=True, eq=False)
class Anchored:
    """Rankings over the spans that a retriever returned, the stages that it shows over the same
    spans, and an account of what could not be taken as given: `counts` of the final hits,
    `elsewhere` of what only stages have. `whole` says that the spans are all that it searches."""

    spans: Chunking
    ranking: Ranking
    counts: Mapping[str, int]
    visible: Visible
    elsewhere: Mapping[str, int]
    whole: bool


def anchored(
    corpus: Corpus,
    rankings: Sequence[Sequence[Hit]],
    calls: Sequence[Sequence[Call]] = (),
    chunks: Iterable[Hit] = (),
) -> Anchored:
    """Find every hit in the corpus: those of the final rankings, of every stage of the questions'
    `calls`, and all `chunks` that the retriever searches, if it names them. One that cannot be
    found keeps its rank as noise, a repeated one is removed."""
    finder, calls = _Finder(corpus), calls or [()] * len(rankings)
    placed = [finder.row(hits) for hits in rankings]
    counts = finder.counts
    finder.counts = Counter()
    shown = stage_hits(rankings, calls)
    stages = {key: [finder.row(hits) for hits in rows] for key, rows in shown.items()}
    known = finder.row(chunks)
    every = [placed, *stages.values(), [known]]
    widened = Corpus((*corpus, *(Document(doc_id, text) for doc_id, text in finder.absent.items())))
    places = dict.fromkeys(place for rows in every for row in rows for place in row)
    spans = Chunking.of(widened, [(widened.position[d], s, e, 0) for d, s, e in places])
    number = {(spans[i].doc_id, spans[i].start, spans[i].end): i for i in range(len(spans))}
    final = _ranking(placed, number)
    # The order is the retriever's; scores of foreign systems are on scales of their own and are not
    # kept.
    below = -np.arange(final.chunks.shape[1], dtype=np.float64)
    ranking = Ranking(final.chunks, np.where(final.chunks == NONE, -np.inf, below))
    return Anchored(
        spans=spans,
        ranking=ranking,
        counts=dict(counts),
        visible=Visible.of({key: _ranking(rows, number) for key, rows in stages.items()}, calls),
        elsewhere=dict(finder.counts),
        whole=bool(known),
    )


def _ranking(rows: Rows, number: Mapping[Place, int]) -> Ranking:
    """Rows of places with their scores, NaN for none, as a ranking of spans."""
    width = max((len(row) for row in rows), default=0)
    chunks = np.full((len(rows), max(width, 1)), NONE, dtype=np.int64)
    scores = np.full(chunks.shape, -np.inf)
    for query, row in enumerate(rows):
        chunks[query, : len(row)] = [number[place] for place in row]
        scores[query, : len(row)] = list(row.values())
    return Ranking(chunks, scores)


class _Finder:
    """Places of hits in one corpus; every distinct text is looked for once."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.counts, self.absent = corpus, Counter[str](), dict[str, str]()
        self._seen: dict[tuple[str | None, str], list[Place]] = {}
        self._names: dict[Hit, str] = {}

    def row(self, hits: Iterable[Hit]) -> dict[Place, float]:
        """The places of one list of hits with their scores, NaN for none; repeats are removed."""
        row: dict[Place, float] = {}
        for hit in hits:
            place = self.place(hit, row)
            if place in row:
                self.counts["repeated"] += 1
                continue
            row[place] = np.nan if hit.score is None else hit.score
        return row

    def place(self, hit: Hit, taken: Mapping[Place, float]) -> Place:
        """Where a hit stands; of several places the first that is not `taken` by a better hit."""
        self.counts["hits"] += 1
        hit = self._as_named_here(hit)
        if hit.doc_id is not None and hit.doc_id not in self.corpus:
            self.counts["unknown document"] += 1
            return (
                self._noise(hit)
                if not hit.text
                else self._by_text(replace(hit, doc_id=None), taken)
            )
        if hit.start is not None and hit.end is not None and hit.doc_id is not None:
            text = self.corpus[hit.doc_id].text
            if 0 <= hit.start < hit.end <= len(text) and text[hit.start : hit.end].strip():
                return hit.doc_id, hit.start, hit.end
            self.counts["offsets outside"] += 1
        if hit.text and hit.text.strip():
            return self._by_text(hit, taken)
        if hit.doc_id is not None and hit.start is None and self.corpus[hit.doc_id].text.strip():
            self.counts["whole document"] += 1
            return hit.doc_id, 0, len(self.corpus[hit.doc_id].text)
        return self._noise(hit)

    def _as_named_here(self, hit: Hit) -> Hit:
        """The hit under the corpus's own id where it has one: `lab export` percent-encodes ids with
        blanks, and names chunks `doc_id:start-end`."""
        if hit.doc_id is None or hit.doc_id in self.corpus:
            return hit
        for written in dict.fromkeys((hit.doc_id, unquote(hit.doc_id))):
            name = self.corpus.names.find(written)
            if name is not None:
                return replace(hit, doc_id=name)
            match = CHUNK_ID.fullmatch(written)
            name = self.corpus.names.find(match[1]) if match else None
            if match and name is not None and hit.start is None:
                return Hit(name, int(match[2]), int(match[3]), hit.text)
        return hit

    def _by_text(self, hit: Hit, taken: Mapping[Place, float]) -> Place:
        key = (hit.doc_id, hit.text or "")
        if key not in self._seen:
            names = (
                [document.doc_id for document in self.corpus]
                if hit.doc_id is None
                else [hit.doc_id]
            )
            self._seen[key] = [
                (name, *span) for name in names for span in _spans(self.corpus[name].text, key[1])
            ]
        places = self._seen[key]
        if not places:
            self.counts["text not found"] += 1
            return self._noise(hit)
        self.counts["found by text"] += 1
        self.counts["text in several places"] += len(places) > 1
        return next((place for place in places if place not in taken), places[0])

    def _noise(self, hit: Hit) -> Place:
        """A document of its own for what is not there; the same hit is the same document."""
        name = self._names.setdefault(hit, f"{ABSENT}{len(self._names):09d}")
        text = hit.text if hit.text and hit.text.strip() else f"absent: {hit.doc_id}"
        self.absent[name] = text
        return name, 0, len(text)


def _spans(text: str, quote: str) -> list[tuple[int, int]]:
    stripped = quote.strip()
    # The common case first: most documents do not hold the text, and the search that folds white
    # space is slow.
    words = stripped.split()
    if stripped not in text and not all(word in text for word in words):
        return []
    return find_quote(text, stripped)
