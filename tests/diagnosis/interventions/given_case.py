"""A case before any intervention: one system over a few texts, and its misses."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Span, Vectors
from lab.config.grid import Grid
from lab.corpus.document import Corpus, Document
from lab.diagnosis.causes import assign
from lab.diagnosis.cutoff import Cutoff
from lab.diagnosis.interventions.intervention import Case, Intervention
from lab.diagnosis.replay import Replay
from lab.evaluation.metrics import parse_metric
from lab.evaluation.scores import SystemRun
from lab.pipeline.indexes import Indexes
from lab.pipeline.pairs import prepare_pairs
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages
from lab.pipeline.tokens import count_tokens
from lab.relevance.judge import Judge, SpanJudge, judge_for
from lab.relevance.pieces import pieces
from lab.relevance.query import Evidence, Query
from lab.retrieval.ranking import Ranking, project
from lab.storage.cache import Cache
from tests.given import GivenReranker, corpus_of

MODEL, RERANKER = "given", "given reranker"


def query(text: str, doc_id: str, span: tuple[int, int] | None, **more: object) -> Query:
    """A question with one piece of evidence."""
    evidence = Evidence(doc_id) if span is None else Evidence(doc_id, *span)
    return Query(text, text, evidence=(evidence,), **more)  # type: ignore[arg-type]


@dataclass
class Cosines:
    """An encoder of given cosines between any question and a text, 0 for others. It reads the first
    `max_tokens` words of a text."""

    cosines: Mapping[str, float]
    max_tokens: int = 10_000

    @property
    def identity(self) -> str:
        return f"cosines {sorted(self.cosines.items())} {self.max_tokens}"

    def prompt(self, role: str) -> str:
        return ""

    def offsets(self, text: str) -> list[Span]:
        return [match.span() for match in re.finditer(r"\S+", text)]

    def encode(self, texts: Sequence[str], role: str, progress: Callable[[int], None]) -> Vectors:
        progress(len(texts))
        read = [" ".join(text.split()[: self.max_tokens]) for text in texts]
        cosine = np.array([1.0 if role == "query" else self.cosines.get(t, 0.0) for t in read])
        return np.stack([cosine, np.sqrt(1 - cosine**2)], axis=1).astype(np.float32)


def case_of(
    documents: Mapping[str, str] | Sequence[Document],
    queries: Sequence[Query],
    metric: str = "recall@1",
    cosines: Mapping[str, float] | None = None,
    scores: Mapping[str, float] | None = None,
    max_tokens: int = 10_000,
    **grid: object,
) -> Case:
    """The one system of a grid, by default BM25 over whole documents."""
    settings: dict[str, object] = {
        "chunk_strategy": "document",
        "mode": "bm25",
        "model": MODEL,
        "rerank_model": RERANKER,
    }
    (config,), _ = Grid(**(settings | grid)).systems()
    corpus = corpus_of(documents) if isinstance(documents, Mapping) else Corpus(documents)
    resources = Resources(
        Cache(None),
        encoders={MODEL: Cosines(cosines or {}, max_tokens)},
        scorers={RERANKER: GivenReranker(scores or {})},
    )
    asked = pieces(queries)
    stages = Stages(Indexes(corpus, config.chunk, resources), Questions.of(asked.queries)).asked_by(
        config
    )
    prepare_pairs([(stages, [config])])
    judges: dict[str, Judge] = {}

    def judged_as(deliver: str, ranking: Ranking) -> SystemRun:
        delivery = stages.delivery(deliver)
        judge = judges.setdefault(deliver, judge_for(asked, delivery.spans))
        tokens = count_tokens(resources.token_starts(None, corpus), delivery.spans)
        shown = ranking if deliver == "chunk" else project(ranking, delivery.span_of)
        return SystemRun(judge, judge.judge(shown), tokens)

    run = judged_as(config.deliver, stages.ranking(config))
    assert isinstance(run.judge, SpanJudge) == (asked.unit == "evidence")
    cutoff = Cutoff.of([parse_metric(metric)])
    replay = Replay(stages, asked, cutoff, [config], judged_as)
    ranks = replay.ranker.stage_ranks(config, run, cutoff.fitting(run))
    family = replay.families.of(config, run.judge)
    return Case(replay, config, run, ranks, assign(ranks), family)


def causes(case: Case) -> dict[str, str]:
    """Query -> cause of its miss."""
    names = case.replay.pieces.queries
    return {names[case.replay.pieces.query[unit]].text: case.cause(unit) for unit in case.missed}


def recovered(case: Case, intervention: Intervention) -> dict[str, str]:
    """Query -> the change that brought its piece back, of those that the intervention is worth
    trying for."""
    asked = case.replay.pieces
    units = intervention.applies_to(case)
    back = intervention.rerun(case, units) if len(units) else {}
    return {asked.queries[asked.query[unit]].text: text for unit, text in back.items()}
