"""Encoding the texts of all chunkings before any of them is searched."""

from collections.abc import Mapping, Sequence

from lab.chunking.config import ChunkConfig
from lab.config.config import Config
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages


def encode_passages(
    configs: Sequence[Config], stages: Mapping[ChunkConfig, Stages], resources: Resources
) -> None:
    """Encode the texts of all chunkings together, so that batches are sorted by length over all of
    them."""
    texts: dict[str, dict[str, None]] = {}
    late: dict[str, dict[ChunkConfig, None]] = {}
    for config in configs:
        if config.dense is not None and config.dense.pooling == "late":
            late.setdefault(config.dense.encoder, {})[config.chunk] = None
        elif config.dense is not None:
            texts.setdefault(config.dense.encoder, {}).update(
                dict.fromkeys(stages[config.chunk].indexes.passages(config.dense.views))
            )
    for model, distinct in texts.items():
        resources.encode(model, "passage", distinct)
    for model, chunkings in late.items():
        spans = {span for chunk in chunkings for span in stages[chunk].chunking.spans}
        corpus = next(iter(stages.values())).chunking.corpus.documents
        resources.embed_late(
            model, [(corpus[document].text, start, end) for document, start, end in sorted(spans)]
        )
