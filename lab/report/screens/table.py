"""Tables of the terminal: no lines, text to the left, numbers to the right."""

from collections.abc import Collection

from rich.table import Table


def plain_table(*columns: str, left: Collection[str]) -> Table:
    """A table whose columns named in `left` hold text, folded where the screen is too narrow; the
    others hold numbers, which are never broken."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        words = column in left
        table.add_column(
            column, justify="left" if words else "right", overflow="fold", no_wrap=not words
        )
    return table
