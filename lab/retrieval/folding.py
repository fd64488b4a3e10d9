"""What a text is matched as: forms that a reader takes for the same become the same characters.

Built on Unicode's NFKC_Casefold (The Unicode Standard, 3.13, D146): compatibility forms (full
width, ㎏), case and every code point with Default_Ignorable_Code_Point are folded character by
character, then composed again.
"""

import unicodedata

import regex

# Apostrophes as people and programs write them (U+00B4 and U+0060 are accents that stand for one).
APOSTROPHES = "'`\u00b4\u02bb\u02bc\u2018\u2019\u201b\u2032\uff07\uff40"
# Unicode's general punctuation for hyphens, which NFKC leaves apart; the em dash parts words and
# stays.
HYPHENS = "\u2010\u2011\u2012\u2212"
# Chinese writes `SKU_31/C：VP-65` without a blank; NFKC's `:` would make one identifier of both.
# Trade marks say nothing, and NFKC's `TM` would become part of the word before it.
PARTING = "\uff1a\u00a9\u00ae\u2120\u2122"
WRITTEN = {
    **dict.fromkeys(APOSTROPHES, "'"),
    **dict.fromkeys(HYPHENS, "-"),
    **dict.fromkeys(PARTING, " "),
    "\u2044": "/",  # NFKC's fraction slash: ½ is 1/2
    "\u066b": ".",  # Arabic decimal and thousands separators
    "\u066c": ",",
    # Turkish: `ı` and `i` have one upper-case form each, which other languages take for the same.
    "\u0130": "i",
    "\u0131": "i",
}
# Marks that Arabic, Hebrew and Syriac write or leave out without another meaning: vowels,
# cantillation, and the stroke that only stretches a word. Hamza and madda (U+0653-0655) are
# letters.
OPTIONAL = regex.compile(
    r"\u0640|(?![\u0653-\u0655])[\u0591-\u05c7\u0610-\u06ed\u0711\u0730-\u074a\u0890-\u08ff&&\p{Mn}]",
    regex.V1,
)
IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")


class Folds(dict[int, str]):
    """What each code point is matched as, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _folded(chr(code))
        return folded


FOLDS = Folds()


def fold(text: str) -> str:
    """`text` as it is matched. A word and its upper-case form fold alike in every script."""
    # No form reaches across the end of a line, and plain lines are the many.
    return "\n".join(map(_folded_line, text.split("\n")))


def _folded_line(line: str) -> str:
    if line.isascii():
        return line.encode().translate(ASCII).decode()
    # A dot above an i is no accent: İstanbul in lower case is "i̇stanbul".
    return unicodedata.normalize("NFC", line.translate(FOLDS).replace("i\u0307", "i"))


def _folded(character: str) -> str:
    if character in WRITTEN:
        return WRITTEN[character]
    if IGNORABLE.match(character) or OPTIONAL.match(character):
        return ""
    plain = _small(unicodedata.normalize("NFKC", character))
    if unicodedata.decomposition(character).startswith("<fraction>"):
        plain = f" {plain}"  # 2½ is not 21/2
    if len(plain) == 1:
        digit = unicodedata.decimal(plain, None)
        return WRITTEN.get(plain, plain) if digit is None else str(digit)
    return "".join(_folded(part) if part != character else part for part in plain)


def _small(text: str) -> str:
    """Case folding that also joins letters with one upper-case form: `ſ` and `s`, `ς` and `σ`."""
    return text.casefold().upper().casefold()


ASCII = bytes(ord(_folded(chr(code))) for code in range(128)) + bytes(range(128, 256))
