"""Where the cuts fell: how much of what the chunks do is the luck of one alignment."""

from dataclasses import dataclass

from lab.runs.run import Run


@dataclass(frozen=True, slots=True)
class PhaseStory:
    """`title` says what is told, `rows` are (change, difference, range at single phases, how far a
    single phase is off, that as a share of the difference), `systems` (label, mean, range, spread),
    and `stated` says of which phase everything is that no mean can be taken of."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    system_head: tuple[str, ...]
    systems: tuple[tuple[str, ...], ...]
    stated: str


def phase_story(run: Run) -> PhaseStory | None:
    """The story of a run at several phases; None of one at a single phase."""
    table = run.phases()
    if table.empty:
        return None
    phases, metric = run.manifest["phases"], run.tables.select_by
    rows = [
        (
            f"{row.setting} {row.before} -> {row.after}",
            f"{row.difference:+.3f}",
            f"{row.lowest:+.3f} to {row.highest:+.3f}",
            f"{row.spread:.3f}",
            f"{row.share:.0%}",
        )
        for row in run.phase_effects().itertuples()
    ]
    systems = [
        (
            run.labels[str(row.system)],
            f"{row.mean:.3f}",
            f"{row.lowest:.3f} to {row.highest:.3f}",
            f"{row.spread:.3f}",
        )
        for row in table.sort_values("spread", ascending=False, kind="stable").itertuples()
    ]
    return PhaseStory(
        title=f"where the cuts fell: {metric} over {len(phases)} phases of the cuts",
        head=("change", "difference", "at single phases", "moved by", "share"),
        rows=tuple(rows),
        system_head=("system", "mean", "at single phases", "moved by"),
        systems=tuple(systems),
        stated=f"scores are means over the phases, and intervals and tests count how far these lie "
        f"apart; hits, causes and curves are those at phase {phases[0]:g}",
    )
