"""Outcome: what one system found."""

from dataclasses import dataclass

from lab.arrays import Ints
from lab.diagnosis.calls import CallStep
from lab.diagnosis.misses import Miss
from lab.evaluation.scores import SystemRun
from lab.pipeline.rows import StageRows
from lab.sweeping.depth import Reach


@dataclass(frozen=True, eq=False)
class SystemOutcome:
    """What one system found: for the metrics, for `rankings.parquet`, every piece it missed, and
    per question how many pieces any ranking could hold (see `lab.diagnosis.places`); how far its
    rankings go, None for a foreign one; the family of alphas that it belongs to, if any; why its
    figures cannot be compared, None where they can; and the searches of one that searches several
    times for a question."""

    run: SystemRun
    rows: StageRows
    misses: tuple[Miss, ...]
    reachable: Ints
    reach: Reach | None
    family: str | None = None
    incomparable: str | None = None
    calls: tuple[CallStep, ...] = ()
