"""A gate: may this run take its baseline's place? Every rule must be shown to hold; what is not
shown does not pass."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.special import ndtri

from lab.errors import RunError, counted, nearest
from lab.evaluation.clusters import clustered
from lab.evaluation.intervals import LEVEL
from lab.evaluation.phases import intervals_over_phases, phase_means
from lab.runs.compare import Line, RunComparison, compare_sides
from lab.runs.confidence import UNSURE, read_confidences
from lab.runs.gate_rules import ALL, Rule, Rules
from lab.runs.run import Run, read_run
from lab.runs.side import Side

Status = Literal["pass", "fail", "weak", "waived"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one rule. `weak` means that the questions at hand cannot show that it holds;
    `waived` that it does not pass but has leave. `finding` says why in a sentence."""

    rule: str
    status: Status
    finding: str


@dataclass(frozen=True, eq=False)
class Gate:
    """All outcomes. Every rule has to pass, so no correction for several rules is due
    (intersection-union test; Berger 1982)."""

    run: Side
    baseline: Side
    outcomes: tuple[Outcome, ...]

    @property
    def passed(self) -> bool:
        return all(outcome.status in ("pass", "waived") for outcome in self.outcomes)


def judge_gate(run: Side, baseline: Side, rules: Rules, today: date, seed: int = 0) -> Gate:
    """Check every rule, and first that the run answers all questions of its baseline.

    Raises RunError when a rule names a metric, kind, cause or figure that the run does not have.
    """
    comparison = compare_sides(baseline, run, seed=seed)
    problems: list[str] = []
    outcomes = [_same_questions(comparison)]
    for rule in rules.rule:
        check = next(check for key, check in CHECKS.items() if getattr(rule, key) is not None)
        try:
            outcomes.append(
                _waived(check(rule, comparison, rules.min_questions, seed), rules, today)
            )
        except RunError as fault:
            problems.extend(f"rule '{rule.label}': {line}" for line in fault.problems)
    if problems:
        raise RunError(problems)
    return Gate(run, baseline, tuple(outcomes))


def _same_questions(comparison: RunComparison) -> Outcome:
    """A question that is gone cannot get worse, so it must not be gone."""
    gone = sorted(set(comparison.a.scores.index) - set(comparison.b.scores.index))
    label = "every question of the baseline"
    if gone:
        return Outcome(
            label, "fail", f"{len(gone)} are not scored in the run: {', '.join(gone[:5])}"
        )
    return Outcome(label, "pass", f"all {len(comparison.a.scores)} are scored in the run")


def _check_metric(rule: Rule, comparison: RunComparison, fewest: int, seed: int) -> Outcome:
    lines = {
        line.metric: line
        for line in (*comparison.lines, *comparison.slices)
        if line.slice == rule.slice
    }
    if not lines:
        kinds = {line.slice for line in comparison.slices}
        raise RunError(
            f"no kind '{rule.slice}' among the common questions{nearest(rule.slice, kinds)}"
        )
    if rule.metric not in lines:
        raise RunError(
            f"metric '{rule.metric}' is not in both runs{nearest(str(rule.metric), lines)}"
        )
    line = lines[rule.metric]
    if line.questions < fewest:
        return Outcome(
            rule.label,
            "weak",
            f"{counted(line.questions, 'question')}; at least {fewest} are needed to show anything",
        )
    return (
        _check_drop(rule, line)
        if rule.max_drop is not None
        else _check_floor(rule, line, comparison, seed)
    )


def _check_drop(rule: Rule, line: Line) -> Outcome:
    """Non-inferiority: the whole interval of the difference lies above the limit."""
    limit = -(rule.max_drop or 0.0)
    finding = (
        f"{line.a:.3f} -> {line.b:.3f}, {line.difference:+.3f} [{line.low:+.3f}, "
        f"{line.high:+.3f}], limit {limit:+.3f}"
    )
    if line.low >= limit:
        return Outcome(rule.label, "pass", finding)
    if line.difference < limit:
        return Outcome(rule.label, "fail", finding)
    return Outcome(
        rule.label,
        "weak",
        f"{finding}; {_needed(line.questions, line.high - line.low, line.difference - limit)}",
    )


