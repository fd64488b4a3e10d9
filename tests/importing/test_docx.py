"""Word files: every run once, in order, whatever wraps it; what is left out is told."""

import zipfile
from pathlib import Path

import pytest

from lab.errors import CorpusError
from lab.importing.formats.read import read_collection
from lab.importing.formats.symbols import symbol
from tests.importing.given_files import (
    NAMESPACES,
    paragraph,
    rules,
    run,
    table,
    texts,
    word_file,
    word_text,
)


def test_elements_of_a_run_that_are_characters_are_read_as_them(tmp_path: Path) -> None:
    body = paragraph("VX", "<w:noBreakHyphen/>", "77 after 2", "<w:noBreakHyphen/>", "4 hours")
    assert word_text(tmp_path, body) == "VX-77 after 2-4 hours"
    body = paragraph("accu", "<w:softHyphen/>", "mulator", "<w:tab/>", "a", "<w:br/>", "b")
    assert word_text(tmp_path, body) == "accumulator\ta\nb"


@pytest.mark.parametrize(
    ("font", "code", "character"),
    [
        ("Symbol", "F06D", "μ"),
        ("Symbol", "F0B0", "°"),
        ("Symbol", "F0A3", "≤"),
        ("Symbol", "00B3", "≥"),
        ("Wingdings", "F0E0", "→"),
        ("Wingdings", "F0FC", "✓"),
        ("Arial", "2103", "℃"),
        ("Webdings", "F041", "\ufffd"),
        ("Symbol", "no", "\ufffd"),
        ("Arial", "D800", "?"),
    ],
)
def test_symbols_are_the_characters_they_show(
    tmp_path: Path, font: str, code: str, character: str
) -> None:
    assert symbol(font, code) == character
    body = paragraph("5 ", f'<w:sym w:font="{font}" w:char="{code}"/>', "m")
    assert word_text(tmp_path, body) == f"5 {character}m"


def test_wrappers_are_walked_and_notes_follow_their_paragraph_once(tmp_path: Path) -> None:
    note, end = '<w:footnoteReference w:id="2"/>', '<w:endnoteReference w:id="1"/>'
    body = (
        f"<w:sdt><w:sdtPr><w:alias w:val='x'/></w:sdtPr><w:sdtContent>{paragraph('one', note)}"
        f"{table((paragraph('a'), paragraph('b')))}</w:sdtContent></w:sdt>"
        f"<w:customXml>{paragraph('two', note, end)}</w:customXml>"
        f"<w:p><w:hyperlink>{run('link')}</w:hyperlink><w:smartTag>{run(' tag')}</w:smartTag>"
        f"<w:ins>{run(' new')}</w:ins><w:del><w:r><w:delText>old text</w:delText></w:r></w:del>"
        f"<w:moveFrom>{run('moved')}</w:moveFrom></w:p>"
        f"<w:p><m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath></w:p>"
    )
    footnotes = (
        f'<w:footnotes {NAMESPACES}><w:footnote w:type="separator" w:id="0">{paragraph("line")}'
        f'</w:footnote><w:footnote w:id="2">{paragraph("first note")}</w:footnote>'
        f'<w:footnote w:id="3">{paragraph("unreferred")}</w:footnote></w:footnotes>'
    )
    endnotes = (
        f'<w:endnotes {NAMESPACES}><w:endnote w:id="1">{paragraph("end note")}</w:endnote>'
        "</w:endnotes>"
    )
    text = word_text(
        tmp_path,
        body,
        footnotes=footnotes,
        endnotes=endnotes,
        header1=f"<w:hdr {NAMESPACES}>{paragraph('page head')}</w:hdr>",
        comments=f'<w:comments {NAMESPACES}><w:comment w:id="0">{paragraph("why?")}</w:comment>'
        "</w:comments>",
    )
    assert text.split("\n\n") == [
        "one",
        "first note",
        "a\tb",
        "two",
        "end note",
        "link tag new",
        "x=1",
        "unreferred",
    ]
    left = {f.rule: f.message for f in read_collection(tmp_path).findings}
    assert left == {
        "tracked deletions": "not part of the text (words: 2)",
        "page headers": "not part of the text (words: 2)",
        "comments": "not part of the text (words: 1)",
    }


