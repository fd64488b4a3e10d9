"""Prefix: what stands before a chunk's text when it is indexed, so that a chunk says what it is
about. Spans, what is delivered and what counts as held stay those of the text itself."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import AfterValidator

from lab.chunking.contexts import read_contexts
from lab.corpus.document import Corpus
from lab.corpus.fences import fenced_lines

KINDS = ("", "title", "headings", "title+headings")
# Before the path of a file of contexts.
FILE = "file:"


def _prefix(value: str) -> str:
    if value not in KINDS and not (value.startswith(FILE) and value != FILE):
        raise ValueError(f"expected one of {', '.join(map(repr, KINDS))}, or 'file:contexts.jsonl'")
    return value


Prefix = Annotated[str, AfterValidator(_prefix)]
# Sections 4.2 and 4.3 of CommonMark 0.31.
ATX = re.compile(r" {0,3}(?P<marks>#{1,6})(?=[ \t\r]|$)")
SETEXT = re.compile(r" {0,3}(?:=+|-{2,})[ \t\r]*")
BLANK = re.compile(r"\s*")
# A line that begins so is no paragraph, and what is drawn under it underlines nothing.
NO_PARAGRAPH = re.compile(r" {0,3}(?:[-*+>|#=]|\d+[.)])| {4}|\t")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document's Markdown: the offset of its line, its level from 1 to 6, its
    text."""

    start: int
    level: int
    text: str


def headings(text: str) -> list[Heading]:
    """The headings of a text in order; lines of fenced code are none."""
    titles: list[Heading] = []
    lines = text.split("\n")
    start, before, paragraph = 0, "", False
    for line, fenced in zip(lines, fenced_lines(lines), strict=True):
        atx = None if fenced else ATX.match(line)
        if atx:
            titles.append(Heading(start, len(atx["marks"]), _unclosed(line[atx.end() :].strip())))
        elif paragraph and not fenced and SETEXT.fullmatch(line):
            level = 1 if "=" in line else 2
            titles.append(Heading(start - len(before) - 1, level, before.strip()))
        # Only a paragraph of one line is taken for a heading: `---` under longer ones is a rule.
        alone = not before.strip() and bool(line.strip())
        paragraph = alone and not fenced and not NO_PARAGRAPH.match(line)
        start, before = start + len(line) + 1, line
    return titles


def _unclosed(text: str) -> str:
    """A heading's text without the marks that close it."""
    open_ = text.rstrip("#")
    return open_.rstrip() if open_[-1:] in ("", " ", "\t") else text


class Outline:
    """The headings of one document, asked for those above any place of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._headings = headings(text)
        self._starts = [heading.start for heading in self._headings]
        # The headings that are open behind each heading, itself included.
        self._open: list[tuple[Heading, ...]] = []
        for heading in self._headings:
            self._open.append((*_outer(self._open[-1] if self._open else (), heading), heading))

    def above(self, start: int) -> tuple[str, ...]:
        """The headings that a span stands under which begins there, the outermost first; its own
        first line is none of them, and closes those of its level."""
        behind = bisect_left(self._starts, start)
        open_ = self._open[behind - 1] if behind else ()
        first = BLANK.match(self._text, start)
        if first and behind < len(self._starts) and self._starts[behind] <= first.end():
            open_ = _outer(open_, self._headings[behind])
        return tuple(heading.text for heading in open_ if heading.text)


def _outer(open_: tuple[Heading, ...], heading: Heading) -> tuple[Heading, ...]:
    return tuple(outer for outer in open_ if outer.level < heading.level)


def prefixes(corpus: Corpus, spans: Sequence[tuple[int, int, int]], kind: Prefix) -> list[str]:
    """What stands before each span (document, start, end): its parts a line each, empty where the
    document has neither title nor headings above it; of a file of contexts what it says of it. A
    heading that is the title is not said twice. Linear in the text and the spans."""
    if not kind:
        return [""] * len(spans)
    if kind.startswith(FILE):
        contexts, documents = read_contexts(kind.removeprefix(FILE)), corpus.documents
        said = [contexts.of(documents[place].doc_id, start, end) for place, start, end in spans]
        return [f"{text}\n" if text else "" for text in said]
    outline = cache(lambda place: Outline(corpus.documents[place].text))
    texts = []
    for place, start, _ in spans:
        parts = [corpus.documents[place].title.strip()] if "title" in kind else []
        if "headings" in kind:
            parts += [text for text in outline(place).above(start) if text not in parts]
        texts.append("".join(f"{part}\n" for part in parts if part))
    return texts
