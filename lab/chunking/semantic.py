"""Where the meaning of a text changes: neighbouring sentences whose vectors lie far apart."""

from collections.abc import Callable, Sequence

import numpy as np

from lab.arrays import Vectors
from lab.chunking.sentences import sentence_spans
from lab.corpus.document import Corpus

Embed = Callable[[Sequence[str]], Vectors]

# Sentences on either side that are embedded with each: `buffer_size` of LangChain and LlamaIndex, 1
# in both.
BUFFER = 1
# Float noise of a batch's make-up must not move a cut.
DECIMALS = 6


def breaks_of(corpus: Corpus, percentile: float, embed: Embed) -> list[list[int]]:
    """Per document the offsets at which the meaning changes, ascending.

    Every sentence is embedded together with its neighbours; the text breaks between two where the
    cosine distance of their vectors exceeds the percentile (linear interpolation) of the document's
    distances. This is the rule of Kamradt's "5 Levels of Text Splitting", as in LangChain's
    SemanticChunker and LlamaIndex's SemanticSplitterNodeParser, both 95.
    """
    sentences = [
        [span for span in sentence_spans(d.text) if d.text[slice(*span)].strip()] for d in corpus
    ]
    windows = [_windows(d.text, spans) for d, spans in zip(corpus, sentences, strict=True)]
    vectors = embed([window for of_document in windows for window in of_document])
    borders = np.cumsum([len(of_document) for of_document in windows])[:-1]
    parts = np.split(vectors, borders)
    return [
        [spans[i + 1][0] for i in far_apart(distances, percentile)]
        for spans, distances in zip(sentences, parts, strict=True)
    ]


def far_apart(vectors: Vectors, percentile: float) -> list[int]:
    """Places i such that vectors i and i + 1 are farther apart than the percentile of all
    neighbours' cosine distances."""
    if len(vectors) < 2:
        return []
    length = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    units = np.divide(vectors, length, out=np.zeros(vectors.shape), where=length > 0)
    distances = np.round(1 - (units[:-1] * units[1:]).sum(axis=1), DECIMALS)
    return [
        int(place) for place in np.flatnonzero(distances > np.percentile(distances, percentile))
    ]


def _windows(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    return [
        text[spans[max(i - BUFFER, 0)][0] : spans[min(i + BUFFER, len(spans) - 1)][1]].strip()
        for i in range(len(spans))
    ]
