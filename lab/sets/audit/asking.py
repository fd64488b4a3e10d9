"""What questions have beside their words: filters that leave their own evidence out, variants that
say nothing new."""

from collections.abc import Iterator, Sequence

from lab.corpus.document import Corpus
from lab.corpus.filter import Filter
from lab.errors import counted
from lab.relevance.query import Query
from lab.retrieval.analyzer import ANALYZERS
from lab.sets.audit.finding import Finding, listed


def useless_filters(queries: Sequence[Query], corpus: Corpus) -> Iterator[Finding]:
    """Filters that no document passes, and filters that leave all documents of a piece of the
    question's evidence out."""
    passing: dict[Filter, frozenset[str]] = {}
    nothing: list[str] = []
    excluded: list[str] = []
    for query in queries:
        wanted = query.filter
        if wanted is None:
            continue
        if wanted not in passing:
            passing[wanted] = frozenset(
                document.doc_id for document in corpus if wanted.passes(document.metadata)
            )
        if not passing[wanted]:
            nothing.append(f"{query.query_id} ({wanted})")
            continue
        lost = [
            piece[0].doc_id
            for piece in query.pieces
            if not any(item.doc_id in passing[wanted] for item in piece)
        ]
        if lost:
            excluded.append(
                f"{query.query_id} ({lost[0]}: {wanted.failed(corpus[lost[0]].metadata)})"
            )
    if nothing:
        message = (
            "no document passes the filter of "
            f"{counted(len(nothing), 'question')}: {listed(nothing, 3)}"
        )
        yield Finding(
            "warning",
            "filters that pass nothing",
            message,
            "with retrieve.filter they find nothing",
            tuple(nothing),
        )
    if excluded:
        message = (
            f"the filter of {counted(len(excluded), 'question')} leaves out their "
            f"own evidence: {listed(excluded, 3)}"
        )
        remedy = (
            "mend the filter or the documents' metadata: with retrieve.filter "
            "this evidence cannot be found"
        )
        yield Finding("warning", "filtered evidence", message, remedy, tuple(excluded))


def repeated_variants(queries: Sequence[Query]) -> Iterator[Finding]:
    """Variants whose terms are those of the question or of another variant: they only add weight to
    one wording."""
    terms = ANALYZERS["auto"]
    repeating = []
    for query in queries:
        worded = (
            [tuple(terms(text)) for text in (query.text, *query.variants)] if query.variants else []
        )
        if len(set(worded)) < len(worded):
            repeating.append(query.query_id)
    if repeating:
        message = (
            f"{counted(len(repeating), 'question')} have a variant that repeats "
            f"another wording: {listed(repeating)}"
        )
        yield Finding(
            "note",
            "repeated variants",
            message,
            "remove it: it only gives that wording more weight",
            tuple(repeating),
        )