def test_tables_in_tables_text_boxes_and_fallbacks_are_read_once(tmp_path: Path) -> None:
    inner = table((paragraph("in 1"), paragraph("in 2")), (paragraph("in 3"), paragraph("in 4")))
    box = f"<w:txbxContent>{paragraph('box')}{table((paragraph('t'),))}</w:txbxContent>"
    body = (
        table((paragraph("out") + inner + paragraph("end"), paragraph("side")))
        + f"<w:p>{run('before')}<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice>"
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>{run(' after')}</w:p>"
    )
    assert word_text(tmp_path, body) == (
        "out in 1 in 2 in 3 in 4 end\tside\n\nbefore after\n\nbox\n\nt"
    )


def test_a_reading_above_its_base_follows_it(tmp_path: Path) -> None:
    ruby = f"<w:ruby><w:rt>{run('かんじ')}</w:rt><w:rubyBase>{run('漢字')}</w:rubyBase></w:ruby>"
    assert word_text(tmp_path, paragraph("a ", ruby, " b")) == "a 漢字(かんじ) b"


def test_headings_are_known_by_the_names_of_their_styles(tmp_path: Path) -> None:
    styles = (
        f'<w:styles {NAMESPACES}><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/>'
        '</w:style><w:style w:styleId="Titel"><w:name w:val="Title"/></w:style></w:styles>'
    )
    body = paragraph("Handbuch", style="Titel") + paragraph("Pumpe", style="berschrift2")
    word_file(tmp_path / "a.docx", body, styles=styles)
    read = read_collection(tmp_path)
    assert texts(read)["a.docx"] == "# Handbuch\n\n## Pumpe"
    assert read.documents[0].document.title == "Handbuch"


def test_strict_word_files_and_other_names_of_the_main_part_are_read(tmp_path: Path) -> None:
    word_file(tmp_path / "a.docx", paragraph("strict"))
    with zipfile.ZipFile(tmp_path / "a.docx") as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for name, content in parts.items():
            archive.writestr(
                name.replace("document.xml", "document2.xml"),
                content.replace("document.xml", "document2.xml").replace(
                    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
                    "http://purl.oclc.org/ooxml/wordprocessingml/main",
                ),
            )
    assert texts(read_collection(tmp_path)) == {"a.docx": "strict"}


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path: Path) -> None:
    word_file(tmp_path / "a.docx", paragraph("x") + "<a/>" * 20_000_000)
    assert (tmp_path / "a.docx").stat().st_size < 100_000
    with pytest.raises(CorpusError, match=r"a\.docx: word/document\.xml unpacks from .* to 80 MB"):
        read_collection(tmp_path)


def test_entities_that_grow_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr(
            "word/document.xml", '<!DOCTYPE x [<!ENTITY a "aaaa">]><w:document>&a;</w:document>'
        )
    with pytest.raises(
        CorpusError, match=r"a\.docx: not a Word file \(it declares a document type"
    ):
        read_collection(tmp_path)


def test_an_empty_word_file_is_told(tmp_path: Path) -> None:
    word_file(tmp_path / "a.docx", paragraph())
    assert rules(read_collection(tmp_path)) == ["empty page"]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("chart", "charts"),
        ("diagramData", "diagrams (SmartArt)"),
        ("aFChunk", "embedded documents (altChunk)"),
        ("oleObject", "embedded objects"),
        ("package", "embedded files"),
    ],
)
def test_what_is_embedded_and_not_read_is_told(kind: str, told: str, tmp_path: Path) -> None:
    file = word_file(tmp_path / "a.docx", paragraph("the pump"), **{f"{kind}1": "<x/>"})
    assert zipfile.is_zipfile(file)
    read = read_collection(tmp_path)
    assert [finding.rule for finding in read.findings] == [told]
    assert "not read: 1" in read.findings[0].message
    assert texts(read)["a.docx"] == "the pump"
