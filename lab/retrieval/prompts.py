"""Which of a model's prompts its authors mean for questions and which for passages.

sentence-transformers keeps them by name, and every family of models has names of its own: `query`
and `passage` (E5), `search_query` (Nomic), `retrieval.query` (Jina), `s2p_query` (Stella),
`Retrieval-query` (EmbeddingGemma), `web_search_query` (GTE).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab.retrieval.models import read_json

Role = Literal["query", "passage"]

# The words of a name that speak for a role, the most usual first.
WORDS: Mapping[Role, tuple[str, ...]] = {
    "query": ("query", "queries", "question", "questions"),
    "passage": ("document", "passage", "documents", "passages", "corpus", "doc", "docs", "context"),
}
# Beside a role's word: retrieval, or one of the tasks that such models are also made for.
RETRIEVAL = {"search", "retrieval", "s2p", "web", "msmarco", "asymmetric"}
OTHER = re.compile(
    r"s2s|sts|similarity|symmetric|classif|cluster|separat|match|summar|bitext|paraphras|rerank"
)


@dataclass(frozen=True)
class Prompts:
    """The prompts of a model by name, and the name of the one that stands for others."""

    texts: Mapping[str, str]
    default: str | None = None

    def name(self, role: Role) -> str | None:
        """The name whose prompt a role gets: the best fit with a text, else the best fit (an empty
        prompt is a prompt), else the model's default."""
        fits = sorted(
            (rank, place, name)
            for place, name in enumerate(self.texts)
            if (rank := _fit(name, role)) is not None
        )
        named = [name for _, _, name in fits]
        return next(
            (name for name in named if self.texts[name]), named[0] if named else self.default
        )

    def text(self, role: Role) -> str:
        """What is put before a text, as `model.encode(text, prompt_name=...)` does."""
        name = self.name(role)
        return self.texts.get(name, "") if name is not None else ""

    @property
    def unused(self) -> tuple[str, ...]:
        """Names with a prompt that neither questions nor passages get."""
        used = {self.name("query"), self.name("passage")}
        return tuple(name for name, text in self.texts.items() if text and name not in used)

    @property
    def borrowed(self) -> tuple[Role, ...]:
        """Roles that get the default prompt, for no name fits them."""
        roles: tuple[Role, ...] = ("query", "passage")
        return tuple(
            role for role in roles if self.text(role) and _fit(str(self.name(role)), role) is None
        )


def read_prompts(folder: Path) -> Prompts:
    """The prompts in a model's folder; none where it names none."""
    config = read_json(folder / "config_sentence_transformers.json")
    given, default = config.get("prompts"), config.get("default_prompt_name")
    texts = given.items() if isinstance(given, dict) else ()
    return Prompts(
        {str(name): text if isinstance(text, str) else "" for name, text in texts},
        default if isinstance(default, str) else None,
    )


def _fit(name: str, role: Role) -> tuple[int, int, int] | None:
    """How well a name fits a role, least is best; None where it does not."""
    parts = re.findall(r"[A-Za-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
    parts = [part.lower() for part in parts]
    spoken = [place for place, word in enumerate(WORDS[role]) if word in parts]
    if not spoken:
        return None
    rest = [part for part in parts if part not in WORDS[role]]
    other = any(OTHER.match(part) for part in rest)
    return int(other), sum(part not in RETRIEVAL for part in rest), spoken[0]
