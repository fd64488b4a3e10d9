"""Chat: a model behind an OpenAI-compatible URL, asked within bounds; what it said is kept."""

import http.client
import json
import os
import time
import urllib.error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from lab.corpus.lines import read_json
from lab.errors import ConfigError, ModelError
from lab.pipeline.foreign.endpoint import post
from lab.pipeline.foreign.patience import LARGEST, TOO_LARGE
from lab.storage.cache import Cache, cache_key

# Where the key is read from, and from nowhere else.
KEY = "LAB_JUDGE_KEY"
PATH = "/chat/completions"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
ATTEMPTS = 5
# Seconds before the second attempt, doubled before each next; and the most that a server's
# Retry-After is obeyed for.
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
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
        parts = urlsplit(self.url)
        if self._key and parts.scheme != "https" and parts.hostname not in LOOPBACK:
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
            reply = self._asked(json.dumps(asked).encode())
            values = (reply.text, reply.prompt_tokens, reply.reply_tokens)
            self.cache.put({key: json.dumps(values).encode()}, f"judge {self.model}")
        self.replies.append(reply)
        return reply

    def _asked(self, body: bytes) -> Reply:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        fault = ""
        for attempt in range(ATTEMPTS):
            wait = self.first_wait * 2**attempt
            try:
                content = post(self.url + PATH, body, headers, self.timeout_seconds)
                if len(content) > LARGEST:
                    raise ChatError(f"{self.url}: {TOO_LARGE}")
                return _reply(content)
            except TimeoutError:
                fault = f"no answer within {self.timeout_seconds:g} s"
            except urllib.error.HTTPError as refusal:
                with refusal:
                    fault = f"HTTP {refusal.code} {refusal.reason}"[:300]
                    if refusal.code < 500 and refusal.code != 429:
                        raise ChatError(f"{self.url}: {self._hidden(fault)}") from None
                    wait = max(wait, _seconds(refusal.headers.get("Retry-After")))
            except (OSError, http.client.HTTPException) as broken:
                fault = str(getattr(broken, "reason", None) or broken or type(broken).__name__)
            except ValueError as broken:
                fault = f"answer is {broken}"
            if attempt < ATTEMPTS - 1:
                time.sleep(min(wait, LONGEST_WAIT))
        raise ChatError(f"{self.url}: {self._hidden(fault)}, {ATTEMPTS} times")

    def _hidden(self, text: str) -> str:
        """A server's words without the key, should it repeat it."""
        return text.replace(self._key, "***") if self._key else text


def _address(url: str) -> str:
    """The address before `/chat/completions`. Raises ConfigError for what is no plain web address;
    secrets in it would be kept with the scores."""
    try:
        parts = urlsplit(url.strip())
        plain = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ConfigError(f"--url {url!r}: no address; expected like http://host:8000/v1") from None
    if not plain:
        raise ConfigError(f"--url {url!r}: expected an address like http://host:8000/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            f"--url at {parts.hostname}: holds a user, '?' or '#'; expected the address alone, and "
            f"a key in the environment as {KEY}"
        )
    return url.strip().rstrip("/").removesuffix(PATH)


def _reply(content: bytes) -> Reply:
    """Raises ValueError for what is no completion."""
    record = read_json(content)
    try:
        text = record["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise ValueError("no chat completion: it has no choices[0].message.content") from None
    if not isinstance(text, str):
        raise ValueError(f"no chat completion: content is {text!r}"[:200])
    usage = record.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    prompt_tokens, reply_tokens = (
        _count(counts.get(name)) for name in ("prompt_tokens", "completion_tokens")
    )
    return Reply(text, prompt_tokens, reply_tokens, kept=False)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(header: str | None) -> float:
    """What Retry-After asks for; 0 for a date or nonsense."""
    try:
        return max(0.0, float(header or 0))
    except ValueError:
        return 0.0
