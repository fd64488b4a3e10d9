"""What systems need that may not be there, asked before anything expensive starts."""

from collections.abc import Sequence
from importlib.util import find_spec

from lab.chunking.splitters import missing_library
from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.errors import ModelError
from lab.pipeline.hosted.connected import unsafe
from lab.pipeline.resources import Resources
from lab.retrieval.engines import missing_engine
from lab.retrieval.late import obstacle, room_of
from lab.retrieval.stored import oversampled


def unmet(configs: Sequence[Config], resources: Resources) -> tuple[str, ...]:
    """A line for every library that is asked for and not installed, and for every model that cannot
    pool late."""
    lines = [
        missing_library(strategy)
        for strategy in dict.fromkeys(config.chunk.strategy for config in configs)
    ]
    backends = dict.fromkeys(config.dense.backend for config in configs if config.dense)
    lines += [missing_engine(backend) for backend in backends]
    for model in _late(configs):
        reason = obstacle(resources.encoder(model))
        if reason:
            lines.append(
                f"dense.pooling 'late' cannot be had of model '{model}': {reason}; expected the "
                "mean of its tokens"
            )
    lines += _unbounded(configs, resources)
    lines += unsafe(resources)
    lines += _too_many_dims(configs, resources)
    rules = {config.fusion.rule for config in configs if config.fusion}
    if "learned" in rules and find_spec("sklearn") is None:
        lines.append(
            "fusion.alpha 'learned' needs scikit-learn, which is not installed: pip install "
            "'retrieval-diagnostics-lab[models]'"
        )
    return tuple(line for line in lines if line)


def lacking_models(configs: Sequence[Config], resources: Resources) -> tuple[str, ...]:
    """A line for every model of a dense leg, of counted tokens or of sentences whose files cannot
    be had."""
    named: dict[str, str] = {}
    for config in configs:
        if config.dense is not None:
            named.setdefault(config.dense.encoder, "dense.model")
        for name in (config.chunk.tokenizer, config.chunk.embedder):
            if name is not None:
                named.setdefault(name, "dense.model, which cuts chunks")
    lines = []
    for name, place in named.items():
        try:
            resources.encoder(name).max_tokens  # noqa: B018 - asks for the model's files
        except ModelError as fault:
            lines.append(f"{place}: {fault}")
    return tuple(lines)


def lacking_rerankers(configs: Sequence[Config], resources: Resources) -> tuple[str, ...]:
    """A line for every reranker whose files cannot be had."""
    lines = []
    for model in dict.fromkeys(config.rerank.model for config in configs if config.rerank):
        try:
            resources.scorer(model).identity  # noqa: B018 - asks for the model's files
        except ModelError as fault:
            lines.append(f"rerank.model: {fault}")
    return tuple(lines)


def unsharded(configs: Sequence[Config]) -> tuple[str, ...]:
    """A line for every index that is another one in shards than over the whole."""
    legs = [config.dense for config in configs if config.dense]
    kinds = dict.fromkeys(leg.index for leg in legs if leg.index != "exact")
    proposed = dict.fromkeys(leg.storage for leg in legs if oversampled(leg.storage))
    return (
        *(
            f"dense.index '{kind}' over shards is not the one over the whole: its graph or cells "
            "are each shard's own; expected 'exact', or corpus.shards = 1"
            for kind in kinds
        ),
        *(
            f"dense.storage '{kind}' over shards is not the one over the whole: each shard "
            "proposes as many; expected another storage, or corpus.shards = 1"
            for kind in proposed
        ),
    )


def _unbounded(configs: Sequence[Config], resources: Resources) -> list[str]:
    """A line for every model whose scores have no least value, where a normalisation needs it."""
    models = {
        config.dense.model: resources.similarity(config.dense)
        for config in configs
        if config.dense and config.fusion and config.fusion.normalization == "theoretical"
    }
    return [
        f"fusion.normalization 'theoretical' needs the cosine, whose least value is -1; '{model}' "
        f"is searched by '{similarity}': choose 'min-max', or dense.similarity = 'cosine'"
        for model, similarity in models.items()
        if similarity != "cosine"
    ]


def _too_many_dims(configs: Sequence[Config], resources: Resources) -> list[str]:
    """A line for every number of dimensions that a model's vectors do not have."""
    wanted = {(c.dense.encoder, c.dense.dims) for c in configs if c.dense and c.dense.dims}
    lines = []
    for model, dims in sorted(wanted):
        had = getattr(resources.encoder(model), "dimension", None)
        if had is not None and dims > had:
            lines.append(f"dense.dims {dims}: the vectors of model '{model}' have {had} numbers")
    return lines


def windowed(configs: Sequence[Config], corpus: Corpus, resources: Resources) -> tuple[str, ...]:
    """A line for every model that pools late and does not read each document at once."""
    lines = []
    for model in _late(configs):
        room = room_of(resources.encoder(model))
        longer = sum(len(starts) > room for starts in resources.token_starts(model, corpus))
        if longer:
            lines.append(
                f"late pooling: {longer} of {len(corpus)} documents are longer than {model} reads "
                "at once and are read in "
                f"overlapping windows of {room} tokens"
            )
    return tuple(lines)


def _late(configs: Sequence[Config]) -> list[str]:
    return list(
        dict.fromkeys(c.dense.model for c in configs if c.dense and c.dense.pooling == "late")
    )
