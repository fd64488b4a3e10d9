"""What to change next, in three lines for the first screen."""

from rich.text import Text

from lab.errors import counted
from lab.runs.next_step import NextStep, next_step
from lab.runs.run import Run

# Changes are looked at together: each is told from chance at this share of 5%.
LEVEL = 0.05


def next_screen(run: Run, place: str) -> Text | None:
    """The largest net rescue with its p, under what missed pieces come back, and the next check;
    None where the run has no system one setting away. `place` is the run's folder in commands."""
    step = next_step(run.tables, run.recommended)
    if step is None:
        return None
    text = Text("\nwhat to change next\n", "bold")
    text.append(f"  {_gain(step)}\n", "not bold")
    if step.returns:
        most = ", ".join(f"{change} ({count})" for change, count in step.returns)
        text.append(f"  misses come back under {most}\n", "not bold")
    return text.append(f"  next check: {_check(run, step, place)}", "not bold")


def _gain(step: NextStep) -> str:
    if step.rescued <= step.broken:
        return (
            f"no change of one setting in this grid rescues more questions than it breaks "
            f"({counted(step.looked_at, 'change')} looked at)"
        )
    return (
        f"{step.setting} {step.before} -> {step.after} rescues {step.rescued} and breaks "
        f"{step.broken} (p {step.p:.2g}, best of {step.looked_at})"
    )


def _check(run: Run, step: NextStep, place: str) -> str:
    """What would settle it: the change on questions that it was not chosen by, if it is one."""
    if step.rescued > step.broken and step.p * step.looked_at < LEVEL:
        return (
            f"lab export {place} --to config --system '{run.labels[step.other]}', on new questions"
        )
    return f"lab ablate {place}"
