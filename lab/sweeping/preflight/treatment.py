"""Whether a set was chosen by the treatment that it judges: evidence against cuts, paragraphs
against chunk sizes."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lab.arrays import Bools, Floats
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.chunking.units import Tokenize
from lab.corpus.document import Corpus
from lab.relevance.query import Query
from lab.sets.audit.cuts import (
    PHASES,
    EvidenceSpans,
    chance_by_phases,
    chance_of_windows,
    chosen_by_cuts,
    cut_rates,
    evidence_spans,
    parted,
    shifted,
)
from lab.sets.audit.evidence import padded_across_cuts
from lab.sets.audit.finding import Finding
from lab.sets.audit.shapes import short_paragraphs

# Strategies that keep a paragraph whole where it fits.
KEEP_PARAGRAPHS = ("structure", "langchain:recursive", "langchain:markdown", "chonkie:recursive")


def treatment_findings(
    corpus: Corpus,
    queries: Sequence[Query],
    chunkings: Mapping[ChunkConfig, Chunking],
    tokenizers: Mapping[ChunkConfig, Tokenize | None],
) -> Iterator[Finding]:
    """What the chunkings of an experiment say of how its evidence was chosen."""
    spans = evidence_spans(queries, corpus)
    compared = {config: made for config, made in chunkings.items() if _is_cut(config)}
    if not len(spans.start) or not compared:
        return
    rates = []
    for config, chunking in compared.items():
        observed = parted(chunking, spans)
        if config.strategy == "fixed":
            rates += cut_rates(
                config.label, observed, _window_chance(config, chunking, spans), spans
            )
            continue
        phases = list(_phases(config, chunking, spans, tokenizers[config]))
        chance = chance_by_phases(observed, phases)
        rates += cut_rates(config.label, observed, chance, spans, phases)
    yield from chosen_by_cuts(rates)
    yield from padded_across_cuts(
        queries, {config.label: chunking for config, chunking in compared.items()}
    )
    sizes = {
        config.label: max(config.sizes)
        for config in compared
        if config.strategy in KEEP_PARAGRAPHS and config.unit == "characters"
    }
    yield from short_paragraphs(corpus, sizes)


def _is_cut(config: ChunkConfig) -> bool:
    """Whether documents are cut to one size without asking a model."""
    return config.strategy not in ("document", "semantic") and len(config.sizes) == 1


def _window_chance(config: ChunkConfig, chunking: Chunking, spans: EvidenceSpans) -> Floats:
    size, overlap = float(config.sizes[0]), float(config.overlap)
    if config.unit != "characters":
        # Words and tokens have many lengths: the median chunk stands for all.
        length = float(np.median(chunking.end - chunking.start))
        size, overlap = length, overlap * length / size
    return chance_of_windows((spans.end - spans.start).astype(np.float64), size, overlap)


def _phases(
    config: ChunkConfig, chunking: Chunking, spans: EvidenceSpans, tokenize: Tokenize | None
) -> Iterator[Bools]:
    """Which spans are parted when every document begins a share of a chunk later."""
    documents, place = np.unique(spans.document, return_inverse=True)
    length = max(int(np.median(chunking.end - chunking.start)), PHASES + 1)
    texts = [chunking.corpus.documents[document].text for document in documents.tolist()]
    for number in range(1, PHASES + 1):
        phase = number * length // (PHASES + 1)
        corpus = shifted(chunking.corpus, documents.tolist(), phase)
        moved = np.array([phase if len(text) > phase else 0 for text in texts])[place]
        start = np.maximum(spans.start - moved, 0)
        end = np.maximum(spans.end - moved, start + 1)
        fresh = EvidenceSpans(spans.kinds, spans.kind, place, start, end)
        yield parted(chunk(corpus, config, tokenize), fresh)
