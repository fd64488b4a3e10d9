"""Metrics for judgements that are incomplete: each document of a ranking has its grade, is judged
not relevant, or was never judged.

They count documents, alternatives each, and are for sets judged per document.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import NONE, Bools, Floats, Ints
from lab.corpus.document import Corpus
from lab.relevance.judge import Judged
from lab.relevance.query import Query

UNJUDGED, NO_HIT = -1, -2


@dataclass(frozen=True, eq=False)
class Grades:
    """The judgements of the scored questions over one corpus: ascending `keys` (question times
    documents plus document) with their `grade`, 0 for what is judged not relevant. `ideal` has
    every question's grades from high to low (questions x most judgements, padded with 0),
    `relevant` and `irrelevant` how many documents of each are judged."""

    documents: int
    keys: Ints
    grade: Ints
    ideal: Ints
    relevant: Ints
    irrelevant: Ints

    def of(self, judged: Judged) -> Ints:
        """Questions x hits: the grade of every document, UNJUDGED or NO_HIT."""
        chunks = judged.ranking.chunks
        wanted = np.arange(len(chunks))[:, None] * self.documents + chunks
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        known = (self.keys[place] == wanted) & (chunks != NONE)
        return np.where(known, self.grade[place], np.where(chunks == NONE, NO_HIT, UNJUDGED))


def grades_over(queries: Sequence[Query], corpus: Corpus) -> Grades:
    """The judgements of the scored questions; of one document judged twice the highest counts.
    Judged documents that the corpus lacks count as judged, and no ranking holds them."""
    every: list[dict[str, int]] = []
    for query in queries:
        best: dict[str, int] = {}
        for item in query.evidence:
            best[item.doc_id] = max(best.get(item.doc_id, 0), item.grade)
        every.append(best)
    rows = [
        (number * len(corpus) + corpus.position[doc_id], grade)
        for number, best in enumerate(every)
        for doc_id, grade in best.items()
        if doc_id in corpus
    ]
    keys = np.array(sorted(rows) or [(-1, 0)], dtype=np.int64)
    ideal = np.zeros((len(every), max(map(len, every))), dtype=np.int64)
    for number, best in enumerate(every):
        ideal[number, : len(best)] = sorted(best.values(), reverse=True)
    relevant = (ideal > 0).sum(axis=1)
    judged = np.array([len(best) for best in every])
    return Grades(len(corpus), keys[:, 0], keys[:, 1], ideal, relevant, judged - relevant)


def judged_share(labels: Ints, k: int) -> Floats:
    """Share of the first k documents that are judged; of those there are, where there are fewer."""
    head = labels[:, :k]
    hits = (head != NO_HIT).sum(axis=1)
    return np.asarray((head >= 0).sum(axis=1) / np.maximum(hits, 1))


def bpref(labels: Ints, relevant: Ints, irrelevant: Ints) -> Floats:
    """Binary preference (Buckley and Voorhees 2004, as trec_eval computes it): the mean over the
    relevant documents of 1 - min(n, R) / min(R, N), where n of the N documents judged not relevant
    stand above, R are relevant; 0 for those not retrieved. Unjudged ones are skipped."""
    least = np.minimum(relevant, irrelevant)[:, None]
    above = np.minimum(np.cumsum(labels == 0, axis=1), relevant[:, None])
    lost = np.divide(above, least, out=np.zeros(labels.shape), where=least > 0)
    return np.asarray(((labels > 0) * (1 - lost)).sum(axis=1) / relevant)


def condensed_ndcg(labels: Ints, ideal: Ints, k: int) -> Floats:
    """nDCG over the ranking without its unjudged documents (Sakai 2007), linear gain, discount
    1 / log2(rank + 1)."""
    judged = labels >= 0
    order = np.argsort(~judged, axis=1, kind="stable")
    kept = np.take_along_axis(np.where(judged, labels, 0), order, axis=1)
    return np.asarray(_dcg(kept, k) / _dcg(ideal, k))


def _dcg(gains: Ints, k: int) -> Floats:
    head = gains[:, :k]
    return np.asarray(head @ (1 / np.log2(np.arange(2, head.shape[1] + 2))))


def rbp(labels: Ints, persistence: float, k: int = 0) -> Floats:
    """Rank-biased precision (Moffat and Zobel 2008), (1 - p) * sum of p^(rank - 1) over relevant
    documents of any grade, the first k alone if k is given."""
    return _biased(labels > 0, persistence, k)


def rbp_residual(labels: Ints, persistence: float, k: int = 0) -> Floats:
    """How much rank-biased precision could grow: the weights of the unjudged documents, and of all
    ranks behind the last one looked at."""
    hits = (labels[:, : k or None] != NO_HIT).sum(axis=1)
    return np.asarray(_biased(labels == UNJUDGED, persistence, k) + persistence**hits)


def _biased(counted: Bools, persistence: float, k: int) -> Floats:
    head = counted[:, : k or None]
    return np.asarray((1 - persistence) * (head @ persistence ** np.arange(head.shape[1])))
