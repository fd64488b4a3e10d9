"""The first screen of a run in the terminal: what is recommended, how sure that is, and the table
of all systems."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from lab.errors import counted
from lab.evaluation.verdict import NOT_COMPARABLE, PLANNED, chosen_among, legend, mark
from lab.report.cases import cases_screen
from lab.report.losses import losses
from lab.report.next_step import next_screen
from lab.report.screens.fitted import Column, FittedTable, metric_columns, number
from lab.report.screens.phases import phases_screen
from lab.report.screens.unanswerable import unanswerable
from lab.report.screens.weighing import weighing_screen
from lab.report.verdict import FirstScreen, verdict_of
from lab.runs.labels import shown_settings
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd

ROWS, FEW_ROWS, FEW_IDS = 24, 4, 3
WARNINGS = 6
VERDICTS = {"better": "green", "worse": "red"}


def first_screen(run: Run) -> RenderableType:
    """The verdict, the systems by the selecting metric, and the recommended one beside the best of
    other modes by kind."""
    verdict, short = verdict_of(run), run.labels
    ranked = run.tables.ranked
    parts: list[RenderableType] = [verdict_screen(verdict, short, verdict.sentences)]
    if run.manifest["conclusions"]["few_questions"]:
        parts.append(cases_screen(run))
    parts.append(systems_table(ranked, run.metrics, verdict.select_by))
    if run.several_kinds:
        shown = list(dict.fromkeys([verdict.recommended, *run.tables.best_of_modes]))
        parts += [Text("\nby kind of question", "bold"), kinds_table(run, shown)]
    if (luck := phases_screen(run)) is not None:
        parts.append(luck)
    if (weighed := weighing_screen(run)) is not None:
        parts.append(weighed)
    parts.append(losses(run))
    if (step := next_screen(run, "RUN")) is not None:
        parts.append(step)
    if (told := unanswerable(run, verdict.recommended, short[verdict.recommended])) is not None:
        parts.append(told)
    if verdict.warnings:
        parts.append(_warnings(verdict.warnings))
    parts.append(Text(_footer(run)))
    return Group(*parts)


def short_screen(run: Run, place: str) -> RenderableType:
    """What matters most of the first screen, in half a page: `lab show` has the rest. `place` is
    the run's folder."""
    verdict, short = verdict_of(run), run.labels
    parts: list[RenderableType] = [
        verdict_screen(verdict, short, verdict.brief, with_planned=False)
    ]
    if run.manifest["conclusions"]["few_questions"]:
        parts.append(cases_screen(run))
    parts.append(systems_table(run.tables.ranked, run.metrics, verdict.select_by, FEW_ROWS))
    parts.append(losses(run, FEW_IDS))
    if (step := next_screen(run, place)) is not None:
        parts.append(step)
    notes = len(verdict.warnings)
    told = f", and {counted(notes, 'note')} to read before quoting a number" if notes else ""
    parts.append(Text(f"\nthe rest{told}: lab show {place}"))
    if counts := _computed(run):
        parts.append(Text("; ".join(counts)))
    return Group(*parts)


def verdict_screen(
    verdict: FirstScreen,
    short: dict[str, str],
    sentences: Sequence[str],
    with_planned: bool = True,
) -> RenderableType:
    """The question, the answer in those sentences, and the recommended system's metrics against the
    baseline's."""
    head = Text(f"\n{verdict.title}: ", "bold").append(f"{verdict.question}\n", "not bold")
    head.append(f"\n{verdict.headline}\n").append(f"\n{verdict.choice}: ", "not bold")
    head.append(short[verdict.recommended], "bold")
    said = [Padding(Text(sentence), (0, 0, 0, 2)) for sentence in sentences]
    table = FittedTable(
        (
            Column("", "name"),
            Column("mean"),
            Column("95% interval"),
            Column("against the baseline", "word"),
        )
    )
    for figure in verdict.figures:
        gap = Text("the baseline itself")
        if verdict.recommended != verdict.baseline:
            gap = Text(
                f"{figure.difference:+.3f} [{figure.difference_low:+.3f}, "
                f"{figure.difference_high:+.3f}] "
            )
            gap.append(figure.verdict, VERDICTS.get(figure.verdict, ""))
        table.add(
            figure.metric,
            number(figure.value),
            f"{number(figure.low)}-{number(figure.high)}",
            gap,
        )
    base = Text(f"\nbaseline: {short[verdict.baseline]}; verdicts {verdict.among}")
    if with_planned and verdict.recommended != verdict.baseline and verdict.planned:
        base.append(f"\n{PLANNED}, nothing chosen by these questions: {verdict.planned}", "dim")
    return Group(head, *said, base, table, Text())


