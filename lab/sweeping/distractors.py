"""Distractors without a language model: passages that look like the evidence or the question and
are not the answer."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError, nearest
from lab.relevance.place import place
from lab.relevance.query import Query
from lab.retrieval import bm25
from lab.retrieval.config import BM25Config
from lab.sets.identifiers import find_identifiers
from lab.sweeping.injected import INJECTED

# The kind of distractors that are the user's own documents.
OWN = "folder"
PASSAGE = 400
NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)?(?![\w])")
NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b")


@dataclass(frozen=True, eq=False)
class Source:
    """What distractors are made from: the corpus, its passages that hold no evidence of any
    question (or the user's own documents), and their order for each question by BM25, nearest
    first."""

    corpus: Corpus
    passages: Chunking
    near: dict[str, list[int]]


def source_of(
    corpus: Corpus, queries: Sequence[Query], passages_from: Corpus | None = None
) -> Source:
    """`passages_from` is the user's own folder of distractors; its documents are taken whole."""
    config = (
        ChunkConfig(strategy="document")
        if passages_from
        else ChunkConfig(strategy="sentences", size=PASSAGE)
    )
    passages = chunk(passages_from or corpus, config)
    taken: set[int] = set()
    if passages_from is None:
        for query in queries:
            for item in query.evidence:
                _, start, end = place(corpus, item)
                document = corpus.position.get(item.doc_id, -1)
                overlap = (
                    (passages.document == document)
                    & (passages.start < end)
                    & (passages.end > start)
                )
                taken.update(overlap.nonzero()[0].tolist())
    ranking = bm25.build(passages, BM25Config()).search(
        [query.text for query in queries], len(passages)
    )
    near = {
        query.query_id: [c for c in ranking.hits(q).tolist() if c not in taken]
        for q, query in enumerate(queries)
    }
    return Source(corpus, passages, near)


def topical(query: Query, source: Source, draw: random.Random) -> Iterator[str]:
    """Passages nearest to the question that hold no evidence of any question."""
    for passage in source.near[query.query_id]:
        yield source.passages.text(passage)


def sibling(query: Query, source: Source, draw: random.Random) -> Iterator[str]:
    """The evidence's passage with its identifiers turned into near misses: one digit of each is
    another one."""
    for text in _evidence(query, source.corpus):
        identifiers = [
            (span, word) for span, word in find_identifiers(text) if any(map(str.isdigit, word))
        ]
        if identifiers:
            yield _replaced(
                text, [(start, end, _other_digit(word, draw)) for (start, end), word in identifiers]
            )


def twin(query: Query, source: Source, draw: random.Random) -> Iterator[str]:
    """The evidence's passage with one number changed, or one name where it has no number."""
    for text in _evidence(query, source.corpus):
        numbers, names = list(NUMBER.finditer(text)), list(NAME.finditer(text))
        if numbers:
            match = draw.choice(numbers)
            yield _replaced(text, [(*match.span(), _other_digit(match.group(), draw))])
        elif names:
            match = draw.choice(names)
            others = sorted(
                {n.group() for d in source.corpus for n in NAME.finditer(d.text)} - {match.group()}
            )
            if others:
                yield _replaced(text, [(*match.span(), draw.choice(others))])


def duplicate(query: Query, source: Source, draw: random.Random) -> Iterator[str]:
    """The evidence's passage letter by letter: a copy that is not the original, and is not counted
    as it."""
    yield from _evidence(query, source.corpus)


MAKERS: dict[str, Callable[[Query, Source, random.Random], Iterator[str]]] = {
    "topical": topical,
    "sibling": sibling,
    "twin": twin,
    "duplicate": duplicate,
}


def distractors(
    queries: Sequence[Query], source: Source, kind: str, dose: int, seed: int
) -> tuple[Document, ...]:
    """At most `dose` documents a question, for all questions with evidence; a smaller dose's are
    among a larger one's.

    Their ids begin with INJECTED and their metadata says for which question they were made; they
    pass that question's filter where its evidence does. Kinds made from the evidence repeat its
    passages, changed anew, until the dose is reached; a question whose evidence has nothing to
    change gets none. For OWN they are the documents of the user's folder nearest to each question.
    Raises ConfigError for an unknown kind.
    """
    if kind == OWN:
        return _nearest_own(queries, source, dose)
    if kind not in MAKERS:
        raise ConfigError(f"distractors '{kind}' are unknown{nearest(kind, MAKERS)}")
    added = []
    for query in queries:
        if not query.evidence:
            continue
        draw, made = random.Random(f"{seed} {kind} {query.query_id}"), list[str]()
        while len(made) < dose:
            fresh = list(MAKERS[kind](query, source, draw))
            made.extend(fresh)
            if not fresh or kind == "topical":
                break
        for number, text in enumerate(made[:dose], start=1):
            metadata = _filtered_as(query, source.corpus) | {
                "injected": kind,
                "query_id": query.query_id,
            }
            added.append(
                Document(f"{INJECTED}{kind}:{query.query_id}:{number:03d}", text, "", metadata)
            )
    return tuple(added)


def _nearest_own(queries: Sequence[Query], source: Source, dose: int) -> tuple[Document, ...]:
    """The user's documents nearest to each question as they are. One that is near to several is
    injected once: copies of it would crowd each other out, and a folder is no larger than it is."""
    chosen: dict[int, dict[str, Any]] = {}
    for query in queries:
        if query.evidence:
            for passage in source.near[query.query_id][:dose]:
                passing = chosen.setdefault(int(source.passages.document[passage]), {})
                passing |= _filtered_as(query, source.corpus) | passing
    of_folder = [
        (source.passages.corpus.documents[place], passing)
        for place, passing in sorted(chosen.items())
    ]
    return tuple(
        Document(
            f"{INJECTED}{OWN}:{d.doc_id}",
            d.text,
            d.title,
            {**passing, **d.metadata, "injected": OWN},
        )
        for d, passing in of_folder
    )


def _filtered_as(query: Query, corpus: Corpus) -> dict[str, Any]:
    """What the question's filter reads of the document of its first evidence."""
    doc_id = query.evidence[0].doc_id
    if query.filter is None or doc_id not in corpus:
        return {}
    held = corpus[doc_id].metadata
    return {
        condition.key: held[condition.key]
        for condition in query.filter.conditions
        if condition.key in held
    }


def _evidence(query: Query, corpus: Corpus) -> Iterator[str]:
    """The passage around each piece: up to PASSAGE characters, cut at blanks or lines."""
    for alternatives in query.pieces:
        text, start, end = place(corpus, alternatives[0])
        if not text[start:end].strip():
            continue
        room = max(PASSAGE - (end - start), 0) // 2
        low, high = max(start - room, 0), min(end + room, len(text))
        # Words stay whole: the passage begins after a blank and ends before one, at the evidence
        # itself if there is none.
        before, after = text.find(" ", low, start), text.rfind(" ", end, high)
        low = low if low == 0 else before + 1 if before >= 0 else start
        high = high if high == len(text) else after if after >= 0 else end
        yield text[low:high]


def _replaced(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    for start, end, word in reversed(changes):
        text = text[:start] + word + text[end:]
    return text


def _other_digit(word: str, draw: random.Random) -> str:
    """The word with one of its digits, drawn, changed into another."""
    place = draw.choice([i for i, letter in enumerate(word) if letter.isdigit()])
    digit = draw.choice([d for d in "123456789" if d != word[place]])
    return word[:place] + digit + word[place + 1 :]
