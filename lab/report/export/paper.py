"""Systems by metrics as a paper prints them, with the mark of what is significantly below the best,
and the table in Markdown."""

from collections.abc import Sequence
from typing import Any

from lab.errors import counted
from lab.evaluation.verdict import NOT_COMPARABLE, Verdict, chosen_among
from lab.runs.run import Run

BELOW = "worse than the best of its column beyond chance"
UNSETTLED = "cannot be settled with these questions"
INCOMPARABLE = "not comparable, for it failed on too many questions"
TEST = "paired sign flips, 5%"

DAGGERS: dict[Verdict, str] = {"worse": "†", "cannot be settled": "‡", NOT_COMPARABLE: "×"}


def markdown(run: Run, systems: Sequence[str] = (), metrics: Sequence[str] = ()) -> str:
    """A Markdown table, best system first: bold the best of a column, a dagger what is
    significantly worse; of the systems and metrics named, or of all. Raises RunError for an
    unknown one."""
    names = [run.tables.named(system) for system in systems] or list(run.systems)
    wanted = list(metrics) or list(run.metrics)
    rows = []
    for cells_of_settings, cells in system_rows(run, names, wanted):
        numbers = [
            f"**{value}**" if best else value + DAGGERS.get(told, "") for value, best, told in cells
        ]
        rows.append("| " + " | ".join([*map(markdown_cell, cells_of_settings), *numbers]) + " |")
    settings = setting_names(run)
    head = [*settings, *wanted]
    rule = "|" + "|".join([" --- "] * len(settings) + [" ---: "] * len(wanted)) + "|"
    lines = [
        "| " + " | ".join(map(markdown_cell, head)) + " |",
        rule,
        *rows,
        "",
        f"† {BELOW}, ‡ {UNSETTLED}{incomparable(run, '×')}; {tested(run)}; "
        f"{counted(len(run.query_ids), 'question')}.",
    ]
    return "\n".join(lines) + "\n"


def markdown_cell(text: object) -> str:
    """Text that stays in its cell: no line breaks, no bare bars."""
    return " ".join(str(text).split()).replace("\\", "\\\\").replace("|", "\\|")


def setting_names(run: Run) -> list[str]:
    """Heads of the columns that tell systems apart."""
    return list(run.tables.shown.columns) or ["system"]


def incomparable(run: Run, sign: str) -> str:
    """The words for what is not comparable, where there is such a system."""
    return f", {sign} {INCOMPARABLE}" if run.tables.not_comparable else ""


def tested(run: Run) -> str:
    """By what test systems are told apart."""
    return f"{TEST}, {chosen_among(len(run.compared))}"


def figure(value: float) -> str:
    """Three decimals of a share, a whole number of anything larger."""
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"


def system_rows(
    run: Run, names: Sequence[str], metrics: Sequence[str]
) -> list[tuple[Sequence[str], list[tuple[str, bool, Verdict]]]]:
    """Systems by full name, best first: the settings shown, and per metric the value, whether it is
    the best of the whole run (of a cost the lowest), and the verdict on the system against the
    metric's best."""
    shown, wanted = run.tables.shown, set(names)
    told = {metric: run.verdicts(metric) for metric in metrics}
    means = run.tables.systems.set_index("system")
    best = {metric: means.loc[run.best_by(metric), metric] for metric in metrics}
    found = []
    for place, row in run.tables.ranked.iterrows():
        if row["system"] not in wanted:
            continue
        cells: list[tuple[str, bool, Verdict]] = []
        for metric in metrics:
            value: Any = row[metric]
            verdict = told[metric][row["system"]]
            level = abs(best[metric] - value) < 5e-10 and verdict != NOT_COMPARABLE
            cells.append((figure(value), bool(level), verdict))
        found.append((shown.loc[place].tolist() if shown.shape[1] else [row["system"]], cells))
    return found
