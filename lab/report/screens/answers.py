"""Answers and their judges on the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.answers.compare import AnswersCompared
from lab.answers.judges.check import Checked, JudgeCheck
from lab.answers.judges.regression import JudgeRegression
from lab.answers.losses import Loss
from lab.answers.measured import MEASURES
from lab.errors import counted
from lab.report.screens.compare import lines_table
from lab.report.screens.fitted import Column, FittedTable

SHOWN = 10
# Measure -> its head in the table.
HEADS = {
    "score": "score",
    "faithfulness": "faithful",
    "context_precision": "context precision",
    "context_recall": "context recall",
    "chain": "chain",
    "evidence_used": "evidence used",
    "nowhere": "from nowhere",
}


def answers_screen(
    means: Mapping[str, Mapping[str, float | None]], losses: Mapping[str, Sequence[Loss]]
) -> RenderableType:
    """Means of every system's answers, then what each loses to retrieval and to generation."""
    own = [name for name in next(iter(means.values()), {}) if name not in MEASURES]
    table = FittedTable([Column("system", "name"), *map(Column, (*HEADS.values(), *own))])
    for system, values in means.items():
        table.add(system, *(_number(values[name]) for name in (*HEADS, *own)))
    parts: list[RenderableType] = [table]
    if losses:
        parts += [Text("\nlost to retrieval (gold context - the system's) and to generation")]
        for system, rows in losses.items():
            figures = map(Column, ("n", "retrieval", "generation"))
            lost = FittedTable((Column("questions", "name"), *figures, Column("verdict", "word")))
            for row in rows:
                retrieval = _interval(row.retrieval, row.retrieval_low, row.retrieval_high)
                generation = _interval(row.generation, row.generation_low, row.generation_high)
                count = str(row.questions)
                lost.add(row.slice, count, retrieval, generation, row.verdict)
            parts += [Text(system, "bold"), lost]
    else:
        parts.append(Text("\nno answers under the gold context: losses cannot be told apart"))
    return Group(*parts)


def compared_screen(compared: AnswersCompared) -> RenderableType:
    """Both pipelines' answers, a line a measure."""
    (path_a, path_b), (a, b) = compared.paths, compared.systems
    head = Text(f"A: {path_a}  {a}\nB: {path_b}  {b}\n", overflow="fold")
    return Group(head, lines_table(compared.lines))


def judges_screen(checked: Checked) -> RenderableType:
    """What is known of every judge, and what a person should look at."""
    parts: list[RenderableType] = []
    for judge in checked.judges:
        name = f"{judge.judge}, {judge.criterion}" if judge.criterion else judge.judge
        parts += [Text(name, "bold"), *(Text(f"  {line}") for line in _lines(judge))]
    for row in checked.orders:
        parts += [
            Text(f"{row.judge}, both orders", "bold"),
            Text(
                f"  {counted(row.pairs, 'pair')}, the same choice in {row.agreement:.0%}; pull to "
                f"the second place {row.bias:+.3f} [{row.low:+.3f}, {row.high:+.3f}]; "
                f"{counted(len(row.discordant), 'pair')} left out of the means"
            ),
            *(
                Text(f"  {system}: wins {mean:.3f} of {counted(pairs, 'settled pair')}")
                for system, pairs, mean in row.wins
            ),
        ]
    parts.append(Text(f"\n{counted(len(checked.queue), 'judgement')} for a person to look at"))
    parts += [
        Text(f"  {queued.query_id} ({queued.system}), {queued.judge}: {queued.reason}")
        for queued in checked.queue[:SHOWN]
    ]
    if len(checked.queue) > SHOWN:
        parts.append(Text(f"  and {len(checked.queue) - SHOWN} more (--json has all)"))
    return Group(*parts)


def _lines(judge: JudgeCheck) -> list[str]:
    lines = [f"{counted(judge.scores, 'score')}, mean {judge.mean:.3f}"]
    if judge.own_answers:
        lines.append(f"warning: {judge.own_answers} are scores of answers that it wrote itself")
    if not judge.shared_with_people:
        return [*lines, "no score of people for the same answers: nothing more can be said"]
    lines.append(f"{judge.shared_with_people} answers were scored by people as well")
    if judge.kappa is not None:
        kappa = judge.kappa
        lines.append(f"weighted kappa {kappa.weighted:.3f} [{kappa.low:.3f}, {kappa.high:.3f}]")
    if judge.corrected is not None:
        mean = judge.corrected
        lines.append(
            f"mean as people would give it {mean.mean:.3f} [{mean.low:.3f}, {mean.high:.3f}]"
        )
    if judge.length is not None:
        slope = judge.length
        lines.append(
            f"{slope.slope:+.3f} [{slope.low:+.3f}, {slope.high:+.3f}] points for a hundred words"
        )
    if judge.family is not None:
        bonus = judge.family
        lines.append(f"{bonus.bonus:+.3f} points for its own family, p {bonus.p:.4f}")
    if judge.calibration is not None:
        sure = judge.calibration
        lines.append(f"confidence: calibration error {sure.ece:.3f}, Brier {sure.brier:.3f}")
    return lines


def regressions_screen(regressions: Mapping[str, JudgeRegression]) -> RenderableType:
    """What changed between two versions of a judge, by criterion."""
    parts: list[RenderableType] = []
    for criterion, row in regressions.items():
        cases = counted(row.cases_judged, "case")
        head = f"{criterion or 'score'}: {cases}, mean moved by {row.moved:+.3f}"
        parts.append(Text(head, "bold"))
        parts += [Text(f"  {fault}") for fault in row.faults or ("judges as before",)]
        if row.faults:
            parts.append(Text(f"  moved most: {', '.join(row.cases)}"))
    return Group(*parts)


def _interval(mean: float, low: float, high: float) -> Text:
    return Text(f"{mean:+.3f} [{low:+.2f}, {high:+.2f}]")


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.3f}"