def _check_floor(rule: Rule, line: Line, comparison: RunComparison, seed: int) -> Outcome:
    """The whole interval of the mean lies above the floor. All of the run's questions count, not
    the common ones alone."""
    kinds = comparison.b.questions.loc[comparison.b.scores.index, "kind"]
    members = (
        comparison.b.scores.index
        if rule.slice == ALL
        else comparison.b.scores.index[(kinds == rule.slice).to_numpy()]
    )
    values = comparison.b.scores.loc[members, [rule.metric]].to_numpy(dtype=np.float64)
    units = clustered(comparison.b.questions.loc[members, "doc_id"].to_numpy(dtype=str))
    by_phase = comparison.b.at(list(members), [str(rule.metric)])
    means = None if by_phase is None else phase_means(by_phase)
    low, high = (float(end[0]) for end in intervals_over_phases(values, units, seed, means))
    mean, floor = float(np.nanmean(values)), rule.floor or 0.0
    finding = f"{mean:.3f} [{low:.3f}, {high:.3f}], floor {floor:.3f}"
    if low >= floor:
        return Outcome(rule.label, "pass", finding)
    if mean < floor:
        return Outcome(rule.label, "fail", finding)
    return Outcome(
        rule.label, "weak", f"{finding}; {_needed(len(values), high - low, mean - floor)}"
    )


def _needed(questions: int, width: float, margin: float) -> str:
    """Questions that would bring the interval's end to the limit with probability 0.8, if the
    figures are the true ones."""
    if margin <= 0:
        return "at the limit itself no number of questions would settle it"
    half = float(ndtri((1 + LEVEL) / 2))
    error = width / (2 * half)
    return (
        "about "
        f"{math.ceil(questions * ((half + float(ndtri(0.8))) * error / margin) ** 2)} questions "
        "would settle it"
    )


def _check_cause(rule: Rule, comparison: RunComparison, fewest: int, seed: int) -> Outcome:
    """Lost pieces are counted, not estimated: the questions are the ones the limit was set for."""
    if comparison.b.causes is None:
        raise RunError(f"{comparison.b.path} has no causes.parquet, so causes cannot be limited")
    pieces = int(comparison.b.manifest["questions"]["pieces"])
    lost = comparison.b.causes.get(str(rule.cause), 0)
    share, limit = lost / pieces, rule.max_share or 0.0
    finding = f"{lost} of {pieces} pieces ({share:.1%}), limit {limit:.1%}"
    return Outcome(rule.label, "pass" if share <= limit else "fail", finding)


def _check_figure(rule: Rule, comparison: RunComparison, fewest: int, seed: int) -> Outcome:
    row = figures(read_run(comparison.b.path), comparison.b.system)
    if rule.figure not in row:
        raise RunError(
            f"systems.parquet has no figure '{rule.figure}'{nearest(str(rule.figure), row)}"
        )
    value = row[rule.figure]
    key, limit = rule.limit
    finding = f"{value:g}, {key.replace('_', ' ')} {limit:g}"
    if math.isnan(value):
        return Outcome(rule.label, "weak", f"not measured, {key.replace('_', ' ')} {limit:g}")
    return Outcome(
        rule.label,
        "pass" if (value <= limit if key == "at_most" else value >= limit) else "fail",
        finding,
    )


def _check_judgements(rule: Rule, found: RunComparison, fewest: int, seed: int) -> Outcome:
    """Judgements are counted, as they are: those whose judge says how sure it is."""
    confidences = read_confidences(Path(str(rule.judgements)))
    if len(confidences) < fewest:
        told = (
            f"{counted(len(confidences), 'score')} with a confidence; at least {fewest} are needed"
        )
        return Outcome(rule.label, "weak", told)
    low, limit = sum(sure < UNSURE for sure in confidences), rule.low_confidence_share or 0.0
    share = low / len(confidences)
    told = f"{low} of {len(confidences)} scores below {UNSURE} ({share:.1%}), limit {limit:.1%}"
    return Outcome(rule.label, "pass" if share <= limit else "fail", told)


def figures(run: Run, system: str) -> dict[str, float]:
    """Numbers that systems.parquet holds of one system."""
    systems = run.tables.systems
    table = systems.select_dtypes("number")
    return {
        str(key): float(value)
        for key, value in table[(systems["system"] == system).to_numpy()].iloc[0].items()
    }


CHECKS: dict[str, Callable[[Rule, RunComparison, int, int], Outcome]] = {
    "metric": _check_metric,
    "cause": _check_cause,
    "figure": _check_figure,
    "judgements": _check_judgements,
}


def _waived(outcome: Outcome, rules: Rules, today: date) -> Outcome:
    """A rule that does not pass stands with a waiver in force; an expired one is named."""
    waivers = [waiver for waiver in rules.waiver if waiver.rule == outcome.rule]
    if outcome.status == "pass" or not waivers:
        return outcome
    last = max(waivers, key=lambda waiver: waiver.until)
    if last.until < today:
        return Outcome(
            outcome.rule, outcome.status, f"{outcome.finding}; its waiver ended on {last.until}"
        )
    return Outcome(
        outcome.rule,
        "waived",
        f"{outcome.finding}; {outcome.status}, waived until {last.until}: {last.reason}",
    )
