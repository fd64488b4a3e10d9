"""HTML pages: words as a browser parts them; the page's frame is left out and told."""

from pathlib import Path

import pytest

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection
from lab.importing.formats.read import read_collection
from tests.importing.given_files import folder_of, rules, texts


def page(folder: Path, source: str | bytes) -> Collection:
    return read_collection(folder_of(folder, {"page.html": source}))


def text(folder: Path, source: str | bytes) -> str:
    return texts(page(folder, source))["page.html"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "<table><tr><td>Seal SL-9<td>41 bar<tr><td>Hose HX-2<td>7 bar</table>",
            "Seal SL-9\t41 bar\nHose HX-2\t7 bar",
        ),
        ("<ul><li>one<li>two<ol><li>three</ol></ul>", "- one\n- two\n- three"),
        ("<dl><dt>pump<dd>PX-1<dt>seal<dd>SL-9</dl>", "pump\nPX-1\nseal\nSL-9"),
        ("<p>one<p>two<h2>three<h3>four", "one\n\ntwo\n\n## three\n\n### four"),
        ("<select><option>a<option>b</select>text", "text"),
        ("no <title>T</title> head <p>x", "no head\n\nx"),
        ("<form><label>pump</label><p>in form</form>", "pump\n\nin form"),
        ("word<br>break<BR/>next<wbr>to", "word\nbreak\nnextto"),
        ('a<sub>2</sub>b x<!-- <a -->y <a title=\'5" x\' href="a>b">link</a>s', "a2b xy links"),
        ('5 <b title="6 > 5">bold</b><img src=x>word', "5 bold word"),
        ("pH < 6.5 and > 41, a&lt;b &amp; R&D", "pH < 6.5 and > 41, a<b & R&D"),
        ("<pre>a\n  b</pre>c<textarea> d  e</textarea>", "a\n  b\n\nc d  e"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>字", "漢(kan)字"),
        ("<svg><text>label</text><text>two</text></svg>", "label\ntwo"),
        ("<script>if (a<b) x('</p>')</script>kept<style>p{}</style>", "kept"),
        ("<script><!-- <script> --></script>kept", "kept"),
        ("<details><summary>more</summary>hidden</details>", "more\nhidden"),
        ("a&nbsp;b\u2003c", "a b c"),
    ],
)
def test_words_are_parted_as_a_browser_parts_them(
    tmp_path: Path, source: str, expected: str
) -> None:
    assert text(tmp_path, source) == expected


@pytest.mark.parametrize(
    ("source", "expected", "left"),
    [
        ("<article><header>Head</header>body</article><footer>f g</footer>", "Head\nbody", 2),
        ("<main>m<aside>note</aside><nav>toc</nav></main><p>outside it", "m\nnote", 3),
        ("<div role=navigation>a b</div><div role=main>text</div>", "text", 2),
        ("<header>page</header><section><header>part</header>x</section>", "part\nx", 1),
        ("<nav>only this</nav>", "only this", 0),
        ("<main></main><p>beside an empty main", "beside an empty main", 0),
        ("<nav>a<p>b<div>c</nav>d", "d", 3),
    ],
)
def test_the_frame_of_a_page_is_left_out_and_told(
    tmp_path: Path, source: str, expected: str, left: int
) -> None:
    read = page(tmp_path, source)
    assert texts(read)["page.html"] == expected
    told = [f.message for f in read.findings if f.rule == "page frame"]
    assert told == ([f"beside the page's own text (words: {left})"] if left else [])


def test_a_page_is_read_in_the_encoding_that_it_names(tmp_path: Path) -> None:
    source = '<meta charset="windows-1251"><p>насос'.encode("cp1251")
    assert text(tmp_path, source) == "насос"
    assert rules(page(tmp_path, source)) == ["encoding"]
    assert text(tmp_path, '<meta charset="latin-1"><p>schön'.encode()) == "schön", "UTF-8 fits"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("<div>x" * 20_000, "nested 20000 deep"),
        ("<ul><li>x" * 20_000, "nested 20000 deep"),
        ("<p " + " ".join(f"a{n}=1" for n in range(20_000)) + ">", "has 20000 attributes"),
    ],
)
def test_pages_that_keep_a_parser_busy_are_refused(
    tmp_path: Path, source: str, problem: str
) -> None:
    with pytest.raises(CorpusError, match=problem):
        page(tmp_path, source)


def test_sloppy_pages_are_no_deep_ones(tmp_path: Path) -> None:
    assert text(tmp_path, "<p><font size=1>x" * 20_000).count("x") == 20_000
    code = "<script>" + "a<b;" * 5_000 + "</script>x"
    assert text(tmp_path, code) == "x"
    assert text(tmp_path, "<pre>" + " " * 100_000 + "x").endswith("x")
    assert text(tmp_path, "x<![") == "x"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>a<![x<!DOCTYPE<!--b-->c", "ac"),
        ("<p>a<![CDATA[x]]>b<?php echo ?>c", "abc"),
        ('<?xml version="1.0"?><!DOCTYPE html><p>a', "a"),
        ("<p>a<!x>b<!-->c<!--->d", "abcd"),
    ],
)
def test_what_is_no_comment_ends_where_a_browser_ends_it(
    source: str, text: str, tmp_path: Path
) -> None:
    """Marked sections and instructions are bogus comments, up to the next sign."""
    (tmp_path / "a.html").write_text(source)
    assert read_collection(tmp_path).documents[0].document.text == text
