"""Hits of `lab search` as a table."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from lab.pipeline.searcher import Hit

WIDTH = 160


def hits_table(hits: Sequence[Hit]) -> Table:
    """Ranked chunks with both legs' scores; `-` marks a leg that did not find the chunk."""
    table = Table(
        box=None, pad_edge=False, header_style="bold", caption=None if hits else "nothing found"
    )
    for column in ("rank", "score", "bm25", "dense"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("chunk", overflow="fold")
    for hit in hits:
        text = " ".join(hit.text.split())
        shown = Text(hit.chunk.chunk_id, "bold").append(
            f"\n{text[:WIDTH]}{'...' if len(text) > WIDTH else ''}", "not bold"
        )
        table.add_row(str(hit.rank), f"{hit.score:.3f}", _score(hit.bm25), _score(hit.dense), shown)
    return table


def _score(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"
