"""A foreign retriever's answers become a system of the sweep: hits are found in the corpus, then
judged like any other."""

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

import numpy as np

from lab.arrays import NONE
from lab.chunking.chunk import Chunking
from lab.config.config import Config
from lab.config.retriever import RETRIES, RetrieverConfig
from lab.config.settings import DEPTH
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError
from lab.evaluation.scores import SystemRun
from lab.pipeline.foreign.finished import GivenRun, RunFile
from lab.pipeline.foreign.hits import Hit
from lab.pipeline.foreign.retriever import Answers, ask
from lab.pipeline.foreign.sources import Given, source_of
from lab.pipeline.resources import Resources
from lab.pipeline.rows import SHOWN, StageRows
from lab.pipeline.tokens import count_tokens
from lab.relevance.judge import SpanJudge, judge_for
from lab.relevance.locate import find_quote
from lab.relevance.pieces import Pieces
from lab.retrieval.ranking import Ranking
from lab.storage.progress import Progress

# Hits that the corpus does not hold keep their ranks as documents of their own. The largest code
# point sorts them last, so that the numbers of the real documents stay as they are.
ABSENT = "\U0010ffff"
# The lab's own chunk ids, as its run files name hits.
CHUNK_ID = re.compile(r"(.+):(\d{1,18})-(\d{1,18})", re.DOTALL)

Place = tuple[str, int, int]


@dataclass(frozen=True, eq=False)
class Anchored:
    """Rankings over the spans that a retriever returned, and an account of what could not be taken
    as given."""

    spans: Chunking
    ranking: Ranking
    counts: Mapping[str, int]


def foreign_config(name: str) -> Config:
    """The row of the table that stands for a foreign system: it has no stage that the lab could
    set."""
    return Config(bm25=None, retriever=name)


def ask_retriever(
    name: str, retriever: Given, pieces: Pieces, progress: Progress
) -> tuple[Answers, str]:
    """Ask one retriever every scored question; also its identity. Raises LabError when it cannot be
    asked at all, or when no question got a valid answer."""
    depth, retries = None, RETRIES
    if isinstance(retriever, RetrieverConfig):
        depth, retries = retriever.depth, retriever.retries
    source = source_of(name, retriever)
    if depth is None:
        depth = sys.maxsize if isinstance(source, RunFile | GivenRun) else DEPTH
    questions = {query.query_id: query.text for query in pieces.queries}
    advance = progress.stage(f"ask {name}", len(questions))
    answers = ask(source, questions, depth, retries, advance)
    if answers.failed and not any(questions[query_id].strip() for query_id in answers.hits):
        query_id, reason = next(iter(answers.failed.items()))
        raise ConfigError(
            f"retriever '{name}': none of {len(answers.failed)} questions got a valid answer; "
            f"the first, '{query_id}': {reason}"
        )
    return answers, source.identity


def anchored(corpus: Corpus, rankings: Sequence[Sequence[Hit]]) -> Anchored:
    """Find every hit in the corpus. One that cannot be found keeps its rank as noise, a repeated
    one is removed."""
    finder = _Finder(corpus)
    placed: list[list[Place]] = []
    for hits in rankings:
        row: dict[Place, None] = {}
        for hit in hits:
            place = finder.place(hit, row)
            if place in row:
                finder.counts["repeated"] += 1
            row[place] = None
        placed.append(list(row))
    widened = Corpus((*corpus, *(Document(doc_id, text) for doc_id, text in finder.absent.items())))
    spans = Chunking.of(
        widened,
        [
            (widened.position[d], s, e, 0)
            for d, s, e in dict.fromkeys(p for row in placed for p in row)
        ],
    )
    number = {(spans[i].doc_id, spans[i].start, spans[i].end): i for i in range(len(spans))}
    width = max((len(row) for row in placed), default=0)
    chunks = np.full((len(placed), max(width, 1)), NONE, dtype=np.int64)
    for query, places in enumerate(placed):
        chunks[query, : len(places)] = [number[place] for place in places]
    # The order is the retriever's; scores of foreign systems are on scales of their own and are not
    # kept.
    scores = np.where(chunks == NONE, -np.inf, -np.arange(chunks.shape[1], dtype=np.float64))
    return Anchored(spans, Ranking(chunks, scores), dict(finder.counts))


