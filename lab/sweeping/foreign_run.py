"""Running a foreign system, which is asked and judged but not diagnosed stage by stage."""

from dataclasses import replace

from lab.config.retriever import RetrieverConfig
from lab.diagnosis.foreign import foreign_misses
from lab.diagnosis.places import reachable
from lab.pipeline.foreign.answers import account, anchored, ask_retriever, foreign_rows, foreign_run
from lab.pipeline.foreign.retriever import Retriever
from lab.pipeline.resources import Resources
from lab.relevance.judge import SpanJudge
from lab.sweeping.outcome import SystemOutcome
from lab.sweeping.plan import Plan


def run_foreign(
    name: str, retriever: Retriever | RetrieverConfig, plan: Plan, resources: Resources
) -> tuple[SystemOutcome, str, tuple[str, ...]]:
    """Ask and judge a foreign system; also its identity and an account of what could not be taken
    as given."""
    pieces = plan.pieces
    with resources.timed("ask retrievers"):
        answers, identity = ask_retriever(name, retriever, pieces, resources.progress)
    answered = [answers.hits.get(query.query_id, ()) for query in pieces.queries]
    hits = anchored(plan.corpus, answered)
    with resources.timed("judge"):
        run = foreign_run(hits, pieces, plan.measure.hold, plan.counter, resources)
    # What else a foreign retriever could return is unknown: a span of it may hold all evidence.
    spans = isinstance(run.judge, SpanJudge)
    outcome = SystemOutcome(
        run=replace(run, judged=run.judged.first(plan.ranks_read)),
        rows=foreign_rows(hits, run, len(plan.corpus)),
        misses=tuple(foreign_misses(run, pieces, plan.cutoff)),
        reachable=pieces.per_query if spans else reachable(pieces, run, plan.cutoff),
        reach=None,
        incomparable=answers.incomparable,
    )
    return outcome, identity, tuple(account(name, answers, hits.counts))
