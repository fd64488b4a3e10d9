"""Encoder: a sentence-transformers model that loads its weights only when a text has to be
encoded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from lab.arrays import Span, Vectors
from lab.errors import ModelError
from lab.retrieval.config import Device, Dtype
from lab.retrieval.models import model_folder, model_identity, read_json

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Role = Literal["query", "passage"]
Progress = Callable[[int], None]
Encode = Callable[[Sequence[str], Role, Progress], Vectors]

BATCH = 32


class Encoder(Protocol):
    """What the lab needs of a dense model; anything with these five can take the place of a
    sentence-transformers one."""

    @property
    def identity(self) -> str:
        """Names the model, its revision and its settings: cached vectors are kept under it."""

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that the model reads; what follows is truncated."""

    def prompt(self, role: Role) -> str:
        """Text put before a question or a passage; roles with one prompt must encode alike, for
        they share cached vectors."""

    def encode(self, texts: Sequence[str], role: Role, progress: Progress) -> Vectors:
        """One vector a text; `progress` is told how many texts are done."""

    def offsets(self, text: str) -> list[Span]:
        """Character spans of the model's tokens, special tokens and truncation left aside."""


@dataclass(frozen=True)
class SentenceEncoder:
    """A sentence-transformers model by name. Tokens are counted with its tokenizer file alone, so
    that a run whose vectors are all cached never imports torch."""

    name: str
    dtype: Dtype = "float32"
    device: Device = "auto"

    @cached_property
    def folder(self) -> Path:
        return model_folder(self.name)

    @cached_property
    def identity(self) -> str:
        return f"{model_identity(self.name)} max_tokens={self.max_tokens} {self.dtype} normalized"

    @cached_property
    def max_tokens(self) -> int:
        limits = [
            read_json(self.folder / "sentence_bert_config.json").get("max_seq_length"),
            read_json(self.folder / "tokenizer_config.json").get("model_max_length"),
            read_json(self.folder / "config.json").get("max_position_embeddings"),
        ]
        known = [
            int(limit) for limit in limits if isinstance(limit, int | float) and limit < 1_000_000
        ]
        special = self._tokenizer.num_special_tokens_to_add(False)  # type: ignore[attr-defined]
        return (known[0] if known else 512) - int(special)

    def prompt(self, role: Role) -> str:
        prompts = read_json(self.folder / "config_sentence_transformers.json").get("prompts")
        names = ("query",) if role == "query" else ("document", "passage")
        if not isinstance(prompts, dict):
            return ""
        return next((str(prompts[name]) for name in names if name in prompts), "")

    def encode(self, texts: Sequence[str], role: Role, progress: Progress) -> Vectors:
        """Unit vectors, float32. The caller sorts by length; batches are padded to their longest
        text."""
        prompt, rows = self.prompt(role), []
        for first in range(0, len(texts), BATCH):
            batch = [prompt + text for text in texts[first : first + BATCH]]
            rows.append(
                self.model.encode(
                    batch, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
                )
            )
            progress(len(batch))
        return (
            np.concatenate(rows).astype(np.float32) if rows else np.zeros((0, 0), dtype=np.float32)
        )

    def token_vectors(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Unit vectors of every token of every text (tokens x dimension), special tokens
        included."""
        batch = [self.prompt(role) + text for text in texts]
        found = self.model.encode(
            batch, batch_size=BATCH, output_value="token_embeddings", show_progress_bar=False
        )
        rows = [np.asarray(tensor.float().cpu(), dtype=np.float32) for tensor in found]
        return [row / np.maximum(np.linalg.norm(row, axis=1, keepdims=True), 1e-12) for row in rows]

    def token_embeddings(self, windows: Sequence[Sequence[int]]) -> list[Vectors]:
        """The model's own vectors of every token (tokens x dimension, not normalised) of windows of
        one length each."""
        import torch

        ids = torch.tensor([list(window) for window in windows], device=self.model.device)
        with torch.inference_mode():
            found = self.model[0]({"input_ids": ids, "attention_mask": torch.ones_like(ids)})[
                "token_embeddings"
            ]
        return list(found.float().cpu().numpy())

    def tokens(self, text: str) -> tuple[list[int], list[Span], list[bool]]:
        """Ids of a text's tokens with special ones, their character spans, and which are special;
        nothing is truncated."""
        found = self._tokenizer.encode(text)  # type: ignore[attr-defined]
        return (
            list(found.ids),
            list(found.offsets),
            [bool(mark) for mark in found.special_tokens_mask],
        )

    def offsets(self, text: str) -> list[Span]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)  # type: ignore[attr-defined]

    @cached_property
    def model(self) -> "SentenceTransformer":
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar, set_verbosity_error

        # Its bar breaks ours, and its report names weights that a sentence-transformers folder does
        # without.
        disable_progress_bar()
        set_verbosity_error()
        try:
            return SentenceTransformer(
                str(self.folder),
                local_files_only=True,
                device=None if self.device == "auto" else self.device,
                model_kwargs={"dtype": self.dtype},
            )
        except (OSError, ValueError, KeyError) as fault:
            raise ModelError(
                f"model '{self.name}': {self.folder} cannot be loaded by sentence-transformers "
                f"({fault})"
            ) from None

    @cached_property
    def _tokenizer(self) -> object:
        from tokenizers import Tokenizer

        file = self.folder / "tokenizer.json"
        if not file.is_file():
            raise ModelError(
                f"model '{self.name}': {file} is missing; the lab counts tokens with it"
            )
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer
