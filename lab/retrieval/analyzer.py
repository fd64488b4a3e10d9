"""From text to search terms: one function for documents and questions alike."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal
from unicodedata import unidata_version

import regex

from lab.chunking.units import CJK
from lab.errors import ConfigError
from lab.retrieval.folding import fold
from lab.versions import version_of

AnalyzerName = Literal["auto", "stop", "stem", "english", "jieba", "simplified"]

# A word with single connectors inside is an identifier; `c++`, `c#` and `f#` keep their marks.
CONNECTORS = "_./:@&-"
# Vowel signs of Hindi, Thai or Tamil and accents without a composed form are marks, which `\w` of
# `re` leaves out.
LETTERS = rf"[[\p{{L}}\p{{N}}]--[{CJK}]]+(?:[\p{{Mn}}\p{{Mc}}]+[[\p{{L}}\p{{N}}]--[{CJK}]]*)*"
# Symbols that a reader tells apart (🔴 and 🟢, ≤ and ≥, € and £), flags whole; ASCII's are
# punctuation, lines and blocks draw tables, and U+FFFC and U+FFFD stand for what is not there.
SYMBOL = (
    r"[\U0001f1e6-\U0001f1ff]{2}"
    r"|[[\p{So}\p{Sm}\p{Sc}]--[\x00-\x7f\u2500-\u259f\ufffc\ufffd]]"
)
TERM = regex.compile(
    rf"(?P<cjk>[{CJK}]+)"
    rf"|(?P<word>{LETTERS}(?:(?:['{CONNECTORS}]|(?<=\p{{N}}),(?=\p{{N}})){LETTERS})*(?:\+\+|\#)?)"
    rf"|{SYMBOL}",
    regex.V1,
)
# What TERM finds in lower-case ASCII, several times faster.
ASCII_TERM = re.compile(
    rf"[a-z0-9]+(?:(?:['{CONNECTORS}]|(?<=[0-9]),(?=[0-9]))[a-z0-9]+)*(?:\+\+|\#)?"
)
PARTS = re.compile(f"[,{CONNECTORS}]")
# Digits in groups, as in 1,200, 1'200 (Switzerland) and 1,20,000 (India): the marks mean nothing.
GROUPED = re.compile(r"(?<![\d,'])[1-9]\d{0,2}(?:[,']\d{2,3})*[,']\d{3}(?![,']?\d)")
GROUPS = re.compile(f"[',{CONNECTORS}]")
# An apostrophe between two words (l'eau, nell'acqua), not what English leaves of one (don't).
ELISION = re.compile(r"'(?!(?:s|t|re|ve|ll|d|m)(?!\w))")
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
    """Terms of a text: its folded characters (see `lab.retrieval.folding`); words by Unicode;
    `ERR-4042` is one term and its parts (`err-4042`, `err`, `4042`), and so is `d'Ivoire`; `1,200`
    is 1200 and its parts; symbols beyond ASCII; Chinese, Japanese and Korean runs become
    overlapping bigrams, or jieba's search words; `simplified` reads traditional Chinese as
    simplified (OpenCC's t2s).

    Stored text and offsets are never touched: terms exist for matching only.
    """

    name: str = "auto"
    stop: bool = False
    stem: bool = False
    jieba: bool = False
    simplified: bool = False

    # Raise with every change of the rules: it is part of the fingerprint of a run.
    VERSION = 4

    @property
    def identity(self) -> str:
        """Changes with the rules, Unicode's data and the packages that terms depend on."""
        packages = {"PyStemmer": self.stem, "jieba": self.jieba, "OpenCC": self.simplified}
        used = [
            f" {name} {version_of(name) or 'absent'}" for name, used in packages.items() if used
        ]
        return f"{self.name}/{self.VERSION} Unicode {unidata_version}{''.join(used)}"

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
            plain = run.lower().replace("`", "'")
            return tuple(term for word in ASCII_TERM.findall(plain) for term in self._word(word))
        terms: list[str] = []
        plain = fold(run)
        for match in TERM.finditer(_opencc()(plain) if self.simplified else plain):
            term = match.group()
            if match["cjk"]:
                terms.extend(self._cjk(term))
            elif match["word"]:
                terms.extend(self._word(term))
            else:
                terms.append(term)
        return tuple(terms)

    def _word(self, term: str) -> list[str]:
        """A word without its possessive ending; an identifier or elided words whole and in
        parts."""
        if term.isalnum():
            return self._plain(term)
        term = term.removesuffix("'s")
        if ("," in term or "'" in term) and (plain := GROUPED.sub(_ungrouped, term)) != term:
            words = self._word(plain)
            return words + [part for part in GROUPS.split(term) if part not in words]
        if "'" in term and len(pieces := ELISION.split(term)) > 1:
            return [term, *(part for piece in pieces for part in self._word(piece))]
        parts = PARTS.split(term)
        words = [word for part in parts for word in self._plain(part.removesuffix("'s"))]
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
    "simplified": Analyzer("simplified", simplified=True),
}


def _ungrouped(number: re.Match[str]) -> str:
    return number[0].replace(",", "").replace("'", "")


@lru_cache(maxsize=1)
def _jieba() -> Callable[[str], Any]:
    with _chinese("jieba", "jieba"):
        import jieba
    jieba.setLogLevel("ERROR")
    return jieba.cut_for_search  # type: ignore[no-any-return]  # jieba is untyped


@lru_cache(maxsize=1)
def _opencc() -> Callable[[str], str]:
    with _chinese("opencc", "simplified"):
        import opencc
    return opencc.OpenCC("t2s").convert


@contextmanager
def _chinese(module: str, analyzer: str) -> Iterator[None]:
    """Says what an analyzer needs where its package is not installed."""
    try:
        yield
    except ImportError:
        raise ConfigError(
            f"bm25.analyzer = '{analyzer}' needs the package {module}; pip install "
            "'retrieval-diagnostics-lab[chinese]'"
        ) from None
