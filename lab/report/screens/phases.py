"""Where the cuts fell, on the terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lab.report.phases import phase_story
from lab.runs.run import Run

# Systems that are named, those that the cuts move most.
SHOWN = 3


def phases_screen(run: Run) -> RenderableType | None:
    """How much of every change of the chunks is luck; None for a run at a single phase."""
    story = phase_story(run)
    if story is None:
        return None
    parts: list[RenderableType] = [Text(f"\n{story.title}", "bold")]
    for head, rows in ((story.head, story.rows), (story.system_head, story.systems[:SHOWN])):
        if rows:
            parts.append(_table(head, rows))
    return Group(*parts, Text(story.stated, "dim"))


def _table(head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(head):
        table.add_column(column, justify="right" if place else "left", no_wrap=place > 0)
    for row in rows:
        table.add_row(*map(Text, row))
    return table
