"""Tables in LaTeX for `booktabs`: systems, kinds of questions, what each setting is worth."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lab.config.settings import SETTINGS
from lab.errors import RunError, counted
from lab.evaluation.verdict import NOT_COMPARABLE, PLANNED, Verdict
from lab.report.export.paper import (
    BELOW,
    UNSETTLED,
    figure,
    incomparable,
    setting_names,
    system_rows,
    tested,
)
from lab.runs.ablate import ablate
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
DAGGERS: dict[Verdict, str] = {
    "worse": r"$^\dagger$",
    "cannot be settled": r"$^\ddagger$",
    NOT_COMPARABLE: r"$^\times$",
}
# Rows that one page holds; a longer table breaks between pages.
PAGE = 40
KINDS = 8


@dataclass(frozen=True)
class Table:
    """Cells that are LaTeX already; the first `words` columns hold words, the others numbers. The
    label is `tab:` and the name."""

    name: str
    caption: str
    words: int
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        columns = "l" * self.words + "r" * (len(self.head) - self.words)
        title = rf"\caption{{{self.caption}}}\label{{tab:{self.name}}}"
        head = [r"\toprule", _line(map(latex_text, self.head)), r"\midrule"]
        rows = [_line(row) for row in self.rows]
        if len(rows) > PAGE:
            parts = [
                rf"\begin{{longtable}}{{{columns}}}",
                title + r"\\",
                *head,
                r"\endfirsthead",
                *head,
                r"\endhead",
                r"\bottomrule",
                r"\endlastfoot",
                *rows,
                r"\end{longtable}",
            ]
        else:
            parts = [
                r"\begin{table}",
                r"\centering",
                title,
                rf"\begin{{tabular}}{{{columns}}}",
                *head,
                *rows,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
            ]
        return "\n".join(parts) + "\n"


def latex_files(
    run: Run, systems: Sequence[str] = (), metrics: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """`systems.tex`, `kinds.tex` where there are several kinds, and `ablation.tex` where a single
    setting changes from the recommended system to another; of the systems and metrics named, or of
    all. Raises RunError for an unknown one."""
    names = [run.tables.named(system) for system in systems] or list(run.systems)
    wanted = list(metrics) or list(run.metrics)
    for metric in wanted:
        run.tables.metric_place(metric)
    tables = [_systems(run, names, wanted)]
    if run.tables.questions["kind"].nunique() > 1:
        tables.append(_kinds(run, names, wanted[0] if metrics else run.tables.select_by))
    if (ablation := _ablation(run, wanted)) is not None:
        tables.append(ablation)
    for table in tables:
        packages = r"% needs \usepackage{booktabs,longtable}"
        yield f"{table.name}.tex", "\n".join([packages, *_environment(run), str(table)])


def _systems(run: Run, names: Sequence[str], metrics: Sequence[str]) -> Table:
    rows = [
        [
            *map(latex_text, settings),
            *(
                rf"\textbf{{{value}}}" if best else value + DAGGERS.get(told, "")
                for value, best, told in cells
            ),
        ]
        for settings, cells in system_rows(run, names, metrics)
    ]
    settings, failed = setting_names(run), incomparable(run, r"$^\times$:")
    caption = (
        rf"{_about(run, names)}. Bold: best; $^\dagger$: {BELOW}; $^\ddagger$: {UNSETTLED}{failed}"
        f"; {latex_text(tested(run))}."
    )
    return Table("systems", caption, len(settings), [*settings, *metrics], rows)


def _kinds(run: Run, names: Sequence[str], metric: str) -> Table:
    """Systems by kinds, the kinds with most questions first."""
    sliced = run.slices(systems=names)
    asked = sliced.groupby("kind")["questions"].first().sort_values(ascending=False, kind="stable")
    kinds = list(asked.index[:KINDS])
    means = sliced.pivot(index="system", columns="kind", values=metric)
    best = means.loc[[name for name in names if name not in run.tables.not_comparable]].max()
    order = [name for name in run.tables.ranked["system"] if name in set(names)]
    rows = [
        [
            latex_text(run.labels[name]),
            *(_bold(means.at[name, kind], means.at[name, kind] == best[kind]) for kind in kinds),
        ]
        for name in order
    ]
    left = f", the {KINDS} kinds with most questions" if len(asked) > KINDS else ""
    caption = f"{_about(run, names)}: {latex_text(metric)} by kind{left}. Bold: best of a column."
    head = ["system", *(f"{kind} ({asked[kind]})" for kind in kinds)]
    return Table("kinds", caption, 1, head, rows)


def _ablation(run: Run, metrics: Sequence[str]) -> Table | None:
    """One step from the recommended system a row; None where no system is one step away."""
    try:
        found = ablate(run, run.recommended)
    except RunError:
        return None
    if found.steps.empty:
        return None
    rows = [_step(row, found.metric, metrics) for row in found.steps.to_dict("records")]
    caption = (
        f"{latex_text(run.manifest['name'])}: what changes when one setting of "
        f"{latex_text(run.labels[found.baseline])} does, {counted(found.questions, 'question')}. "
        f"Differences, of {latex_text(found.metric)} with 95\\% intervals; p: paired permutation "
        f"test, Holm over the table, {latex_text(PLANNED)}."
    )
    others = [metric for metric in metrics if metric != found.metric]
    head = ["setting", "from", "to", found.metric, "95% interval", "p", *others]
    return Table("ablation", caption, 3, head, rows)


def _step(row: dict[str, Any], metric: str, metrics: Sequence[str]) -> list[str]:
    label = SETTINGS[str(row["setting"])].label
    after = ", ".join(filter(None, (label(row["after"]), str(row["with"]))))
    p = (
        f"{row['p']:.3f}"
        if row["verdict"] != "cannot be settled"
        else rf"$\geq${row['least_p']:.2g}"
    )
    return [
        latex_text(row["setting"]),
        latex_text(label(row["before"])),
        latex_text(after),
        f"${row[metric]:+.3f}$",
        f"$[{row['low']:+.3f}, {row['high']:+.3f}]$",
        p,
        *(f"${row[other]:+.3f}$" for other in metrics if other != metric),
    ]


def _about(run: Run, names: Sequence[str]) -> str:
    systems, asked = counted(len(names), "system"), counted(len(run.query_ids), "question")
    return latex_text(f"{run.manifest['name']}: {systems}, {asked}")


def _bold(value: float, best: bool) -> str:
    return rf"\textbf{{{figure(value)}}}" if best else figure(value)


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _environment(run: Run) -> list[str]:
    """Comments that say on what the run was made."""
    made_on = run.manifest.get("environment", {})
    return [f"% {name}: {' '.join(str(text).split())}" for name, text in made_on.items()]


def latex_text(text: object) -> str:
    """Text with everything that LaTeX reads as a command escaped."""
    return "".join(LATEX.get(character, character) for character in " ".join(str(text).split()))
