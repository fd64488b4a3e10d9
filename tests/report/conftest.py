"""The report's runs, and Chromium without a window."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.report.page.page import page
from lab.runs.run import Run
from tests.conftest import ROOT
from tests.report.given_run import large, small_run

# Screenshots for people to look at; the folder is not part of the project.
SHOTS = ROOT / "runs" / "screenshots"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--window-size=1400,1000",
)


@pytest.fixture(scope="session")
def run() -> Run:
    return small_run()


@pytest.fixture(scope="session")
def html(run: Run) -> str:
    return page(run)


@pytest.fixture(scope="session")
def large_html() -> str:
    return page(large())


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium through its driver. Without it the browser's tests are skipped, and the summary of
    the run says why."""
    driver = shutil.which("chromedriver")
    if driver is None or shutil.which("chromium") is None:
        missing = "Chromium is missing: apt-get install chromium chromium-driver"
        pytest.skip(missing)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    yield opened
    opened.quit()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Callable[..., Any]:
    """Write a page to disk, open it there and wait until its data is unpacked."""

    def open_(text: str, link: str = "") -> Any:
        file = tmp_path / "report.html"
        file.write_text(text, "utf-8")
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get("about:blank")
        browser.get(file.as_uri() + link)
        wait_for(browser, "return document.documentElement.dataset.ready")
        return browser

    return open_


def wait_for(browser: Any, script: str, seconds: float = 60) -> Any:
    """The first true value of a script."""
    end = time.monotonic() + seconds
    while not (value := browser.execute_script(script)):
        assert time.monotonic() < end, f"never true: {script}"
        time.sleep(0.05)
    return value
