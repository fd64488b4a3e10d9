"""What a run's conclusions say, as sentences: how firm the choice is first, then the choice, then
what the questions can tell at all."""

from collections.abc import Mapping, Sequence
from typing import Any

from lab.errors import counted
from lab.evaluation.verdict import MARKS, Verdict, chosen_among

Conclusions = Mapping[str, Any]
Labels = Mapping[str, str]

NAMED = 3


def headline(found: Conclusions) -> str:
    """What may be concluded, in one sentence: it stands before any name."""
    counts, needed = found["verdicts"], found["units_needed"]
    others, units = sum(counts.values()), _units(found)
    if not others:
        return "One system was measured: there is nothing to choose."
    if found["units"] < needed["least"]:
        more = "" if needed["tenth"] is None else f", about {needed['tenth']:,} for one of 0.1"
        return (
            f"Nothing can be concluded: {units} cannot tell any difference from chance; it takes "
            f"{needed['least']} at least{more}."
        )
    worse, among = counts["worse"], chosen_among(others + 1)
    if not worse:
        none = (
            "the other system cannot"
            if others == 1
            else f"none of the {others:,} other systems can"
        )
        return f"No choice can be made: with {units} {none} be told from the best, {among}."
    if worse == others:
        every = "The other system" if others == 1 else "Every other system"
        return f"{every} is worse than the best beyond chance, {among}."
    return (
        f"{worse} of {counted(others, 'other system')} {_are(worse)} worse than the best beyond "
        f"chance, {among}; the rest cannot be told from it."
    )


def choice_word(found: Conclusions) -> str:
    """What the system that is named first is."""
    counts = found["verdicts"]
    firm = counts["worse"] or not sum(counts.values())
    return "recommended" if firm else "cheapest of those not told apart"


def sentences(found: Conclusions, short: Labels) -> list[str]:
    """The choice and why, the honest estimate, the power, the sealed questions."""
    said = [_choice(found, short)]
    if found["tied"]:
        said.append(_ties(found["tied"], short))
    if any(found["verdicts"][verdict] for verdict in ("undecided", "cannot be settled", "same")):
        said.append(_not_told_apart(found["verdicts"]))
    said += _left_out(found, short)
    if found["honest"]["estimate"] is not None:
        said.append(_honest(found))
    said += _power(found, short)
    if found["sealed"]:
        said.append(_sealed(found["sealed"], found["select_by"]))
    return said


def brief(found: Conclusions, short: Labels) -> list[str]:
    """The choice, what takes no part in it, and the honest estimate alone."""
    honest = [] if found["honest"]["estimate"] is None else [_honest(found)]
    return [_choice(found, short), *_left_out(found, short), *honest]


def _left_out(found: Conclusions, short: Labels) -> list[str]:
    return [
        f"{short[system]} is not comparable ({reason}) and takes no part in any choice or test."
        for system, reason in found["not_comparable"].items()
    ]


def _choice(found: Conclusions, short: Labels) -> str:
    metric, best, recommended = found["select_by"], found["best"], found["recommended"]
    if recommended["system"] == best["system"]:
        return (
            f"It has the highest {metric}, {best['mean']:.3f}, and no system within one standard "
            "error of it costs less."
        )
    cheaper = listed(
        [
            f"{cost} ({_cost(ours)} for {_cost(its)})"
            for cost, (ours, its) in found["cheaper"].items()
        ]
    )
    return (
        f"It is the cheapest system within one standard error of the highest {metric}, "
        f"{best['mean']:.3f} of {short[best['system']]}; its own is {recommended['mean']:.3f}. It "
        f"is cheaper in {cheaper}."
    )


def _ties(tied: Sequence[str], short: Labels) -> str:
    names = [short[system] for system in tied[:NAMED]]
    if len(tied) > NAMED:
        names.append(f"{len(tied) - NAMED} more")
    return (
        f"{listed(names)} {'has' if len(tied) == 1 else 'have'} the same mean as the best: of "
        "equals the cheaper is called the best, then the first by name."
    )


def _not_told_apart(counts: Mapping[Verdict, int]) -> str:
    parts: dict[Verdict, str] = {
        "undecided": "undecided ({mark})",
        "cannot be settled": "cannot be settled ({mark}: no answers to these questions could have "
        "told them apart)",
        "same": "the same on every question ({mark})",
    }
    said = [
        f"{counts[verdict]} {words.format(mark=MARKS[verdict])}"
        for verdict, words in parts.items()
        if counts[verdict]
    ]
    return f"Of the others, against the best: {listed(said)}."


def _honest(found: Conclusions) -> str:
    honest = found["honest"]
    low, high = honest["interval"]
    interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return (
        f"Choosing among {counted(sum(found['verdicts'].values()) + 1, 'system')} this way scores "
        f"{honest['estimate']:.3f}{interval} on questions the choice has not seen; "
        f"{round(honest['optimism'], 3) + 0.0:.3f} of the apparent {honest['apparent']:.3f} is "
        "optimism."
    )


def _power(found: Conclusions, short: Labels) -> list[str]:
    """What the questions can tell at all, and what it would take to tell the best from the
    second."""
    said = []
    if found["unit"] == "question" and found["documents"] == 1:
        said.append(
            "The evidence lies in one document: all that is said here holds for questions about it."
        )
    detectable = found["detectable_difference"][found["select_by"]]
    if detectable["planned"] is not None:
        said.append(
            f"With {_units(found)} as independent units, a true difference of "
            f"{detectable['planned']:.3f} to the best is found four times in five when one pair is "
            f"compared{_in_grid(detectable['in_grid'])}."
        )
    second = found["runner_up"]
    if second is not None and second["verdict"] in ("undecided", "cannot be settled"):
        said.append(_second(second, short[second["system"]], found["unit"]))
    return said


def _in_grid(difference: float | None) -> str:
    if difference is None:
        return "; no difference is when any of all could be the best"
    return f", of {difference:.3f} when any of all could be the best"


def _second(second: Mapping[str, Any], name: str, unit: str) -> str:
    needed = ""
    if second["units_needed"] is not None:
        questions = counted(second["questions_needed"], "question")
        about = counted(second["units_needed"], unit)
        needed = questions if unit == "question" else f"{about} ({questions})"
    if second["verdict"] == "cannot be settled":
        return (
            f"The second, {name}, differs on too few questions, or by too little: whether the best "
            "beats it cannot be settled"
            + (f"; about {needed} like these would tell." if needed else ".")
        )
    return (
        f"To tell it from the second, {name}, would take about {needed}."
        if needed
        else (f"The second, {name}, is undecided.")
    )


def _sealed(sealed: Mapping[str, Any], metric: str) -> str:
    mean, low, high = sealed["scores"][metric]
    used = sealed.get("use", 1)
    return (
        f"On {counted(len(sealed['query_ids']), 'sealed question')}, scored once, it reaches "
        f"{mean:.3f} [{low:.3f}, {high:.3f}]."
        + (
            f" This is use {used} of these questions: they are no longer unseen."
            if used > 1
            else ""
        )
    )


def _units(found: Conclusions) -> str:
    return counted(found["units"], found["unit"])


def _cost(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.3g}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def listed(items: Sequence[str]) -> str:
    """Things one after the other, as a sentence names them."""
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]])) if items else ""
