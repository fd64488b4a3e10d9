"""From text to search terms: one function for documents and questions alike."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

from lab.chunking.units import CJK
from lab.errors import ConfigError

AnalyzerName = Literal["auto", "stop", "stem", "english", "jieba"]

# Unicode's general punctuation for hyphens, which NFKC leaves apart; the em dash parts words and
# stays.
HYPHENS = {ord(c): "-" for c in "\u2010\u2011\u2012\u2212"}
# Zero-width characters sit inside identifiers copied from web pages and break every match.
ZERO_WIDTH = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
FOLD = HYPHENS | ZERO_WIDTH | {ord("\u2019"): "'"}
# Chinese writes `SKU_31/C：VP-65` without a blank; NFKC's `:` would make one identifier of both.
COLON = "\uff1a"

LETTER = rf"[^\W_{CJK}]"
# Vowel signs of Hindi, Thai or Tamil and accents without a composed form are marks, which `\w`
# leaves out.
MARKS = "".join(
    c for c in map(chr, range(0x300, 0x1E000)) if unicodedata.category(c) in ("Mn", "Mc")
)
LETTERS = rf"{LETTER}+(?:[{MARKS}]+{LETTER}*)*"
# A word with single connectors inside is an identifier; `c++`, `c#` and `f#` keep their marks.
CONNECTORS = "_./:@&-"
TERM = re.compile(rf"(?P<cjk>[{CJK}]+)|{LETTERS}(?:['{CONNECTORS}]{LETTERS})*(?:\+\+|\#)?")
# What TERM finds in lower-case ASCII, several times faster.
ASCII_TERM = re.compile(rf"[a-z0-9]+(?:['{CONNECTORS}][a-z0-9]+)*(?:\+\+|\#)?")
PARTS = re.compile(f"[{CONNECTORS}]")
# Longer runs without white space (Chinese, Japanese) hardly ever return, so remembering them only
# costs memory.
REMEMBERED = 40

# The usual function words of English (as in Lucene's list, with pronouns, auxiliaries and question
# words).
STOP_WORDS = frozenset(
    """
    a about after all also an and any are as at be because been before being between both but by can
    could did do does doing during each for from had has have having he her here hers him his how i
    if in into is it its itself me more most my no nor not of on only or other our ours out over own
    same she should so some such than that the their theirs them then there these they this those
    through to too under until up very was we were what when where which while who whom why will
    with would you your yours
""".split()
)


@dataclass(frozen=True)
class Analyzer:
    """Terms of a text: NFKC and lower case; words by Unicode; `ERR-4042` is one term and its parts
    (`err-4042`, `err`, `4042`); Chinese, Japanese and Korean runs become overlapping bigrams, or
    jieba's search words.

    Stored text and offsets are never touched: terms exist for matching only.
    """

    name: str = "auto"
    stop: bool = False
    stem: bool = False
    jieba: bool = False

    # Raise with every change of the rules: it is part of the fingerprint of a run.
    VERSION = 3

    @property
    def identity(self) -> str:
        return f"{self.name}/{self.VERSION}"

    def __call__(self, text: str) -> list[str]:
        """The terms of `text` in order, repeats included."""
        known, fresh = self._remembered, self._terms
        return [
            term
            for run in text.split()
            for term in (known(run) if len(run) <= REMEMBERED else fresh(run))
        ]

    def terms(self, run: str) -> Sequence[str]:
        """The terms of a run without white space, which no term crosses."""
        return self._remembered(run) if len(run) <= REMEMBERED else self._terms(run)

    @cached_property
    def _remembered(self) -> Callable[[str], Sequence[str]]:
        # Most words of a text have been met before: in another chunk, under another chunk size.
        return lru_cache(maxsize=2**18)(self._terms)

    def _terms(self, run: str) -> Sequence[str]:
        if run.isascii():
            return tuple(
                term for word in ASCII_TERM.findall(run.lower()) for term in self._word(word)
            )
        terms: list[str] = []
        # The superscript and compatibility forms (full width, ㎏) become plain letters before
        # anything is split.
        plain = unicodedata.normalize("NFKC", run.replace(COLON, " ")).translate(FOLD).lower()
        for match in TERM.finditer(plain):
            term = match.group()
            if match["cjk"]:
                terms.extend(self._cjk(term))
            else:
                terms.extend(self._word(term))
        return tuple(terms)

    def _word(self, term: str) -> list[str]:
        if term.isalnum():
            return self._plain(term)
        term = term.removesuffix("'s")
        parts = PARTS.split(term)
        words = [word for part in parts for word in self._plain(part)]
        return words if len(parts) == 1 else [term, *words]

    def _plain(self, word: str) -> list[str]:
        if self.stop and word in STOP_WORDS:
            return []
        return [self._stemmed(word)] if self.stem else [word]

    def _cjk(self, run: str) -> list[str]:
        if self.jieba:
            return [word for word in _jieba()(run) if word.strip()]
        return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]

    @cached_property
    def _stemmed(self) -> Callable[[str], str]:
        import Stemmer

        return lru_cache(maxsize=None)(Stemmer.Stemmer("english").stemWord)


ANALYZERS: dict[str, Analyzer] = {
    "auto": Analyzer("auto"),
    "stop": Analyzer("stop", stop=True),
    "stem": Analyzer("stem", stem=True),
    "english": Analyzer("english", stop=True, stem=True),
    "jieba": Analyzer("jieba", jieba=True),
}


@lru_cache(maxsize=1)
def _jieba() -> Callable[[str], Any]:
    try:
        import jieba
    except ImportError:
        raise ConfigError(
            "bm25.analyzer = 'jieba' needs the package jieba; pip install "
            "'retrieval-diagnostics-lab[chinese]'"
        ) from None
    jieba.setLogLevel("ERROR")
    return jieba.cut_for_search  # type: ignore[no-any-return]  # jieba is untyped
