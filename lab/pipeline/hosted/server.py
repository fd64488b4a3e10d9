"""Server: one address that speaks JSON, asked within bounds, and again while it is busy."""

import http.client
import json
import os
import time
import urllib.error
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lab.config.hosted import is_private, key_variable
from lab.corpus.lines import read_json
from lab.errors import ConfigError, ModelError
from lab.pipeline.foreign.endpoint import post
from lab.pipeline.foreign.patience import LARGEST, TOO_LARGE, LateError, within

T = TypeVar("T")

ATTEMPTS = 5
# Seconds before the second attempt, doubled before each next; and the most that a server's
# Retry-After is obeyed for.
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
# Of what a server says beside a refusal: characters that are shown, seconds that it may take.
SAID, SAYING = 300, 5.0


class ServerError(ModelError):
    """The server cannot be asked, or will not answer."""


@dataclass
class Server:
    """What lies at `url`. One attempt may take `timeout_seconds` and 16 MB; after 429, 5xx, silence
    or nonsense it is asked again, five times in all. The `key` (from the variable
    `key_from`) is sent with every request, and stands in no message."""

    url: str
    timeout_seconds: float
    key: str = field(default="", repr=False)
    key_from: str = ""
    first_wait: float = FIRST_WAIT

    def ask(self, path: str, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """What `read` makes of the JSON that answers a POST of `body`; it raises ValueError for
        what is no answer. Raises ServerError when there is none after all attempts."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        sent, fault = json.dumps(body).encode(), ""
        for attempt in range(ATTEMPTS):
            wait = self.first_wait * 2**attempt
            try:
                content = post(self.url + path, sent, headers, self.timeout_seconds)
                if len(content) > LARGEST:
                    raise ServerError(f"{self.url}: {TOO_LARGE}")
                return read(read_json(content))
            except TimeoutError:
                fault = f"no answer within {self.timeout_seconds:g} s"
            except urllib.error.HTTPError as refusal:
                with refusal:
                    fault = f"HTTP {refusal.code} {refusal.reason}"[:SAID]
                    wait = max(wait, _seconds(refusal.headers.get("Retry-After")))
                    if refusal.code < 500 and refusal.code != 429:
                        fault += self._why(refusal)
                        raise ServerError(f"{self.url}: {self._hidden(fault)}") from None
            except (OSError, http.client.HTTPException) as broken:
                fault = str(getattr(broken, "reason", None) or broken or type(broken).__name__)
            except ValueError as broken:
                fault = f"answer is {broken}"
            if attempt < ATTEMPTS - 1:
                time.sleep(min(wait, LONGEST_WAIT))
        raise ServerError(f"{self.url}: {self._hidden(fault)}, {ATTEMPTS} times")

    def _why(self, refusal: urllib.error.HTTPError) -> str:
        """What a server says of its refusal, and where a key would come from."""
        said = b""
        with suppress(LateError, OSError, http.client.HTTPException, RuntimeError, ValueError):
            said = within(SAYING, lambda: refusal.read(4 * SAID))
        text = " ".join(said.decode("utf-8", "replace").split())[:SAID]
        hint = ""
        if refusal.code in (401, 403):
            hint = f"; {self.key_from} is {'not accepted' if self.key else 'not set'}"
        return (f": {text}" if text else "") + hint

    def _hidden(self, text: str) -> str:
        """A server's words without the key, should it repeat it."""
        return text.replace(self.key, "***") if self.key else text


def server_of(url: str, timeout_seconds: float) -> Server:
    """A server with the key that the environment holds for its host, if any. Raises ConfigError
    where the key could be read on its way."""
    variable = key_variable(url)
    key = os.environ.get(variable, "").strip()
    if key and not is_private(url):
        raise ConfigError(f"{url}: {variable} is set; keys are sent over https alone")
    return Server(url, timeout_seconds, key, variable)


def _seconds(header: str | None) -> float:
    """What Retry-After asks for; 0 for a date or nonsense."""
    try:
        return max(0.0, float(header or 0))
    except ValueError:
        return 0.0
