"""Running systems: those of one chunking, while its stages are alive, and foreign ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.arrays import Ints
from lab.chunking.chunk import Chunking
from lab.config.config import Config
from lab.config.retriever import RetrieverConfig
from lab.corpus.document import Corpus
from lab.diagnosis.alpha.families import Family
from lab.diagnosis.cutoff import Cutoff
from lab.diagnosis.diagnose import Diagnosis
from lab.diagnosis.foreign import foreign_misses
from lab.diagnosis.misses import Miss
from lab.diagnosis.places import reachable
from lab.diagnosis.replay import Replay
from lab.diagnosis.unanswerable import Unanswered, unanswered
from lab.evaluation.scores import SystemRun
from lab.pipeline.foreign.answers import account, anchored, ask_retriever, foreign_rows, foreign_run
from lab.pipeline.foreign.retriever import Retriever
from lab.pipeline.pairs import prepare_pairs
from lab.pipeline.resources import Resources
from lab.pipeline.rows import StageRows, evidence_pairs, stage_rows
from lab.pipeline.stages import Stages
from lab.pipeline.tokens import count_tokens
from lab.relevance.judge import Judge, SpanJudge, judge_for
from lab.relevance.pieces import Pieces
from lab.retrieval.ranking import Ranking, project
from lab.sweeping.depth import Reach
from lab.sweeping.plan import Plan
from lab.sweeping.profile import Profile


@dataclass(frozen=True, eq=False)
class EvaluationContext:
    """How every system of a plan is judged; `starts` are per document the offsets of tokens (of the
    plan's counter, or of words)."""

    plan: Plan
    starts: Sequence[Ints]

    @property
    def corpus(self) -> Corpus:
        return self.plan.corpus

    @property
    def pieces(self) -> Pieces:
        return self.plan.pieces

    @property
    def hold(self) -> float:
        """The share of a piece that must be held."""
        return self.plan.measure.hold

    @property
    def cutoff(self) -> Cutoff:
        return self.plan.cutoff

    @property
    def ranks_read(self) -> int | None:
        """How many ranks the metrics look at beside completion ranks; None for all, which a token
        budget may need, and metrics that read every hit."""
        metrics = self.plan.metrics
        if any(metric.by_tokens or metric.family.whole for metric in metrics):
            return None
        return max(self.plan.measure.context_k, *(metric.k for metric in metrics))


@dataclass(frozen=True, eq=False)
class SystemOutcome:
    """What one system found: for the metrics, for `rankings.parquet`, every piece it missed, and
    per question how many pieces any ranking could hold (see `lab.diagnosis.places`); how far its
    rankings go, None for a foreign one; the family of alphas that it belongs to, if any; and why
    its figures cannot be compared, None where they can."""

    run: SystemRun
    rows: StageRows
    misses: tuple[Miss, ...]
    reachable: Ints
    reach: Reach | None
    family: str | None = None
    incomparable: str | None = None


@dataclass(frozen=True, eq=False)
class ChunkingOutcome:
    """What the systems of one chunking found, in the order asked, and what they share."""

    systems: tuple[SystemOutcome, ...]
    families: tuple[Family, ...]
    unanswered: tuple[Unanswered, ...]


def run_chunking(
    stage: Stages, configs: Sequence[Config], context: EvaluationContext, profile: Profile | None
) -> ChunkingOutcome:
    """Rank, judge and diagnose every system of one chunking. With a `profile`, measure their
    latency as well."""
    resources = stage.resources
    unanswerable = stage.asking(context.plan.unanswerable) if context.plan.unanswerable else None
    groups: dict[tuple[bool, bool], list[Config]] = {}
    for config in configs:
        groups.setdefault((config.filter, config.variants), []).append(config)
    askings = {key: stage.asked_by(group[0]) for key, group in groups.items()}
    unanswerable_askings = (
        {key: unanswerable.asked_by(group[0]) for key, group in groups.items()}
        if unanswerable
        else {}
    )
    both = *askings.items(), *unanswerable_askings.items()
    prepare_pairs([(asking, groups[key]) for key, asking in both])
    judges: dict[str, tuple[Judge, Ints]] = {}
    places: dict[str, Ints] = {}

    def judge_of(deliver: str) -> tuple[Judge, Ints]:
        if deliver not in judges:
            spans = stage.delivery(deliver).spans
            judge = judge_for(context.pieces, spans, context.hold)
            judges[deliver] = judge, _tokens_of_judged(judge, spans, context.starts)
        return judges[deliver]

    def delivered_as(deliver: str, ranking: Ranking) -> Ranking:
        return ranking if deliver == "chunk" else project(ranking, stage.delivery(deliver).span_of)

    def judged_as(deliver: str, ranking: Ranking) -> SystemRun:
        judge, tokens = judge_of(deliver)
        return SystemRun(judge, judge.judge(delivered_as(deliver, ranking)), tokens)

    with resources.timed("judge"):
        evidence = evidence_pairs(judge_of("chunk")[0])
    diagnoses = {
        key: Diagnosis(Replay(askings[key], context.pieces, context.cutoff, group, judged_as))
        for key, group in groups.items()
    }
    outcomes: list[SystemOutcome] = []
    for config in configs:
        asking, diagnosis = (
            askings[config.filter, config.variants],
            diagnoses[config.filter, config.variants],
        )
        delivery, ranking = stage.delivery(config.deliver), asking.ranking(config)
        with resources.timed("judge"):
            run = judged_as(config.deliver, ranking)
        with resources.timed("rows"):
            delivered = delivered_as(config.deliver, ranking)
            rows = stage_rows(
                asking,
                config,
                run,
                ranking=ranking,
                delivered=delivered,
                delivery=delivery,
                evidence=evidence,
            )
        with resources.timed("diagnose"):
            misses = diagnosis.misses(config, run)
            if config.deliver not in places:
                places[config.deliver] = reachable(context.pieces, run, context.cutoff)
        reach = Reach.of(ranking, run, config.depth, len(stage.chunking), context.pieces.query)
        read = replace(run, judged=run.judged.first(context.ranks_read))
        outcomes.append(
            SystemOutcome(
                run=read,
                rows=rows,
                misses=misses,
                reachable=places[config.deliver],
                reach=reach,
                family=diagnosis.family_name(config, run),
            )
        )
    if profile is not None:
        with resources.timed("profile"):
            for key, group in groups.items():
                profile.measure(askings[key], group)
    with resources.timed("unanswerable"):
        separations = [
            unanswered(
                askings[key], unanswerable_askings[key], config, system.run.judge, context.pieces
            )
            for config, system in zip(configs, outcomes, strict=True)
            if (key := (config.filter, config.variants)) in unanswerable_askings
        ]
    families = tuple(family for diagnosis in diagnoses.values() for family in diagnosis.families)
    return ChunkingOutcome(tuple(outcomes), families, tuple(separations))


def run_foreign(
    name: str,
    retriever: Retriever | RetrieverConfig,
    context: EvaluationContext,
    resources: Resources,
) -> tuple[SystemOutcome, str, tuple[str, ...]]:
    """Ask and judge a foreign system; also its identity and an account of what could not be taken
    as given."""
    with resources.timed("ask retrievers"):
        answers, identity = ask_retriever(name, retriever, context.pieces, resources.progress)
    hits = anchored(
        context.corpus, [answers.hits.get(query.query_id, ()) for query in context.pieces.queries]
    )
    with resources.timed("judge"):
        run = foreign_run(hits, context.pieces, context.hold, context.plan.counter, resources)
    rows, misses = (
        foreign_rows(hits, run, len(context.corpus)),
        foreign_misses(run, context.pieces, context.cutoff),
    )
    # What else a foreign retriever could return is unknown: a span of it may hold all evidence.
    spans = isinstance(run.judge, SpanJudge)
    places = context.pieces.per_query if spans else reachable(context.pieces, run, context.cutoff)
    read = replace(run, judged=run.judged.first(context.ranks_read))
    outcome = SystemOutcome(read, rows, misses, places, None, incomparable=answers.incomparable)
    return outcome, identity, tuple(account(name, answers, hits.counts))


def _tokens_of_judged(judge: Judge, spans: Chunking, starts: Sequence[Ints]) -> Ints:
    """Context tokens of what the judge ranks: spans, or whole documents."""
    if isinstance(judge, SpanJudge):
        return count_tokens(starts, spans)
    return np.array([len(offsets) for offsets in starts], dtype=np.int64)
