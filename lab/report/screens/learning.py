"""What was mined and what training did, on the terminal and as JSON."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.errors import counted
from lab.evaluation.verdict import MARKS, PLANNED
from lab.learning.mined import Mined
from lab.learning.verdict import Judged, Line
from lab.report.screens.fitted import Column, FittedTable, number


def mined_screen(mined: Mined, labels: Mapping[str, str]) -> RenderableType:
    """How much there is to learn from, by cause and kind, and what was left out."""
    examples, facts = mined.examples, mined.facts
    questions = len({example.query_id for example in examples})
    pieces = len({(example.query_id, example.piece) for example in examples})
    head = Text(
        f"{counted(len(examples), 'hard negative')} of {counted(pieces, 'piece')} of evidence, "
        f"{counted(questions, 'question')}\nmined from: "
        + ", ".join(labels[name] for name in facts["systems"])
        + f"\nteacher: {facts['teacher']}\n"
    )
    kinds = sorted({example.kind for example in examples})
    table = FittedTable([Column("cause", "name"), *map(Column, kinds), Column("all")])
    causes = list(dict.fromkeys(cause for cause, _ in mined.counts))
    of_cause = {cause: [mined.counts[cause, kind] for kind in kinds] for cause in causes}
    for cause in sorted(causes, key=lambda cause: (-sum(of_cause[cause]), cause)):
        table.add(cause, *map(str, of_cause[cause]), str(sum(of_cause[cause])))
    left = [f"  {count:,} {reason}" for reason, count in facts["left_out"].items() if count]
    parts: list[RenderableType] = [head, Text("negatives by cause and kind", "bold"), table]
    if left:
        parts.append(Text("\nleft out, system by system:\n" + "\n".join(left)))
    sealed = mined.sealed
    parts.append(
        Text(
            f"\nsealed: {counted(len(sealed.query_ids), 'question')} about "
            f"{counted(len(sealed.documents), 'document')}; none of them is in here"
            if sealed.query_ids
            else "\nnothing is sealed, so there will be no verdict on what is learned from this"
        )
    )
    return Group(*parts)


def mined_json(mined: Mined, place: Path) -> dict[str, Any]:
    """The same for machines."""
    counts: dict[str, dict[str, int]] = {}
    for (cause, kind), count in sorted(mined.counts.items()):
        counts.setdefault(cause, {})[kind] = count
    names = ("systems", "teacher", "left_out")
    facts = {name: mined.facts[name] for name in names}
    sealed = {"questions": len(mined.sealed.query_ids), "sha256": mined.sealed.digest}
    record = {"folder": str(place), "examples": len(mined.examples), "counts": counts}
    return record | facts | {"sealed": sealed}


def trained_screen(record: Mapping[str, Any]) -> RenderableType:
    """What a model was trained on, and its loss on the documents that it did not see."""
    settings, figures = record["settings"], record["figures"]
    before, after = figures["loss_before"], figures["loss"]
    text = (
        f"{settings['kind']} from {settings['base']}, loss {settings['loss']}: "
        f"{counted(figures['examples'], 'example')}, and {figures['stopping']:,} about "
        f"{counted(len(record['stopping_documents']), 'other document')} to stop by\n"
        f"loss on the latter: {before:.4f} before, {after:.4f} after {figures['best_step']:,} of "
        f"{counted(figures['steps'], 'step')}, in {figures['seconds']:,.0f} s"
    )
    if after >= before:
        text += "\nit did not fall, so nothing that holds for other documents was learned"
    return Text(text + "\n")


def verdict_screen(judged: Sequence[Judged], lines: Sequence[Line]) -> RenderableType:
    """Trained against untrained on every set, and which misses came back and which were made."""
    parts: list[RenderableType] = []
    table_alike = [_cells(line) for line in lines]
    columns = (
        Column("metric", "name"),
        *map(Column, ("before", "after", "diff", "95% interval", "w/l", "p")),
        Column("trained is", "word"),
    )
    for of in judged:
        key = (of.name, of.part, of.untrained)
        own = [line for line in lines if (line.set, line.part, line.system) == key]
        what = "sealed questions" if of.part == "sealed" else "questions of a second set"
        title = f"{of.name}: {own[0].questions} {what}"
        systems = f"untrained: {of.untrained}\ntrained:   {of.trained}"
        table = FittedTable(columns, alike=table_alike)
        for line in own:
            table.add(*_cells(line))
        parts += [Text(title, "bold"), Text(systems, overflow="fold"), table]
        back, made = (_counted(counts) for counts in (of.back, of.made))
        parts.append(Text(f"missed pieces brought back: {back}\nmissed pieces made: {made}\n"))
    if all(of.part == "sealed" for of in judged):
        parts.append(Text("no second set was named (--second RUN): what was forgotten is unknown"))
    parts.append(
        Text(
            f"Verdicts {PLANNED}: paired permutation test, Holm over all lines, 5% level; "
            "questions that were looked at before are sealed no longer.",
            "dim",
        )
    )
    return Group(*parts)


def _cells(line: Line) -> tuple[str, ...]:
    return (
        line.metric,
        number(line.untrained),
        number(line.trained),
        f"{line.difference:+.3f}",
        f"{line.low:+.3f} {line.high:+.3f}",
        f"{line.wins}/{line.losses}",
        f"{line.p:.3f}" if line.p >= 0.001 else "<0.001",
        f"{MARKS[line.verdict]} {line.verdict}",
    )


def _counted(counts: Mapping[str, int]) -> str:
    """`5 (outranked 3, split 2)`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    of_cause = ", ".join(f"{cause} {count}" for cause, count in ordered)
    return f"{sum(counts.values())}" + (f" ({of_cause})" if of_cause else "")


def verdict_json(
    record: Mapping[str, Any], judged: Sequence[Judged], place: Path
) -> dict[str, Any]:
    """The card's record, and what came back and was made, for machines."""
    moved = [
        {
            "set": of.name,
            "part": of.part,
            "system": of.untrained,
            "back": dict(of.back),
            "made": dict(of.made),
        }
        for of in judged
    ]
    return {"folder": str(place), "moved": moved, **record}
