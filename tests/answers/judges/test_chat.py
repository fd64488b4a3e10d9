"""A model behind a URL: asked within bounds, again when it is busy, never twice for the same."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from lab.answers.judges.chat import Chat, ChatError
from lab.errors import ConfigError
from lab.pipeline.hosted.server import ATTEMPTS
from lab.storage.cache import Cache
from tests.answers.judges.chat_server import completion, serving

ASKED = [{"role": "user", "content": "how are you?"}]


def chat(url: str, **settings: Any) -> Chat:
    return Chat(url, "m", Cache(None), first_wait=0.01, **settings)


def test_what_was_said_is_kept_by_all_that_matters(tmp_path: Path) -> None:
    with serving(lambda body: f"reply to {body['model']}") as server:
        first = Chat(server.url, "m", Cache(tmp_path / "c.sqlite"))
        assert first.ask(ASKED).text == "reply to m"
        assert not first.replies[0].kept
        again = Chat(server.url + "/chat/completions", "m", Cache(tmp_path / "c.sqlite"))
        assert again.ask(ASKED).kept
        assert len(server.requests) == 1
        body = server.requests[0]
        assert (body["temperature"], body["seed"], body["messages"]) == (0, 0, ASKED)
        for other in (
            Chat(server.url, "n", Cache(tmp_path / "c.sqlite")),
            Chat(server.url, "m", Cache(tmp_path / "c.sqlite"), seed=1),
        ):
            assert not other.ask(ASKED).kept
        assert not again.ask([{"role": "user", "content": "and now?"}]).kept


def test_a_busy_server_is_asked_again(tmp_path: Path) -> None:
    busy = [(429, {"Retry-After": "0"}, b"slow down"), (503, {}, b""), None, (200, {}, b"{")]
    with serving(lambda body: busy.pop(0) if busy else "well") as server:
        assert chat(server.url).ask(ASKED).text == "well"
        assert len(server.requests) == 5


def test_retry_after_is_obeyed() -> None:
    said: list[Any] = [(429, {"Retry-After": "0.5"}, b""), "well"]
    began = time.monotonic()
    with serving(lambda body: said.pop(0)) as server:
        chat(server.url).ask(ASKED)
    assert time.monotonic() - began >= 0.5


def test_a_server_that_refuses_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_JUDGE_KEY", "k-secret")
    with serving(lambda body: (401, {}, b"no k-secret")) as server:
        with pytest.raises(ChatError, match="HTTP 401") as fault:
            chat(server.url).ask(ASKED)
        assert server.keys == ["Bearer k-secret"]
    assert "k-secret" not in str(fault.value)
    assert "k-secret" not in repr(chat(server.url))


def test_silence_and_a_dead_server_end() -> None:
    with serving(lambda body: time.sleep(0.4) or "late") as server:
        with pytest.raises(ChatError, match=r"no answer within 0\.1 s, 5 times"):
            chat(server.url, timeout_seconds=0.1).ask(ASKED)
        assert len(server.requests) == ATTEMPTS
    with pytest.raises(ChatError, match="5 times"):
        chat(server.url).ask(ASKED)


def test_an_answer_that_is_no_completion_or_too_large_is_no_reply() -> None:
    with (
        serving(lambda body: (200, {}, json.dumps({"choices": []}).encode())) as server,
        pytest.raises(ChatError, match="no chat completion"),
    ):
        chat(server.url).ask(ASKED)
    with (
        serving(lambda body: completion("x" * 16_500_000)) as server,
        pytest.raises(ChatError, match="larger than 16 MB"),
    ):
        chat(server.url).ask(ASKED)
    assert len(server.requests) == 1


def test_redirects_are_not_followed() -> None:
    with (
        serving(lambda body: (307, {"Location": "http://127.0.0.1:9/v1"}, b"")) as server,
        pytest.raises(ChatError, match="HTTP 307"),
    ):
        chat(server.url).ask(ASKED)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "url", ["", "localhost:80", "ftp://x/v1", "http://", "http://u:p@x/v1", "https://x/v1?key=s"]
)
def test_an_address_is_plain(url: str) -> None:
    with pytest.raises(ConfigError, match="--url") as fault:
        chat(url)
    assert "u:p" not in str(fault.value)
    assert "key=s" not in str(fault.value)


def test_a_key_is_sent_over_https_or_within_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_JUDGE_KEY", "k-secret")
    with pytest.raises(ConfigError, match="https alone"):
        chat("http://example.org/v1")
    assert chat("https://example.org/v1").model == "m"
