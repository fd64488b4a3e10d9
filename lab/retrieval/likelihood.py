"""Query likelihood: a text is as good as it makes the question likely.

Ponte & Croft (SIGIR 1998) with a causal language model for the probabilities, as in Sachan et al.,
"Improving Passage Retrieval with Zero-Shot Question Generation" (EMNLP 2022).
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lab.arrays import Floats
from lab.errors import ModelError
from lab.retrieval.batches import equal_lengths, filled
from lab.retrieval.models import file_identity, model_folder, model_identity, read_json
from lab.retrieval.rerank import Progress

# What stands between a text and its question.
BETWEEN = "\n\nQuestion: "
# Pairs of one length that are read together: a vocabulary is wide.
TOGETHER = 8
PACKED = ".gguf"
# What the architecture of a causal model is called.
CAUSAL = ("CausalLM", "LMHead")


@dataclass(frozen=True)
class QueryLikelihood:
    """A causal model of transformers, from a folder, a hub id or a .gguf file. The score of a pair
    is the mean natural logarithm of the probabilities of the question's tokens behind the text:
    at most 0, and 0 for a question without tokens. Texts are cut to what leaves room for the
    question."""

    name: str

    def __post_init__(self) -> None:
        if not self.name:
            raise ModelError(
                "'likelihood' names no model; expected likelihood:FOLDER, a hub id or a .gguf file"
            )

    @cached_property
    def identity(self) -> str:
        """Names the model's bytes and what is asked of it."""
        content = file_identity(self._file) if self._is_packed else model_identity(self.name)
        return f"likelihood {content} {BETWEEN!r} mean equal lengths"

    @property
    def _is_packed(self) -> bool:
        return self.name.endswith(PACKED)

    @cached_property
    def _file(self) -> Path:
        file = Path(self.name).expanduser()
        if not file.is_file():
            raise ModelError(f"rerank.model 'likelihood:{self.name}': no such file")
        return file

    @property
    def _source(self) -> tuple[Path, dict[str, str]]:
        if self._is_packed:
            return self._file.parent, {"gguf_file": self._file.name}
        return model_folder(self.name), {}

    def score(self, questions: Sequence[str], texts: Sequence[str], progress: Progress) -> Floats:
        """One score a (question, text) pair."""
        scores = np.zeros(len(texts))
        for places, values in self.parts(questions, texts, progress):
            scores[places] = values
        return scores

    def parts(
        self, questions: Sequence[str], texts: Sequence[str], progress: Progress
    ) -> Iterator[tuple[list[int], Floats]]:
        """The same part by part: places of pairs and their scores."""
        import torch

        asked = {question: self._ids(question)[: self._room // 2] for question in set(questions)}
        read = {text: self._ids(text) for text in set(texts)}
        pairs = [
            (self._before(read[text], len(asked[question])), asked[question])
            for question, text in zip(questions, texts, strict=True)
        ]
        # One length of each part, so that no row is padded and none depends on another.
        shapes = [len(before) * self._room + len(question) for before, question in pairs]
        threads = torch.get_num_threads()
        for places in equal_lengths(shapes, TOGETHER):
            before, question = pairs[places[0]]
            if question:
                batch = filled(places, len(before) + len(question), threads)
                values = self._log_likelihoods([pairs[place] for place in batch])[: len(places)]
            else:
                values = np.zeros(len(places))
            yield places, values
            progress(len(places))

    def _before(self, text: list[int], question: int) -> list[int]:
        """What the model reads before a question of so many tokens: at least one token."""
        room = self._room - len(self._start) - len(self._between) - question
        return [*self._start, *text[: max(room, 0)], *self._between]

    def _log_likelihoods(self, pairs: Sequence[tuple[list[int], list[int]]]) -> Floats:
        """Of pairs with texts of one length and questions of one length."""
        import torch

        asked = len(pairs[0][1])
        ids = torch.tensor([before + question for before, question in pairs])
        # The last places alone: a vocabulary at every place of a text would take gigabytes.
        few: dict[str, Any] = {"logits_to_keep": asked + 1} if self._keeps_few else {}
        with torch.inference_mode():
            logits = self._model(input_ids=ids, use_cache=False, **few).logits[:, -asked - 1 : -1]
            logs = torch.log_softmax(logits.float(), dim=-1)
            of_tokens = logs.gather(2, ids[:, -asked:, None])[:, :, 0]
        return np.asarray(of_tokens.double().mean(dim=1).numpy(), dtype=np.float64)

    @cached_property
    def _keeps_few(self) -> bool:
        return "logits_to_keep" in inspect.signature(self._model.forward).parameters

    @cached_property
    def _room(self) -> int:
        """Tokens that the model reads at once."""
        config = getattr(self._model.config, "text_config", self._model.config)
        known = getattr(config, "max_position_embeddings", None)
        return int(known) if isinstance(known, int) and known > 0 else 2_048

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    @cached_property
    def _start(self) -> list[int]:
        """The token that every text of the model begins with, if there is one."""
        token = self._tokenizer.bos_token_id
        return [] if token is None else [int(token)]

    @cached_property
    def _between(self) -> list[int]:
        return self._ids(BETWEEN)

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        folder, more = self._source
        return self._loaded(AutoTokenizer, folder, more)

    @cached_property
    def _model(self) -> Any:
        from transformers import AutoModelForCausalLM

        folder, more = self._source
        if not self._is_packed:
            kinds = read_json(folder / "config.json").get("architectures")
            held = ", ".join(map(str, kinds)) if isinstance(kinds, list) else ""
            if not any(word in held for word in CAUSAL):
                raise ModelError(
                    f"rerank.model 'likelihood:{self.name}': the folder holds "
                    f"{held or 'no architecture'}; expected a causal language model"
                )
        return self._loaded(AutoModelForCausalLM, folder, more | {"dtype": "float32"}).train(False)

    def _loaded(self, kind: Any, folder: Path, more: dict[str, str]) -> Any:
        from transformers.utils.logging import disable_progress_bar, set_verbosity_error

        disable_progress_bar()
        set_verbosity_error()
        try:
            return kind.from_pretrained(str(folder), local_files_only=True, **more)
        except (OSError, ValueError, KeyError, ImportError) as fault:
            raise ModelError(
                f"rerank.model 'likelihood:{self.name}': {folder} cannot be loaded by transformers "
                f"({str(fault).splitlines()[0] if str(fault) else type(fault).__name__})"
            ) from None
