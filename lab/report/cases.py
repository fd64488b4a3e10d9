"""The cases of a small set on the terminal: what stands in for averages that would settle
nothing."""

from rich.text import Text

from lab.runs.run import Run

SHOWN = 12


def cases_screen(run: Run) -> Text:
    """Questions that every system, no system and only some systems find, and what the recommended
    one wins and loses."""
    recommended, baseline, short = run.recommended, run.baseline, run.labels
    found = run.cases(recommended, baseline)
    text = Text(f"case by case, by {run.tables.select_by}\n", "bold")
    rows: list[tuple[str, list[str]]] = [
        ("found by every system", list(found.by_all)),
        ("found by none", list(found.by_none)),
        (
            "found by some",
            [
                f"{query_id} ({systems} of {len(run.compared)})"
                for query_id, systems in found.by_some
            ],
        ),
    ]
    if recommended != baseline:
        rows += [
            (f"{short[recommended]} above {short[baseline]}", list(found.won)),
            ("and below it", list(found.lost)),
        ]
    for label, ids in rows:
        shown = ", ".join(ids[:SHOWN]) + (", ..." if len(ids) > SHOWN else "")
        text.append(f"  {label}: {len(ids)}" + (f": {shown}" if ids else "") + "\n", "not bold")
    text.append(
        "  `lab explain RUN QUESTION` tells what became of one; the averages below are no ground "
        "for a choice\n",
        "not bold",
    )
    return text
