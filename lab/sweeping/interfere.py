"""Interference: the same systems over the same questions while distractors are added to the corpus,
dose by dose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus
from lab.errors import ConfigError, counted
from lab.evaluation.paired import compare
from lab.relevance.query import Query
from lab.runs.differences import seen_from
from lab.runs.run import Run
from lab.storage.progress import Progress, Silent
from lab.sweeping.distractors import OWN, distractors, source_of
from lab.sweeping.injected import INJECTED
from lab.sweeping.sweep import sweep

if TYPE_CHECKING:
    import pandas as pd

DOSES = (0, 1, 2, 5, 10)


@dataclass(frozen=True, eq=False)
class Interference:
    """Runs by (kind of distractor, dose in documents a question). Dose 0 is the corpus as it is,
    the same for all kinds; `injected` counts the documents that were added."""

    runs: Mapping[tuple[str, int], Run]
    injected: Mapping[tuple[str, int], int]

    def table(self) -> "pd.DataFrame":
        """A row a kind, dose, system and metric: its mean, its change against dose 0 on the same
        questions with the 95% interval `low`, `high` and verdict (Holm over the systems of one
        dose)."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for (kind, dose), run in self.runs.items():
            plain = self.runs[kind, 0]
            for metric in run.metrics:
                before, after = plain.tables.column(metric), run.tables.column(metric)
                changes = compare(after - before, run.tables.clusters, run.tables.seed)
                means = run.tables.systems[metric]
                for system, name in enumerate(run.systems):
                    rows.append(
                        {
                            "kind": kind,
                            "dose": dose,
                            "injected": self.injected[kind, dose],
                            "system": name,
                            "metric": metric,
                            "mean": float(means.iloc[system]),
                            "change": float(changes.difference[system]),
                            "low": float(changes.low[system]),
                            "high": float(changes.high[system]),
                            "verdict": seen_from(changes.verdicts[system], metric),
                        }
                    )
        return pd.DataFrame(rows)


def interfere(
    corpus: Corpus,
    queries: Sequence[Query],
    grid: Grid | None = None,
    measure: Measure | None = None,
    *,
    kinds: Sequence[str] = ("topical", "sibling", "twin", "duplicate"),
    doses: Sequence[int] = DOSES,
    folder: Corpus | None = None,
    seed: int = 0,
    name: str = "interference",
    cache: Path | None = None,
    progress: Progress | None = None,
    **models: Any,
) -> Interference:
    """Sweep the grid at every dose of every kind of distractor (see `lab.sweeping.distractors`).

    `folder` is a corpus of the user's own distractors: then `kinds` is not read, and a dose is
    those nearest to each question, each injected once however many questions it is near to. The
    original documents are untouched and stay the only evidence. `models` are `sweep`'s `encoders`
    and `rerankers`.

    Raises ConfigError when a document's id already begins as injected ones do, or a dose is
    negative.
    """
    taken = [document.doc_id for document in corpus if document.doc_id.startswith(INJECTED)]
    if taken:
        raise ConfigError(
            f"document '{doc_id}': ids that begin with '{INJECTED}' are kept for distractors"
            for doc_id in taken
        )
    if min(doses, default=0) < 0:
        raise ConfigError(f"doses {list(doses)}: expected numbers of documents a question, from 0")
    progress, source = progress or Silent(), source_of(corpus, queries, folder)
    runs: dict[tuple[str, int], Run] = {}
    injected: dict[tuple[str, int], int] = {}
    plain = sweep(
        corpus, queries, grid, measure, name=name, cache=cache, progress=progress, **models
    )
    for kind in [OWN] if folder is not None else kinds:
        runs[kind, 0], injected[kind, 0] = plain, 0
        for dose in sorted({dose for dose in doses if dose > 0}):
            added = distractors(queries, source, kind, dose, seed)
            progress.note(f"{kind}, dose {dose}: {counted(len(added), 'document')} injected")
            injected[kind, dose] = len(added)
            if added:
                grown = Corpus([*corpus, *added])
                runs[kind, dose] = sweep(
                    grown,
                    queries,
                    grid,
                    measure,
                    name=name,
                    cache=cache,
                    progress=progress,
                    **models,
                )
            else:
                runs[kind, dose] = plain
    return Interference(runs, injected)


def resistance(table: "pd.DataFrame", metric: str) -> "pd.DataFrame":
    """Systems by how little the largest dose of each kind takes from a metric: kinds, systems, the
    mean at dose 0, the change at the largest dose with its interval; the most resistant first."""
    of = table[table["metric"] == metric]
    last = of[of["dose"] == of.groupby("kind")["dose"].transform("max")]
    plain = of[of["dose"] == 0].set_index(["kind", "system"])["mean"]
    last = last.assign(
        before=[plain[key] for key in zip(last["kind"], last["system"], strict=True)]
    )
    return last.sort_values(
        ["kind", "change", "before"], ascending=[True, False, False], kind="stable"
    ).reset_index(drop=True)
