"""The boundary gap: what the nearness of a cut costs, and the worst cuts with their text."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from lab.arrays import NEVER
from lab.chunking.chunk import Chunking
from lab.chunking.cuts import Cuts
from lab.config.rows import in_play, settings_of
from lab.config.settings import of_stage
from lab.corpus.document import Corpus
from lab.errors import RunError
from lab.evaluation.ablation import Factors
from lab.evaluation.clusters import each_question
from lab.evaluation.intervals import mean_intervals
from lab.evaluation.slices import DISTANCES
from lab.relevance.query import Evidence, Query
from lab.runs.tables import Tables

if TYPE_CHECKING:
    pass

# Per question the distance of each piece from the nearest cut.
Margins = Mapping[str, Sequence[int]]

# Evidence nearer to a cut than this, or parted by it, is near; the rest lies mid-chunk.
NEAR = DISTANCES[1]
SIDE = 60


@dataclass(frozen=True, slots=True)
class Gap:
    """Mid-chunk score minus near-cut score under one system, with the ends of its 95% interval,
    over `pairs` of questions.

    `paired_by` says how. `pair`: the probes that `lab probe` made with their controls. `question`:
    questions whose evidence is parted here with the same questions under the run's other chunk
    configs that hold it whole (their mean), nothing else changed. `length`: each question near a
    cut with the mid-chunk question of its kind whose evidence is nearest in length. NaN without
    pairs.
    """

    system: str
    pairs: int
    paired_by: str
    near: float
    mid: float
    gap: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut through evidence that was not found: where, the text before and after it, and the
    questions that missed it."""

    doc_id: str
    offset: int
    before: str
    after: str
    query_ids: tuple[str, ...]


def margins(tables: Tables, corpus: Corpus, queries: Sequence[Query], system: str) -> Margins:
    """Per scored question the distance of each piece of evidence from the nearest cut of the
    system's chunks, the best alternative's. Raises RunError when the run judged whole documents."""
    if tables.manifest["unit"] != "evidence":
        raise RunError(
            "this run judged whole documents; distances from cuts need evidence with quotes or "
            "offsets"
        )
    cuts = Cuts(_chunks(tables, corpus, system))
    scored = set(tables.scores.loc[tables.scores["system"] == system, "query_id"])
    return {
        query.query_id: [
            max(_margin(cuts, corpus, evidence) for evidence in piece) for piece in _pieces(query)
        ]
        for query in queries
        if query.query_id in scored
    }


def _margin(cuts: Cuts, corpus: Corpus, evidence: Evidence) -> int:
    """`Cuts.margin`; of a document that is not in the corpus every character is lacking."""
    if evidence.doc_id not in corpus:
        return -((evidence.end or 1) - (evidence.start or 0))
    return cuts.margin(
        corpus.position[evidence.doc_id], *evidence.span(corpus[evidence.doc_id].text)
    )


def _pieces(query: Query) -> list[tuple[Evidence, ...]]:
    """The pieces in the order in which the run numbers them."""
    return [piece for piece in query.pieces if max(item.grade for item in piece) > 0]


def _chunks(tables: Tables, corpus: Corpus, system: str) -> Chunking:
    """The system's chunks as far as the run knows them: all that hold evidence are among its
    rows."""
    rows = tables.rankings[tables.rankings["system"] == system]
    distinct = rows[["doc_id", "start", "end"]].drop_duplicates()
    spans = [
        (corpus.position[row.doc_id], int(row.start), int(row.end), 0)
        for row in distinct.itertuples()
    ]
    return Chunking.of(corpus, spans)


def boundary_gap(
    tables: Tables,
    queries: Sequence[Query],
    margins: Mapping[str, Margins],
    system: str,
    metric: str,
) -> Gap:
    """The gap under one system; `margins` are those of it and of the systems that differ in
    chunks alone."""
    scores = {name: scores_of(tables, name, metric) for name in margins}
    score, asked = scores[system], [query for query in queries if query.query_id in scores[system]]
    paired_by, pairs = "pair", _probed(asked, score)
    if not pairs:
        paired_by, pairs = "question", _elsewhere(margins, scores, system)
    if not pairs:
        paired_by, pairs = "length", _matched(asked, margins[system], score)
    if not pairs:
        return Gap(
            system=system,
            pairs=0,
            paired_by=paired_by,
            near=nan,
            mid=nan,
            gap=nan,
            low=nan,
            high=nan,
        )
    near, mid = np.array(pairs).T
    seed = int(tables.manifest["measure"]["seed"])
    low, high = mean_intervals((mid - near)[:, None], each_question(len(pairs)), seed, bounds=None)
    gap = mid - near
    return Gap(
        system=system,
        pairs=len(pairs),
        paired_by=paired_by,
        near=float(near.mean()),
        mid=float(mid.mean()),
        gap=float(gap.mean()),
        low=float(low[0]),
        high=float(high[0]),
    )


