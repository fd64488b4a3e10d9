"""Encoder: a sentence-transformers model that loads its weights only when a text has to be
encoded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lab.arrays import Span, Vectors
from lab.errors import ModelError
from lab.retrieval.batches import equal_lengths, filled, token_counts
from lab.retrieval.capacity import input_folder, most_tokens
from lab.retrieval.config import Backend, Device, Dtype
from lab.retrieval.engines import put_engine
from lab.retrieval.models import model_folder, model_identity, model_modules, read_json
from lab.retrieval.prompts import Prompts, Role, read_prompts

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

Progress = Callable[[int], None]
# What is told a text and the unit vectors of its tokens (tokens x dimension).
Keep = Callable[[str, Vectors], None]
# Texts, part by part: the places of some texts and their vectors, as soon as they are there.
Encode = Callable[[Sequence[str], Role, Progress], Iterator[tuple[Sequence[int], Vectors]]]

SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")
# Without a limit of its own a model reads as much as the first transformers did.
TOKENS = 512


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
    backend: Backend = "torch"

    @cached_property
    def folder(self) -> Path:
        return model_folder(self.name)

    @cached_property
    def identity(self) -> str:
        engine = "" if self.backend == "torch" else f"{self.backend} "
        return (
            f"{model_identity(self.name)} max_tokens={self.max_tokens} {self.dtype} {engine}"
            f"{'normalized' if self.scales else 'as given'} equal lengths"
        )

    @cached_property
    def max_tokens(self) -> int:
        special = self._tokenizer.num_special_tokens_to_add(False)
        return self._most_tokens - int(special)

    @cached_property
    def _most_tokens(self) -> int:
        return most_tokens(self.folder) or TOKENS

    @cached_property
    def similarity(self) -> str:
        """How the model's authors compare its vectors. Raises ModelError where that is unknown."""
        config = read_json(self.folder / "config_sentence_transformers.json")
        name = config.get("similarity_fn_name") or "cosine"
        if name not in SIMILARITIES:
            raise ModelError(
                f"model '{self.name}': its similarity_fn_name is {name!r}; expected one of "
                f"{', '.join(SIMILARITIES)}"
            )
        return str(name)

    @cached_property
    def dimension(self) -> int | None:
        """Numbers of a vector, as the model's files say; None where they do not."""
        known = None
        for _, folder in model_modules(self.folder):
            config = read_json(folder / "config.json")
            keys = ("out_features", "embedding_dimension", "word_embedding_dimension")
            known = next((config[key] for key in keys if isinstance(config.get(key), int)), known)
        return known if isinstance(known, int) else None

    @cached_property
    def scales(self) -> bool:
        """Whether the model's last step scales its vectors to length 1."""
        return any(kind == "Normalize" for kind, _ in model_modules(self.folder))

    @cached_property
    def prompts(self) -> Prompts:
        return read_prompts(self.folder)

    def prompt(self, role: Role) -> str:
        return self.prompts.text(role)

    def encode(self, texts: Sequence[str], role: Role, progress: Progress) -> Vectors:
        """Vectors, float32, as `model.encode(text, prompt_name=...)` gives them to each text
        alone."""
        rows: list[Vectors] = [np.zeros(0, dtype=np.float32)] * len(texts)
        for places, vectors in self.parts(texts, role, progress):
            for place, row in zip(places, vectors, strict=True):
                rows[place] = row
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def parts(
        self, texts: Sequence[str], role: Role, progress: Progress, keep: Keep | None = None
    ) -> Iterator[tuple[list[int], Vectors]]:
        """The same part by part: places of texts and their vectors. `keep` is told the token
        vectors that the model makes on the way."""
        wanted = "sentence_embedding" if keep is None else None
        for places, found in self._encoded(texts, role, output_value=wanted):
            vectors = found
            if keep is not None:
                vectors = [text["sentence_embedding"].float().cpu() for text in found]
                for place, text in zip(places, found, strict=False):
                    keep(texts[place], _unit(text["token_embeddings"]))
            yield places, np.asarray(vectors, dtype=np.float32)[: len(places)]
            progress(len(places))

    def token_vectors(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Unit vectors of every token of every text (tokens x dimension), special tokens
        and the prompt's included."""
        rows: list[Vectors] = [np.zeros((0, 0), dtype=np.float32)] * len(texts)
        for places, tensors in self._encoded(texts, role, output_value="token_embeddings"):
            for place, tensor in zip(places, tensors, strict=False):
                rows[place] = _unit(tensor)
        return rows

    def _encoded(
        self, texts: Sequence[str], role: Role, **wanted: Any
    ) -> Iterator[tuple[list[int], Any]]:
        """Places of texts of one length, and what the model gives them."""
        import torch

        threads, prompt = torch.get_num_threads(), self.prompt(role)
        features = self.model.preprocess(list(texts), prompt=prompt) if texts else {}
        lengths = token_counts(features, len(texts))
        for places in equal_lengths(lengths):
            batch = [texts[place] for place in filled(places, lengths[places[0]], threads)]
            # The prompt is given by itself, an empty one too: a model may leave it out of its mean,
            # and would else put its default one before the text.
            yield (
                places,
                self.model.encode(
                    batch,
                    prompt=prompt,
                    batch_size=len(batch),
                    show_progress_bar=False,
                    **wanted,
                ),
            )

    def token_embeddings(self, windows: Sequence[Sequence[int]]) -> list[Vectors]:
        """The model's own vectors of every token (tokens x dimension, not normalised) of windows of
        one length each."""
        import torch

        ids = torch.tensor([list(window) for window in windows], device=self.model.device)
        with torch.inference_mode():
            vectors = self.model[0]({"input_ids": ids, "attention_mask": torch.ones_like(ids)})[
                "token_embeddings"
            ]
        return list(vectors.float().cpu().numpy())

    def tokens(self, text: str) -> tuple[list[int], list[Span], list[bool]]:
        """Ids of a text's tokens with special ones, their character spans, and which are special;
        nothing is truncated."""
        encoding = self._tokenizer.encode(text)
        return (
            list(encoding.ids),
            list(encoding.offsets),
            [bool(mark) for mark in encoding.special_tokens_mask],
        )

    def unknown(self, texts: Sequence[str]) -> list[tuple[int, int]]:
        """Of every text how many tokens the model has no word for, and how many it has in all;
        models that spell unknown words in letters or bytes have none."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        number = -1 if self._unknown_id is None else self._unknown_id
        return [(text.ids.count(number), len(text.ids)) for text in encodings]

    @cached_property
    def _unknown_id(self) -> int | None:
        file = input_folder(self.folder) / "tokenizer.json"
        model = read_json(file).get("model")
        if not isinstance(model, dict):
            return None
        token = model.get("unk_token")
        number = self._tokenizer.token_to_id(token) if isinstance(token, str) else None
        return model.get("unk_id") if number is None else number

    def offsets(self, text: str) -> list[Span]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    @cached_property
    def model(self) -> "SentenceTransformer":
        folder = str(self.folder)
        from sentence_transformers import SentenceTransformer  # there when the folder is
        from transformers.utils.logging import disable_progress_bar, set_verbosity_error

        # Its bar breaks ours, and its report names weights that a sentence-transformers folder does
        # without.
        disable_progress_bar()
        set_verbosity_error()
        try:
            model = SentenceTransformer(
                folder,
                local_files_only=True,
                device=self._device,
                model_kwargs={"dtype": self.dtype if self.backend == "torch" else "float32"},
            )
        except (OSError, ValueError, KeyError) as fault:
            raise ModelError(
                f"model '{self.name}': {self.folder} cannot be loaded by sentence-transformers "
                f"({fault})"
            ) from None
        if (model.max_seq_length or 0) > self._most_tokens:
            model.max_seq_length = self._most_tokens  # beyond its table of positions it fails
        if self.backend != "torch":
            try:
                put_engine(model, model_identity(self.name), self.backend, self.dtype)
            except ModelError as fault:
                raise ModelError(f"model '{self.name}': {fault}") from None
        return model

    @property
    def _device(self) -> str | None:
        if self.backend != "torch":
            return "cpu"
        return None if self.device == "auto" else self.device

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        file = input_folder(self.folder) / "tokenizer.json"
        from tokenizers import Tokenizer  # there when the folder is

        if not file.is_file():
            raise ModelError(
                f"model '{self.name}': {file} is missing; the lab counts tokens with it"
            )
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def _unit(tensor: Any) -> Vectors:
    """Token vectors (tokens x dimension) scaled to length 1."""
    row = np.asarray(tensor.float().cpu(), dtype=np.float32)
    scaled: Vectors = row / np.maximum(np.linalg.norm(row, axis=1, keepdims=True), 1e-12)
    return scaled