def systems_table(
    ranked: "pd.DataFrame", metrics: Sequence[str], chosen: str, rows: int = ROWS
) -> RenderableType:
    """One row a system, best first, at most so many, with the settings that vary alone; a mark says
    of which it cannot be said that they are worse than the best."""
    shown = shown_settings(ranked)
    settings = list(shown.columns) or ["system"]
    compared = int((ranked["verdict"] != NOT_COMPARABLE).sum())
    columns = [*(Column(name, "name") for name in settings), *metric_columns(metrics, chosen)]
    table = FittedTable((*columns, Column("95% interval")), "in systems.parquet")
    for place, (_, row) in enumerate(ranked.head(rows).iterrows()):
        named = [
            Text(str(value)) for value in (shown.iloc[place] if shown.shape[1] else [row["system"]])
        ]
        sign = f"{mark(row['verdict'])} ".lstrip()
        ends = [number(row[f"{chosen}_{end}"]) for end in ("low", "high")]
        interval = f"{sign}{'-'.join(ends)}"
        table.add(*named, *(number(row[metric]) for metric in metrics), interval)
    more = f"; {len(ranked) - rows} more in systems.parquet" if len(ranked) > rows else ""
    caption = (
        f"interval of {chosen}; against the best, {chosen_among(compared)}: "
        f"{legend(ranked['verdict'])}; unmarked: worse{more}"
    )
    return Group(table, Text(caption, "dim"))


def kinds_table(run: Run, systems: Sequence[str]) -> FittedTable:
    """For every kind of question the given systems beneath each other."""
    names = [Column(name, "name") for name in ("kind", "n", "system")]
    columns = [*names, *metric_columns(run.metrics, run.tables.select_by)]
    table = FittedTable(columns, "with `lab slices RUN --json`")
    last = None
    for row in run.slices("kind", systems).to_dict("records"):
        named = (Text(row["kind"]), str(row["questions"])) if row["kind"] != last else ("", "")
        values = [number(row[metric]) for metric in run.metrics]
        table.add(*named, Text(run.labels[row["system"]]), *values)
        last = row["kind"]
    return table


def _warnings(warnings: Sequence[str]) -> Text:
    text = Text("\nread this before quoting a number\n", "bold yellow")
    for warning in warnings[:WARNINGS]:
        text.append(f"  {warning}\n", "not bold default")
    if len(warnings) > WARNINGS:
        text.append(f"  and {len(warnings) - WARNINGS} more in manifest.json\n", "not bold default")
    return text


def _footer(run: Run) -> str:
    metrics = run.manifest["measure"]["metrics"]
    lines = _computed(run)
    if any(metric.startswith("ndcg@") for metric in metrics):
        lines.append("ndcg: linear gain")
    if any(metric.startswith("ndcg_burges") for metric in metrics):
        lines.append("ndcg_burges: gain 2^grade - 1")
    return "\n" + "; ".join(lines)


def _computed(run: Run) -> list[str]:
    """What models had to do, and what the cache spared them."""
    counts = run.manifest["counts"]
    return [
        f"{what}: {counts.get(f'{what} computed', 0)} computed, {counts.get(f'{what} cached', 0)} "
        "from the cache"
        for what in ("texts", "pairs")
        if counts.get(f"{what} computed", 0) + counts.get(f"{what} cached", 0)
    ]
