"""Why the recommended system misses what it misses, in two lines for the first screen."""

from rich.text import Text

from lab.diagnosis.waterfall import NO_PLACE
from lab.runs.losses import ALL
from lab.runs.run import Run

# Ids of missed questions on the first screen.
SHOWN = 8


def losses(run: Run, shown: int = SHOWN) -> Text:
    """The waterfall from 100% to recall, the causes with how many of each are verified, and the
    first missed questions' ids."""
    system, table = run.recommended, run.waterfall()
    steps = list(table[table["kind"] == ALL].itertuples())
    text = Text(f"\nwhy {run.labels[system]} misses evidence within {run.tables.k}\n", "bold")
    if not steps:
        return text.append("  it misses none", "not bold")
    verified = run.tables.rows("causes", system).groupby("cause", observed=True)["verified"].sum()
    stages: dict[str, float] = {}
    for step in steps:
        stage = NO_PLACE if step.cause == NO_PLACE else step.stage
        stages[stage] = stages.get(stage, 0.0) + step.lost
    fall = " ".join(f"- {stage} {lost:.1%}" for stage, lost in stages.items())
    causes = ", ".join(
        f"{step.cause} {step.pieces} ({int(verified[step.cause])} verified)"
        for step in steps
        if step.cause != NO_PLACE
    )
    text.append(f"  100% {fall} = recall {steps[-1].left:.1%}\n", "not bold")
    missed = list(dict.fromkeys(run.tables.rows("causes", system)["query_id"].astype(str)))
    ids = ", ".join(missed[:shown]) + (", ..." if len(missed) > shown else "")
    text.append(f"  {causes}\n", "not bold")
    return text.append(f"  missed: {ids}; why: `lab explain RUN QUERY`", "not bold")
