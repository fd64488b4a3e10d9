"""Whether documents that nobody judged decide between two runs."""

from collections.abc import Sequence

import numpy as np

from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from lab.corpus.names import Names
from lab.evaluation.metrics import WEIGHTED, Metric, parse_metric
from lab.evaluation.scores import SystemRun
from lab.evaluation.unjudged import can_turn, unjudged
from lab.relevance.judge import DocumentJudge
from lab.relevance.pieces import pieces
from lab.runs.side import JudgedRun, Side, ranked


def decided_by_unjudged(
    a: Side, b: Side, query_ids: Sequence[str], metrics: Sequence[str]
) -> tuple[str, ...]:
    """The metrics by which the unjudged could turn which of two runs is ahead (see
    `lab.evaluation.unjudged`). None for spans, where what is not marked is not judged, for metrics
    that pass over the unjudged, and for those that read hits a run folder does not keep.

    Where the two are judged otherwise, which stands among the changes, A's judgements are taken.
    """
    if a.judged is None or b.judged is None:
        return ()
    names = [metric for metric in metrics if _can_be_told(metric, a.judged, b.judged)]
    if not names:
        return ()
    asked = pieces([a.judged.queries[query_id] for query_id in query_ids], "document")
    named = {item.doc_id for query in asked.queries for item in query.evidence}
    # Ids meet in any normal form, of questions as of documents.
    for side in (a.judged, b.judged):
        written, known = Names(side.rankings), Names(named)
        for query_id in query_ids:
            ranking = side.rankings.get(written.find(query_id) or "", ())
            named.update(doc_id for doc_id in ranking if known.find(doc_id) is None)
    corpus = Corpus(Document(doc_id, "-") for doc_id in sorted(named))
    judge = DocumentJudge(asked, chunk(corpus, ChunkConfig(strategy="document")))
    tokens = np.zeros(len(corpus), dtype=np.int64)
    runs = [
        SystemRun(judge, judge.judge(ranked(side.rankings, asked, corpus)), tokens)
        for side in (a.judged, b.judged)
    ]
    return tuple(name for name in names if unjudged(asked, runs, parse_metric(name)).decides.any())


def _can_be_told(label: str, *sides: JudgedRun) -> bool:
    if label == WEIGHTED:
        return False
    metric: Metric = parse_metric(label)
    known = all(side.depth is None or 0 < metric.k <= side.depth for side in sides)
    return can_turn(metric) and known and not metric.by_tokens
