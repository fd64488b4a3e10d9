"""Questions without an answer, in sentences: how well scores tell them, and what a threshold on the
reranker does to them and to the others."""

from typing import Any

from lab.diagnosis.separation import KEPT
from lab.runs.run import Run


def separation_words(run: Run, system: str) -> list[str]:
    """Sentences on one system: its stages, and the threshold that keeps 95% of the answerable
    questions. None for a run without such questions, or for a foreign system, whose scores are its
    own affair."""
    stages = list(run.tables.rows("separation", system).itertuples())
    if not stages:
        return []
    first = stages[0]
    aucs = ", ".join(f"{row.stage} {row.auc:.3f} [{row.low:.3f}, {row.high:.3f}]" for row in stages)
    rejected = ", ".join(f"{row.stage} {row.rejected:.0%}" for row in stages)
    said = [
        f"Questions without an answer: {first.unanswerable:,}, with one: {first.answerable:,}. "
        f"Chance that the best hit scores higher where there is one: {aucs}.",
        f"A limit that keeps {KEPT:.0%} of the questions with an answer rejects of the others: "
        f"{rejected}.",
    ]
    rows: list[dict[str, Any]] = run.tables.rows("thresholds", system).to_dict("records")
    cut = next((row for row in reversed(rows[1:]) if row["kept"] >= KEPT), None)
    if cut is not None:
        said.append(
            f"rerank.threshold {cut['threshold']:.3f} does so and takes recall@5 from "
            f"{rows[0]['recall@5']:.3f} to {cut['recall@5']:.3f}, since it cuts hits; refusing the "
            "same questions and cutting nothing from the others would leave "
            f"{cut['recall@5_refusing']:.3f}."
        )
    return said
