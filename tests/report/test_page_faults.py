"""Faults that people met in earlier reports, each as what a reader may now rely on."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lab.report.chosen import chosen_systems
from lab.report.page.page import page
from tests.report.conftest import wait_for
from tests.report.test_browser import choose, texts
from tests.report.test_runs import RUNS, run_of

WIDTHS = (1440, 1100, 1024, 900, 390)


def at_width(browser: Any, width: int) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )


@pytest.fixture
def narrow(open_page: Any) -> Any:
    """A page at a width; the window has its own again afterwards."""
    opened: list[Any] = []

    def open_(text: str, width: int) -> Any:
        browser = open_page(text)
        opened.append(browser)
        at_width(browser, width)
        return browser

    yield open_
    for browser in opened:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", WIDTHS)
def test_the_question_has_room_at_any_width(narrow: Any, html: str, width: int) -> None:
    """M5: its column was 165 pixels wide on a desk and nothing on a phone."""
    browser = narrow(html, width)
    wait_for(browser, "return document.querySelector('#list .question .text')")
    room = browser.execute_script(
        "return document.querySelector('#list .question .text').getBoundingClientRect().width"
    )
    assert room >= 180
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_maps_stand_below_one_another_on_a_phone(narrow: Any, html: str) -> None:
    """M6: panel titles were printed over each other."""
    browser = narrow(html, 390)
    boxes = browser.execute_script(
        "return [...document.querySelectorAll('#plot-heatmap svg')].map((s) => {"
        "const b = s.getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]})"
    )
    assert len(boxes) == 3
    assert all(right <= 390 for _, right, _, _ in boxes)
    assert all(first[3] <= second[2] for first, second in pairwise(boxes))


def test_a_and_b_differ_from_the_start(open_page: Any) -> None:
    """M3: where the baseline is recommended, A was B and every list empty."""
    run = run_of(**RUNS["one leg"])
    browser = open_page(page(run))
    a, b = browser.execute_script(
        "return [document.getElementById('f-a').value, document.getElementById('f-b').value]"
    )
    assert a != b


def test_no_hit_is_told_and_undone(open_page: Any, html: str) -> None:
    """M14: a blank panel, and nothing to reset it."""
    browser = open_page(html)
    choose(browser, "f-text", "no such words anywhere")
    assert texts(browser, "#count") == ["No question matches; clear the filters to see all."]
    assert (
        browser.execute_script(
            "return document.getElementById('list').getAttribute('aria-activedescendant')"
        )
        is None
    )
    browser.find_element("id", "clear").click()
    assert texts(browser, "#count") == ["5 of 5 questions"]


def test_one_system_makes_no_comparison(open_page: Any) -> None:
    """M14: "choosing among 1 system", empty axes, a glyph as a matrix."""
    run = run_of(**RUNS["one system"])
    browser = open_page(page(run))
    assert "One system was measured" in texts(browser, ".headline")[0]
    assert not texts(browser, "#plot-forest h3")
    assert not texts(browser, "#plot-rescue h3")
    assert "behind the best" not in " ".join(texts(browser, "#systems-table thead th"))


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("width", [1440, 390])
def test_every_kind_of_run_fits_and_shows_no_empty_word(narrow: Any, kind: str, width: int) -> None:
    browser = narrow(page(run_of(**RUNS[kind])), width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    shown = browser.execute_script("return document.body.innerText")
    assert not re.search(r"\b(null|undefined|NaN|None)\b", shown)


def test_links_hold_filters_and_survive_sections(open_page: Any, html: str) -> None:
    """M15: filters were in no link, and a section's link threw the state away."""
    browser = open_page(html)
    choose(browser, "f-kind", "semantic")
    choose(browser, "f-metric", "recall@5")
    link = browser.execute_script("return location.hash")
    assert "kind=semantic" in link
    assert "metric=recall%405" in link
    browser = open_page(html, link)
    assert texts(browser, "#count") == ["2 of 5 questions"]
    assert browser.execute_script("return document.getElementById('f-metric').value") == "recall@5"
    browser.find_element("link text", "Systems").click()
    assert texts(browser, "#count") == ["2 of 5 questions"]
    assert browser.execute_script("return document.getElementById('f-metric').value") == "recall@5"


