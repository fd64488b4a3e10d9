"""What a sweep or a searcher is given in place of models to load: objects as they are, configs of
hosted models as clients of their servers."""

from collections.abc import Mapping
from typing import Any

from lab.config.hosted import HostedEncoderConfig, HostedRerankerConfig
from lab.errors import ConfigError
from lab.pipeline.hosted.encoder import HostedEncoder
from lab.pipeline.hosted.reranker import HostedReranker
from lab.pipeline.resources import Resources
from lab.retrieval.encoder import Encoder
from lab.retrieval.rerank import PairScorer

Hosted = HostedEncoder | HostedReranker


def connected_encoders(
    given: Mapping[str, Encoder | HostedEncoderConfig],
) -> dict[str, Encoder]:
    """Encoders by name. Nothing is asked yet."""
    return {
        name: HostedEncoder(model) if isinstance(model, HostedEncoderConfig) else model
        for name, model in given.items()
    }


def connected_rerankers(
    given: Mapping[str, PairScorer | HostedRerankerConfig],
) -> dict[str, PairScorer]:
    """Rerankers by name. Nothing is asked yet."""
    return {
        name: HostedReranker(model) if isinstance(model, HostedRerankerConfig) else model
        for name, model in given.items()
    }


def connect(record: Mapping[str, Any], resources: Resources) -> None:
    """Give resources the models of a `record`, but for those of a name that they have already."""
    for plain in record.get("encoders", ()):
        encoder = HostedEncoder(HostedEncoderConfig(**plain))
        resources.encoders.setdefault(encoder.config.name, encoder)
    for plain in record.get("rerankers", ()):
        reranker = HostedReranker(HostedRerankerConfig(**plain))
        resources.scorers.setdefault(reranker.config.name, reranker)


def record_of(resources: Resources) -> dict[str, list[dict[str, Any]]]:
    """The hosted models of some resources as plain values, from which `connect` makes them again;
    empty without any. Keys are no part of it."""
    parts: dict[str, Mapping[str, Any]]
    parts = {"encoders": resources.encoders, "rerankers": resources.scorers}
    record = {
        part: [model.config.model_dump() for model in hosted(models)]
        for part, models in parts.items()
    }
    return {part: models for part, models in record.items() if models}


def hosted(models: Mapping[str, Any]) -> list[Hosted]:
    """Those that are behind HTTP."""
    return [model for model in models.values() if isinstance(model, HostedEncoder | HostedReranker)]


def usage_of(resources: Resources) -> dict[str, dict[str, Any]]:
    """What every hosted model was asked so far, by its name."""
    models = [*hosted(resources.encoders), *hosted(resources.scorers)]
    return {model.config.name: model.usage.record(model.config) for model in models}


def hosted_notes(resources: Resources) -> tuple[str, ...]:
    """A line for every hosted model that was asked: how much, and what that costs."""
    models = [*hosted(resources.encoders), *hosted(resources.scorers)]
    return tuple(line for model in models if (line := model.usage.text(model.config)))


def unsafe(resources: Resources) -> tuple[str, ...]:
    """A line for every hosted model that may not be asked, for its key could be read on the way."""
    lines: list[str] = []
    for model in (*hosted(resources.encoders), *hosted(resources.scorers)):
        try:
            model.server  # noqa: B018 - reads the environment
        except ConfigError as fault:
            lines.extend(fault.problems)
    return tuple(lines)
