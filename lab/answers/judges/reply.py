"""What judges reply: strict JSON, read or refused with a reason; quotes looked for in the
passages."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lab.answers.judges.rubric import Rubric
from lab.answers.wording import content_words
from lab.corpus.lines import read_json

FENCE = re.compile(r"^```(?:json)?\s*\n(.*)\n```$", re.S)
# Marks that models straighten or curl as they copy.
SAME_MARKS = str.maketrans("‘’“”–—", "''\"\"--")
VERDICT_KEYS = {"quotes", "scores", "confidence", "reason"}


class ReplyError(ValueError):
    """A reply that is not what was asked for; its text says why."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One reply of a judge: quotes, a score a criterion, how sure it is in [0, 1], and why."""

    quotes: tuple[str, ...]
    scores: dict[str, float]
    confidence: float
    reason: str


def read_verdict(text: str, rubric: Rubric) -> Verdict:
    """Raises ReplyError unless the reply has exactly the four keys, every criterion's score on its
    scale, and a confidence in [0, 1]."""
    record = _object(text, VERDICT_KEYS)
    scores = _per_criterion(record["scores"], rubric, "scores")
    for criterion in rubric.criterion:
        low, high = criterion.scale
        score = scores[criterion.name]
        if not _is_number(score) or score != int(score) or not low <= score <= high:
            raise ReplyError(
                f"{criterion.name} is {score!r}; expected a whole number from {low} to {high}"[:200]
            )
    confidence = record["confidence"]
    if not _is_number(confidence) or not 0 <= confidence <= 1:
        raise ReplyError(f"confidence is {confidence!r}; expected a number from 0 to 1"[:200])
    if not isinstance(record["reason"], str):
        raise ReplyError("reason is no text")
    quotes = _texts(record["quotes"], "quotes")
    given = {name: float(score) for name, score in scores.items()}
    return Verdict(tuple(quotes), given, float(confidence), record["reason"])


def read_audit(text: str, rubric: Rubric) -> tuple[dict[str, bool], str]:
    """For every criterion whether the second model agrees, and why. Raises ReplyError."""
    record = _object(text, {"agrees", "reason"})
    agrees = _per_criterion(record["agrees"], rubric, "agrees")
    if not all(isinstance(value, bool) for value in agrees.values()):
        raise ReplyError("agrees holds something that is neither true nor false")
    return agrees, str(record["reason"])


def read_claims(text: str) -> tuple[str, ...]:
    """Claims in the answer's order, each once. Raises ReplyError."""
    claims = _texts(_object(text, {"claims"})["claims"], "claims")
    return tuple(dict.fromkeys(claim.strip() for claim in claims if claim.strip()))


def read_verdicts(text: str, count: int) -> tuple[int, ...]:
    """0 or 1 for each of `count` claims. Raises ReplyError."""
    verdicts = _object(text, {"verdicts"})["verdicts"]
    if not isinstance(verdicts, list) or len(verdicts) != count:
        raise ReplyError(f"verdicts is no list of {count}")
    if any(isinstance(verdict, bool) or verdict not in (0, 1) for verdict in verdicts):
        raise ReplyError("a verdict is neither 0 nor 1")
    return tuple(int(verdict) for verdict in verdicts)


def quotes_missing(quotes: Sequence[str], contexts: Sequence[str]) -> list[str]:
    """Quotes that stand in no context, or say nothing. Blanks and the shape of quotation marks and
    dashes do not count; case and words do."""
    shown = [_plain(context) for context in contexts]
    return [
        quote
        for quote in quotes
        if not content_words(quote) or not any(_plain(quote) in context for context in shown)
    ]


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(SAME_MARKS).split())


def _object(text: str, keys: set[str]) -> dict[str, Any]:
    """The one object of a reply, which may stand in a fence of Markdown."""
    fenced = FENCE.match(text.strip())
    try:
        record = read_json(fenced[1] if fenced else text.strip())
    except ValueError as fault:
        raise ReplyError(f"reply is {fault}") from None
    if not isinstance(record, dict) or record.keys() != keys:
        named = ", ".join(map(repr, record)) if isinstance(record, dict) else "no object"
        raise ReplyError(f"reply holds {named[:100]}; expected the keys {', '.join(sorted(keys))}")
    return record


def _per_criterion(value: Any, rubric: Rubric, what: str) -> dict[str, Any]:
    names = {criterion.name for criterion in rubric.criterion}
    if not isinstance(value, dict) or value.keys() != names:
        raise ReplyError(f"{what} is not one value for each of {', '.join(sorted(names))}")
    return value


def _texts(value: Any, what: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ReplyError(f"{what} is no list of texts")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
