"""What an answer is worth by the type of its question: facts by words and numbers, reasoning by
claims, operations by steps and their order, opinions by coverage alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from lab.answers.wording import (
    content_words,
    exact_match,
    longest_common_subsequence,
    numbers_matched,
    support_of,
    token_f1,
)
from lab.chunking.sentences import sentence_spans
from lab.relevance.query import AnswerType, Claim, Query

# An okay nugget counts half a vital one.
OKAY_WEIGHT = 0.5
# What tags of sets call the types.
TAGGED: dict[str, AnswerType] = {
    "fact": "fact",
    "reasoning": "reasoning",
    "operation": "operation",
    "procedure": "operation",
    "opinion": "opinion",
}


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """`score` in [0, 1] is what losses are counted in: F1 for facts, else the coverage of claims.
    The rest is None where the type does not ask for it. `claims_from_answer` says that the gold
    answer's sentences stood in for claims."""

    answer_type: str
    score: float | None
    exact: float | None = None
    f1: float | None = None
    numbers: float | None = None
    coverage: float | None = None
    vital: float | None = None
    supported: float | None = None
    order: float | None = None
    claims_from_answer: bool = False


def answer_scores(query: Query, answer: str, contexts: Sequence[str] = ()) -> AnswerScores:
    """Score one answer. Unscored (score None) where the question has neither an answer nor
    claims."""
    answer_type = type_of(query)
    if answer_type == "fact":
        if not query.answer.strip():
            return AnswerScores(answer_type, None)
        f1 = token_f1(answer, query.answer)
        return AnswerScores(
            answer_type,
            f1,
            exact=exact_match(answer, query.answer),
            f1=f1,
            numbers=numbers_matched(answer, query.answer),
        )
    claims = query.claims or sentences_as_claims(query.answer)
    if not claims:
        return AnswerScores(answer_type, None)
    supports = [support_of(claim.text, answer) for claim in claims]
    nuggets = nugget_scores(supports, [claim.vital for claim in claims])
    shown = "\n".join(contexts)
    return AnswerScores(
        answer_type,
        nuggets.weighted,
        coverage=nuggets.weighted,
        vital=nuggets.vital,
        supported=_supported(claims, supports, shown) if answer_type == "reasoning" else None,
        order=step_order(claims, answer) if answer_type == "operation" else None,
        claims_from_answer=not query.claims,
    )


def type_of(query: Query) -> AnswerType:
    """What kind of answer a question asks for: its `answer_type`, else the tag of that name, else a
    fact."""
    return query.answer_type or TAGGED.get(query.tags.get("answer_type", ""), "fact")


def sentences_as_claims(answer: str) -> tuple[Claim, ...]:
    """Every sentence of a gold answer as a vital claim without evidence."""
    parts = (answer[start:end].strip() for start, end in sentence_spans(answer))
    return tuple(Claim(part) for part in parts if content_words(part))


def _supported(claims: Sequence[Claim], supports: Sequence[float], shown: str) -> float | None:
    """Of the claims that an answer makes, the share that its contexts support as well; None for an
    answer that makes none, or has no context."""
    made = [claim for claim, support in zip(claims, supports, strict=True) if support]
    if not made or not shown:
        return None
    return sum(support_of(claim.text, shown) for claim in made) / len(made)


@dataclass(frozen=True, slots=True)
class NuggetScores:
    """Scores of nuggets as TREC RAG 2024 defines them (Pradeep et al. 2024): `vital` over the vital
    ones, `weighted` over all with okay ones counting half; their `strict` forms count full support
    only. None without nuggets of the kind."""

    vital: float | None
    vital_strict: float | None
    weighted: float | None
    weighted_strict: float | None


def nugget_scores(supports: Sequence[float], vital: Sequence[bool]) -> NuggetScores:
    """`supports` holds 1 (support), 0.5 (partial) or 0 for every nugget."""
    weights = [1.0 if important else OKAY_WEIGHT for important in vital]
    strict = [float(support == 1) for support in supports]
    only_vital = [float(important) for important in vital]
    return NuggetScores(
        _weighted(supports, only_vital),
        _weighted(strict, only_vital),
        _weighted(supports, weights),
        _weighted(strict, weights),
    )


def _weighted(values: Sequence[float], weights: Sequence[float]) -> float | None:
    total = sum(weights)
    if not total:
        return None
    return sum(v * w for v, w in zip(values, weights, strict=True)) / total


def step_order(claims: Sequence[Claim], answer: str) -> float | None:
    """Kendall's tau-a in [-1, 1] between the order of the steps and that in which the answer tells
    them; a step stands at the answer's sentence that holds most of its words. None for fewer than
    two steps that are told."""
    sentences = [content_words(answer[start:end]) for start, end in sentence_spans(answer)]
    places = [
        place
        for claim in claims
        if support_of(claim.text, answer) and (place := _place(claim, sentences)) is not None
    ]
    pairs = list(combinations(places, 2))
    if not pairs:
        return None
    return sum((b > a) - (b < a) for a, b in pairs) / len(pairs)


def _place(claim: Claim, sentences: Sequence[Sequence[str]]) -> int | None:
    wanted = content_words(claim.text)
    shares = [longest_common_subsequence(wanted, sentence) for sentence in sentences]
    return max(range(len(shares)), key=shares.__getitem__) if any(shares) else None
