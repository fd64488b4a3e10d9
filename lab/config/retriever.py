"""RetrieverConfig: one foreign system of an experiment, and where its rankings come from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from lab.errors import ConfigError
from lab.retrieval.config import Depth

# How long an answer is waited for, and how often a failed question is asked again, unless the user
# says otherwise.
TIMEOUT_SECONDS = 60.0
RETRIES = 2
DAY = 86_400
# The pause before a repetition doubles each time.
MOST_RETRIES = 10


class RetrieverConfig(BaseModel):
    """One `[[retriever]]` of an experiment: exactly one of `run`, `url` and `command` says where
    rankings come from.

    `run` is a TREC or JSONL run file; `url` is sent a POST a question; `command` reads questions
    and writes rankings as JSON lines. `depth` results are asked for (a run file is taken whole
    unless it is given); an answer is waited for `timeout_seconds`; what fails is asked again
    `retries` times. `chunks` is a JSONL file of all that it searches, `{"doc_id", "start", "end"}`
    or `{"doc_id", "text"}` a line: then also what it never returns is known to be split.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(min_length=1)]
    run: Path | None = None
    url: Annotated[str | None, Field(pattern="^https?://")] = None
    command: Annotated[str | None, Field(min_length=1)] = None
    depth: Depth | None = None
    timeout_seconds: Annotated[float, Field(gt=0, le=DAY, strict=True)] = TIMEOUT_SECONDS
    retries: Annotated[int, Field(ge=0, le=MOST_RETRIES, strict=True)] = RETRIES
    chunks: Path | None = None

    @field_validator("url")
    @classmethod
    def _address(cls, url: str | None) -> str | None:
        try:
            parts = urlsplit(url or "http://none")
            named = bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            named = False
        if not named or any(sign.isspace() or not sign.isprintable() for sign in url or ""):
            raise ValueError("expected an address like http://localhost:8000/search")
        return url

    @model_validator(mode="after")
    def _one_source(self) -> "RetrieverConfig":
        if sum(value is not None for value in (self.run, self.url, self.command)) != 1:
            raise ValueError("expected exactly one of run, url and command")
        return self


def refuse_commands(configs: Sequence[RetrieverConfig]) -> None:
    """Raise ConfigError that names every command: an experiment file from elsewhere must not run
    programs unasked."""
    commands = [f"retriever '{c.name}' runs the command: {c.command}" for c in configs if c.command]
    if commands:
        raise ConfigError(
            [*commands, "nothing was run; add --allow-commands if you trust this file"]
        )
