"""Miss: one missed piece of evidence under one system, with its cause and the proof; a row of
`causes.parquet`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lab.config.settings import PROVES
from lab.diagnosis.causes import CAUSES
from lab.diagnosis.cuts import Cut
from lab.diagnosis.unread import Tail
from lab.diagnosis.vocabulary import Unmatched


@dataclass(frozen=True, slots=True)
class Ranks:
    """The rank of a missed piece after each stage, from 1 and in delivered spans; None where a
    stage does not have the whole piece. `part` is the final rank of its first part."""

    bm25: int | None = None
    dense: int | None = None
    first_stage: int | None = None
    reranked: int | None = None
    final: int | None = None
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Ahead:
    """A span, or with None for both ends a whole document, that stands ahead of a missed piece, and
    its `relation` to the evidence (None for documents, which are not compared)."""

    doc_id: str
    start: int | None = None
    end: int | None = None
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Miss:
    """One missed piece under one system. `piece` counts from 1 within the question; `k` is the
    cut-off that the cause is relative to; `needed` is the least number of spans that hold the
    piece, None if none do.

    `cause` is a key of CAUSES. `verified` says that re-running with only its stage changed recovers
    the piece; `remedy` is the smallest such change, else the smallest change of any kind that does,
    else advice; `recovered_by` lists all changes that do, smallest first. `cut` is the blamed
    boundary, if any; `unmatched` the question's terms without a match; `tail` the text that the
    encoder did not read; `outranked_by` what stands ahead within k; `alphas` the closed intervals
    of alpha in which the piece is within k before any reranker, None where no curve is drawn
    (without a hybrid, or with fused question variants, which are not linear in alpha). `filtered`
    are the conditions of the question's filter that leave the piece's documents out, with what they
    have instead: then the cause is `cut`.
    """

    query_id: str
    piece: int
    kind: str
    cause: str
    verified: bool
    remedy: str
    recovered_by: tuple[str, ...]
    k: int
    needed: int | None
    ranks: Ranks
    cut: Cut | None = None
    unmatched: tuple[Unmatched, ...] = ()
    tail: Tail | None = None
    outranked_by: tuple[Ahead, ...] = ()
    alphas: tuple[tuple[float, float], ...] | None = None
    filtered: tuple[str, ...] = ()

    @property
    def stage(self) -> str:
        """The stage that lost the piece."""
        return CAUSES[self.cause].stage


def with_systems(miss: Miss, changes: Mapping[str, str], larger: bool | None = None) -> Miss:
    """The miss with what other systems of the run prove: `changes` maps a setting that alone
    differs in a system which has the piece to its words. A whole piece that no change of the
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
        return with_systems(replace(miss, cause=cause), changes)
    recovered_by = (*miss.recovered_by, *(changes[setting] for setting in settings))
    if proving and not miss.verified:
        return replace(miss, verified=True, remedy=changes[proving[0]], recovered_by=recovered_by)
    if not miss.recovered_by:
        return replace(miss, remedy=changes[settings[0]], recovered_by=recovered_by)
    return replace(miss, recovered_by=recovered_by)
