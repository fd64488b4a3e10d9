"""The report without a screen: printed, written as PDF by the browser alone, without JavaScript, in
a browser that is too old for it."""

import base64
import io
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from lab.report.figures.every import all_plots
from tests.report.conftest import FLAGS, wait_for

SHOWN = "return getComputedStyle(document.querySelector(arguments[0])).display !== 'none'"


def text_of(pdf: bytes) -> str:
    import pypdfium2

    document = pypdfium2.PdfDocument(io.BytesIO(pdf))
    return "\n".join(page.get_textpage().get_text_range() for page in document)


def printed(browser: Any) -> str:
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    return text_of(base64.b64decode(pdf))


@pytest.fixture(scope="module")
def expected(run) -> list[str]:
    """Words that only a drawn plot has, and those of questions."""
    titles = [plot.title for plot in all_plots(run)]
    axes = ["context tokens handed to the reader", "k, hits that are read", "change in ndcg@10"]
    return [*titles, *axes, "when does the valve open", "how long does closing take"]


def test_the_browser_alone_writes_a_pdf_with_all_plots_and_questions(
    browser: Any, html: str, expected: list[str], tmp_path: Path
) -> None:
    """H5: `chromium --print-to-pdf` waits for nothing."""
    page, pdf = tmp_path / "report.html", tmp_path / "report.pdf"
    page.write_text(html, "utf-8")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                "chromium",
                *FLAGS,
                f"--user-data-dir={profile}",
                f"--print-to-pdf={pdf}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
    text = text_of(pdf.read_bytes())
    assert [words for words in expected if words not in text] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_printing_after_the_theme_button_is_dark_on_white(
    open_page: Any, html: str, expected: list[str], theme: str
) -> None:
    """H4: labels of plots were white on white."""
    browser = open_page(html)
    browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    text = printed(browser)
    assert [words for words in expected if words not in text] == []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    label, paper = browser.execute_script(
        "return [getComputedStyle(document.querySelector('.svg text')).fill,"
        "getComputedStyle(document.querySelector('article')).backgroundColor]"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert label in ("rgb(0, 0, 0)", "rgb(68, 68, 68)")
    assert paper == "rgb(255, 255, 255)"


def test_without_javascript_plots_and_questions_are_there(
    browser: Any, html: str, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    file.write_text(html, "utf-8")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(file.as_uri())
        assert browser.execute_script("return document.querySelectorAll('figure svg').length") > 10
        assert browser.execute_script(SHOWN, ".plain")
        assert not browser.execute_script(SHOWN, ".explorer")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_an_old_browser_is_told_and_shows_the_rest(browser: Any, html: str, tmp_path: Path) -> None:
    """L11: without DecompressionStream the page was empty, and said nothing."""
    file = tmp_path / "report.html"
    file.write_text(html, "utf-8")
    script = browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": "delete window.DecompressionStream"}
    )
    try:
        browser.get(file.as_uri())
        wait_for(browser, "return !document.getElementById('notice').hidden")
        said = browser.execute_script("return document.getElementById('notice').textContent")
        assert "too old" in said
        assert browser.execute_script(SHOWN, ".plain")
        assert not browser.execute_script(SHOWN, ".explorer")
    finally:
        browser.execute_cdp_cmd(
            "Page.removeScriptToEvaluateOnNewDocument", {"identifier": script["identifier"]}
        )
