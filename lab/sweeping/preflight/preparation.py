"""Preparation: what a sweep makes ready and checks before its systems run."""

from dataclasses import dataclass

from lab.chunking.config import ChunkConfig
from lab.config.phases import at_phases
from lab.errors import ConfigError, ModelError
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.shards import Shards
from lab.pipeline.stages import Stages
from lab.storage.progress import noted
from lab.sweeping.errands import Errands
from lab.sweeping.plan import Plan
from lab.sweeping.preflight.compiling import compile_for
from lab.sweeping.preflight.encoding import encode_passages
from lab.sweeping.preflight.facts import (
    ChunkFacts,
    chunk_facts,
    distracted,
    leaked,
    left_out,
    unmatched,
    warnings,
)
from lab.sweeping.preflight.fields import check_fields
from lab.sweeping.preflight.needs import (
    lacking_models,
    lacking_rerankers,
    unmet,
    unsharded,
    windowed,
)
from lab.sweeping.preflight.reading import reading
from lab.sweeping.shelf import Shelf


@dataclass(frozen=True, eq=False)
class Preparation:
    """The `stages` of every chunking, one a phase, the `facts` of its first, and `notes` to the
    reader, told by now.

    Whoever runs the systems of a chunking takes its stages out, so that its indexes are freed
    before those of the next are built. `errands` are the tasks of a cluster, where there is one,
    `shards` the parts that the documents lie in there, if they do.
    """

    stages: dict[ChunkConfig, tuple[Stages, ...]]
    facts: tuple[ChunkFacts, ...]
    notes: tuple[str, ...]
    errands: Errands | None = None
    shards: Shards | None = None


def prepare(plan: Plan, shelf: Shelf, shards_wanted: int = 1) -> Preparation:
    """Check everything that models and documents may lack, then cut, encode and compile what the
    systems share.

    Raises ModelError with every model that cannot be had, ConfigError with every library, view and
    feature.
    """
    resources = shelf.resources
    lacking = checked(plan, resources)
    errands, shards = None, None
    if shards_wanted > 1:
        if approximate := unsharded(plan.systems):
            raise ConfigError(approximate)
        shards = Shards(plan.corpus, shards_wanted, resources)
    elif resources.cluster:
        errands = Errands(plan, resources)
    stages = stages_of(plan, shelf, errands, shards)
    first = {config: of_phases[0] for config, of_phases in stages.items()}
    with resources.timed("count tokens"):
        shelf.starts(plan)
    facts = chunk_facts(first, plan.configs, resources)
    texts = [query.text for query in plan.pieces.queries]
    notes = noted(
        resources.progress,
        (
            *plan.corpus.unread,
            *distracted(plan.corpus),
            *plan.notes,
            *lacking,
            *windowed(plan.systems, plan.corpus, resources),
            *reading(plan.systems, plan.corpus, texts, resources),
            *warnings(facts, plan.pieces),
            *leaked(plan.pieces, plan.corpus),
            *left_out(plan.configs, plan.pieces, plan.corpus),
            *unmatched(first, plan.configs, plan.pieces),
        ),
    )
    if shards is None:
        encode_passages(plan.configs, stages, resources)
    else:
        shards.encode(
            config.model_copy(update={"chunk": chunk})
            for config in plan.systems
            for chunk in at_phases(config.chunk, plan.phases)
        )
    compile_for(plan.configs, plan.metrics, resources)
    return Preparation(stages, facts, notes, errands, shards)


def checked(plan: Plan, resources: Resources) -> tuple[str, ...]:
    """Lines about what some documents lack; raises what the systems cannot do without."""
    rules = dict.fromkeys(config.bm25.synonyms for config in plan.systems if config.bm25)
    resources.read_synonyms(path for path in rules if path)
    absent = (*unmet(plan.systems, resources), *lacking_rerankers(plan.systems, resources))
    lacking = lacking_models(plan.systems, resources)
    if lacking and not absent:
        raise ModelError(lacking)
    if absent:
        raise ConfigError((*absent, *lacking))
    return check_fields(plan.corpus, plan.systems)


def stages_of(
    plan: Plan, shelf: Shelf, errands: Errands | None = None, shards: Shards | None = None
) -> dict[ChunkConfig, tuple[Stages, ...]]:
    """The stages of every chunking and phase; none of their indexes is built yet. With `errands`
    the chunkings are cut by tasks, with `shards` each cuts its own documents."""
    advance = shelf.resources.progress.stage("chunk", len(plan.by_chunk))
    stages: dict[ChunkConfig, tuple[Stages, ...]] = {}
    questions = Questions.of(plan.pieces.queries)
    known = errands.cut() if errands else {}
    for chunk_config in plan.by_chunk:
        stages[chunk_config] = tuple(
            shelf.stages(plan, config, questions, known.get(config), shards)
            for config in at_phases(chunk_config, plan.phases)
        )
        advance(1)
    return stages
