"""Tables for a paper: systems by metrics, with the mark of what is significantly below the best."""

from collections.abc import Sequence
from typing import Any

from lab.errors import counted
from lab.evaluation.verdict import NOT_COMPARABLE, Verdict, chosen_among
from lab.runs.run import Run

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
BELOW = "worse than the best of its column beyond chance"
UNSETTLED = "cannot be settled with these questions"
INCOMPARABLE = "not comparable, for it failed on too many questions"
TEST = "paired sign flips, 5%"

DAGGERS: dict[Verdict, str] = {"worse": "†", "cannot be settled": "‡", NOT_COMPARABLE: "×"}
LATEX_DAGGERS: dict[Verdict, str] = {
    "worse": r"$^\dagger$",
    "cannot be settled": r"$^\ddagger$",
    NOT_COMPARABLE: r"$^\times$",
}


def markdown(run: Run) -> str:
    """A Markdown table, best system first: bold the best of a column, a dagger what is
    significantly worse."""
    rows = []
    for settings, cells in _rows(run):
        numbers = [
            f"**{value}**" if best else value + DAGGERS.get(told, "") for value, best, told in cells
        ]
        rows.append("| " + " | ".join([*map(markdown_cell, settings), *numbers]) + " |")
    head = [*_settings(run), *run.metrics]
    rule = "|" + "|".join([" --- "] * len(_settings(run)) + [" ---: "] * len(run.metrics)) + "|"
    lines = [
        "| " + " | ".join(map(markdown_cell, head)) + " |",
        rule,
        *rows,
        "",
        f"† {BELOW}, ‡ {UNSETTLED}{_failed(run, '×')}; {_test(run)}; "
        f"{counted(len(run.query_ids), 'question')}.",
    ]
    return "\n".join(lines) + "\n"


def latex(run: Run) -> str:
    """A LaTeX table for `booktabs`, best system first, with the same marks."""
    lines = []
    for settings, cells in _rows(run):
        numbers = [
            rf"\textbf{{{value}}}" if best else value + LATEX_DAGGERS.get(told, "")
            for value, best, told in cells
        ]
        lines.append(" & ".join([*map(latex_text, settings), *numbers]) + r" \\")
    names = _settings(run)
    failed = _failed(run, r"$^\times$:")
    asked = counted(len(run.query_ids), "question")
    caption = f"{run.manifest['name']}: {counted(len(run.systems), 'system')}, {asked}"
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            *_environment(run),
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(caption)}. Bold: best; $^\dagger$: {BELOW}; "
            rf"$^\ddagger$: {UNSETTLED}{failed}; {latex_text(_test(run))}.}}",
            rf"\begin{{tabular}}{{{'l' * len(names)}{'r' * len(run.metrics)}}}",
            r"\toprule",
            " & ".join(map(latex_text, [*names, *run.metrics])) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _environment(run: Run) -> list[str]:
    """Comments that say on what the run was made."""
    made_on = run.manifest.get("environment", {})
    return [f"% {name}: {' '.join(str(text).split())}" for name, text in made_on.items()]


def latex_text(text: object) -> str:
    """Text with everything that LaTeX reads as a command escaped."""
    return "".join(LATEX.get(character, character) for character in " ".join(str(text).split()))


def markdown_cell(text: object) -> str:
    """Text that stays in its cell: no line breaks, no bare bars."""
    return " ".join(str(text).split()).replace("\\", "\\\\").replace("|", "\\|")


def _settings(run: Run) -> list[str]:
    return list(run.tables.shown.columns) or ["system"]


def _failed(run: Run, sign: str) -> str:
    """The words for what is not comparable, where there is such a system."""
    return f", {sign} {INCOMPARABLE}" if run.tables.not_comparable else ""


def _test(run: Run) -> str:
    return f"{TEST}, {chosen_among(len(run.compared))}"


def _rows(run: Run) -> list[tuple[Sequence[str], list[tuple[str, bool, Verdict]]]]:
    """Best first: the settings shown, and per metric the value, whether it is the best (of a cost
    the lowest), and the verdict on the system against the metric's best."""
    shown = run.tables.shown
    told = {metric: run.verdicts(metric) for metric in run.metrics}
    means = run.tables.systems.set_index("system")
    best = {metric: means.loc[run.best_by(metric), metric] for metric in run.metrics}
    found = []
    for place, row in run.tables.ranked.iterrows():
        cells: list[tuple[str, bool, Verdict]] = []
        for metric in run.metrics:
            value: Any = row[metric]
            text = f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"
            verdict = told[metric][row["system"]]
            level = abs(best[metric] - value) < 5e-10 and verdict != NOT_COMPARABLE
            cells.append((text, bool(level), verdict))
        found.append((shown.loc[place].tolist() if shown.shape[1] else [row["system"]], cells))
    return found
