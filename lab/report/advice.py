"""What a reader does with a verdict: use the system, change what helps most, and beware."""

from typing import TYPE_CHECKING

from lab.config.rows import chunks_label, settings_of
from lab.errors import LabError
from lab.runs.config_file import experiment_file
from lab.runs.losses import changes_of
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd

# Changes that are proposed at most.
PROPOSED = 3


def next_changes(run: Run) -> "pd.DataFrame":
    """The changes of one setting of the recommended system that win more questions than they lose,
    the largest net first (see `lab.runs.losses.changes_of`)."""
    return changes_of(run.rescues(), run.recommended).query("net > 0").head(PROPOSED)


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
    row = run.tables.systems.set_index("system", drop=False).loc[run.recommended]
    return chunks_label(settings_of(row.to_dict()))
