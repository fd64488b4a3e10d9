"""What `lab watch` found, in words and cells, for screen and page alike."""

from lab.errors import counted
from lab.usage.watch import Watched

COMPARED = ("compared", "log against set", "by chance", "p", "")
DIFFERING = ("feature", "set", "log", "PSI", "by chance up to")


def verdict(found: Watched) -> str:
    """The finding in a sentence."""
    told = [comparison.what for comparison in found.comparisons if comparison.told]
    if not found.comparisons:
        return "the log asks the set's own questions: nothing to compare"
    if not told:
        return "not told apart: the log could be drawn from where the set was"
    return f"told apart by {', '.join(told)}: what the set measures may not hold for these users"


def looked_at(found: Watched) -> str:
    """What was compared."""
    span = f", {found.first:%Y-%m-%d} to {found.last:%Y-%m-%d}" if found.first else ""
    return (
        f"{counted(found.lines, 'line')}{span}, {found.masked} masked; {found.sampled} looked at: "
        f"{counted(found.distinct, 'different question')}, {found.shared} of them in the set of "
        f"{found.in_set}; under {found.system}"
    )


def compared(found: Watched) -> list[list[str]]:
    """Cells of the comparisons, under COMPARED."""
    return [
        [
            f"{row.what} ({'share' if row.what == 'far questions' else 'AUC'})",
            f"{row.found.value:.3f}",
            f"{row.found.low:.3f}-{row.found.high:.3f}",
            f"{row.p:.3f}",
            "told apart" if row.told else "",
        ]
        for row in found.comparisons
    ]


def differing(found: Watched) -> list[list[str]]:
    """Cells of the features that are told apart, the largest index first, under DIFFERING."""
    told = sorted((row for row in found.features if row.told), key=lambda row: -row.psi.value)
    return [
        [
            row.name,
            f"{row.in_set:.3g}",
            f"{row.in_log:.3g}",
            f"{row.psi.value:.2f}",
            f"{row.psi.high:.2f}",
        ]
        for row in told
    ]


def limits_in_words(found: Watched) -> list[str]:
    """A sentence a leg."""
    return [
        f"{limit.leg}: {limit.in_log:.1%} of the log's questions, and {limit.in_set:.1%} of the "
        f"set's, have no hit that scores {limit.score:.3g}, which 95% of the set's answerable "
        "questions reach"
        for limit in found.limits
    ]


def gaps_in_words(found: Watched) -> str:
    """How many questions lie far from the set, and what that means."""
    questions = sum(len(gap.questions) for gap in found.gaps)
    how = "by words alone, for this system has no model" if found.by_words else "by meaning"
    return (
        f"{counted(questions, 'question')} in {counted(len(found.gaps), 'gap')}: farther from "
        f"every question of the set than 95% of its own are from each other ({how})"
    )
