"""How questions are worded, as numbers: length, question words, pronouns, identifiers, unknown
words, language."""

from collections.abc import Collection, Sequence

import numpy as np
import regex

from lab.arrays import Floats
from lab.chunking.units import CJK, WORD
from lab.retrieval.analyzer import ANALYZERS, STOP_WORDS
from lab.sets.identifiers import find_identifiers

QUESTION = regex.compile(
    r"\b(?:who|whom|whose|what|when|where|which|why|how)\b"
    r"|什么|甚么|怎么|怎样|如何|为何|为什么|哪|吗|呢|几|多少|谁|是否|能否|可否",
    regex.IGNORECASE,
)
PRONOUN = regex.compile(
    r"\b(?:i|me|my|mine|we|us|our|you|your|he|she|it|its|they|them|their|this|that|these|those)\b"
    r"|我|你|您|他|她|它|咱|这|那|其",
    regex.IGNORECASE,
)
CHINESE_FUNCTION_WORDS = frozenset("的了在是和与或就都也把被给对从到吧呀啊请")
CJK_LETTER = regex.compile(f"[{CJK}]")
LETTER, CAPITAL = regex.compile(r"\p{L}"), regex.compile(r"\p{Lu}")
DIGIT, MARK = regex.compile(r"\p{N}"), regex.compile(r"\p{P}")
QUESTION_MARKS = ("?", "？")

FEATURES = (
    "words",
    "question words",
    "question mark",
    "pronouns",
    "function words",
    "identifiers",
    "digits",
    "capitals",
    "punctuation",
    "unknown words",
    "Chinese, Japanese, Korean",
    "other scripts",
)


def wording(texts: Sequence[str], vocabulary: Collection[str]) -> Floats:
    """Questions x FEATURES. `words` is their number (a Chinese, Japanese or Korean character is
    one) and `identifiers` theirs; `question words` and `question mark` are 0 or 1; the others are
    shares: pronouns and function words of words, digits and punctuation of characters, capitals and
    scripts of letters, unknown words of terms that `vocabulary`, the documents', does not hold."""
    return np.array([_features(text, vocabulary) for text in texts]).reshape(-1, len(FEATURES))


def _features(text: str, vocabulary: Collection[str]) -> tuple[float, ...]:
    words = WORD.findall(text)
    terms = ANALYZERS["auto"](text)
    letters, characters = len(LETTER.findall(text)), len(text)
    cjk = len(CJK_LETTER.findall(text))
    plain = sum(character.isascii() and character.isalpha() for character in text)
    function = sum(
        word.casefold().strip(".,?!") in STOP_WORDS or word in CHINESE_FUNCTION_WORDS
        for word in words
    )
    return (
        len(words),
        bool(QUESTION.search(text)),
        text.rstrip().endswith(QUESTION_MARKS),
        _share(len(PRONOUN.findall(text)), len(words)),
        _share(function, len(words)),
        sum(1 for _ in find_identifiers(text)),
        _share(len(DIGIT.findall(text)), characters),
        _share(len(CAPITAL.findall(text)), letters),
        _share(len(MARK.findall(text)), characters),
        _share(sum(term not in vocabulary for term in terms), len(terms)),
        _share(cjk, letters),
        _share(letters - plain - cjk, letters),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
