"""Training: what is trained from what, how, and on which part of the examples."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lab.errors import ConfigError, LearningError, nearest
from lab.learning.mined import Example, Mined
from lab.learning.sealed import SHOWN, digest_of
from lab.retrieval.models import model_identity

Kind = Literal["encoder", "reranker", "sparse"]

# The losses of each kind, the default one first.
LOSSES: dict[Kind, tuple[str, ...]] = {
    "encoder": ("ranking", "triplet"),
    "reranker": ("bce", "lambda"),
    "sparse": ("splade",),
}
# The share of the documents on whose questions training is stopped.
STOPPING = 0.15


@dataclass(frozen=True, slots=True)
class Training:
    """What is trained: its `kind`, the model to start from, and how. `loss` is one of LOSSES of the
    kind: in-batch and mined negatives against the positive (`ranking`, MultipleNegativesRanking),
    `triplet` (margin 0.5, Euclidean), `bce` (binary cross-entropy), `lambda` (LambdaLoss, NDCG), or
    `splade`."""

    kind: Kind
    base: str
    loss: str
    epochs: int = 1
    batch: int = 16
    learning_rate: float = 2e-5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.loss not in LOSSES[self.kind]:
            raise ConfigError(
                f"--loss is '{self.loss}', which trains no {self.kind}"
                f"{nearest(self.loss, LOSSES[self.kind])}"
            )
        if not 0 < self.learning_rate <= 1:
            raise ConfigError(
                f"--learning-rate is {self.learning_rate:g}; expected a number above 0, at most 1, "
                "like 2e-5"
            )

    def key(self, sources: Mapping[Path, Mined]) -> str:
        """SHA-256 over the settings, the base's weights and all examples: training of one key gives
        one model."""
        content = [asdict(self), model_identity(self.base), [m.digest for m in sources.values()]]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Split:
    """Examples to train on, and those by which training is stopped, with their documents."""

    train: tuple[Example, ...]
    stop: tuple[Example, ...]
    documents: tuple[str, ...]


def split(sources: Mapping[Path, Mined], seed: int) -> Split:
    """Part the examples by the documents of their positives, drawn by `seed`: questions that any of
    these documents answers are for stopping. Raises LearningError for a single document."""
    of_question: dict[tuple[int, str], set[tuple[int, str]]] = {}
    rows = [
        (number, example)
        for number, mined in enumerate(sources.values())
        for example in mined.examples
    ]
    for number, example in rows:
        documents = of_question.setdefault((number, example.query_id), set())
        documents.add((number, example.positive.doc_id))
    names = sorted(set().union(*of_question.values()))
    count = max(1, round(STOPPING * len(names)))
    drawn = np.random.default_rng(seed).permutation(len(names))[:count].tolist()
    taken = {names[place] for place in drawn}
    stops = [bool(of_question[number, example.query_id] & taken) for number, example in rows]
    if all(stops) or not any(stops):
        raise LearningError(
            f"{', '.join(map(str, sources))}: one document answers all questions; expected "
            "several, for training is stopped on other documents than it sees"
        )
    return Split(
        tuple(example for (_, example), stop in zip(rows, stops, strict=True) if not stop),
        tuple(example for (_, example), stop in zip(rows, stops, strict=True) if stop),
        tuple(sorted(doc_id for _, doc_id in taken)),
    )


def check_together(sources: Mapping[Path, Mined]) -> None:
    """Raises LearningError, with every problem, where examples leak what is sealed for any of the
    folders, or come from runs that do not go together."""
    problems = []
    for path, mined in sources.items():
        for other, by in sources.items():
            leaks = _leaks(mined, by)
            if leaks:
                shown = ", ".join(leaks[:SHOWN]) + (", ..." if len(leaks) > SHOWN else "")
                problems.append(
                    f"{path}: a leak: {len(leaks)} question(s) are sealed for {other}, or sealed "
                    f"documents answer them ({shown}); mine again"
                )
    first, *others = sources
    for other in others:
        problems += _mixed(first, sources[first], other, sources[other])
    if problems:
        raise LearningError(problems)


def _leaks(mined: Mined, by: Mined) -> list[str]:
    """Ids of questions that enter and may not: ids and documents are those of one corpus, texts
    are texts everywhere."""
    sealed, same = by.sealed, _corpus(mined) == _corpus(by)
    leaks = dict[str, None]()
    for example in mined.examples:
        documents = {example.positive.doc_id, example.negative.doc_id}
        known = same and (example.query_id in sealed.query_ids or documents & sealed.documents)
        if known or digest_of(example.question) in sealed.texts:
            leaks[example.query_id] = None
    return list(leaks)


def _mixed(path: Path, mined: Mined, other: Path, by: Mined) -> Sequence[str]:
    """Why two folders do not go together."""
    problems = [
        f"{path} and {other} were mined by different rules: {name} is {mined.facts[name]!r} and "
        f"{by.facts[name]!r}; mine both alike"
        for name in ("teacher", "limit")
        if mined.facts[name] != by.facts[name]
    ]
    places = [source.facts["corpus"]["absolute_path"] for source in (mined, by)]
    if places[0] is not None and places[0] == places[1] and _corpus(mined) != _corpus(by):
        problems.append(
            f"{path} and {other} were mined from two states of {places[0]}; run and mine again"
        )
    if _corpus(mined) == _corpus(by):
        texts = {example.query_id: example.question for example in mined.examples}
        changed = {
            example.query_id
            for example in by.examples
            if texts.get(example.query_id, example.question) != example.question
        }
        problems += [
            f"{path} and {other} ask '{query_id}' in different words; mine runs of one set"
            for query_id in sorted(changed)
        ]
    return problems


def _corpus(mined: Mined) -> Any:
    return mined.facts["corpus"]["fingerprint"]
