"""What each kind of training takes: the model to start from, the rows that its loss reads, and
sentence-transformers' trainer for it."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from lab.errors import LearningError, ModelError
from lab.learning.mined import Example
from lab.learning.training import Kind, Training
from lab.retrieval.capacity import most_tokens
from lab.retrieval.models import model_folder
from lab.retrieval.prompts import read_prompts

Row = dict[str, Any]
# Distance by which a negative has to lie further away than the positive; unit vectors are at most 2
# apart.
MARGIN = 0.5
# What a non-zero weight of a sparse vector costs; values of sentence-transformers' own examples.
SPARSITY = {"document_regularizer_weight": 3e-5, "query_regularizer_weight": 5e-5}


def need_extra() -> None:
    """Raises ModelError when the packages of the trainers are not installed."""
    lacking = [name for name in ("datasets", "accelerate") if find_spec(name) is None]
    if lacking:
        raise ModelError(
            f"training needs {' and '.join(lacking)}, which is not installed; pip install "
            "'retrieval-diagnostics-lab[models,train]'"
        )


def triples(examples: Iterable[Example]) -> list[Row]:
    """A question, what answers it, and what does not."""
    return [
        {"anchor": e.question, "positive": e.positive.text, "negative": e.negative.text}
        for e in examples
    ]


def pairs(examples: Iterable[Example]) -> list[Row]:
    """Every distinct pair of a question and a text once, labelled 1 if it answers, else 0."""
    labels: dict[tuple[str, str], float] = {}
    for example in examples:
        labels[example.question, example.positive.text] = 1.0
        labels.setdefault((example.question, example.negative.text), 0.0)
    return [{"question": q, "text": t, "label": label} for (q, t), label in labels.items()]


def lists(examples: Iterable[Example]) -> list[Row]:
    """Every question once with all its texts and their labels."""
    texts: dict[str, dict[str, float]] = defaultdict(dict)
    for row in pairs(examples):
        texts[row["question"]][row["text"]] = row["label"]
    return [
        {"question": question, "texts": list(of), "labels": list(of.values())}
        for question, of in texts.items()
    ]


ROWS: dict[str, Callable[[Iterable[Example]], list[Row]]] = {
    "ranking": triples,
    "triplet": triples,
    "splade": triples,
    "bce": pairs,
    "lambda": lists,
}


@dataclass(frozen=True)
class Kit:
    """Classes of one kind of model in sentence-transformers."""

    model: Any
    trainer: Any
    arguments: Any


def kit_of(kind: Kind) -> Kit:
    """The classes of a kind; imports torch."""
    if kind == "encoder":
        from sentence_transformers import SentenceTransformer as Model
        from sentence_transformers import SentenceTransformerTrainer as Trainer
        from sentence_transformers import SentenceTransformerTrainingArguments as Arguments
    elif kind == "reranker":
        from sentence_transformers.cross_encoder import CrossEncoder as Model
        from sentence_transformers.cross_encoder import CrossEncoderTrainer as Trainer
        from sentence_transformers.cross_encoder import CrossEncoderTrainingArguments as Arguments
    else:
        from sentence_transformers.sparse_encoder import SparseEncoder as Model
        from sentence_transformers.sparse_encoder import SparseEncoderTrainer as Trainer
        from sentence_transformers.sparse_encoder import SparseEncoderTrainingArguments as Arguments
    return Kit(Model, Trainer, Arguments)


def model_of(training: Training) -> Any:
    """The model to start from. A reranker's head, and a sparse encoder's, is drawn by the seed
    where the base has none. Raises ModelError where it cannot be loaded."""
    from transformers import set_seed
    from transformers.utils.logging import disable_progress_bar, set_verbosity_error

    folder = model_folder(training.base)
    disable_progress_bar()
    # Reports of weights that are drawn, and of models turned into another kind: both are wanted.
    set_verbosity_error()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    set_seed(training.seed)
    more = {"num_labels": 1} if training.kind == "reranker" else {}
    try:
        model = kit_of(training.kind).model(str(folder), local_files_only=True, **more)
    except (OSError, ValueError, KeyError, RuntimeError) as fault:
        raise ModelError(
            f"model '{training.base}': {folder} cannot be loaded as a {training.kind} ({fault})"
        ) from None
    model.model_card_data.widget = [{}]  # no examples for its own card: ours is another
    limit = most_tokens(folder)
    if limit is not None and (model.max_seq_length or 0) > limit:
        model.max_seq_length = limit
    return model


def loss_of(training: Training, model: Any, rows: list[Row]) -> Any:
    """The loss as a module."""
    import torch
    from sentence_transformers.cross_encoder import losses as ranked
    from sentence_transformers.sentence_transformer import losses as dense
    from sentence_transformers.sparse_encoder import losses as sparse

    if training.loss == "ranking":
        return dense.MultipleNegativesRankingLoss(model)
    if training.loss == "triplet":
        euclidean = dense.TripletDistanceMetric.EUCLIDEAN
        return dense.TripletLoss(model, distance_metric=euclidean, triplet_margin=MARGIN)
    if training.loss == "lambda":
        return ranked.LambdaLoss(model)
    if training.loss == "splade":
        return sparse.SpladeLoss(
            model, sparse.SparseMultipleNegativesRankingLoss(model), **SPARSITY
        )
    answers = sum(row["label"] == 1 for row in rows)
    if not 0 < answers < len(rows):
        raise LearningError("the examples hold no pair of one of the labels")
    # As much weight on what answers as on what does not.
    weight = torch.tensor((len(rows) - answers) / answers)
    return ranked.BinaryCrossEntropyLoss(model, pos_weight=weight)


def prompts_of(training: Training) -> dict[str, str] | None:
    """What an encoder's authors put before questions and passages."""
    if training.kind == "reranker":
        return None
    prompts = read_prompts(model_folder(training.base))
    passage = prompts.text("passage")
    return {"anchor": prompts.text("query"), "positive": passage, "negative": passage}
