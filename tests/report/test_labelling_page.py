"""The labelling page in Chromium: labelled by keyboard, quiet, and text stays text."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.sets.pool.page import labelling_page
from lab.sets.pool.sheet import Pair, read_labels
from tests.report.test_browser import requests, texts

EVIL = "</script><img src=x onerror=\"document.title='owned'\">"
TEXT = "Vorher 👍 steht. The pump leaks oil at nine bar. Nachher."
START, END = TEXT.index("The"), TEXT.index(" Nachher")
PAIRS = (
    Pair("q1", f"Where does it leak? {EVIL}", "d1", EVIL, TEXT, START, END),
    Pair("=q2", "Which pressure?", "d2", "", "No <b>answer</b> here.", 0, 22),
)


def press(browser: Any, key: str) -> None:
    browser.execute_script(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: "
        "true}))",
        key,
    )


def select(browser: Any, words: str) -> None:
    browser.execute_script(
        "const walker = document.createTreeWalker(document.getElementById('text'), 4);"
        "while (walker.nextNode()) { const at = walker.currentNode.data.indexOf(arguments[0]);"
        "if (at >= 0) { const range = document.createRange();"
        "range.setStart(walker.currentNode, at);"
        "range.setEnd(walker.currentNode, at + arguments[0].length);"
        "getSelection().removeAllRanges(); getSelection().addRange(range); } }",
        words,
    )


def saved(browser: Any) -> str:
    """What the page would download."""
    return str(browser.execute_script("return csv()"))


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Any:
    file = tmp_path / "label.html"
    # A title of each test's own, for a browser keeps the labels of equal pairs.
    pairs = (PAIRS[0], replace(PAIRS[1], title=str(tmp_path)))
    file.write_text(labelling_page(pairs, "runs/x", 3, spans=True), "utf-8")
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get("about:blank")
    browser.get(file.as_uri())
    return browser


def test_labelled_by_keyboard(page: Any, tmp_path: Path) -> None:
    assert texts(page, "#progress") == ["1 of 2, 0 labelled"]
    press(page, "2")
    assert texts(page, "#said") == ["Select the words that answer and press m."]
    select(page, "leaks oil ")
    press(page, "m")
    assert texts(page, "mark") == ["leaks oil"]
    press(page, "a")
    press(page, "n")
    assert texts(page, "#question") == ["Which pressure?"]
    press(page, "0")
    press(page, "s")
    assert texts(page, "#said") == ["Write your name first."]
    page.execute_script("document.getElementById('annotator').value = 'Ann'")
    file = tmp_path / "labels.csv"
    file.write_text(saved(page), "utf-8")
    first, second = read_labels(file)
    place = TEXT.index("leaks")
    assert (first.query_id, first.grade, first.evidence, first.quote, first.counts) == (
        "q1", 2, (place, place + 9), "leaks oil", "needed")  # fmt: skip
    assert (first.start, first.end, first.annotator, first.run) == (START, END, "Ann", "runs/x")
    assert (second.query_id, second.doc_id, second.grade, second.evidence) == ("=q2", "d2", 0, None)


def test_labels_outlive_a_reload_and_marks_can_be_removed(page: Any) -> None:
    press(page, "3")
    select(page, "nine bar")
    press(page, "m")
    # Chromium hands what a page keeps to its next load a moment later.
    for _ in range(50):
        page.refresh()
        if texts(page, "mark"):
            break
        time.sleep(0.1)
    assert texts(page, "mark") == ["nine bar"]
    press(page, "u")
    assert texts(page, "mark") == []


def test_text_is_text_and_nothing_is_fetched(page: Any) -> None:
    assert page.title == "Labelling"
    assert texts(page, "#title") == [EVIL]
    assert "".join(texts(page, "#text")) == TEXT
    assert page.execute_script("return document.images.length") == 0
    assert [url for url in requests(page) if not url.startswith(("file:", "data:", "about:"))] == []
    assert [e for e in page.get_log("browser") if e["level"] in ("SEVERE", "WARNING")] == []


def test_no_system_is_named(page: Any) -> None:
    source = page.page_source.lower()
    assert "bm25" not in source
    assert '"rank"' not in source
