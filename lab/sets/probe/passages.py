"""Passages: the stretches of a document that can be quoted as evidence (headings with what follows,
table rows, list items, sentences)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lab.chunking.sentences import sentence_spans
from lab.chunking.units import CJK
from lab.corpus.document import Document
from lab.corpus.fences import fenced_lines

Kind = Literal["heading", "row", "item", "sentence"]

HEADING = re.compile(r" {0,3}#{1,6}\s+\S")
ROW = re.compile(r"\s*\|.*\|\s*$")
RULE = re.compile(r"[\s|:+=-]+$")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\S")
HAN = re.compile(f"[{CJK}]")
# A quote that says something and that a reader takes in at one glance, in characters; one of CJK
# counts for three.
SHORTEST, LONGEST = 40, 300


@dataclass(frozen=True, slots=True)
class Passage:
    """`text` is `document.text[start:end]`."""

    doc_id: str
    start: int
    end: int
    kind: Kind
    text: str

    @property
    def weight(self) -> int:
        """Length in characters, one of Chinese, Japanese or Korean counting for three."""
        return len(self.text) + 2 * len(HAN.findall(self.text))

    @property
    def quotable(self) -> bool:
        """Whether it says something by itself and is taken in at one glance."""
        return SHORTEST <= self.weight <= LONGEST

    @property
    def explains(self) -> bool:
        """Whether it can say what an identifier is: also a short table row or list item, whose
        header or heading says the rest."""
        if self.kind in ("row", "item"):
            return self.weight <= LONGEST
        return self.kind == "heading" or self.quotable


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that belong together; `kind` is a passage's, or `text` (a paragraph), `code` or
    `rule`."""

    kind: str
    start: int
    end: int


def passages(document: Document) -> Iterator[Passage]:
    """All passages of a document in order, of any length; code and front matter are left out."""
    text = document.text
    blocks = list(_blocks(text))
    for number, block in enumerate(blocks):
        if block.kind == "heading":
            end = _introduction(
                text, block, blocks[number + 1] if number + 1 < len(blocks) else None
            )
            yield Passage(document.doc_id, block.start, end, "heading", text[block.start : end])
        elif block.kind == "text":
            for start, end in sentence_spans(text[block.start : block.end]):
                yield _trimmed(document, block.start + start, block.start + end, "sentence")
        elif block.kind == "row":
            yield _trimmed(document, block.start, block.end, "row")
        elif block.kind == "item":
            yield _trimmed(document, block.start, block.end, "item")


def _trimmed(document: Document, start: int, end: int, kind: Kind) -> Passage:
    text = document.text[start:end]
    start += len(text) - len(text.lstrip())
    end -= len(text) - len(text.rstrip())
    return Passage(document.doc_id, start, end, kind, document.text[start:end])


def _introduction(text: str, heading: _Block, after: _Block | None) -> int:
    """End of the heading's first sentence, row or item, so that the quote says something; the
    heading's own end if code or another heading follows, or if that would be too long."""
    if after is None or after.kind in ("heading", "code", "rule"):
        return heading.end
    end = after.end
    if after.kind == "text":
        end = after.start + sentence_spans(text[after.start : after.end])[0][1]
    end = heading.start + len(text[heading.start : end].rstrip())
    return end if end - heading.start <= LONGEST else heading.end


def _blocks(text: str) -> Iterator[_Block]:
    """Markdown's blocks as far as quoting needs them: a table row and a list item are each a
    block."""
    open_block: _Block | None = None
    front = text.startswith("---\n")
    position = 0
    lines = text.splitlines(keepends=True)
    for number, (line, code) in enumerate(zip(lines, fenced_lines(lines), strict=True)):
        start, end = position, position + len(line.rstrip())
        position += len(line)
        if front:
            front = number == 0 or line.strip() != "---"
            continue
        kind = "code" if code else _kind(line)
        continues = (
            kind == "text" and open_block is not None and open_block.kind in ("text", "item")
        )
        if continues and open_block is not None:
            open_block = _Block(open_block.kind, open_block.start, end)
            continue
        if open_block is not None:
            yield open_block
        open_block = None if kind == "blank" else _Block(kind, start, end)
    if open_block is not None:
        yield open_block


def _kind(line: str) -> str:
    if not line.strip():
        return "blank"
    if HEADING.match(line):
        return "heading"
    if RULE.match(line):
        return "rule"
    if ROW.match(line):
        return "row"
    return "item" if ITEM.match(line) else "text"
