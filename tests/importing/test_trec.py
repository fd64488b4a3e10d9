"""TREC's SGML: less-than signs among tags, elements left open, tags that part words."""

from pathlib import Path

import pytest

from lab.errors import CorpusError
from lab.importing.formats.read import read_collection
from tests.importing.given_files import folder_of, rules, texts


def document(folder: Path, inside: str) -> str:
    source = f"<DOC>\n<DOCNO>1</DOCNO>\n{inside}</DOC>\n"
    return texts(read_collection(folder_of(folder, {"d.trec": source})))["1"]


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (
            "<TEXT>pH < 6.5 was held; temperature > 41 C</TEXT>",
            "pH < 6.5 was held; temperature > 41 C",
        ),
        ("<TEXT>Which <b>gasket</b> leaks first?</TEXT>", "Which gasket leaks first?"),
        ("<TEXT>word<BR>break<P>para</TEXT>", "word\nbreak\npara"),
        ("<TEXT>if x<y and y>z then x<y>z</TEXT>", "if x<y and y>z then x<y>z"),
        (
            "<TEXT>a<5 and b>3, p<0.05, 1<n<5, <john@x.org></TEXT>",
            "a<5 and b>3, p<0.05, 1<n<5, <john@x.org>",
        ),
        ("<TEXT>n <b and c> d</TEXT>", "n <b and c> d"),
        (
            "<TEXT>R&D, AT&T, a &lt; b, x&hyph;y, &#233;, &amp;lt;</TEXT>",
            "R&D, AT&T, a < b, x-y, é, &lt;",
        ),
        ("<TEXT>H<sub>2</sub>O <F P=105>code</F> <!-- PJG --> end</TEXT>", "H2O code  end"),
        ("<TEXT>one</TEXT><TEXT>two</TEXT>", "one\n\ntwo"),
        ("<TEXT>left open ", "left open"),
        ("bare < text", "bare < text"),
    ],
)
def test_every_word_of_a_document_is_kept(tmp_path: Path, inside: str, expected: str) -> None:
    assert document(tmp_path, inside) == expected


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("<title> growth below pH < 6.5 overnight\n<desc> d", "growth below pH < 6.5 overnight"),
        ("<title> Which <b>gasket</b> leaks first?\n", "Which gasket leaks first?"),
        ("<title>Topic: flow > 3 bar</title><desc>d</desc>", "flow > 3 bar"),
        ("<desc> Description: \n only this one\n<narr> n", "only this one"),
        ("<title>\n<desc> only this", "only this"),
    ],
)
def test_topics_are_not_cut_at_signs_or_tags(tmp_path: Path, topic: str, expected: str) -> None:
    files = {"topics.trec": f"<top>\n<num> Number: 7\n{topic}</top>\n", "d.txt": "x"}
    [question] = read_collection(folder_of(tmp_path, files)).questions
    assert (question.query_id, question.text) == ("7", expected)


def test_elements_without_an_end_or_an_id_are_all_told(tmp_path: Path) -> None:
    source = (
        "<DOC><DOCNO>1</DOCNO>a\n<DOC><DOCNO>2</DOCNO>b</DOC>\n<DOC>no id</DOC>\n"
        "<DOC><DOCNO>4</DOCNO>cut"
    )
    with pytest.raises(CorpusError) as fault:
        read_collection(folder_of(tmp_path, {"d.trec": source}))
    assert [problem.rpartition(".trec:")[2] for problem in fault.value.problems] == [
        "1: a <DOC> that is not ended before the next",
        "3: a <DOC> without <DOCNO>; every document needs its id",
        "4: a <DOC> that is not ended; is the file cut?",
    ]


def test_what_stands_beside_the_text_is_told(tmp_path: Path) -> None:
    source = "<DOC><DOCNO>1</DOCNO><DATE>May 1</DATE><TEXT>a</TEXT></DOC>"
    read = read_collection(folder_of(tmp_path, {"d.trec": source}))
    assert texts(read) == {"1": "a"}
    assert rules(read) == ["beside the text"]
