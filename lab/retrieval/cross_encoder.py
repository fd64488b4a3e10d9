"""A sentence-transformers CrossEncoder: one score a (question, text) pair, its logit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lab.arrays import Bools, Floats
from lab.errors import ModelError
from lab.retrieval.batches import equal_lengths, filled, token_counts
from lab.retrieval.capacity import most_tokens
from lab.retrieval.models import model_folder, model_identity, read_json
from lab.retrieval.rerank import Progress

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder
    from tokenizers import Tokenizer

# Pairs that are tokenized at once, so that some have one length.
PAIRS = 1_024


@dataclass(frozen=True)
class CrossEncoderScorer:
    """A CrossEncoder from a local folder or a hub id.

    Scores are logits, whatever activation the model's config names: a Sigmoid gives 1.0 to all that
    lies above 17, and what has one score has no order.
    """

    name: str
    _counts: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def identity(self) -> str:
        return f"cross-encoder {model_identity(self.name)} logits equal lengths"

    def score(self, questions: Sequence[str], texts: Sequence[str], progress: Progress) -> Floats:
        """Logits of the pairs."""
        scores = np.zeros(len(texts))
        for places, logits in self.parts(questions, texts, progress):
            scores[list(places)] = logits
        return scores

    def parts(
        self, questions: Sequence[str], texts: Sequence[str], progress: Progress
    ) -> Iterator[tuple[list[int], Floats]]:
        """The same part by part: places of pairs and their logits."""
        import torch

        threads, order = (
            torch.get_num_threads(),
            sorted(range(len(texts)), key=lambda i: len(texts[i])),
        )
        for first in range(0, len(order), PAIRS):
            share = order[first : first + PAIRS]
            pairs = [(questions[i], texts[i]) for i in share]
            lengths = token_counts(self.model.preprocess(pairs), len(pairs))
            for places in equal_lengths(lengths):
                batch = [pairs[place] for place in filled(places, lengths[places[0]], threads)]
                logits = self.model.predict(
                    batch,
                    batch_size=len(batch),
                    activation_fn=torch.nn.Identity(),
                    show_progress_bar=False,
                )
                yield [share[place] for place in places], logits[: len(places)]
                progress(len(places))

    def saturated(self, scores: Floats) -> Bools:
        """Which of given logits the model's own activation takes to one and the same limit."""
        if not self._activation.endswith("Sigmoid"):
            return np.zeros(len(scores), dtype=bool)
        with np.errstate(over="ignore"):
            bounded = 1 / (1 + np.exp(-scores.astype(np.float32)))
        return np.asarray((bounded == 0) | (bounded == 1))

    def cut(self, questions: Sequence[str], texts: Sequence[str]) -> Bools:
        """Which pairs have more tokens than the model reads."""
        limit = most_tokens(model_folder(self.name))
        if limit is None:
            return np.zeros(len(texts), dtype=bool)
        fresh = [text for text in {*questions, *texts} if text not in self._counts]
        read = self._tokenizer.encode_batch_fast(sorted(fresh), add_special_tokens=False)
        self._counts.update(zip(sorted(fresh), map(len, read), strict=True))
        room = limit - self._tokenizer.num_special_tokens_to_add(True)
        lengths = [self._counts[q] + self._counts[t] for q, t in zip(questions, texts, strict=True)]
        return np.array(lengths, dtype=np.int64) > room

    @cached_property
    def _activation(self) -> str:
        """The function's name, wherever this version or an older one has written it."""
        folder = model_folder(self.name)
        config = read_json(folder / "config.json")
        inner = config.get("sentence_transformers")
        named = (
            read_json(folder / "config_sentence_transformers.json").get("activation_fn"),
            inner.get("activation_fn") if isinstance(inner, dict) else None,
            config.get("sbert_ce_default_activation_function"),
        )
        return str(next((name for name in named if name), "Sigmoid"))

    @cached_property
    def model(self) -> "CrossEncoder":
        folder = model_folder(self.name)
        from sentence_transformers import CrossEncoder  # there when the folder is

        try:
            model: CrossEncoder = CrossEncoder(str(folder), local_files_only=True)
        except (OSError, ValueError, KeyError) as fault:
            raise ModelError(
                f"reranker '{self.name}': {folder} cannot be loaded as a CrossEncoder ({fault})"
            ) from None
        if model.num_labels != 1:
            raise ModelError(
                f"reranker '{self.name}': gives {model.num_labels} labels a pair; expected a "
                "CrossEncoder with one score"
            )
        limit = most_tokens(folder)
        if limit is not None and (model.max_seq_length or 0) > limit:
            model.max_seq_length = limit  # beyond its table of positions it fails
        return model

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        folder = model_folder(self.name)
        from tokenizers import Tokenizer  # there when the folder is

        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer
