"""report.html as a file: nothing of the documents is markup, the same run gives the same bytes, it
carries all it needs."""

import base64
import gzip
import json
from html.parser import HTMLParser

import pytest

from lab.report.chosen import chosen_systems, other_system
from lab.report.page.explorer import explorer_data
from lab.report.page.page import page
from tests.report.given_run import (
    BREAK,
    DOC_ID,
    IMAGE,
    SCRIPT,
    TEXTS,
    large,
)


class Elements(HTMLParser):
    """Names and attributes of all elements, and the text of the embedded data."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.data: dict[str, str] = {}

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        name, attributes = self.found[-1] if self.found else ("", {})
        if name == "script" and attributes.get("id"):
            self.data[attributes["id"]] = self.data.get(attributes["id"], "") + data


@pytest.fixture(scope="module")
def elements(html):
    parser = Elements()
    parser.feed(html)
    return parser


def test_parsing_finds_no_element_but_our_own(elements):
    """Case B37."""
    assert [attributes.get("id") for tag, attributes in elements.found if tag == "script"] == [
        "data",
        None,
    ]
    assert not [
        tag for tag, _ in elements.found if tag in ("img", "iframe", "object", "embed", "form")
    ]
    assert not [
        name
        for _, attributes in elements.found
        for name in attributes
        if name.startswith("on") or name == "src"
    ]


def test_nothing_is_linked_from_elsewhere(elements):
    links = [a["href"] for _, a in elements.found if a.get("href")]
    assert all(link.startswith(("#", "data:")) for link in links)
    policy = [
        a["content"]
        for tag, a in elements.found
        if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy
    assert policy[0].startswith("default-src 'none'")


def test_data_holds_the_texts_as_they_are(elements):
    data = json.loads(gzip.decompress(base64.b64decode(elements.data["data"])))["explorer"]
    assert DOC_ID in data["documents"]["id"]
    text = "".join(
        segment[1]
        for segment in data["documents"]["segments"][data["documents"]["id"].index(DOC_ID)]
    )
    assert SCRIPT in text
    assert BREAK in text
    assert any(IMAGE in question for question in data["questions"]["text"])


def test_same_run_gives_the_same_bytes(run, html):
    assert page(run) == html


def test_our_scripts_never_write_markup(html):
    own = html[html.rindex("<script>") :]
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in own


def test_rankings_are_kept_for_six_systems_of_every_mode(run):
    kept = chosen_systems(run)
    assert {run.recommended, run.best, run.baseline} <= set(kept)
    assert len(kept) == 6
    modes = run.tables.systems.set_index("system")["mode"]
    assert {modes[name] for name in kept} == set(modes)
    assert other_system(run) in set(kept) - {run.recommended}
    data = explorer_data(run)
    assert sorted(map(int, data["rankings"])) == sorted(data["chosen"])


def test_evidence_text_is_kept_even_when_hits_do_not_fit(run, monkeypatch):
    monkeypatch.setattr("lab.report.page.explorer.TEXT_BUDGET", 1)
    data = explorer_data(run)
    assert data["ranks_with_text"] == 0
    for doc, start, end in zip(
        data["pieces"]["doc"], data["pieces"]["start"], data["pieces"]["end"], strict=True
    ):
        segments = data["documents"]["segments"][doc]
        held = [
            text[start - begin : end - begin]
            for begin, text in segments
            if begin <= start and end <= begin + len(text)
        ]
        assert held == [TEXTS[data["documents"]["id"][doc]][start:end]]


def test_size_grows_with_the_run_but_stays_mailable():
    assert len(page(large(20, 200)).encode()) < 4_000_000
