"""Run: a finished sweep as plain tables, the same in memory and on disk."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.errors import RunError, nearest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Run:
    """The content of a run folder.

    `manifest` says what was run; `systems` has a row a system; `scores` a row a system, question
    and metric; `rankings` a row a system, question and chunk, for the first hits and the evidence;
    `evidence` a row a system and piece with the rank at which it was complete (0: never) and
    `reachable`, how many pieces of its question any ranking could hold within the cut-off;
    `questions` a row a question, scored or not, with its text, variants, filter and tags (JSON),
    kind, main document and a fingerprint of its evidence; `causes` a row a system and missed piece
    (the fields of `lab.diagnosis.misses.Miss`), `curves` a row a step of a piece's exact alpha
    curve: family, query_id, piece, low, high, complete (0: not within the cap), `alphas` a row a
    hybrid family, metric and slice with its best alphas, and `means` a row a step of such a row's
    mean: family, metric, slice, low, high, value. `separation` has a row a system and stage and
    `thresholds` a row a system and threshold (see `lab.diagnosis.separation`); both are empty
    without unanswerable questions.
    """

    manifest: dict[str, Any]
    systems: "pd.DataFrame"
    scores: "pd.DataFrame"
    rankings: "pd.DataFrame"
    evidence: "pd.DataFrame"
    questions: "pd.DataFrame"
    causes: "pd.DataFrame"
    curves: "pd.DataFrame"
    alphas: "pd.DataFrame"
    means: "pd.DataFrame"
    separation: "pd.DataFrame"
    thresholds: "pd.DataFrame"

    def check_system(self, system: str) -> None:
        """Raises RunError with the nearest name when the run has no such system."""
        names = self.systems["system"].tolist()
        if system not in names:
            raise RunError(f"no system '{system}' in this run{nearest(system, names)}")

    def matrix(self, metric: str) -> "pd.DataFrame":
        """One metric as questions x systems, the systems in the order of the grid."""
        rows = self.scores[self.scores["metric"] == metric].astype(
            {"system": "str", "query_id": "str"}
        )
        return rows.pivot(index="query_id", columns="system", values="value")[
            self.systems["system"].tolist()
        ]

    @property
    def best(self) -> str:
        """Name of the system with the best mean of the selecting metric, the first of equals."""
        return str(self.manifest["best"])
