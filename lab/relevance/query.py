"""Query and Evidence: what is asked, and which spans of which documents answer it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Literal

from lab.corpus.filter import Filter
from lab.errors import DiagnosticsError

Role = Literal["core", "background"]
AnswerType = Literal["fact", "reasoning", "operation", "opinion"]
Speaker = Literal["user", "assistant"]
ROLES: tuple[Role, ...] = ("core", "background")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a document that helps to answer: `start` and `end`, or the `quote` that stands
    there, which a sweep locates (the `occurrence`-th, from 1, where it stands several times).
    Without any of them the whole document is meant.

    `grade` is 1 (helpful) to 3 (answers it) for spans; document judgements keep the grades of their
    set, 0 and below being not relevant. Members of one `group` are alternatives: any of them will
    do. `order` is the place in a chain of evidence, where one step needs the one before.
    """

    doc_id: str
    start: int | None = None
    end: int | None = None
    grade: int = 3
    role: Role = "core"
    group: str | None = None
    order: int | None = None
    quote: str | None = None
    occurrence: int | None = None

    @property
    def whole(self) -> bool:
        """Whether it judges the whole document."""
        return self.start is None and self.end is None and self.quote is None

    def span(self, text: str) -> tuple[int, int]:
        """Its half-open offsets in the document's `text`."""
        return (0, len(text)) if self.start is None or self.end is None else (self.start, self.end)


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a right answer says. `evidence` are the places, from 0, of the evidence that
    it rests on; `vital` claims must be in an answer, others may."""

    text: str
    evidence: tuple[int, ...] = ()
    vital: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said in a conversation before a question: by whom (`role`), and the `text`."""

    role: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question with its evidence; `kind` names what it probes, `tags` are for slicing. `variants`
    are other wordings of it, `filter` says which documents may answer it; systems that are set to
    use them do. `answer`, `claims` and `answer_type` say what a right answer is. `date` says when
    it was asked, in ISO 8601 (see `lab.corpus.values.moment`); empty if that is not known.
    `history` is the conversation that led to it, first turn first. `source` is the path of the set
    it was read from, as it was given."""

    query_id: str
    text: str
    kind: str = "unspecified"
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    evidence: tuple[Evidence, ...] = ()
    answer: str = ""
    variants: tuple[str, ...] = ()
    filter: Filter | None = None
    claims: tuple[Claim, ...] = ()
    answer_type: AnswerType | None = None
    date: str = ""
    history: tuple[Turn, ...] = ()
    source: str | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.filter, Mapping):
            object.__setattr__(self, "filter", Filter.of(self.filter))

    @property
    def pieces(self) -> tuple[tuple[Evidence, ...], ...]:
        """Evidence by group, in order of first mention: each piece is its alternatives."""
        groups: dict[object, list[Evidence]] = {}
        for position, item in enumerate(self.evidence):
            groups.setdefault(position if item.group is None else item.group, []).append(item)
        return tuple(tuple(members) for members in groups.values())


def in_order(queries: Sequence[Query]) -> tuple[Query, ...]:
    """Questions by id, so that nothing depends on the order they came in; DiagnosticsError for ids
    used twice."""
    ordered = tuple(sorted(queries, key=lambda query: query.query_id))
    twice = sorted({a.query_id for a, b in pairwise(ordered) if a.query_id == b.query_id})
    if twice:
        raise DiagnosticsError(
            f"query_id '{query_id}' is used more than once; ids must be unique"
            for query_id in twice
        )
    return ordered


def has_spans(queries: Sequence[Query]) -> bool:
    """Whether any evidence names a span, so that chunks rather than documents can be judged."""
    return any(not item.whole for query in queries for item in query.evidence)
