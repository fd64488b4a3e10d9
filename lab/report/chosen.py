"""The few systems of a run that a report shows in full, and how each is drawn."""

from lab.report.figures.ink import Look, looks_of_systems
from lab.runs.run import Run

# More rankings than these would outgrow a file that is sent by mail.
CHOSEN = 6


def chosen_systems(run: Run) -> list[str]:
    """The recommended system, the best, the baseline, the best of every mode, then whatever comes
    next by the selecting metric of those that can be compared: six where the run has so many."""
    first = [run.recommended, run.best, run.baseline, *run.tables.best_of_modes]
    first += [name for name in run.tables.ranked["system"] if name in run.compared]
    return list(dict.fromkeys(map(str, first)))[:CHOSEN]


def looks(run: Run) -> dict[str, Look]:
    """How each of the chosen systems is drawn in every plot."""
    chosen = chosen_systems(run)
    modes = run.tables.systems.set_index("system")["mode"]
    return dict(zip(chosen, looks_of_systems([modes[name] for name in chosen]), strict=True))


def other_system(run: Run) -> str:
    """What the recommended system is compared with at first: the baseline, or the best of the
    others where it is that itself."""
    others = [name for name in chosen_systems(run) if name != run.recommended]
    return run.baseline if run.baseline in others else next(iter(others), run.recommended)
