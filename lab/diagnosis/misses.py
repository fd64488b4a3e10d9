"""Miss: one missed piece of evidence under one system, with its cause and the proof; a row of
`causes.parquet`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lab.config.settings import PROVES
from lab.diagnosis.causes import CAUSES


@dataclass(frozen=True, slots=True)
class Miss:
    """One missed piece under one system. `piece` counts from 1 within the question. Ranks count
    delivered spans from 1 and are 0 where a stage does not have the whole piece; `k` is the cut-off
    that the cause is relative to.

    `cause` is a key of CAUSES and `stage` its stage. `verified` says that re-running with only that
    stage changed recovers the piece; `remedy` is the smallest such change, else the smallest change
    of any kind that does, else advice; `recovered_by` lists all changes that do, smallest first.
    `cut_at` is the blamed boundary (-1: none) and `cut_text` the text either side of it;
    `unmatched` the question's terms without a match, with the reason; `tail_start`, `tail_end` the
    text that the encoder did not read; `outranked_by` the spans ahead within k and what they are to
    the evidence; `alphas` the intervals of alpha in which the piece is within k before any reranker
    (empty where question variants are fused, which is not linear in alpha). `filtered` are the
    conditions of the question's filter that leave the piece's documents out, with what they have
    instead: then the cause is `cut`.
    """

    query_id: str
    piece: int
    kind: str
    cause: str
    stage: str
    verified: bool
    remedy: str
    recovered_by: str
    k: int
    needed: int
    bm25_rank: int
    dense_rank: int
    first_rank: int
    reranked_rank: int
    final_rank: int
    part_rank: int
    cut_at: int
    cut_text: str
    unmatched: str
    tail_start: int
    tail_end: int
    outranked_by: str
    alphas: str
    filtered: str = ""


def with_systems(miss: Miss, changes: Mapping[str, str], larger: bool | None = None) -> Miss:
    """The miss with what other systems of the run prove: `changes` maps a setting that alone
    differs in a system which has the piece to how it is told. A whole piece that no change of the
    blamed stage brings back, but chunks of another size do, was lost by chunking: `larger` says
    whether these are (None: there are none)."""
    settings = [setting for setting in PROVES if setting in changes]
    if not settings:
        return miss
    proving = [setting for setting in settings if miss.cause in PROVES[setting]]
    if (
        not (miss.verified or proving or larger is None)
        and miss.needed == 1
        and miss.stage in ("candidates", "ranking")
    ):
        cause = "detached" if larger else "diluted"
        return with_systems(replace(miss, cause=cause, stage=CAUSES[cause].stage), changes)
    told = "; ".join(filter(None, [miss.recovered_by, *(changes[setting] for setting in settings)]))
    if proving and not miss.verified:
        return replace(miss, verified=True, remedy=changes[proving[0]], recovered_by=told)
    if not miss.recovered_by:
        return replace(miss, remedy=changes[settings[0]], recovered_by=told)
    return replace(miss, recovered_by=told)
