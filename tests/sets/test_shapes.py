"""Paragraphs against chunk sizes."""

from lab.corpus.document import Corpus, Document
from lab.sets.audit.shapes import paragraph_lengths, short_paragraphs


def test_tables_lists_headings_and_code_are_no_prose() -> None:
    text = (
        "# Head\n\nProse of a kind.\n\n| a | b |\n\n- item\n\n1. item\n\n```\ncode\n```\n \nMore."
    )
    assert paragraph_lengths(Corpus([Document("a", text)])).tolist() == [16, 5]


def test_chunks_that_cannot_part_a_paragraph_are_named() -> None:
    short = Corpus([Document("a", "\n\n".join(["x" * 90] * 40))])
    (finding,) = short_paragraphs(short, {"structure-100": 100, "structure-80": 80})
    assert finding.cases == ("structure-100",)
    real = Corpus([Document("a", "\n\n".join(["x" * 90] * 40 + ["x" * 700] * 15))])
    assert not list(short_paragraphs(real, {"structure-400": 400}))
    assert not list(short_paragraphs(Corpus([Document("a", "x")]), {"structure-400": 400}))
