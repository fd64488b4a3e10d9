"""Ambiguous questions: one text whose evidence lies in several documents, so that no retriever can
know which is meant."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lab.chunking.config import ChunkConfig
from lab.corpus.document import Corpus
from lab.relevance.query import Query
from lab.sets.audit.duplicates import same_text
from lab.sets.audit.finding import Finding, listed

# From this share of the questions on, a mean over the set says more about the ambiguity than about
# any retriever.
UNFIT = 0.1
K = 5


def ambiguous_questions(queries: Sequence[Query], corpus: Corpus) -> Iterator[Finding]:
    """Texts that are asked more than once with evidence in different documents. Where they are
    many, BM25 is run to show what that does to a score: on the set as it stands, and with each text
    asked once and all its evidence as alternatives."""
    asked: dict[str, list[Query]] = defaultdict(list)
    for query in queries:
        if query.evidence and query.text.strip():
            asked[same_text(query.text)].append(query)
    torn = {
        text: members for text, members in asked.items() if len(set(map(_documents, members))) > 1
    }
    if not torn:
        return
    concerned = sum(map(len, torn.values()))
    total = sum(map(len, asked.values()))
    message = (
        f"{len(torn)} of {len(asked)} distinct texts have evidence in several "
        f"documents ({concerned} of {total} questions)"
    )
    cases = tuple(
        f"{members[0].text!r} ({len(members)} times)"
        for _, members in sorted(torn.items(), key=lambda pair: -len(pair[1]))
    )
    if concerned < UNFIT * total:
        remedy = (
            "let the question say which document it means, or list the places "
            "as alternatives (one group)"
        )
        yield Finding(
            "warning", "ambiguous questions", f"{message}: {listed(cases, 2)}", remedy, cases
        )
        return
    once = [_merged(members) for members in asked.values()]
    stands, mended = (_bm25_recall(some, corpus) for some in (queries, once))
    message += (
        f"; most often {listed(cases, 2)}. Unfit for retrieval: BM25 scores Recall@{K} "
        f"{stands:.3f} as the set stands, "
        f"{mended:.3f} with each text asked once and all its evidence as alternatives"
    )
    remedy = (
        "search within one document, let the question name it, or merge the questions of one text"
    )
    yield Finding("unfit", "ambiguous questions", message, remedy, cases)


def _documents(query: Query) -> frozenset[str]:
    return frozenset(item.doc_id for item in query.evidence)


def _merged(members: Sequence[Query]) -> Query:
    """One question for all, any evidence of which will do."""
    evidence = dict.fromkeys(
        replace(item, group="any") for query in members for item in query.evidence
    )
    return replace(members[0], evidence=tuple(evidence))


def _bm25_recall(queries: Sequence[Query], corpus: Corpus) -> float:
    """Mean share of pieces within the first K chunks of 400 characters under BM25 with the default
    settings."""
    # Imported here: SciPy takes a third of a second, and a set without this fault needs none of it.
    import numpy as np

    from lab.chunking.strategies import chunk
    from lab.relevance.judge import judge_for
    from lab.relevance.pieces import pieces
    from lab.retrieval.bm25 import build
    from lab.retrieval.config import BM25Config

    asked, chunking = pieces(queries), chunk(corpus, ChunkConfig())
    ranking = build(chunking, BM25Config()).search([query.text for query in asked.queries], 100)
    complete = judge_for(asked, chunking).judge(ranking).complete
    held = np.bincount(asked.query, weights=complete <= K, minlength=len(asked.queries))
    return float((held / asked.per_query).mean())