class _Finder:
    """Places of hits in one corpus; every distinct text is looked for once."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.counts, self.absent = corpus, Counter[str](), dict[str, str]()
        self._seen: dict[tuple[str | None, str], list[Place]] = {}
        self._names: dict[Hit, str] = {}

    def place(self, hit: Hit, taken: Mapping[Place, None]) -> Place:
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

    def _by_text(self, hit: Hit, taken: Mapping[Place, None]) -> Place:
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


def foreign_run(
    anchored_hits: Anchored, pieces: Pieces, hold: float, model: str | None, resources: Resources
) -> SystemRun:
    """Judge anchored rankings: spans or documents, as the set is judged; context tokens are counted
    as everywhere."""
    judge = judge_for(pieces, anchored_hits.spans, hold)
    starts = resources.token_starts(model, anchored_hits.spans.corpus)
    if isinstance(judge, SpanJudge):
        tokens = count_tokens(starts, anchored_hits.spans)
    else:
        tokens = np.array([len(offsets) for offsets in starts], dtype=np.int64)
    return SystemRun(judge, judge.judge(anchored_hits.ranking), tokens)


def foreign_rows(anchored_hits: Anchored, run: SystemRun, documents: int) -> StageRows:
    """The first hits and every hit that holds evidence; no stage but the last is visible."""
    spans, ranking = anchored_hits.spans, anchored_hits.ranking
    query, place = np.nonzero(ranking.chunks != NONE)
    span = ranking.chunks[query, place]
    held = np.zeros(len(query), dtype=bool)
    if isinstance(run.judge, SpanJudge):
        pairs = run.judge.pairs
        held = np.isin(query * len(spans) + span, pairs[0] * len(spans) + pairs[1])
    keep = ((place < SHOWN) | held) & (spans.document[span] < documents)
    query, place, span, held = query[keep], place[keep], span[keep], held[keep]
    order = np.lexsort((span, query))
    query, place, span, held = query[order], place[order], span[order], held[order]
    judged = span if isinstance(run.judge, SpanJudge) else spans.document[span]
    where = run.judged.ranking.chunks[query] == judged[:, None]
    unseen, unknown = np.zeros(len(query), dtype=np.int64), np.full(len(query), np.nan)
    return StageRows(
        query=query,
        document=spans.document[span],
        start=spans.start[span],
        end=spans.end[span],
        shown_start=spans.start[span],
        shown_end=spans.end[span],
        rank=place + 1,
        evidence=held,
        relevant=(where & run.judged.relevant[query]).any(axis=1),
        bm25_rank=unseen,
        bm25_score=unknown,
        dense_rank=unseen,
        dense_score=unknown,
        fused_rank=unseen,
        fused_score=unknown,
        bm25_part=unknown,
        dense_part=unknown,
        rerank_score=unknown,
    )


def account(name: str, answers: Answers, counts: Mapping[str, int]) -> tuple[str, ...]:
    """What must be known to read a foreign system's row: failed questions, and hits that were not
    what they seem."""
    lines = []
    if answers.failed:
        reasons = Counter(answers.failed.values()).most_common(3)
        shown = ", ".join(list(answers.failed)[:5]) + (", ..." if len(answers.failed) > 5 else "")
        why = "; ".join(f"{reason} ({n})" for reason, n in reasons)
        lines.append(
            f"{name}: {len(answers.failed)} question(s) without an answer count as nothing found: "
            f"{shown}: {why}"
        )
    if answers.incomparable is not None:
        lines.append(
            f"{name}: not comparable, {answers.incomparable}; left out of every choice and test"
        )
    if answers.retried:
        lines.append(f"{name}: {answers.retried} question(s) were asked again")
    meanings = {
        "unknown document": "name documents that are not in the corpus",
        "offsets outside": "have offsets outside their document",
        "text not found": "have a text that is not in the corpus",
        "text in several places": "have a text that stands in several places; the first is taken",
        "whole document": "are whole documents, without offsets or text",
        "repeated": "are repeated and stand at their best rank only",
    }
    lines += [
        f"{name}: {counts[key]} of {counts['hits']} hits {what}"
        for key, what in meanings.items()
        if counts.get(key)
    ]
    return tuple(lines)
