"""Running the systems of one chunking, while its stages are alive."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lab.config.config import Config
from lab.diagnosis.alpha.families import Families, Family, on_curves, representatives
from lab.diagnosis.diagnose import Diagnosis
from lab.diagnosis.replay import Replay
from lab.diagnosis.unanswerable import Unanswered, unanswered
from lab.evaluation.scores import SystemRun
from lab.pipeline.pairs import prepare_pairs
from lab.pipeline.rows import Pairs, evidence_pairs, stage_rows
from lab.pipeline.stages import Stages
from lab.sweeping.depth import Reach
from lab.sweeping.judging import Judging
from lab.sweeping.outcome import SystemOutcome
from lab.sweeping.plan import Plan
from lab.sweeping.profile import Profile
from lab.sweeping.shelf import Shelf
from lab.sweeping.weighing import Weigher, Weighing

# Whether filters and variants are used.
Asking = tuple[bool, bool]


@dataclass(frozen=True, eq=False)
class ChunkingOutcome:
    """What the systems of one chunking found, in the order asked, and what they share."""

    systems: tuple[SystemOutcome, ...]
    families: tuple[Family, ...]
    unanswered: tuple[Unanswered, ...]
    weighings: tuple[Weighing, ...]


@dataclass(frozen=True, eq=False)
class _Group:
    """Systems that ask the questions alike: the stages that are asked, those of the unanswerable
    questions (None where the sets have none), the diagnosis, and the `systems` by their configs,
    with the alphas of questions where a rule gives them."""

    systems: Mapping[Config, Config]
    stages: Stages
    unanswerable: Stages | None
    diagnosis: Diagnosis
    weigher: Weigher


def run_chunking(
    stages: Stages,
    configs: Sequence[Config],
    plan: Plan,
    shelf: Shelf,
    profile: Profile | None,
    wanted: Sequence[Config] | None = None,
) -> ChunkingOutcome:
    """Rank, judge and diagnose the `wanted` of the systems of one chunking, by default all, that
    the shelf does not know. With a `profile`, measure their latency as well."""
    timed = stages.resources.timed
    judging = shelf.judging(stages, plan)
    wanted = configs if wanted is None else wanted
    groups = _groups(stages, configs, plan, judging, wanted)
    keys = {config: _key(config, groups[_asking(config)], plan) for config in wanted}
    asked: list[tuple[Stages, Sequence[Config]]] = []
    for group in groups.values():
        new = [system for config, system in group.systems.items() if not shelf.knows(keys[config])]
        asked.append((group.stages, new))
        if group.unanswerable is not None:
            asked.append((group.unanswerable, list(group.systems.values())))
    prepare_pairs(asked)
    with timed("judge"):
        evidence = evidence_pairs(judging.judge("chunk"))
    outcomes = []
    for config in wanted:
        group = groups[_asking(config)]
        run = partial(_outcome, group.systems[config], group, plan, judging, evidence)
        outcomes.append(shelf.outcome(keys[config], run))
        # A family is drawn at its first use, which a known outcome does not make.
        group.diagnosis.family_name(config, outcomes[-1].run)
    if profile is not None:
        with timed("profile"):
            for group in groups.values():
                profile.measure(group.stages, group.systems)
    with timed("unanswerable"):
        separations = [
            unanswered(
                group.stages,
                group.unanswerable,
                group.systems[config],
                outcome.run.judge,
                plan.pieces,
            )
            for config, outcome in zip(wanted, outcomes, strict=True)
            if (group := groups[_asking(config)]).unanswerable is not None
        ]
    families = (family for group in groups.values() for family in group.diagnosis.families)
    weighings = (weighing for group in groups.values() for weighing in group.weigher.weighings)
    return ChunkingOutcome(tuple(outcomes), tuple(families), tuple(separations), tuple(weighings))


def parted(configs: Sequence[Config], most: int) -> list[list[Config]]:
    """The systems of one chunking in at most so many parts that can be run apart: a family of
    alphas stays together, for its curves are drawn once."""
    families: dict[Hashable, list[Config]] = {}
    for asking, members in _alike(configs).items():
        known = representatives(members)
        for config in members:
            of = next((one for one in known if on_curves(one, config)), None)
            legs = config.bm25, config.dense, config.deliver
            families.setdefault((asking, of or legs), []).append(config)
    parts: list[list[Config]] = [[] for _ in range(min(most, len(families)))]
    for family in sorted(families.values(), key=len, reverse=True):
        min(parts, key=len).extend(family)
    return parts


def rejoined(
    configs: Sequence[Config], parts: Sequence[tuple[Sequence[Config], ChunkingOutcome]]
) -> ChunkingOutcome:
    """The outcome of all systems of a chunking from those of its parts."""
    systems: dict[Config, SystemOutcome] = {}
    separations: dict[Config, Unanswered] = {}
    drawn: dict[Config, Family] = {}
    weighings: dict[str, Weighing] = {}
    for members, outcome in parts:
        systems |= zip(members, outcome.systems, strict=True)
        separations |= zip(members, outcome.unanswered, strict=False)  # all of them, or none
        drawn |= {family.config: family for family in outcome.families}
        weighings |= {weighing.family: weighing for weighing in outcome.weighings}
    known = [one for members in _alike(configs).values() for one in representatives(members)]
    return ChunkingOutcome(
        tuple(systems[config] for config in configs),
        tuple(drawn[one] for one in known if one in drawn),
        tuple(separations[config] for config in configs if config in separations),
        tuple(weighings[one.family] for one in known if one.family in weighings),
    )


def run_phase(
    stages: Stages, configs: Sequence[Config], plan: Plan, shelf: Shelf
) -> list[SystemRun]:
    """Rank and judge every system of one chunking at a phase of whose misses nobody asks why."""
    judging, alike = shelf.judging(stages, plan), _alike(configs)
    asked = {asking: stages.asked_by(members[0]) for asking, members in alike.items()}
    systems: dict[Config, Config] = {}
    for asking, members in alike.items():
        families = Families(asked[asking], plan.pieces, plan.cutoff, members)
        systems |= _weighed(Weigher(asked[asking], families, plan), members, judging)
    prepare_pairs([(asked[of], [systems[c] for c in members]) for of, members in alike.items()])
    runs = []
    for config in configs:
        ranking = asked[_asking(config)].ranking(systems[config])
        with stages.resources.timed("judge"):
            run = judging.judged(config.deliver, ranking)
            runs.append(replace(run, judged=run.judged.first(plan.ranks_read)))
    return runs


def _key(config: Config, group: _Group, plan: Plan) -> Hashable:
    """What a system's outcome depends on beside documents, questions and what is measured: the
    curves that its misses are looked up on, and whose tokens are counted."""
    return config, group.diagnosis.replay.families.representative(config), plan.counter


def _asking(config: Config) -> Asking:
    return config.filter, config.variants


def _alike(configs: Sequence[Config]) -> Mapping[Asking, Sequence[Config]]:
    """The systems by how they ask the questions."""
    alike: dict[Asking, list[Config]] = {}
    for config in configs:
        alike.setdefault(_asking(config), []).append(config)
    return alike


def _groups(
    stages: Stages,
    configs: Sequence[Config],
    plan: Plan,
    judging: Judging,
    wanted: Sequence[Config],
) -> Mapping[Asking, _Group]:
    """The same with what they ask; of their systems those that are wanted."""
    unanswerable = stages.asking(plan.unanswerable) if plan.unanswerable else None
    groups = {}
    for asking, members in _alike(configs).items():
        asked = stages.asked_by(members[0])
        replay = Replay(asked, plan.pieces, plan.cutoff, members, judging.judged)
        weigher = Weigher(asked, replay.families, plan)
        groups[asking] = _Group(
            systems=_weighed(weigher, [c for c in members if c in wanted], judging),
            stages=asked,
            unanswerable=unanswerable and unanswerable.asked_by(members[0]),
            diagnosis=Diagnosis(replay),
            weigher=weigher,
        )
    return groups


def _weighed(
    weigher: Weigher, configs: Sequence[Config], judging: Judging
) -> Mapping[Config, Config]:
    """The systems by their configs, with the alphas of questions where a rule gives them."""
    return {
        config: weigher.with_alphas(config, judging.judge(config.deliver)) for config in configs
    }


def _outcome(
    config: Config, group: _Group, plan: Plan, judging: Judging, evidence: Pairs
) -> SystemOutcome:
    """What one system found."""
    stages, deliver, timed = group.stages, config.deliver, group.stages.resources.timed
    ranking = stages.ranking(config)
    with timed("judge"):
        run = judging.judged(deliver, ranking)
    with timed("rows"):
        rows = stage_rows(
            stages,
            config,
            run,
            ranking=ranking,
            delivered=judging.delivered(deliver, ranking),
            delivery=stages.delivery(deliver),
            evidence=evidence,
        )
    with timed("diagnose"):
        misses = group.diagnosis.misses(config, run)
        places = judging.reachable(deliver, run)
    chunks = len(stages.chunking)
    return SystemOutcome(
        run=replace(run, judged=run.judged.first(plan.ranks_read)),
        rows=rows,
        misses=misses,
        reachable=places,
        reach=Reach.of(ranking, run, config.depth, chunks, plan.pieces.query),
        family=group.diagnosis.family_name(config, run),
    )
