"""Tables for a paper: systems by metrics, with the mark of what is significantly below the best."""

from collections.abc import Sequence
from typing import Any

from lab.runs.labels import shown_settings
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
MARK = (
    "significantly below the highest of its column (paired sign flips, "
    "corrected for the choice, 5%)"
)


def markdown(run: Run) -> str:
    """A Markdown table, best system first: bold the highest of a column, a dagger what is
    significantly below it."""
    rows = []
    for settings, cells in _rows(run):
        numbers = [
            f"**{value}**" if best else f"{value}†" if below else value
            for value, best, below in cells
        ]
        rows.append("| " + " | ".join([*map(markdown_cell, settings), *numbers]) + " |")
    head = [*_settings(run), *run.metrics]
    rule = "|" + "|".join([" --- "] * len(_settings(run)) + [" ---: "] * len(run.metrics)) + "|"
    lines = [
        "| " + " | ".join(map(markdown_cell, head)) + " |",
        rule,
        *rows,
        "",
        f"† {MARK}; {len(run.query_ids)} questions.",
    ]
    return "\n".join(lines) + "\n"


def latex(run: Run) -> str:
    """A LaTeX table for `booktabs`, best system first, with the same marks."""
    lines = []
    for settings, cells in _rows(run):
        numbers = [
            rf"\textbf{{{value}}}" if best else rf"{value}$^\dagger$" if below else value
            for value, best, below in cells
        ]
        lines.append(" & ".join([*map(latex_text, settings), *numbers]) + r" \\")
    names = _settings(run)
    caption = f"{run.manifest['name']}: {len(run.systems)} systems, {len(run.query_ids)} questions"
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(caption)}. Bold: highest; $^\dagger$: {latex_text(MARK)}.}}",
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


def latex_text(text: object) -> str:
    """Text with everything that LaTeX reads as a command escaped."""
    return "".join(LATEX.get(character, character) for character in " ".join(str(text).split()))


def markdown_cell(text: object) -> str:
    """Text that stays in its cell: no line breaks, no bare bars."""
    return " ".join(str(text).split()).replace("\\", "\\\\").replace("|", "\\|")


def _settings(run: Run) -> list[str]:
    return list(shown_settings(run.tables.systems).columns) or ["system"]


def _rows(run: Run) -> list[tuple[Sequence[str], list[tuple[str, bool, bool]]]]:
    """Best first: the settings shown, and per metric the value, whether it is the highest, and
    whether significantly below."""
    shown = shown_settings(run.tables.systems)
    undecided = {metric: set(run.undecided(metric)) for metric in run.metrics}
    highest = {metric: run.tables.systems[metric].max() for metric in run.metrics}
    ranked = run.tables.systems.sort_values(run.tables.select_by, ascending=False, kind="stable")
    found = []
    for place, row in ranked.iterrows():
        cells: list[tuple[str, bool, bool]] = []
        for metric in run.metrics:
            value: Any = row[metric]
            text = f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"
            cells.append(
                (
                    text,
                    bool(highest[metric] - value < 5e-10),
                    row["system"] not in undecided[metric],
                )
            )
        found.append((shown.loc[place].tolist() if shown.shape[1] else [row["system"]], cells))
    return found
