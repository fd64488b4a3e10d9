"""Reply: what a foreign retriever answers to one question, with the stages that can be seen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from lab.errors import nearest
from lab.pipeline.foreign.hits import Failure, Hit, parse_hits
from lab.retrieval.config import Normalization

# In the order of the street. Legs search by themselves; the others change what came before them.
LEGS = ("lexical", "dense")
KINDS = (*LEGS, "fused", "filter", "rerank", "final")
NORMALIZATIONS = get_args(Normalization)


@dataclass(frozen=True, slots=True)
class StageHits:
    """What one stage had, best first. `returned` says how many of a leg's hits it returned; further
    ones it has only scored (None: it returned all). `normalization` says how a `fused` stage joins
    the legs and `alpha` with what weight of the dense one, where its owner says so."""

    name: str
    kind: str
    hits: tuple[Hit, ...]
    returned: int | None = None
    normalization: str | None = None
    alpha: float | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One search for a question, in words that may be others than the question's: an agent searches
    several times."""

    stages: tuple[StageHits, ...]
    query: str = ""

    @property
    def final(self) -> tuple[Hit, ...]:
        """What was handed on: the hits of its last stage."""
        return self.stages[-1].hits


@dataclass(frozen=True, slots=True)
class Reply:
    """`hits` are what the reader gets; `calls` show how they came about, none where no stage can be
    seen."""

    hits: tuple[Hit, ...]
    calls: tuple[Call, ...] = ()

    def first(self, depth: int) -> "Reply":
        """With the first `depth` hits; stages stay whole."""
        return self if len(self.hits) <= depth else Reply(self.hits[:depth], self.calls)

    @property
    def record(self) -> dict[str, Any]:
        """As `parse_reply` reads it."""
        hits = [_plain(hit) for hit in self.hits]
        if not self.calls:
            return {"hits": hits}
        calls = [
            {"query": call.query, "stages": [_plain_stage(stage) for stage in call.stages]}
            for call in self.calls
        ]
        return {"hits": hits, "calls": calls}


Answer = Reply | Failure


def parse_reply(value: Any, depth: int | None = None) -> Answer:
    """A reply of at most `depth` hits: `{"stages": [...]}`, `{"calls": [{"query", "stages"}]}` for
    several searches, or hits alone in any shape that `parse_hits` reads. Stages are mappings of
    `name`, `kind` (one of KINDS), `hits`, and if they say so `returned`, `normalization` and
    `alpha`. Hits beside them are what the reader gets; without any these are the last stage's, of
    several calls one after the other."""
    if isinstance(value, Reply):
        return value if depth is None else value.first(depth)
    if not isinstance(value, Mapping) or not ({"stages", "calls"} & set(value)):
        hits = parse_hits(value, depth)
        return hits if isinstance(hits, Failure) else Reply(hits)
    problems: list[str] = []
    calls = _calls(value.get("calls", [value]), problems)
    shown: tuple[Hit, ...] = tuple(dict.fromkeys(hit for call in calls for hit in call.final))
    if value.get("hits") is not None:
        shown = _hits(value["hits"], "hits", problems)
    if problems:
        return Failure("; ".join(problems)[:500], final=True)
    reply = Reply(shown, tuple(calls))
    return reply if depth is None else reply.first(depth)


def reply_of(record: Mapping[str, Any], depth: int | None = None) -> Answer:
    """The reply that a line of JSON holds beside its `query_id`."""
    said = {key: record[key] for key in ("hits", "stages", "calls") if key in record}
    return parse_reply(said or None, depth)


def _calls(given: Any, problems: list[str]) -> list[Call]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        problems.append(f"calls is a {type(given).__name__}; expected a list")
        return []
    calls = []
    for number, call in enumerate(given, start=1):
        stages = call.get("stages") if isinstance(call, Mapping) else None
        if isinstance(stages, str | bytes) or not isinstance(stages, Sequence) or not stages:
            problems.append(f"call {number} has no stages; expected a list with one at least")
            continue
        query = call.get("query")
        parsed = [_stage(stage, problems) for stage in stages]
        names = [stage.name for stage in parsed if stage]
        problems += [
            f"two stages of one call are called '{name}'; give each a name of its own"
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        ]
        kept = tuple(stage for stage in parsed if stage)
        if kept:
            calls.append(Call(kept, query if isinstance(query, str) else ""))
    return calls


def _stage(given: Any, problems: list[str]) -> StageHits | None:
    if isinstance(given, StageHits):
        return given
    if not isinstance(given, Mapping):
        problems.append(f"a stage is a {type(given).__name__}; expected name, kind and hits")
        return None
    kind = given.get("kind")
    if kind not in KINDS:
        problems.append(f"stage kind {kind!r}{nearest(str(kind), KINDS)}")
        return None
    name = given.get("name", kind)
    if not isinstance(name, str) or not name.strip():
        problems.append(f"stage name {name!r}; expected a text")
        return None
    hits = _hits(given.get("hits"), f"stage '{name}'", problems)
    stage = StageHits(name, kind, hits, *(given.get(key) for key in ("returned", *JOINED)))
    problems += wrong(stage)
    return stage


JOINED = ("normalization", "alpha")


def wrong(stage: StageHits) -> Iterable[str]:
    """What is wrong with what a stage says of itself."""
    count, alpha = stage.returned, stage.alpha
    if count is not None and not (type(count) is int and 0 <= count <= len(stage.hits)):
        yield f"stage '{stage.name}': returned is {count!r}; expected 0 to {len(stage.hits)}"
    if stage.normalization not in (None, *NORMALIZATIONS):
        known = nearest(str(stage.normalization), NORMALIZATIONS)
        yield f"stage '{stage.name}': normalization {stage.normalization!r}{known}"
    if alpha is not None and not (type(alpha) in (int, float) and 0 <= alpha <= 1):
        yield f"stage '{stage.name}': alpha is {alpha!r}; expected a number from 0 to 1"


def _hits(given: Any, where: str, problems: list[str]) -> tuple[Hit, ...]:
    hits = parse_hits(given)
    if isinstance(hits, Failure):
        problems.append(f"{where}: {hits.reason}")
        return ()
    return hits


def _plain(hit: Hit) -> dict[str, Any]:
    return {key: value for key, value in asdict(hit).items() if value is not None}


def _plain_stage(stage: StageHits) -> dict[str, Any]:
    hits = [_plain(hit) for hit in stage.hits]
    said = {key: getattr(stage, key) for key in ("returned", *JOINED)}
    told = {key: value for key, value in said.items() if value is not None}
    return {"name": stage.name, "kind": stage.kind, **told, "hits": hits}
