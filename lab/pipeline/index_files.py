"""Files of an index folder that hold arrays: written once, then mapped, so that opening costs
nothing and several processes share the memory."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lab.arrays import NONE, Vectors
from lab.chunking.chunk import Chunking
from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.pipeline.passages import Passages
from lab.retrieval import dense
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.bm25 import BM25, TermCounts, compile_counts
from lab.retrieval.bm25_formulas import TermWeight
from lab.retrieval.config import BM25Config
from lab.retrieval.search_terms import SearchTerms
from lab.retrieval.sketch import Sketch
from lab.retrieval.views import Entries, Views, parted

# Where products decide, a sketch proposes; faiss's own graphs and cells are kept as it writes them,
# and its flat indexes are made anew from the vectors.
SKETCHED = ("cosine", "dot")
TERMS, VIEWS = "terms.json", "views.json"
SKETCH = ("codes", "scales", "slacks")


def save(place: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays, a file each."""
    for name, array in arrays.items():
        np.save(place / f"{name}.npy", np.ascontiguousarray(array))


def mapped(place: Path, name: str) -> NDArray[Any]:
    """An array as it lies in its file. Changes would stay private: compiled functions know only
    one type of array, the one that may be written."""
    return np.load(place / f"{name}.npy", mmap_mode="c").view(np.ndarray)  # type: ignore[no-any-return]


def read_chunking(place: Path, corpus: Corpus) -> Chunking:
    """The chunks of a corpus."""
    document, start, end, level = mapped(place, "chunks")
    shared = tuple((chunk, level) for chunk, level in mapped(place, "shared").tolist())
    return Chunking(corpus, document, start, end, level, shared=shared)


def write_views(place: Path, views: Sequence[Entries]) -> None:
    """Write the entries of the further views."""
    (place / VIEWS).write_text(json.dumps([view.texts for view in views]), "utf-8")


def read_views(place: Path, chunking: Chunking) -> list[Entries]:
    """The entries of the further views: each stands for the chunks of its document."""
    document, view = mapped(place, "document"), mapped(place, "view")
    entries = []
    for number, texts in enumerate(json.loads((place / VIEWS).read_text("utf-8")), 1):
        holders = document[view == number]
        first, end = (
            np.searchsorted(chunking.document, holders, side) for side in ("left", "right")
        )
        entry_of = np.full(len(chunking.corpus), NONE)
        entry_of[holders] = np.arange(len(holders))
        entries.append(Entries(texts, first, end - first, entry_of[chunking.document]))
    return entries


def write_bm25(place: Path, terms: Sequence[str], counts: csr_array, config: BM25Config) -> None:
    """Write the counts of all passages (rows x terms) and what they weigh."""
    counted = TermCounts.of(_search_terms(terms, config), counts)
    index = compile_counts(counted, config)
    (place / TERMS).write_text(json.dumps(list(terms), ensure_ascii=False), "utf-8")
    save(
        place,
        {
            "bm25_starts": index.postings.indptr,
            "bm25_passages": index.postings.indices,
            "bm25_counts": counted.counts.data,
            "bm25_weights": index.postings.data,
            "bm25_constants": index.constants,
            "bm25_idf": index.idf,
            "bm25_facts": np.array([index.blank, index.term_weight.average], dtype=np.float64),
        },
    )


def read_bm25(
    place: Path, config: BM25Config, chunks: int, views: Sequence[Entries]
) -> Views[BM25]:
    """The compiled index, parted by view."""
    terms = json.loads((place / TERMS).read_text("utf-8"))
    blank, average = mapped(place, "bm25_facts").tolist()
    whole = BM25(
        _search_terms(terms, config),
        _matrix(place, "bm25_weights", len(terms)),
        mapped(place, "bm25_constants"),
        blank=int(blank),
        idf=mapped(place, "bm25_idf"),
        term_weight=TermWeight(config.variant, config.k1, config.b, average),
    )
    return parted(whole, chunks, views)


def _search_terms(terms: Sequence[str], config: BM25Config) -> SearchTerms:
    return SearchTerms(
        ANALYZERS[config.analyzer], {term: number for number, term in enumerate(terms)}
    )


def _matrix(place: Path, values: str, terms: int) -> csr_array:
    """Terms x passages."""
    parts = mapped(place, values), mapped(place, "bm25_passages"), mapped(place, "bm25_starts")
    return csr_array(parts, shape=(terms, len(mapped(place, "document"))))


def write_dense(place: Path, parts: Sequence[Vectors], kind: str, similarity: str) -> None:
    """Write the vectors of every view (as they are compared) and what proposes them."""
    for number, vectors in enumerate(parts):
        save(place, {f"vectors_{number}": vectors})
        if kind != "exact":
            built: Any = dense.index(vectors, kind, similarity).index
            faiss.write_index(built, str(place / f"dense_{number}.faiss"))
        elif similarity in SKETCHED:
            sketch = Sketch.of(vectors)
            for part in SKETCH:
                save(place, {f"{part}_{number}": getattr(sketch, part)})


def read_dense(
    place: Path, kind: str, similarity: str, views: Sequence[Entries]
) -> Views[dense.Dense]:
    """The dense index of every view."""
    of_chunks, *others = (
        _dense(place, kind, similarity, number) for number in range(1 + len(views))
    )
    return Views(of_chunks, tuple(zip(views, others, strict=True)))


def _dense(place: Path, kind: str, similarity: str, number: int) -> dense.Dense:
    vectors = mapped(place, f"vectors_{number}")
    index: faiss.Index | Sketch
    if kind != "exact":
        index = faiss.read_index(str(place / f"dense_{number}.faiss"))
    elif similarity in SKETCHED:
        index = Sketch(*(mapped(place, f"{part}_{number}") for part in SKETCH))
    else:
        index = dense.exact_index(vectors, similarity)
    return dense.Dense(vectors, index, similarity)


def read_passages(place: Path, config: Config) -> Passages:
    """The rows that an index was made of."""
    view = mapped(place, "view")
    terms, counts, vectors = None, None, None
    if config.bm25 is not None:
        terms = json.loads((place / TERMS).read_text("utf-8"))
        counts = _matrix(place, "bm25_counts", len(terms)).T.tocsr()
    if config.dense is not None:
        parts = [mapped(place, f"vectors_{number}") for number in range(len(config.views))]
        vectors = np.concatenate([part for part in parts if len(part)])
    return Passages(
        chunks=mapped(place, "chunks").T,
        shown=mapped(place, "shown").T,
        shared=mapped(place, "shared"),
        document=mapped(place, "document"),
        view=view,
        terms=terms,
        counts=counts,
        vectors=vectors,
    )
