"""Watching a log: do users ask what the set asks, in its way, and does the retriever do as well by
what it says of itself."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from lab.arrays import Floats
from lab.pipeline.searcher import Searcher
from lab.relevance.query import Query
from lab.retrieval.analyzer import ANALYZERS
from lab.usage.drift import COMPONENTS, Comparison, Feature, Limit, compare, limits
from lab.usage.gaps import Gap, distances, find_gaps
from lab.usage.log import Asked
from lab.usage.masking import MASKS
from lab.usage.samples import key_of, samples_of
from lab.usage.signals import signals
from lab.usage.two_samples import principal_components


@dataclass(frozen=True, slots=True)
class AskedGap:
    """Questions that users ask and the set does not, the most central first; how often they were
    asked in the sample, how satisfied users were (None where no line says), and their mean distance
    to the nearest question of the set."""

    questions: tuple[str, ...]
    asked: int
    satisfaction: float | None
    distance: float


@dataclass(frozen=True, slots=True)
class Watched:
    """A log beside the set of a run. `lines` were read, `masked` of them had something to mask,
    `sampled` were looked at; `distinct` are their different questions, `shared` those that the set,
    of `in_set` questions, has too. `comparisons` and `features` are empty where the log's questions
    are the set's own. `gap_limit` is the distance beyond which a question is far; `by_words` says
    that distances are of words, for want of a model."""

    system: str
    lines: int
    masked: int
    sampled: int
    distinct: int
    shared: int
    in_set: int
    first: datetime | None
    last: datetime | None
    comparisons: tuple[Comparison, ...]
    features: tuple[Feature, ...]
    limits: tuple[Limit, ...]
    gaps: tuple[AskedGap, ...]
    gap_limit: float
    by_words: bool

    @property
    def drifted(self) -> bool:
        """The rule of `lab watch`: a comparison tells log and set apart, 5% for all together."""
        return any(comparison.told for comparison in self.comparisons)


def watch(
    searcher: Searcher,
    queries: Sequence[Query],
    log: Sequence[Asked],
    sample: int = 500,
    seed: int = 0,
) -> Watched:
    """Compare a log with the questions of a set, under one system. `sample` lines of the log are
    drawn by `seed`; equal questions count once, so that one user's habit is no drift. Raises
    UsageError for a log or a set with too few questions."""
    chosen = np.sort(np.random.default_rng(seed).permutation(len(log))[:sample])
    drawn = [log[place] for place in chosen]
    samples = samples_of(queries, drawn)
    by_words = searcher.config.dense is None
    terms = [ANALYZERS["auto"](document.text) for document in searcher.corpus]
    vectors = _by_words(terms, samples.texts) if by_words else _by_model(searcher, samples.texts)
    found, between = signals(searcher, samples.texts), distances(vectors)
    comparisons: tuple[Comparison, ...] = ()
    features: tuple[Feature, ...] = ()
    if samples.comparable:
        vocabulary = {term for words in terms for term in words}
        components = principal_components(vectors, COMPONENTS)
        comparisons, features = compare(samples, vocabulary, found, components, between, seed)
    ours, new = np.flatnonzero(samples.ours), np.flatnonzero(samples.new)
    gaps, limit = find_gaps(
        between[np.ix_(ours, ours)], between[np.ix_(new, ours)], between[np.ix_(new, new)]
    )
    times = [one.time for one in log if one.time is not None]
    return Watched(
        system=searcher.config.name,
        lines=len(log),
        masked=sum(any(mark in one.query for mark in MASKS) for one in log),
        sampled=len(drawn),
        distinct=int(samples.theirs.sum()),
        shared=int((samples.ours & samples.theirs).sum()),
        in_set=len(ours),
        first=min(times, default=None),
        last=max(times, default=None),
        comparisons=comparisons,
        features=features,
        limits=limits(samples, found),
        gaps=_asked(gaps, [samples.texts[place] for place in new], drawn),
        gap_limit=limit,
        by_words=by_words,
    )


def _by_model(searcher: Searcher, texts: Sequence[str]) -> Floats:
    assert searcher.config.dense is not None  # asked only of systems with a model
    vectors = searcher.resources.embed(searcher.config.dense.encoder, "query", texts)
    return vectors.astype(np.float64)


def _by_words(documents: Sequence[Sequence[str]], texts: Sequence[str]) -> Floats:
    """Questions x their terms, weighed by how rare these are in the documents."""
    analyzer = ANALYZERS["auto"]
    frequency = Counter(term for terms in documents for term in set(terms))
    counts = [Counter(analyzer(text)) for text in texts]
    place = {term: n for n, term in enumerate(sorted({term for row in counts for term in row}))}
    vectors = np.zeros((len(texts), max(len(place), 1)))
    for row, of_text in enumerate(counts):
        for term, count in of_text.items():
            vectors[row, place[term]] = count * np.log(1 + len(documents) / (1 + frequency[term]))
    return vectors


def _asked(
    gaps: Sequence[Gap], texts: Sequence[str], drawn: Sequence[Asked]
) -> tuple[AskedGap, ...]:
    """The gaps with what users did, the most often asked first."""
    lines: dict[str, list[Asked]] = {}
    for one in drawn:
        lines.setdefault(key_of(one.query), []).append(one)
    asked = []
    for gap in gaps:
        questions = tuple(texts[place] for place in gap.questions)
        of_gap = [one for text in questions for one in lines[key_of(text)]]
        known = [one.satisfaction for one in of_gap if one.satisfaction is not None]
        mean = float(np.mean(known)) if known else None
        asked.append(AskedGap(questions, len(of_gap), mean, gap.distance))
    return tuple(sorted(asked, key=lambda gap: (-gap.asked, gap.questions)))