def test_a_link_to_what_is_not_there_is_told(open_page: Any, html: str) -> None:
    """M15: a stale link showed another question without a word."""
    browser = open_page(html, "#q=nope&s=gone")
    (notice,) = texts(browser, "#notice")
    assert "no question “nope”" in notice
    assert "no system “gone”" in notice
    assert "nope" in browser.execute_script("return location.hash"), "the address stays as it was"


def test_back_goes_to_the_question_before(open_page: Any, html: str) -> None:
    """M15: Back left the page."""
    browser = open_page(html, "#q=valve")
    browser.execute_script("document.querySelector('#list-head [data-sort=id]').click()")
    browser.execute_script(
        "[...document.querySelectorAll('#list .question')]"
        ".find((row) => row.textContent.includes('close')).click()"
    )
    assert texts(browser, "#detail h3") == ["how long does closing take in cold water"]
    browser.back()
    wait_for(
        browser,
        "return document.querySelector('#detail h3').textContent === 'when does the valve open'",
    )


def test_marks_of_plots_open_their_questions(open_page: Any, html: str) -> None:
    browser = open_page(html)
    browser.execute_script(
        "document.querySelector('#plot-kinds-causes a[href*=\"kind=semantic\"]')"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    wait_for(browser, "return document.getElementById('f-kind').value === 'semantic'")
    assert browser.execute_script("return document.getElementById('f-cause').value")


def test_the_detail_is_not_read_out_at_every_step(open_page: Any, html: str) -> None:
    """M16: every arrow key read 8,592 characters aloud."""
    browser = open_page(html)
    assert (
        browser.execute_script("return document.querySelectorAll('#detail [aria-live]').length")
        == 0
    )
    assert browser.execute_script("return document.getElementById('detail').ariaLive") is None
    browser.execute_script("document.querySelector('#list .question').click()")
    (said,) = texts(browser, "#status")
    assert said.startswith("Open: ")
    assert len(said) < 60


@pytest.mark.parametrize("kind", ["one system", "documents", "foreign", "one question"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violation(open_page: Any, kind: str, theme: str) -> None:
    _axe(open_page(page(run_of(**RUNS[kind]))), theme)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_no_violation_at_any_width(
    narrow: Any, html: str, theme: str, width: int
) -> None:
    _axe(narrow(html, width), theme)


def _axe(browser: Any, theme: str) -> None:
    import axe_core_python

    browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    browser.execute_script(
        (Path(axe_core_python.__file__).parent / "axe.min.js").read_text("utf-8")
    )
    found = browser.execute_async_script(
        "const done = arguments[0]; axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', "
        "'wcag21aa', 'wcag22aa', 'best-practice']}).then((r) => done(JSON.stringify("
        "r.violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html)]))))"
    )
    assert json.loads(found) == []


def test_titles_and_texts_of_judged_documents_are_shown(open_page: Any) -> None:
    """M21: "Evidence 2 grade 3 · 29" says nothing to anybody."""
    run = run_of(**RUNS["documents"])
    browser = open_page(page(run), "#q=valve")
    assert "The valve opens at three bar" in texts(browser, "#detail .piece")[0]


def test_six_rankings_are_kept_where_there_are_six(run: Any) -> None:
    """M4: one of sixteen was."""
    assert len(chosen_systems(run)) == 6


def test_held_settings_and_machine_are_on_the_page(html: str) -> None:
    """M19: a sent report could not be told from last week's."""
    for words in ("min-max", "k1", "normalization", "corpus fingerprint", "set fingerprint"):
        assert words in html


def test_ticked_systems_stand_side_by_side(open_page: Any, html: str, run: Any) -> None:
    browser = open_page(html)
    browser.execute_script(
        "[...document.querySelectorAll('#systems-table tbody input')].slice(0, 3)"
        ".forEach((box) => box.click())"
    )
    head = texts(browser, "#ticked thead th")
    assert len(head) == 4
    ranked = run.tables.ranked
    shown = texts(browser, "#ticked tbody tr:first-child td")
    assert shown == [f"{value:.3f}" for value in ranked[run.metrics[0]].head(3)]


def test_facets_and_words_narrow_the_systems(open_page: Any, html: str, run: Any) -> None:
    browser = open_page(html)
    browser.execute_script(
        "const s = document.querySelector('[data-facet]'); s.selectedIndex = 1;"
        "s.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    (count,) = texts(browser, "#system-count")
    assert count == f"{len(run.systems) // 2} of {len(run.systems)} systems"
    choose(browser, "system-text", "dense")
    assert texts(browser, "#system-count") == [f"1 of {len(run.systems)} systems"]
