"""Where one question's evidence went: every stage's rank of it under one system."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.corpus.document import Corpus
from lab.diagnosis.run import Run
from lab.errors import RunError, nearest
from lab.truth.query import Query

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 5
WIDTH = 88


@dataclass(frozen=True, eq=False)
class Explanation:
    """The story of one question under one system: its pieces of evidence with the rank at which each was complete, the
    chunks that hold them with their rank at every stage, and the first hits."""

    query: Query
    system: str
    scores: dict[str, float]
    evidence: "pd.DataFrame"
    rankings: "pd.DataFrame"
    corpus: Corpus

    def __str__(self) -> str:
        lines = [f"{self.query.query_id} ({self.query.kind}): {self.query.text}", f"system: {self.system}"]
        lines.append("scores: " + "  ".join(f"{metric} {value:.3f}" for metric, value in self.scores.items()))
        for piece in self.evidence.itertuples():
            rank = f"complete at rank {piece.complete}" if piece.complete else "never complete"
            lines += [
                "",
                f"evidence {piece.piece} (grade {piece.grade}): {rank}",
                "  " + self._text(piece.doc_id, piece.start, piece.end),
            ]
            if piece.start < 0:
                continue
            held = self.rankings[
                (self.rankings["doc_id"] == piece.doc_id)
                & (self.rankings["start"] < piece.end)
                & (self.rankings["end"] > piece.start)
            ]
            lines += [f"  {self._stages(row)}" for row in held.itertuples()]
            if len(held) > 1 and not any((held["start"] <= piece.start) & (held["end"] >= piece.end)):
                lines.append(f"  no chunk holds it whole: cut at {', '.join(str(e) for e in sorted(held['end'])[:-1])}")
        lines += ["", "first hits:"]
        first = self.rankings[self.rankings["rank"] > 0].sort_values("rank").head(SHOWN)
        for row in first.itertuples():
            mark = "*" if row.evidence else " "
            lines += [f"{mark}{self._stages(row)}", f"    {self._text(row.doc_id, row.start, row.end)}"]
        return "\n".join(lines)

    def _stages(self, row: object) -> str:
        def leg(name: str) -> str:
            rank, score = getattr(row, f"{name}_rank"), getattr(row, f"{name}_score")
            return f"{name} {rank or '-'}" + ("" if score != score else f" ({score:.3f})")

        words = [f"{row.doc_id}:{row.start}-{row.end}", f"rank {row.rank or '-'}", leg("bm25"), leg("dense"), leg("fused")]  # type: ignore[attr-defined]
        rerank = row.rerank_score  # type: ignore[attr-defined]
        return "  ".join(words) + ("" if rerank != rerank else f"  reranker {rerank:.3f}")

    def _text(self, doc_id: str, start: int, end: int) -> str:
        text = " ".join(self.corpus[doc_id].text[max(start, 0) : end if end >= 0 else None].split())
        return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."


def explain(run: Run, corpus: Corpus, queries: Sequence[Query], query_id: str, system: str) -> Explanation:
    """Collect what the run knows of one question under one system; raises RunError for an unknown question or system."""
    by_id = {query.query_id: query for query in queries}
    if query_id not in by_id:
        raise RunError(f"no question '{query_id}' in this run{nearest(query_id, by_id)}")
    run.check_system(system)

    def of(table: "pd.DataFrame") -> "pd.DataFrame":
        return table[(table["system"] == system) & (table["query_id"] == query_id)]

    scores = of(run.scores)
    return Explanation(
        by_id[query_id],
        system,
        dict(zip(scores["metric"], scores["value"], strict=True)),
        of(run.evidence),
        of(run.rankings),
        corpus,
    )
