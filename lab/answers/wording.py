"""Answers compared by their words: exact match, F1, numbers with their units, and how much of a
claim stands in a text, without any model."""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

from lab.chunking.units import CJK
from lab.retrieval.analyzer import ANALYZERS

# Share of a claim's content words that a text holds in their order.
SUPPORTED, PARTLY = 0.8, 0.5
# Numbers are equal within this share.
NUMBER_TOLERANCE = 0.01
ARTICLES = re.compile(r"\b(?:a|an|the)\b")
PUNCTUATION = {ord(mark): None for mark in string.punctuation + "。，、；：？！“”‘’（）《》【】·—…"}
TOKEN = re.compile(rf"[{CJK}]|[^\s{CJK}]+")
UNIT = r"%|°\s?[CF]|[^\W\d_]+(?:/[^\W\d_]+)?"
NUMBER = re.compile(rf"(?<![\w.])(?P<sign>[-−]?)(?P<digits>\d[\d ,.]*\d|\d)\s?(?P<unit>{UNIT})?")
# Words after a number that are no unit.
NO_UNIT = frozenset("a and at by for from in is of on or per than the to was with".split())


def squad_tokens(text: str) -> list[str]:
    """Words after SQuAD's normalisation (Rajpurkar et al. 2016): lower case, no punctuation, no
    English articles; a Chinese, Japanese or Korean character is a word (as CMRC 2018 counts)."""
    plain = unicodedata.normalize("NFKC", text).lower().translate(PUNCTUATION)
    return TOKEN.findall(ARTICLES.sub(" ", plain))


def word_count(text: str) -> int:
    """Words between blanks; a Chinese, Japanese or Korean character is a word."""
    return len(TOKEN.findall(text))


def exact_match(answer: str, gold: str) -> float:
    """1 if the normalised words are the same, else 0."""
    return float(squad_tokens(answer) == squad_tokens(gold))


def token_f1(answer: str, gold: str) -> float:
    """F1 of the normalised words as bags: 2 P R / (P + R); two empty texts are equal."""
    given, wanted = Counter(squad_tokens(answer)), Counter(squad_tokens(gold))
    if not given or not wanted:
        return float(given == wanted)
    common = (given & wanted).total()
    return 2 * common / (given.total() + wanted.total())


def numbers_with_units(text: str) -> list[tuple[float, str]]:
    """Numbers of a text with the word that follows as unit, '' for none. `1,200` and `1 200` are
    1200, `3,5` is 3.5: a comma or blank parts thousands where three digits follow it."""
    numbers = []
    for match in NUMBER.finditer(unicodedata.normalize("NFKC", text)):
        unit = (match["unit"] or "").replace(" ", "")
        value = _value(match["digits"])
        if value is not None:
            sign = -1 if match["sign"] else 1
            numbers.append((sign * value, "" if unit.lower() in NO_UNIT else unit))
    return numbers


def _value(digits: str) -> float | None:
    plain = re.sub(r"[ ,](?=\d{3}(?:\D|$))", "", digits.strip())
    plain = plain.replace(",", ".").replace(" ", "")
    return float(plain) if plain.count(".") <= 1 else None


def numbers_matched(answer: str, gold: str) -> float | None:
    """Share of the gold answer's numbers that the answer has with the same unit, within 1%; a
    number without a unit on one side matches any. None where the gold answer has none."""
    wanted, given = numbers_with_units(gold), numbers_with_units(answer)
    if not wanted:
        return None
    matched = sum(any(_same(number, other) for other in given) for number in wanted)
    return matched / len(wanted)


def _same(wanted: tuple[float, str], given: tuple[float, str]) -> bool:
    (value, unit), (other, other_unit) = wanted, given
    units = {unit.lower().rstrip("s"), other_unit.lower().rstrip("s")} - {""}
    return abs(value - other) <= NUMBER_TOLERANCE * abs(value) and len(units) <= 1


def content_words(text: str) -> list[str]:
    """Stems of English words without stop words, bigrams of Chinese: what a sentence says."""
    return list(ANALYZERS["english"](text))


def words_held(claim: str, text: str) -> float:
    """Share of a claim's content words that a text holds in their order: the longest common
    subsequence over the claim's length; 0 for a claim without content words."""
    wanted = content_words(claim)
    if not wanted:
        return 0.0
    return longest_common_subsequence(wanted, content_words(text)) / len(wanted)


def claim_in_text(claim: str, text: str) -> bool:
    """Whether a text holds at least half of a claim's content words in their order."""
    return words_held(claim, text) >= PARTLY


def support_of(claim: str, text: str) -> float:
    """1 for a supported claim, 0.5 for a partly supported one, else 0."""
    share = words_held(claim, text)
    return 1.0 if share >= SUPPORTED else 0.5 if share >= PARTLY else 0.0


def longest_common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    """Its length; words that only one side has are dropped first, for they are in none."""
    kept = set(a) & set(b)
    a, b = [word for word in a if word in kept], [word for word in b if word in kept]
    row = [0] * (len(b) + 1)
    for word in a:
        diagonal = 0
        for place, other in enumerate(b, start=1):
            above = row[place]
            row[place] = diagonal + 1 if word == other else max(above, row[place - 1])
            diagonal = above
    return row[-1]


def faithfulness_by_words(answer: str, contexts: Sequence[str]) -> float | None:
    """Share of the answer's distinct content words that its contexts hold; None, unscored, for an
    answer that says nothing or has no context. Spearman 0.64 to people's faithfulness on 450 MTRAG
    answers."""
    said = set(content_words(answer))
    if not said or not contexts:
        return None
    shown = set().union(*(content_words(context) for context in contexts))
    return len(said & shown) / len(said)