def scores_of(tables: Tables, system: str, metric: str) -> dict[str, float]:
    """One metric of every scored question under one system."""
    rows = tables.scores[(tables.scores["system"] == system) & (tables.scores["metric"] == metric)]
    return dict(zip(rows["query_id"].astype(str), rows["value"].astype(float), strict=True))


def _probed(queries: Sequence[Query], score: Mapping[str, float]) -> list[tuple[float, float]]:
    """Scores of (cut, control) of every pair that `lab probe` mined."""
    pairs: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for query in queries:
        if {"pair", "boundary"} <= set(query.tags):
            prefix = query.query_id.rpartition("-")[0]
            pairs[prefix, query.tags["pair"]][query.tags["boundary"]] = score[query.query_id]
    return [
        (pair["cut"], pair["control"])
        for _, pair in sorted(pairs.items())
        if {"cut", "control"} <= set(pair)
    ]


def _elsewhere(
    margins: Mapping[str, Margins], scores: Mapping[str, Mapping[str, float]], system: str
) -> list[tuple[float, float]]:
    """Scores of questions parted here, with their mean under the systems that hold all their
    evidence whole."""
    pairs = []
    for query_id, distances in margins[system].items():
        whole = [
            scores[name][query_id] for name, other in margins.items() if min(other[query_id]) >= 0
        ]
        if min(distances) < 0 and whole:
            pairs.append((scores[system][query_id], sum(whole) / len(whole)))
    return pairs


def _matched(
    queries: Sequence[Query], margins: Margins, score: Mapping[str, float]
) -> list[tuple[float, float]]:
    """Scores of each near-cut question and of the unused mid-chunk question of its kind with
    evidence nearest in length."""
    pairs = []
    for kind in sorted({query.kind for query in queries}):
        members = sorted((q for q in queries if q.kind == kind), key=lambda query: query.query_id)
        free = [query for query in members if min(margins[query.query_id]) >= NEAR]
        for query in members:
            if min(margins[query.query_id]) < NEAR and free:
                size = _evidence_length(query)
                partner = min(
                    free, key=lambda other: (abs(_evidence_length(other) - size), other.query_id)
                )
                free.remove(partner)
                pairs.append((score[query.query_id], score[partner.query_id]))
    return pairs


def _evidence_length(query: Query) -> int:
    return sum(
        (item.end or 0) - (item.start or 0) for piece in _pieces(query) for item in piece[:1]
    )


def worst_cuts(
    tables: Tables, corpus: Corpus, queries: Sequence[Query], margins: Margins, system: str, k: int
) -> list[Cut]:
    """Cuts through evidence that is not complete within the first `k`, those that cost most
    questions first."""
    rows = tables.evidence[tables.evidence["system"] == system]
    ranks = rows["complete"].to_numpy(dtype=np.int64, na_value=NEVER).tolist()
    complete = dict(zip(zip(rows["query_id"], rows["piece"], strict=True), ranks, strict=True))
    cuts = Cuts(_chunks(tables, corpus, system))
    missed: dict[tuple[str, int], list[str]] = defaultdict(list)
    for query in queries:
        for number, (piece, margin) in enumerate(
            zip(_pieces(query), margins.get(query.query_id, ()), strict=False), start=1
        ):
            if margin < 0 and complete[query.query_id, number] > k:
                start, end = piece[0].span(corpus[piece[0].doc_id].text)
                inside = cuts.inside(corpus.position[piece[0].doc_id], start, end)
                offset = min(inside, key=lambda cut: abs(2 * cut - start - end))
                missed[piece[0].doc_id, offset].append(query.query_id)
    ordered = sorted(missed.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        Cut(
            doc_id,
            offset,
            corpus[doc_id].text[max(offset - SIDE, 0) : offset],
            corpus[doc_id].text[offset : offset + SIDE],
            tuple(ids),
        )
        for (doc_id, offset), ids in ordered
    ]


def systems_alike(tables: Tables, system: str) -> list[str]:
    """The system and those that differ from it in chunks alone: one for every chunk config."""
    rows = tables.systems.to_dict("records")
    factors = Factors([in_play(settings_of(row)) for row in rows])
    chunks = {setting.name for setting in of_stage("chunk")}
    alike = factors.alike(tables.place(system), but_for=chunks)
    return [tables.names[place] for place in np.flatnonzero(alike)]
