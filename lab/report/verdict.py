"""The first screen in words: the question asked, the recommended system, how sure that is, and what
to beware of."""

from dataclasses import dataclass
from typing import Any

from lab.config.rows import is_absent
from lab.evaluation.verdict import ALPHA
from lab.runs.run import Run


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of the recommended system with its 95% interval, and its difference to the
    baseline's with interval and verdict (`better`, `worse`, `undecided`, `cannot be settled`,
    `same`)."""

    metric: str
    value: float
    low: float
    high: float
    baseline: float
    difference: float
    difference_low: float
    difference_high: float
    verdict: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says, ready to print. `figures` are those of the recommended system against
    `baseline`."""

    title: str
    question: str
    recommended: str
    best: str
    baseline: str
    select_by: str
    figures: tuple[Figure, ...]
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]


def verdict_of(run: Run) -> Verdict:
    """Collect the conclusions of a run. Nothing is decided here: choice, intervals and tests are
    the evaluation's."""
    manifest, short = run.manifest, run.labels
    found = manifest["conclusions"]
    unit = "the evidence" if manifest["unit"] == "evidence" else "the judged documents"
    return Verdict(
        title=manifest["name"],
        question=f"Which of {_count(len(run.systems), 'system')} best finds {unit} of "
        f"{_count(len(run.query_ids), 'question')} in "
        f"{_count(manifest['corpus']['documents'], 'document')}?",
        recommended=run.recommended,
        best=run.best,
        baseline=run.baseline,
        select_by=found["select_by"],
        figures=_figures(run),
        sentences=tuple(_sentences(run, found, short)),
        warnings=tuple(_warnings(manifest, found)),
    )


def _figures(run: Run) -> tuple[Figure, ...]:
    systems = run.tables.systems.set_index("system")
    row, base = systems.loc[run.recommended], systems.loc[run.baseline]
    paired = run.paired(run.recommended, run.baseline)
    return tuple(
        Figure(
            metric,
            float(row[metric]),
            float(row[f"{metric} low"]),
            float(row[f"{metric} high"]),
            float(base[metric]),
            float(paired.difference[place]),
            float(paired.low[place]),
            float(paired.high[place]),
            paired.verdicts[place],
        )
        for place, metric in enumerate(run.metrics)
    )


def _sentences(run: Run, found: dict[str, Any], short: dict[str, str]) -> list[str]:
    metric, best, recommended = found["select_by"], found["best"], found["recommended"]
    tied, honest = len(run.manifest["as_good_as_best"]) - 1, found["honest"]
    said = []
    if recommended["system"] == best["system"]:
        said.append(
            f"It has the highest {metric}, {best['mean']:.3f}, and no system within one standard "
            "error of it costs less."
        )
    else:
        said.append(
            f"It is the cheapest system within one standard error of the highest {metric}, "
            f"{best['mean']:.3f} of "
            f"{short[best['system']]}; its own is {recommended['mean']:.3f}."
        )
    if tied:
        said.append(
            f"{_count(tied, 'other system')} cannot be told from the best with these questions."
        )
    elif len(run.systems) > 1:
        said.append("Every other system is worse than the best beyond chance.")
    if not is_absent(honest["estimate"]):
        low, high = honest["interval"]
        interval = "" if is_absent(low) else f" [{low:.3f}, {high:.3f}]"
        said.append(
            f"Choosing among {_count(len(run.systems), 'system')} this way scores "
            f"{honest['estimate']:.3f}{interval} on "
            f"questions the choice has not seen; {honest['optimism']:.3f} of the apparent "
            f"{honest['apparent']:.3f} is optimism."
        )
    said += _power(found, short)
    if found["sealed"]:
        said.append(_sealed(found["sealed"], metric))
    return said


def _power(found: dict[str, Any], short: dict[str, str]) -> list[str]:
    """What the questions can tell at all, and what it would take to tell the best from the
    second."""
    units = f"{found['units']} {found['unit']}s"
    said = []
    if found["unit"] == "question" and found.get("documents") == 1:
        said.append(
            "The evidence lies in one document: all that is said here holds for questions about it."
        )
    detectable, second = found["detectable_difference"][found["select_by"]], found["runner_up"]
    if detectable["planned"] is not None:
        said.append(
            f"With {units} as independent units, a true difference of {detectable['planned']:.3f} "
            "to the best is found four "
            f"times in five when one pair is compared, of {detectable['in_grid']:.3f} when any of "
            "all could be the best."
        )
    if second is not None and second["p"] >= ALPHA:
        name = short[second["system"]]
        if second["least_p"] >= ALPHA:
            said.append(
                f"The second, {name}, differs on too few questions: whether the best beats it "
                "cannot be settled."
            )
        elif second["questions_needed"] is not None:
            said.append(
                f"To tell it from the second, {name}, would take about "
                f"{_count(second['questions_needed'], 'question')}."
            )
    return said


def _sealed(sealed: dict[str, Any], metric: str) -> str:
    mean, low, high = sealed["scores"][metric]
    return (
        f"On {_count(len(sealed['query_ids']), 'sealed question')}, scored once, it reaches "
        f"{mean:.3f} [{low:.3f}, {high:.3f}]."
        + (
            f" This is use {sealed['use']} of these questions: they are no longer unseen."
            if sealed.get("use", 1) > 1
            else ""
        )
    )


def _warnings(manifest: dict[str, Any], found: dict[str, Any]) -> list[str]:
    notes = list(manifest["notes"])
    detectable = found["detectable_difference"].get(found["select_by"], {}).get("planned")
    if found["few_questions"] and detectable is not None:
        seen = f"differences below about {detectable:.2f} in {found['select_by']} cannot be seen"
        notes.insert(0, f"With so few questions {seen}: read cases, not averages.")
    return notes


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
