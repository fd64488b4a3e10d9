"""Alpha by question, on the terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lab.report.weighing import weighing_stories
from lab.runs.run import Run


def weighing_screen(run: Run) -> RenderableType | None:
    """What each rule for alpha is worth; None for a run without one."""
    parts: list[RenderableType] = []
    for story in weighing_stories(run):
        parts.append(Text(f"\n{story.title}", "bold"))
        parts.append(_table(story.head, story.rows))
        parts.append(Text(story.stated, "dim"))
        parts.append(_table(story.predictor_head, story.foretold))
    return Group(*parts) if parts else None


# The column whose words may go on below: the difference with its verdict.
WRAPS = 3


def _table(head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(head):
        table.add_column(column, justify="right" if place else "left", no_wrap=place != WRAPS)
    for row in rows:
        table.add_row(*map(Text, row))
    return table
