"""What of the evidence a context holds, and in which order: the measures of what a reader is given,
before any answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lab.answers.wording import claim_in_text
from lab.corpus.document import Corpus
from lab.relevance.judge import HOLD
from lab.relevance.query import Claim, Evidence, Query


@dataclass(frozen=True, slots=True)
class Context:
    """One passage that a reader is given: text, and the half-open span of the document that it
    shows (None for text that is no span of a known document)."""

    text: str
    doc_id: str | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class ContextScores:
    """`context_precision`, `context_recall`, `chain` and `in_order`, each in [0, 1] and None where
    a question has nothing that could be counted (no ordered pair, no claim and no evidence).
    `by_words` is how many claims were looked for by their words, having no evidence."""

    context_precision: float
    context_recall: float | None
    chain: float | None
    in_order: float | None
    by_words: int


def context_scores(query: Query, contexts: Sequence[Context], corpus: Corpus) -> ContextScores:
    """All measures of one question's contexts, best first. Cut the contexts at k to measure at
    k."""
    complete = completion_ranks(query.evidence, contexts, corpus)
    claims = query.claims or evidence_as_claims(query)
    held = [claim_held(claim, query, complete, contexts) for claim in claims]
    core = [piece for piece in query.pieces if any(item.role == "core" for item in piece)]
    ranks = dict(zip(query.evidence, complete, strict=True))
    return ContextScores(
        context_precision=context_precision(
            [is_relevant(context, query, corpus) for context in contexts]
        ),
        context_recall=sum(held) / len(held) if held else None,
        chain=float(all(_piece_rank(piece, ranks) for piece in core)) if core else None,
        in_order=in_order_share(query.evidence, complete),
        by_words=sum(not claim.evidence for claim in claims),
    )


def context_precision(relevant: Sequence[bool]) -> float:
    """The mean of precision at the ranks of the relevant contexts, over those that were retrieved:
    sum of P@j * rel_j / sum of rel_j (RAGAS' definition). Relevant at ranks 1 and 3 of four:
    (1/1 + 2/3) / 2 = 0.833; none: 0."""
    precisions: list[float] = []
    for rank, hit in enumerate(relevant, start=1):
        if hit:
            precisions.append((len(precisions) + 1) / rank)
    return sum(precisions) / len(precisions) if precisions else 0.0


def evidence_as_claims(query: Query) -> tuple[Claim, ...]:
    """For a question without claims every core piece of evidence is one, linked to its first
    alternative."""
    places = {id(item): place for place, item in enumerate(query.evidence)}
    return tuple(
        Claim("", (places[id(piece[0])],))
        for piece in query.pieces
        if any(item.role == "core" for item in piece)
    )


def claim_held(
    claim: Claim, query: Query, complete: Sequence[int | None], contexts: Sequence[Context]
) -> bool:
    """Whether the contexts hold what a claim rests on: all of its linked evidence, each in any of
    its alternatives; without a link, half of its content words in their order within one context
    (see `lab.answers.wording`)."""
    if not claim.evidence:
        return any(claim_in_text(claim.text, context.text) for context in contexts)
    return all(
        any(
            complete[place] is not None
            for place, item in enumerate(query.evidence)
            if place == linked
            or (item.group is not None and item.group == query.evidence[linked].group)
        )
        for linked in claim.evidence
    )


def completion_ranks(
    evidence: Sequence[Evidence], contexts: Sequence[Context], corpus: Corpus
) -> list[int | None]:
    """For every item of evidence the rank from 1 at which the contexts so far hold at least `HOLD`
    of its non-blank characters; None where they never do. Whole documents are held by any context
    of theirs."""
    return [_completion_rank(item, contexts, corpus) for item in evidence]


def _completion_rank(item: Evidence, contexts: Sequence[Context], corpus: Corpus) -> int | None:
    text = corpus[item.doc_id].text
    start, end = item.span(text)
    wanted = {place for place in range(start, end) if not text[place].isspace()}
    missing = set(wanted)
    for rank, context in enumerate(contexts, start=1):
        if context.doc_id != item.doc_id or context.start is None or context.end is None:
            continue
        missing.difference_update(range(max(start, context.start), min(end, context.end)))
        if item.whole or len(wanted) - len(missing) >= HOLD * len(wanted) - 1e-9:
            return rank
    return None


def is_relevant(context: Context, query: Query, corpus: Corpus) -> bool:
    """Whether a context holds at least half of some evidence, or lies at least half inside one: the
    rule of precision@k. A context of a document that is evidence as a whole is relevant."""
    if context.doc_id is None or context.start is None or context.end is None:
        return False
    text = corpus[context.doc_id].text
    shown = {p for p in range(context.start, context.end) if not text[p].isspace()}
    for item in query.evidence:
        if item.doc_id != context.doc_id:
            continue
        if item.whole:
            return True
        start, end = item.span(text)
        wanted = {place for place in range(start, end) if not text[place].isspace()}
        common = len(shown & wanted)
        if common and 2 * common >= min(len(wanted), len(shown)):
            return True
    return False


def in_order_share(evidence: Sequence[Evidence], complete: Sequence[int | None]) -> float | None:
    """Share of the pairs of evidence with different `order` that are delivered in that order: both
    complete, the earlier not after the later. A pair that one context completes counts as in order
    where the earlier begins first in one document. None without such a pair."""
    ordered = [
        (item, rank)
        for item, rank in zip(evidence, complete, strict=True)
        if item.order is not None
    ]
    right = []
    for (a, rank_a), (b, rank_b) in combinations(ordered, 2):
        if a.order == b.order:
            continue
        if (a.order or 0) > (b.order or 0):
            a, rank_a, b, rank_b = b, rank_b, a, rank_a
        if rank_a is None or rank_b is None:
            right.append(False)
        elif rank_a == rank_b:
            right.append(a.doc_id != b.doc_id or (a.start or 0) <= (b.start or 0))
        else:
            right.append(rank_a < rank_b)
    return sum(right) / len(right) if right else None


def _piece_rank(piece: Sequence[Evidence], ranks: Mapping[Evidence, int | None]) -> int | None:
    known = [rank for item in piece if (rank := ranks[item]) is not None]
    return min(known, default=None)
