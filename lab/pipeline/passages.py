"""Passages: what is indexed of documents, before anything is weighed over all of them; so rows of
documents that stay are taken over, and only those of others are made."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from lab.arrays import NONE, Ints, Vectors
from lab.config.config import Config
from lab.corpus.document import Corpus, Document
from lab.pipeline.indexes import Indexes
from lab.pipeline.resources import Resources
from lab.retrieval.similarity import prepared


@dataclass(frozen=True, eq=False)
class Passages:
    """Rows in the order of an index: first the chunks, then the entries of every further view, each
    by document.

    `chunks` has columns document, start, end and level, `shown` start and end of what is delivered
    for each; `shared` has (chunk, level) of further sizes. `document` and `view` (0: a chunk's own
    text) say what every row is. `terms` are the columns of `counts` (rows x terms), None without
    BM25; `vectors` (rows x dimension, as they are compared) are None without the dense leg.
    """

    chunks: Ints
    shown: Ints
    shared: Ints
    document: Ints
    view: Ints
    terms: list[str] | None
    counts: csr_array | None
    vectors: Vectors | None


def passages_of(corpus: Corpus, config: Config, resources: Resources) -> Passages:
    """The rows of all documents of a corpus, as a sweep would index them. Raises CorpusError where
    there is no text."""
    indexes = Indexes(corpus, config.chunk, resources)
    chunking, entries = indexes.chunking, indexes.views(config.views)
    delivery = indexes.delivery(config.deliver)
    of_view = [chunking.document, *(chunking.document[view.first] for view in entries)]
    terms, counts, vectors = None, None, None
    if config.bm25 is not None:
        counted = indexes.term_counts(config.bm25.analyzer, config.views)
        terms, counts = list(counted.terms.vocabulary), counted.counts.T.tocsr()
    if config.dense is not None:
        similarity = resources.similarity(config.dense)
        parts = indexes.passage_vectors(config.dense)
        vectors = np.concatenate([prepared(part, similarity) for part in parts if len(part)])
    spans = delivery.spans
    return Passages(
        chunks=np.stack((chunking.document, chunking.start, chunking.end, chunking.level), axis=1),
        shown=np.stack((spans.start, spans.end), axis=1)[delivery.span_of],
        shared=np.array(chunking.shared, dtype=np.int64).reshape(-1, 2),
        document=np.concatenate(of_view),
        view=np.repeat(np.arange(len(of_view)), [len(rows) for rows in of_view]),
        terms=terms,
        counts=counts,
        vectors=vectors,
    )


def has_text(documents: Sequence[Document]) -> bool:
    """Whether anything of some documents can be indexed."""
    return any(document.text.strip() for document in documents)


def joined(parts: Sequence[tuple[Passages, Ints]]) -> Passages:
    """The rows of several collections as those of one: beside each stands where its documents lie
    in the whole, NONE for one that is left out. What comes out are the rows that the whole would
    have been given at once, for those of a document depend on nothing else."""
    document = np.concatenate([place[part.document] for part, place in parts])
    view = np.concatenate([part.view for part, _ in parts])
    # Stable: rows of one document come from one part, in order.
    order = np.lexsort((document, view))
    order = order[document[order] != NONE]
    is_chunk = view[order] == 0
    # Row of the parts laid end to end -> its row among all chunks of the parts, and the reverse.
    chunk_rows = np.flatnonzero(view == 0)
    place_among = np.cumsum(view == 0) - 1
    taken = place_among[order[is_chunk]]
    number = np.full(len(chunk_rows) + 1, NONE)
    number[taken] = np.arange(len(taken))
    chunks = np.concatenate([part.chunks for part, _ in parts])[taken]
    chunks[:, 0] = document[order[is_chunk]]
    terms, counts = _joined_counts([part for part, _ in parts], order)
    vectors = [part.vectors for part, _ in parts if part.vectors is not None]
    return Passages(
        chunks=chunks,
        shown=np.concatenate([part.shown for part, _ in parts])[taken],
        shared=_renumbered([part for part, _ in parts], number),
        document=document[order],
        view=view[order],
        terms=terms,
        counts=counts,
        vectors=np.concatenate(vectors)[order] if vectors else None,
    )


def _renumbered(parts: Sequence[Passages], number: Ints) -> Ints:
    """`shared` of all parts under the chunks' new numbers."""
    first = np.cumsum([0, *(len(part.chunks) for part in parts)])
    shared = np.concatenate(
        [part.shared + np.array([offset, 0]) for part, offset in zip(parts, first, strict=False)]
    ).astype(np.int64)
    shared[:, 0] = number[shared[:, 0]]
    shared = shared[shared[:, 0] != NONE]
    return np.asarray(shared[np.lexsort((shared[:, 1], shared[:, 0]))])


def _joined_counts(
    parts: Sequence[Passages], order: Ints
) -> tuple[list[str] | None, csr_array | None]:
    """Counts of all rows in order over the terms that these still have."""
    known = [part.terms for part in parts if part.terms is not None]
    if not known:
        return None, None
    terms = sorted(set().union(*known))
    column = {term: number for number, term in enumerate(terms)}
    wide = []
    for part, part_terms in zip(parts, known, strict=True):
        counts = part.counts
        assert counts is not None  # with terms there are counts
        columns = np.fromiter((column[term] for term in part_terms), np.int32, len(part_terms))
        shape = counts.shape[0], len(terms)
        wide.append(csr_array((counts.data, columns[counts.indices], counts.indptr), shape=shape))
    rows = vstack(wide, format="csr")[order]
    used = np.bincount(rows.indices, minlength=len(terms)) > 0
    left = np.cumsum(used) - 1
    kept = csr_array(
        (rows.data, left[rows.indices].astype(np.int32), rows.indptr.astype(np.int32)),
        shape=(rows.shape[0], int(used.sum())),
    )
    return [term for term, is_used in zip(terms, used.tolist(), strict=True) if is_used], kept
