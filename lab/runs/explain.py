"""The story of one question under one system: its hits, what became of its evidence, why, and what
would have helped."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from lab.corpus.document import Corpus
from lab.diagnosis.causes import CAUSES
from lab.errors import RunError, nearest
from lab.relevance.query import Query
from lab.runs.tables import Tables, plain_rows

SHOWN = 5
WIDTH = 88
# What a question may have beside its words -> how it is told; a system uses it or not.
USED: dict[str, Callable[[Query], str]] = {
    "variants": lambda query: "; ".join(query.variants),
    "filter": lambda query: str(query.filter or ""),
    "history": lambda query: "; ".join(f"{turn.role}: {turn.text}" for turn in query.history),
}


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a run knows of one question under one system.

    `evidence` are its pieces with the rank at which each was complete, `rankings` the first hits
    and the chunks with evidence at every stage, `misses` its missed pieces with cause and proof:
    rows of the run's tables, None where one has nothing. `reason` says why it is not scored (empty
    when it is), `k` is the cut-off that a miss is relative to, `uses` says which of `variants`,
    `filter` and `history` the system uses, `calls` are the searches of one that searches several
    times.
    """

    query: Query
    system: str
    k: int
    scores: dict[str, float]
    evidence: list[Any]
    rankings: list[Any]
    misses: list[Any]
    reason: str
    uses: tuple[str, ...]
    corpus: Corpus
    calls: list[Any]

    def searches(self) -> list[str]:
        """A line for every search of a system that searches several times."""
        return [
            f"search {row.call}: {row.asked}: {row.new_hits} new of {row.hits} hits, "
            + (f"evidence covered {row.coverage:.0%}" if row.added else "adds no evidence")
            for row in self.calls
        ]

    def asked(self) -> list[str]:
        """A line for what the question has beside its words: variants, a filter, a history."""
        held = {name: describe(self.query) for name, describe in USED.items()}
        used = {name: "" if name in self.uses else " (not used by this system)" for name in USED}
        return [f"{name}: {value}{used[name]}" for name, value in held.items() if value]

    def miss(self, piece: int) -> Any:
        """The row of a missed piece, None where it was found."""
        return next((row for row in self.misses if row.piece == piece), None)

    def hits(self, shown: int = SHOWN) -> list[Any]:
        """The first hits, best first."""
        ranked = [row for row in self.rankings if row.rank is not None]
        return sorted(ranked, key=lambda row: row.rank)[:shown]

    def __str__(self) -> str:
        lines = [
            f"{self.query.query_id} ({self.query.kind}): {self.query.text}",
            *self.asked(),
            f"system: {self.system}",
        ]
        if self.reason:
            return "\n".join([*lines, f"not scored: {self.reason}"])
        lines.append(
            "scores: " + "  ".join(f"{metric} {value:.3f}" for metric, value in self.scores.items())
        )
        for piece in self.evidence:
            rank = f"complete at rank {piece.complete}" if piece.complete else "never complete"
            lines += ["", f"evidence {piece.piece} (grade {piece.grade}): {rank}"]
            lines.append("  " + self.text(piece.doc_id, piece.start, piece.end))
            miss = self.miss(piece.piece)
            if miss is not None:
                proof = "verified" if miss.verified else "likely"
                lines += [f"  left out: {'; '.join(miss.filtered_by)}"] if miss.filtered_by else []
                lines += [
                    f"  cause: {miss.cause} ({proof}): {CAUSES[miss.cause].meaning}",
                    f"  remedy: {miss.remedy}",
                ]
        lines += ["", *self.searches(), "first hits:"]
        for row in self.hits():
            lines.append(
                f"{'*' if row.evidence else ' '} {row.rank}  {row.doc_id}:{row.start}-{row.end}"
            )
            lines.append(f"    {self.text(row.doc_id, row.start, row.end)}")
        return "\n".join(lines)

    def text(self, doc_id: str, start: int | None, end: int | None) -> str:
        """A stretch of a document in one line, shortened; without ends the whole document."""
        if doc_id not in self.corpus:
            return "(this document is not in the corpus)"
        text = " ".join(self.corpus[doc_id].text[start:end].split())
        return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."


def explain(
    tables: Tables, corpus: Corpus, queries: Sequence[Query], query_id: str, system: str
) -> Explanation:
    """Collect what the run knows of one question under one system; raises RunError for an unknown
    question or system."""
    by_id = {query.query_id: query for query in queries}
    if query_id not in by_id:
        raise RunError(f"no question '{query_id}' in this run{nearest(query_id, by_id)}")

    def of(table: str) -> list[Any]:
        rows = tables.rows(table, system)
        return plain_rows(rows[rows["query_id"] == query_id])

    settings = tables.systems.set_index("system").loc[system].to_dict()
    reasons = dict(tables.manifest["questions"]["unscored"])
    return Explanation(
        query=by_id[query_id],
        system=system,
        k=int(tables.manifest["causes"]["k"]),
        scores={row.metric: nan if row.value is None else row.value for row in of("scores")},
        evidence=of("evidence"),
        rankings=of("rankings"),
        misses=of("causes"),
        reason=reasons.get(query_id, ""),
        uses=tuple(name for name in USED if settings.get(name) is True),
        corpus=corpus,
        calls=of("calls"),
    )
