"""What a reader does with a verdict: use the system, change what helps most, and beware."""

from dataclasses import dataclass

from lab.errors import LabError
from lab.report.figures.changes import seen_from
from lab.runs.config_file import experiment_file
from lab.runs.run import Run

# Changes that are proposed at most.
PROPOSED = 3


@dataclass(frozen=True, slots=True)
class NextChange:
    """A change of one setting that wins more questions than it loses: in words, the system it leads
    to, the questions either way, and the exact McNemar p."""

    change: str
    system: str
    rescued: int
    broken: int
    p: float


def next_changes(run: Run) -> list[NextChange]:
    """What to try next from the recommended system, the largest net gain first; measured changes
    only."""
    if run.tables.causes.empty:
        return []
    gains = seen_from(run, run.recommended).query("net > 0").head(PROPOSED)
    return [
        NextChange(row.change, row.system, int(row.rescued), int(row.broken), float(row.p))
        for row in gains.itertuples()
    ]


def config_text(run: Run) -> str:
    """The recommended system as an experiment file; empty for a foreign one, or for a run from
    documents given in Python, which no file can name."""
    try:
        return experiment_file(run, run.recommended)
    except LabError:
        return ""


def cautions(run: Run, warnings: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The warnings that concern the whole run or the recommended system, and those of other
    chunkings."""
    others = {str(fact["label"]) for fact in run.manifest["chunkings"]}
    others -= {_chunks(run)}
    first = [text for text in warnings if text.split(":")[0] not in others]
    return first, [text for text in warnings if text not in first]


def _chunks(run: Run) -> str:
    from lab.config.rows import chunks_label, settings_of

    row = run.tables.systems.set_index("system", drop=False).loc[run.recommended]
    return chunks_label(settings_of(row.to_dict()))
