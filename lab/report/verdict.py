"""The first screen in words: the question asked, the recommended system, how sure that is, and what
to beware of."""

from dataclasses import dataclass
from typing import Any

from lab.errors import counted
from lab.evaluation.risk import HURT
from lab.evaluation.verdict import OPPOSITE, Verdict, chosen_among
from lab.report.sentences import brief, choice_word, headline, sentences
from lab.runs.differences import seen_from
from lab.runs.run import Run


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of the recommended system with its 95% interval, and its difference to the
    baseline's with interval: the `verdict` after choosing among all systems, and the one `planned`
    as if the pair had been named in advance."""

    metric: str
    value: float
    low: float
    high: float
    baseline: float
    difference: float
    difference_low: float
    difference_high: float
    verdict: Verdict
    planned: Verdict


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """What a run says, ready to print. `headline` tells what may be concluded at all, `choice` what
    the system named first is, `brief` the sentences that matter most; `figures` are those of the
    recommended system against `baseline`, `among` the words for what their verdicts allow for."""

    title: str
    question: str
    headline: str
    choice: str
    recommended: str
    best: str
    baseline: str
    select_by: str
    figures: tuple[Figure, ...]
    among: str
    sentences: tuple[str, ...]
    brief: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def planned(self) -> str:
        """What the pair would say, had it been planned, where that is something else."""
        return ", ".join(
            f"{figure.metric} {figure.planned}"
            for figure in self.figures
            if figure.planned != figure.verdict
        )


def verdict_of(run: Run) -> FirstScreen:
    """Collect the conclusions of a run. Nothing is decided here: choice, intervals and tests are
    the evaluation's."""
    manifest, short = run.manifest, run.labels
    found = manifest["conclusions"]
    unit = "the evidence" if manifest["unit"] == "evidence" else "the judged documents"
    return FirstScreen(
        title=manifest["name"],
        question=f"Which of {counted(len(run.systems), 'system')} best finds {unit} of "
        f"{counted(len(run.query_ids), 'question')} in "
        f"{counted(manifest['corpus']['documents'], 'document')}?",
        headline=headline(found),
        choice=choice_word(found),
        recommended=run.recommended,
        best=run.best,
        baseline=run.baseline,
        select_by=found["select_by"],
        figures=_figures(run),
        among=chosen_among(len(run.compared)),
        sentences=(*sentences(found, short), *_risk(run)),
        brief=tuple(brief(found, short)),
        warnings=tuple(_warnings(manifest, found)),
    )


def _risk(run: Run) -> tuple[str, ...]:
    """What the mean hides of the recommended system; nothing for the baseline itself."""
    row = run.tables.systems.set_index("system").loc[run.recommended]
    hurt, helped = int(row["hurt"]), int(row["helped"])
    if run.recommended == run.baseline or not hurt:
        return ()
    return (
        f"On {counted(hurt, 'question')} it is {HURT} or more worse than the baseline by "
        f"{run.tables.select_by}, on {helped:,} as much better.",
    )


def _figures(run: Run) -> tuple[Figure, ...]:
    systems = run.tables.systems.set_index("system")
    row, base = systems.loc[run.recommended], systems.loc[run.baseline]
    paired = run.paired(run.recommended, run.baseline)
    against = [run.verdicts(metric, run.recommended)[run.baseline] for metric in run.metrics]
    return tuple(
        Figure(
            metric=metric,
            value=float(row[metric]),
            low=float(row[f"{metric}_low"]),
            high=float(row[f"{metric}_high"]),
            baseline=float(base[metric]),
            difference=float(paired.difference[place]),
            difference_low=float(paired.low[place]),
            difference_high=float(paired.high[place]),
            verdict=OPPOSITE.get(against[place], against[place]),
            planned=seen_from(paired.verdicts[place], metric),
        )
        for place, metric in enumerate(run.metrics)
    )


def _warnings(manifest: dict[str, Any], found: dict[str, Any]) -> list[str]:
    notes = list(manifest["notes"])
    detectable = found["detectable_difference"].get(found["select_by"], {}).get("planned")
    if found["few_questions"] and detectable is not None:
        seen = f"differences below about {detectable:.2f} in {found['select_by']} cannot be seen"
        notes.insert(0, f"With so few questions {seen}: read cases, not averages.")
    return notes
