"""The teacher: a reranker that says how well a text answers, so that likely answers are no
negatives."""

from collections.abc import Callable, Sequence

import numpy as np

from lab.arrays import Floats
from lab.pipeline.resources import Resources
from lab.retrieval.config import MAXSIM

Scores = Callable[[Sequence[str], Sequence[str]], Floats]


def teacher_scores(teacher: str, resources: Resources) -> Scores:
    """What a reranker, by its name as `rerank_model` has it, says of questions and texts, from the
    cache where it has it: a cross-encoder's logits through the logistic function, in (0, 1), the
    cosines of late interaction as they are. Raises ModelError when there is none of that name."""
    resources.scorer(teacher).identity  # noqa: B018  # finds the weights before any work

    def score(questions: Sequence[str], texts: Sequence[str]) -> Floats:
        scores = resources.score_pairs(teacher, questions, texts)
        return scores if teacher.partition(":")[0] == MAXSIM else 1 / (1 + np.exp(-scores))

    return score
