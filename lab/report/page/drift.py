"""The section on drift: what `lab watch --into` kept with a run."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.report.drift import (
    COMPARED,
    DIFFERING,
    compared,
    differing,
    gaps_in_words,
    limits_in_words,
    looked_at,
    verdict,
)
from lab.usage.watch import AskedGap, Watched

# Gaps shown, the most often asked first.
SHOWN = 50


@dataclass(frozen=True, slots=True)
class DriftTable:
    """Rows of cells under `columns`."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class DriftSection:
    """Sentences, tables and gaps."""

    verdict: str
    looked_at: str
    tables: Sequence[DriftTable]
    gaps_say: str
    gaps: Sequence[AskedGap]


def drift_section(found: Watched) -> DriftSection:
    """What the page shows of a log that was watched."""
    tables = (
        DriftTable(
            "Log and set compared, 5% for all comparisons together", COMPARED, compared(found)
        ),
        DriftTable("Features that are told apart", DIFFERING, differing(found)),
    )
    said = verdict(found)
    looked = ". ".join([looked_at(found), *limits_in_words(found)])
    return DriftSection(
        verdict=said[0].upper() + said[1:],
        looked_at=f"{looked}.",
        tables=[table for table in tables if table.rows],
        gaps_say=f"{gaps_in_words(found)}. `lab watch --gaps FILE` writes them to be labelled.",
        gaps=found.gaps[:SHOWN],
    )
