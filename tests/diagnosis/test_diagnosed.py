"""Diagnosis of whole sets: one cause a miss, waterfalls that end at recall, and alpha curves equal
to 1,001 evaluations."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lab
from lab.diagnosis.alpha.families import Family
from lab.diagnosis.alpha.summary import metric_values
from lab.diagnosis.causes import CAUSES
from lab.evaluation.metrics import parse_metric
from lab.evaluation.scores import SystemRun, score
from lab.pipeline.indexes import Indexes
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages
from lab.relevance.judge import HOLD, judge_for
from lab.retrieval.config import DEFAULT_MODEL
from lab.retrieval.fusion import fuse
from lab.retrieval.ranking import project
from lab.storage.cache import Cache
from lab.sweeping.measured import Measured
from tests.conftest import ROOT
from tests.given import measured, run_of

# No part of the project: its sets are skipped where it is not there.
MULTILINGUAL = Path(
    os.environ.get("LAB_MULTILINGUAL", ROOT.parent / "models" / "multilingual-e5-small")
)
K = 5
METRICS = ("recall@5", "ndcg@10", "precision@3")
ALPHAS = np.round(np.linspace(0, 1, 1001), 10)
# Alphas scored together: some 1,000 questions take 100 MB.
SLAB = 77


@dataclass(frozen=True)
class Case:
    """A set with its grid, and the least share of verified causes that it had when it was
    measured."""

    verified: float
    corpus: Path
    questions: Path
    model: str = DEFAULT_MODEL
    grid: Mapping[str, Any] = field(default_factory=dict)


def own(name: str, verified: float, model: str = DEFAULT_MODEL, **grid: object) -> Case:
    return Case(verified, ROOT / "corpora" / name, ROOT / "diagnostic_sets" / name, model, grid)


def public(name: str, verified: float, model: str = DEFAULT_MODEL, **grid: object) -> Case:
    folder = ROOT.parent / "shared" / "bench" / "spans" / name
    return Case(verified, folder / "documents.jsonl", folder / "queries.jsonl", model, grid)


CASES = {
    "software": own("software", 0.85),
    "devices": own("devices", 0.8, rerank_depth=(0, 20), blend=0.3),
    "contracts": own("contracts", 0.8),
    "handbook-zh": own("handbook-zh", 0.8, str(MULTILINGUAL), chunk_size=200),
    "chroma": public("chroma", 0.8, chunk_size=512),
    "xquad-zh": public("xquad-zh", 0.95, str(MULTILINGUAL), chunk_size=200),
    "cmrc2018": public("cmrc2018", 0.9, str(MULTILINGUAL), chunk_size=200),
}


def swept(case: Case, questions: slice = slice(None)) -> Measured:
    corpus = lab.read_corpus(case.corpus)
    queries = [query for query in lab.read_diagnostics(case.questions, corpus) if query.evidence]
    grid = lab.Grid(
        mode=("bm25", "dense", "hybrid"), alpha=(0.2, 0.5, 0.8), model=case.model, **case.grid
    )
    return measured(
        corpus, queries[questions], grid, lab.Measure(metrics=METRICS, select_by="ndcg@10")
    )


def missed_by_hand(result: Measured, system: int) -> np.ndarray:
    """Per piece whether the first K hits lack it: characters are counted one by one, without judge
    or waterfall."""
    rows, documents = result.rows[system], result.plan.corpus.documents
    seen: dict[int, set[tuple[str, int]]] = {}
    for row in np.flatnonzero((rows.rank > 0) & (rows.rank <= K)):
        doc_id = documents[rows.document[row]].doc_id
        places = range(rows.shown_start[row], rows.shown_end[row])
        seen.setdefault(int(rows.query[row]), set()).update((doc_id, place) for place in places)
    missed, pieces = [], result.plan.pieces
    for query, alternatives in zip(pieces.query.tolist(), pieces.items, strict=True):
        held = []
        for item in alternatives:
            text = result.plan.corpus[item.doc_id].text
            visible = {
                (item.doc_id, place)
                for place in range(item.start, item.end)
                if not text[place].isspace()
            }
            held.append(len(visible & seen.get(query, set())) / len(visible))
        missed.append(max(held) < HOLD - 1e-9)
    return np.array(missed)


def holds_one_cause_a_miss(result: Measured) -> None:
    pieces = result.plan.pieces
    ids = [pieces.queries[query].query_id for query in pieces.query]
    numbers = np.arange(len(ids)) - np.searchsorted(pieces.query, pieces.query) + 1
    for system, found in enumerate(result.findings.misses):
        missed = np.flatnonzero(missed_by_hand(result, system))
        assert [(miss.query_id, miss.piece) for miss in found] == [
            (ids[piece], numbers[piece]) for piece in missed
        ]
        assert {miss.cause for miss in found} <= set(CAUSES)
        assert all(miss.k == K and not 0 < (miss.ranks.final or K + 1) <= K for miss in found)


def holds_the_waterfall(result: Measured) -> None:
    kinds = np.array([query.kind for query in result.plan.pieces.queries])
    for system, name in enumerate(result.systems):
        hit = ~missed_by_hand(result, system)
        recall = np.bincount(result.plan.pieces.query, weights=hit) / result.plan.pieces.per_query
        table = run_of(result).waterfall(name)
        for kind in ("all", *dict.fromkeys(kinds)):
            left = 1.0
            for step in table[table["kind"] == kind].itertuples():
                left -= step.lost
                assert abs(step.left - left) < 1e-9
            assert abs(left - recall[(kinds == kind) | (kind == "all")].mean()) < 1e-9, (name, kind)


def differing(result: Measured, cache: Path) -> tuple[int, int]:
    """(compared, different): every (family, question, metric, alpha) by its curve and by fusing and
    scoring at that alpha."""
    compared = different = 0
    for family in result.findings.families:
        curves = [
            [
                replace(curve, complete=own[None]).at(ALPHAS)[0]
                for curve, own in zip(family.curves, values, strict=True)
            ]
            for values in metric_values(
                family.curves, result.plan.pieces, [parse_metric(label) for label in METRICS]
            )
        ]
        drawn = np.array(curves).transpose(2, 1, 0)
        start = 0
        for evaluated in evaluations(result, family, cache):
            part = drawn[start : start + len(evaluated)]
            compared, different, start = (
                compared + part.size,
                different + int((part != evaluated).sum()),
                start + len(part),
            )
        assert start == len(ALPHAS)
    return compared, different


def evaluations(result: Measured, family: Family, cache: Path) -> Iterator[np.ndarray]:
    """Alphas x questions x metrics, slab by slab: the lab's own fusion, judge and metrics at each
    alpha."""
    config, asked = family.config, result.plan.pieces
    stage = Stages(
        Indexes(result.plan.corpus, config.chunk, Resources(Cache(cache, print))),
        Questions.of(asked.queries),
    )
    found, span_of = (
        stage.candidates(config.bm25, config.dense, config.depth),
        stage.delivery(config.deliver),
    )
    judge = judge_for(asked, span_of.spans, result.plan.measure.hold)
    for slab in np.array_split(ALPHAS, len(ALPHAS) // SLAB):
        runs = []
        for alpha in slab.tolist():
            ranking = fuse(found, family.fusion.model_copy(update={"alpha": alpha}), config.depth)
            judged = judge.judge(project(ranking, span_of.span_of)).first(family.cap)
            runs.append(SystemRun(judge, judged, np.zeros(0, dtype=np.int64)))
        yield score(asked, runs, [parse_metric(label) for label in METRICS])


def test_a_part_of_a_set_is_diagnosed_to_the_last_miss(cache: Path) -> None:
    result = swept(CASES["software"], slice(None, None, 6))
    holds_one_cause_a_miss(result)
    holds_the_waterfall(result)
    compared, different = differing(result, cache)
    assert compared == len(result.plan.pieces.queries) * len(METRICS) * len(ALPHAS)
    assert different == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_whole_set_is_diagnosed_to_the_last_miss(name: str, cache: Path) -> None:
    case = CASES[name]
    if not case.corpus.exists():
        pytest.skip(f"{case.corpus} is not there: public data sets are not part of the project")
    if os.sep in case.model and not Path(case.model).is_dir():
        pytest.skip(f"{case.model} is not there: the multilingual model is no part of the project")
    result = swept(case)
    holds_one_cause_a_miss(result)
    holds_the_waterfall(result)
    compared, different = differing(result, cache)
    misses = [miss for found in result.findings.misses for miss in found]
    verified = sum(miss.verified for miss in misses) / len(misses)
    print(
        f"{name}: {len(result.systems)} systems, {len(result.plan.pieces.queries)} questions, "
        f"{len(misses)} misses, "
        f"{verified:.3f} verified; {different} of {compared} (question, metric, alpha) differ"
    )
    assert different == 0
    assert verified >= case.verified
