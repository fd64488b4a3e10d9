"""The page of a served system in Chromium: two systems side by side, alpha moving, stages seen."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from lab.config.grid import Grid
from lab.pipeline.service import service
from tests.pipeline.test_searcher import searcher_of
from tests.report.conftest import SHOTS, wait_for

uvicorn = pytest.importorskip("uvicorn", reason="the extra 'serve' is missing")


@pytest.fixture
def address() -> Iterator[str]:
    """Two systems behind a server of their own."""
    grid = Grid(mode=("hybrid", "bm25"), model="given", chunk_size=40)
    hybrid, lexical = (searcher_of(config) for config in grid.systems()[0])
    listening = socket.create_server(("127.0.0.1", 0))
    application = service({"a": hybrid, "b": lexical})
    server = uvicorn.Server(uvicorn.Config(application, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join(20)


COLUMNS = "return [...document.querySelectorAll('section')].map((box) => box.innerText)"


def ask(browser: Any, words: str) -> list[str]:
    browser.execute_script(
        "document.querySelector('input[type=search]').value = arguments[0];"
        "document.querySelector('form').requestSubmit()",
        words,
    )
    wait_for(
        browser,
        "return document.getElementById('status').textContent === '' &&"
        " [...document.querySelectorAll('section')].every((box) => box.querySelector('li'))",
    )
    found: list[str] = browser.execute_script(COLUMNS)
    return found


def test_two_systems_stand_side_by_side_and_alpha_moves(browser: Any, address: str) -> None:
    browser.get(address)
    wait_for(browser, "return document.querySelectorAll('section').length === 2")
    browser.get_log("browser")
    hybrid, lexical = ask(browser, "oil leaks at the seal")
    assert "hybrid given alpha=0.5" in hybrid
    assert "fixed-40 bm25" in lexical
    assert all(stage in hybrid for stage in ("bm25 ", "dense ", "fused ", "(rank 1)"))
    assert "dense" not in lexical
    assert "beside: rank 1" in lexical
    before = hybrid
    browser.execute_script(
        "const alpha = document.querySelector('input[type=range]'); alpha.value = 0.9;"
        "alpha.dispatchEvent(new Event('input'))"
    )
    wait_for(browser, "return document.querySelector('h2').textContent.includes('alpha=0.9')")
    moved, same = browser.execute_script(COLUMNS)
    assert moved != before
    assert "fixed-40 bm25" in same
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [380, 900, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_every_width_in_both_themes(
    browser: Any, address: str, width: int, theme: str
) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": theme}]},
    )
    try:
        browser.get(address)
        wait_for(browser, "return document.querySelectorAll('section').length === 2")
        ask(browser, "pump")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        dark = browser.execute_script(
            "return getComputedStyle(document.body).color === 'rgb(255, 255, 255)'"
        )
        assert dark == (theme == "dark")
        SHOTS.mkdir(parents=True, exist_ok=True)
        browser.save_screenshot(str(SHOTS / f"serve-{theme}-{width}.png"))
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_what_is_wrong_is_told_on_the_page(browser: Any, address: str) -> None:
    browser.get(address)
    wait_for(browser, "return document.querySelectorAll('section').length === 2")
    browser.execute_script("window.fetch = () => Promise.reject(new Error('gone'))")
    browser.execute_script(
        "document.querySelector('input[type=search]').value = 'oil';"
        "document.querySelector('form').requestSubmit()"
    )
    wait_for(browser, "return document.getElementById('status').textContent.includes('does not')")
