"""Running a foreign system: it is asked, judged, and diagnosed as far as its stages can be seen."""

from dataclasses import dataclass, replace

from lab.config.retriever import RetrieverConfig
from lab.diagnosis.alpha.families import Family
from lab.diagnosis.calls import call_steps, calls_told
from lab.diagnosis.foreign import ForeignDiagnosis
from lab.diagnosis.places import reachable
from lab.pipeline.foreign.anchoring import anchored
from lab.pipeline.foreign.answers import account, ask_retriever, foreign_run
from lab.pipeline.foreign.retriever import Retriever
from lab.pipeline.foreign.rows import foreign_rows
from lab.pipeline.foreign.searched import searched
from lab.pipeline.resources import Resources
from lab.relevance.judge import SpanJudge
from lab.sweeping.outcome import SystemOutcome
from lab.sweeping.plan import Plan


@dataclass(frozen=True, eq=False)
class ForeignOutcome:
    """What a foreign system found, the curves over its legs if both are seen, its `identity`, and
    an `account` of what could not be taken as given."""

    system: SystemOutcome
    families: tuple[Family, ...]
    identity: str
    account: tuple[str, ...]


def run_foreign(
    name: str, retriever: Retriever | RetrieverConfig, plan: Plan, resources: Resources
) -> ForeignOutcome:
    """Ask, judge and diagnose a foreign system."""
    pieces = plan.pieces
    chunks = searched(name, retriever)
    with resources.timed("ask retrievers"):
        answers, identity = ask_retriever(name, retriever, pieces, resources.progress)
    ids = [query.query_id for query in pieces.queries]
    calls = [answers.calls.get(query_id, ()) for query_id in ids]
    rankings = [answers.hits.get(query_id, ()) for query_id in ids]
    hits = anchored(plan.corpus, rankings, calls, chunks)
    with resources.timed("judge"):
        run = foreign_run(hits, pieces, plan.measure.hold, plan.counter, resources)
    with resources.timed("diagnose"):
        diagnosis = ForeignDiagnosis(name, hits, run, pieces, plan.cutoff)
        misses, family = diagnosis.misses(), diagnosis.family
        steps = call_steps(hits, calls, run.judge, pieces)
    # What else a foreign retriever could return is unknown, unless it says what it searches: a span
    # of it may hold all evidence.
    unknown = isinstance(run.judge, SpanJudge) and not hits.whole
    outcome = SystemOutcome(
        run=replace(run, judged=run.judged.first(plan.ranks_read)),
        rows=foreign_rows(hits, run, len(plan.corpus)),
        misses=misses,
        reachable=pieces.per_query if unknown else reachable(pieces, run, plan.cutoff),
        reach=None,
        family=None if family is None else family.name,
        incomparable=answers.incomparable,
        calls=steps,
    )
    families = () if family is None else (family,)
    told = (*account(name, answers, hits), *calls_told(name, steps))
    return ForeignOutcome(outcome, families, identity, told)
