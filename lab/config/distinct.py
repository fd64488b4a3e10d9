"""Distinct systems: of those that give the same rankings, whatever they are called, one is kept."""

from collections.abc import Iterable

from lab.config.config import Config
from lab.retrieval.config import BM25Config, FusionConfig, RerankConfig


def distinct(configs: Iterable[Config]) -> tuple[Config, ...]:
    """The systems in their order, without those that rank exactly as another one does. Of equals
    the one with the fewest stages is kept, the first of these: `bm25` before `hybrid 0`."""
    each = dict.fromkeys(configs)
    groups: dict[Config, list[Config]] = {}
    for config in each:
        groups.setdefault(reduced(config), []).append(config)
    kept = {min(group, key=_stages) for group in groups.values()}
    return tuple(config for config in each if config in kept)


def reduced(config: Config) -> Config:
    """The system without everything that cannot change a ranking.

    - A reranker of depth 1, or one with `blend` 0, orders nothing anew; it stays where it has a
      threshold, which cuts.
    - A hybrid whose `alpha` is 0 is BM25, and one whose alpha is 1 is dense: a leg of weight 0
      brings no candidates, and the other leg's list keeps its order. Views, filters, depth and
      variants are the legs' own, and a reranker orders by its own scores. What the normalisation
      has done to the scores is seen in two places alone: by features, which are added to them, and
      by a reranker that blends them in. There `min-max` is what a leg alone has as well, so the
      systems are equal still; with any other normalisation they are not.
    - With `k1` 0 a chunk's length plays no part, whatever `b` is.
    """
    rerank = _ordering(config.rerank)
    changes: dict[str, object] = {"rerank": rerank}
    bm25, dense = config.bm25, config.dense
    if config.fusion is not None and not _shows(config.fusion, config, rerank):
        bm25 = None if config.fusion.alpha == 1 else bm25
        dense = None if config.fusion.alpha == 0 else dense
        if bm25 is None or dense is None:
            changes["fusion"] = None
    if bm25 is not None and bm25.k1 == 0:
        bm25 = bm25.model_copy(update={"b": BM25Config().b})
    return config.model_copy(update=changes | {"bm25": bm25, "dense": dense})


def _ordering(rerank: RerankConfig | None) -> RerankConfig | None:
    """The reranker if it changes an order or cuts."""
    if rerank is None or rerank.threshold is not None:
        return rerank
    return None if rerank.blend == 0 or rerank.depth == 1 else rerank


def _shows(fusion: FusionConfig, config: Config, rerank: RerankConfig | None) -> bool:
    """Whether a ranking depends on how the scores of its one leg are normalised."""
    blends = rerank is not None and rerank.blend < 1
    return fusion.normalization != FusionConfig().normalization and (
        blends or bool(config.features.root)
    )


def _stages(config: Config) -> int:
    parts = (config.bm25, config.dense, config.fusion, config.rerank)
    return sum(part is not None for part in parts)
