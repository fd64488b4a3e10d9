"""Causes: for every missed piece of evidence the stage that lost it, one a miss, none for a hit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.diagnosis.stage_ranks import StageRanks

Codes = NDArray[np.int8]
HIT = -1


@dataclass(frozen=True, slots=True)
class Cause:
    """What a miss is put down to: the stage that lost the piece, what that means, and what usually
    mends it."""

    stage: str
    meaning: str
    remedy: str


# In the order of the street. A miss has exactly one; the code of a cause is its place here.
CAUSES: dict[str, Cause] = {
    "not_in_corpus": Cause(
        "corpus",
        "the evidence is not in the text as read",
        "add the document, or read it again: its text lacks the evidence",
    ),
    "split": Cause(
        "chunking", "cut by a chunk boundary: not all of its chunks arrived", "cut elsewhere"
    ),
    "diluted": Cause(
        "chunking",
        "whole in a chunk that says too much else: a chunk cut closer around it is found",
        "cut smaller chunks",
    ),
    "detached": Cause(
        "chunking",
        "whole in a chunk that says too little: only with the text beside it, it is found",
        "deliver the neighbours of what is found, or cut larger chunks",
    ),
    "truncated": Cause(
        "encoder",
        "lies past what the encoder reads, and the lexical leg missed it too",
        "cut smaller chunks",
    ),
    "lexical_gap": Cause(
        "candidates",
        "outside the candidates: the question shares too few terms with it",
        "add the dense leg",
    ),
    "semantic_gap": Cause(
        "candidates",
        "outside the candidates: its vector is too far from the question's",
        "add BM25",
    ),
    "both": Cause(
        "candidates",
        "outside the candidates of both legs",
        "keep more candidates, or reword the question",
    ),
    "not_returned": Cause(
        "candidates",
        "a foreign retriever did not return it, and what searched cannot be seen",
        "show its legs, or ask it for more hits",
    ),
    "unseen": Cause(
        "unseen",
        "a stage of a foreign retriever that cannot be seen lost it, after one that had it",
        "show the stages in between",
    ),
    "approximate": Cause("candidates", "exact search would have had it", "search exactly"),
    "quantised": Cause(
        "candidates",
        "its vector as it is stored is too coarse: with the whole vector it is found",
        "store more bits of each number, or more numbers",
    ),
    "outranked": Cause(
        "ranking", "among the candidates, but below k", "weigh the legs otherwise, or rerank"
    ),
    "crowded": Cause(
        "ranking", "pushed out by near-duplicates of one text", "remove near-duplicates"
    ),
    "demoted": Cause(
        "reranker", "within k before the reranker, below k after it", "rerank less, or blend"
    ),
    "cut": Cause(
        "cut",
        "removed by the question's filter, the threshold or the token budget",
        "mend the filter, lower the threshold, or raise the budget",
    ),
}
STAGES = tuple(dict.fromkeys(cause.stage for cause in CAUSES.values()))
NAMES = tuple(CAUSES)
# Which legs a system has (BM25, dense) -> what it is called when the candidates lack a piece.
GAPS: dict[tuple[bool, bool], str] = {
    (True, False): "lexical_gap",
    (False, True): "semantic_gap",
    (True, True): "both",
    (False, False): "not_returned",
}
# What the candidates lack, and with it all that is lost before any reranker.
CANDIDATES = tuple(GAPS.values())
LOST = ("outranked", *CANDIDATES)


def assign(ranks: StageRanks) -> Codes:
    """Per piece the code of its cause (a place in CAUSES), HIT where it is not missed.

    The stages are asked from the last to the first which of them still had the piece, so the cause
    is the stage that lost it for good: a piece that the reranker lifted into k and the threshold
    then removed is `cut`, whatever fusion did. So is one whose documents the question's filter
    leaves out, for no stage can have it. A split piece of which nothing arrived is put down to what
    lost its parts. What interventions bring back then speaks for another cause (see
    `lab.diagnosis.interventions.order`): a whole chunk in place of the parts for `split`, a chunk
    cut closer around the piece for `diluted`, the text beside it for `detached`, near-duplicates
    counted once for `crowded`, the model's whole vectors for `quantised`.
    """
    lexical = np.zeros_like(ranks.pool) if ranks.bm25 is None else ranks.bm25 <= ranks.k
    arrived = np.where(ranks.pool, ranks.part <= ranks.k, ranks.pool_part)
    gap = GAPS[ranks.bm25 is not None, ranks.dense is not None]
    nothing = np.zeros_like(ranks.pool)
    conditions = (
        ("not_in_corpus", ~ranks.inside),
        ("cut", ranks.filtered | (ranks.reranked <= ranks.k)),
        ("unseen", nothing if ranks.unseen is None else ranks.unseen),
        ("demoted", ranks.first <= ranks.k),
        ("split", (ranks.needed > ranks.k) | ((ranks.needed > 1) & arrived)),
        ("truncated", ranks.unread & ~lexical),
        ("approximate", ~ranks.pool & ranks.exact_pool),
        ("not_returned", ~ranks.pool & (nothing if ranks.unsearched is None else ranks.unsearched)),
        (gap, ~ranks.pool),
        ("outranked", np.ones_like(ranks.pool)),
    )
    codes = np.select(
        [ranks.missed & holds for _, holds in conditions],
        [NAMES.index(name) for name, _ in conditions],
        HIT,
    )
    return codes.astype(np.int8)
