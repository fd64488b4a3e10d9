"""Encoding the texts of all chunkings before any of them is searched."""

from collections.abc import Mapping, Sequence

from lab.chunking.config import ChunkConfig
from lab.config.config import Config
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages


def encode_passages(
    configs: Sequence[Config],
    stages: Mapping[ChunkConfig, Sequence[Stages]],
    resources: Resources,
) -> None:
    """Encode the texts of all chunkings and phases together, so that batches are sorted by length
    over all of them. Rerankers are made first: a late interaction keeps what the dense leg reads
    for it."""
    for config in configs:
        if config.rerank is not None:
            resources.scorer(config.rerank.model)
    texts: dict[str, dict[str, None]] = {}
    late: dict[str, dict[ChunkConfig, None]] = {}
    for config in configs:
        if config.dense is not None and config.dense.pooling == "late":
            late.setdefault(config.dense.encoder, {})[config.chunk] = None
        elif config.dense is not None:
            of_model = texts.setdefault(config.dense.encoder, {})
            for stage in stages[config.chunk]:
                of_model.update(dict.fromkeys(stage.indexes.passages(config.dense.views)))
    for model, distinct in texts.items():
        resources.encode(model, "passage", distinct)
    for model, chunkings in late.items():
        chunked = [stage.chunking for chunk in chunkings for stage in stages[chunk]]
        spans = {span for chunking in chunked for span in chunking.spans}
        corpus = chunked[0].corpus.documents
        resources.embed_late(
            model, [(corpus[document].text, start, end) for document, start, end in sorted(spans)]
        )
