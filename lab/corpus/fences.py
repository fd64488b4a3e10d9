"""Fenced code of Markdown: which lines of a text are code, after CommonMark 0.31, section 4.5."""

import re
from collections.abc import Iterator

# Up to three blanks, then at least three of one mark; what follows backticks holds none.
OPENING = re.compile(r" {0,3}(?:(?P<ticks>`{3,})[^`]*|(?P<tildes>~{3,}).*)$")
CLOSING = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})[ \t]*$")


def fenced_lines(lines: list[str]) -> Iterator[bool]:
    """For every line whether it belongs to fenced code, the fences included. A fence is closed by
    at least as many of its own mark and nothing else, or by the end of the text."""
    fence = ""
    for line in lines:
        line = line.rstrip("\r\n")
        if not fence:
            opening = OPENING.match(line)
            fence = (opening["ticks"] or opening["tildes"]) if opening else ""
            yield bool(fence)
            continue
        closing = CLOSING.match(line)
        if closing and closing["fence"].startswith(fence):
            fence = ""
        yield True
