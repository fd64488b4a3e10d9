"""Scoring what rerankers are asked for: every distinct pair of a question and a text, for all
systems of a chunking at once."""

from collections.abc import Sequence

import numpy as np

from lab.arrays import Ints
from lab.config.config import Config
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages


def prepare_pairs(asked: Sequence[tuple[Stages, Sequence[Config]]]) -> None:
    """Score the distinct pairs that any of the systems re-ranks, for all views of one chunking,
    each with its systems, at once: a reranker that reads a text once then serves all of them."""
    for model in dict.fromkeys(
        config.rerank.model for _, configs in asked for config in configs if config.rerank
    ):
        pools = [
            (stage, [keys for name, keys in map(stage.pool, configs) if name == model])
            for stage, configs in asked
        ]
        views = [(stage, np.unique(np.concatenate(keys))) for stage, keys in pools if keys]
        pairs = [(stage, *np.divmod(keys, len(stage.chunking))) for stage, keys in views]
        questions = [stage.questions.texts[q] for stage, query, _ in pairs for q in query]
        texts = [text for stage, _, chunks in pairs for text in _texts(stage, chunks)]
        scores = views[0][0].resources.score_pairs(model, questions, texts)
        borders = np.cumsum([len(keys) for _, keys in views])[:-1]
        for (stage, keys), of_view in zip(views, np.split(scores, borders), strict=True):
            stage.pairs.keep(model, keys, of_view)


def _texts(stage: Stages, chunks: Ints) -> list[str]:
    """Texts of chunks, each read once: an index folder reads them from disk."""
    distinct, places = np.unique(chunks, return_inverse=True)
    texts = [stage.chunking.text(chunk) for chunk in distinct.tolist()]
    return [texts[place] for place in places.tolist()]


def rerank_notes(resources: Resources) -> tuple[str, ...]:
    """Lines where a cross-encoder's own activation tells pairs no longer apart, and where it does
    not read pairs to their end."""
    notes = []
    for model, pairs in resources.reranked.items():
        saturated, cut = (sum(pair[fault] for pair in pairs.values()) for fault in (0, 1))
        if saturated:
            notes.append(
                f"reranker {model}: its Sigmoid gives exactly 0 or 1 to {saturated} of "
                f"{len(pairs)} pairs; they are ordered by their logits"
            )
        if cut:
            notes.append(
                f"reranker {model}: {cut} of {len(pairs)} pairs are longer than it "
                "reads; the ends of their texts are invisible to it"
            )
    return tuple(notes)
