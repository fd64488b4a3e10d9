"""Words of a PDF page that stand letter by letter: PDFium puts a blank where letters lie far apart,
also inside words whose letters all do."""

import ctypes
import re
from dataclasses import dataclass
from typing import Any

# A page of which more of the words are single letters is looked at character by character.
LETTERS = 0.15
# A blank that PDFium made is none when it is no wider than the gaps in the word before it, by this.
WIDER = 1.15


@dataclass(slots=True)
class Glyph:
    """A character, the ends of its ink across the page, and whether PDFium made it."""

    character: str
    left: float
    right: float
    made: bool


def suspicious(text: str) -> bool:
    """Whether so many words are single letters that a page must be looked at more closely."""
    words = re.findall(r"[^\W\d_]+", text)
    return sum(len(word) == 1 for word in words) > LETTERS * len(words)


def text_of(page: Any) -> str:
    """The text of a page's `PdfTextPage` without blanks that no one can see."""
    return "".join(glyph.character for glyph in _kept(_glyphs(page)))


def _glyphs(page: Any) -> list[Glyph]:
    from pypdfium2 import raw

    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    glyphs = []
    for place in range(raw.FPDFText_CountChars(page)):
        raw.FPDFText_GetCharBox(page, place, left, right, bottom, top)
        character = chr(raw.FPDFText_GetUnicode(page, place))
        made = raw.FPDFText_IsGenerated(page, place) == 1
        glyphs.append(Glyph(character, left.value, right.value, made))
    return glyphs


def _kept(glyphs: list[Glyph]) -> list[Glyph]:
    kept: list[Glyph] = []
    widest, letters = 0.0, 0
    for place, glyph in enumerate(glyphs):
        if not glyph.character.strip():
            following = glyphs[place + 1] if place + 1 < len(glyphs) else None
            if glyph.made and glyph.character == " " and following and letters > 1:
                gap = following.left - kept[-1].right
                if 0 <= gap <= widest * WIDER:
                    continue
            widest, letters = 0.0, 0
        elif kept and kept[-1].character.strip():
            widest, letters = max(widest, glyph.left - kept[-1].right), letters + 1
        else:
            letters = 1
        kept.append(glyph)
    return kept
