"""Chat: a model behind an OpenAI-compatible URL, asked within bounds; what it said is kept."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lab.config.hosted import address, is_private
from lab.errors import ConfigError, ModelError
from lab.pipeline.hosted.server import FIRST_WAIT, Server, ServerError
from lab.pipeline.hosted.usage import count_of
from lab.storage.cache import Cache, cache_key

# Where the key is read from, and from nowhere else.
KEY = "LAB_JUDGE_KEY"
PATH = "/chat/completions"
# A reply longer than this is cut by the server.
REPLY_TOKENS = 2_000

Message = Mapping[str, str]


class ChatError(ModelError):
    """The server cannot be asked, or will not answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, with the tokens of both ways (None where the server does not count), and
    whether it was kept from an earlier call."""

    text: str
    prompt_tokens: int | None
    reply_tokens: int | None
    kept: bool


@dataclass
class Chat:
    """One model at one address. Temperature is 0; a reply is kept by address, model, messages, seed
    and length, and never asked for twice. One attempt may take `timeout_seconds` and 16 MB; after
    429, 5xx or silence it is asked again, five times in all. `replies` are those of this object, in
    order."""

    url: str
    model: str
    cache: Cache
    seed: int = 0
    timeout_seconds: float = 120.0
    first_wait: float = FIRST_WAIT
    replies: list[Reply] = field(default_factory=list)
    _key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        self.url = _address(self.url)
        self._key = os.environ.get(KEY, "").strip()
        if self._key and not is_private(self.url):
            raise ConfigError(f"--url {self.url}: {KEY} is set; keys are sent over https alone")

    def ask(self, messages: Sequence[Message]) -> Reply:
        """The reply to some messages. Raises ChatError when there is none after all attempts."""
        asked = {
            "model": self.model,
            "messages": list(messages),
            "temperature": 0,
            "seed": self.seed,
            "max_tokens": REPLY_TOKENS,
        }
        key = cache_key("chat", self.url, json.dumps(asked, sort_keys=True))
        kept = self.cache.get([key]).get(key)
        if kept is not None:
            text, prompt_tokens, reply_tokens = json.loads(kept)
            reply = Reply(text, prompt_tokens, reply_tokens, kept=True)
        else:
            reply = self._asked(asked)
            values = (reply.text, reply.prompt_tokens, reply.reply_tokens)
            self.cache.put({key: json.dumps(values).encode()}, f"judge {self.model}")
        self.replies.append(reply)
        return reply

    def _asked(self, body: Mapping[str, Any]) -> Reply:
        server = Server(self.url, self.timeout_seconds, self._key, KEY, self.first_wait)
        try:
            return server.ask(PATH, body, _reply)
        except ServerError as fault:
            raise ChatError(fault.problems) from None


def _address(url: str) -> str:
    """The address before `/chat/completions`. Raises ConfigError for what is no plain web address;
    secrets in it would be kept with the scores."""
    try:
        return address(url).removesuffix(PATH)
    except ValueError as fault:
        raise ConfigError(f"--url: {fault}; the key is read from {KEY}") from None


def _reply(record: Any) -> Reply:
    """Raises ValueError for what is no completion."""
    try:
        text = record["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise ValueError("no chat completion: it has no choices[0].message.content") from None
    if not isinstance(text, str):
        raise ValueError(f"no chat completion: content is {text!r}"[:200])
    asked = count_of(record, "usage", "prompt_tokens")
    return Reply(text, asked, count_of(record, "usage", "completion_tokens"), kept=False)
