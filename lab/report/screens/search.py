"""Hits of `lab search` as a table."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from lab.pipeline.searcher import Hit

WIDTH = 160
LEGS = ("bm25", "dense", "rerank")


def hits_table(hits: Sequence[Hit]) -> Table:
    """Ranked hits with the scores of the stages that any of them has; `-` marks a stage that did
    not see the chunk."""
    table = Table(
        box=None, pad_edge=False, header_style="bold", caption=None if hits else "nothing found"
    )
    stages = [stage for stage in LEGS if any(stage in hit.stages for hit in hits)]
    for column in ("rank", "score", *stages):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("passage", overflow="fold")
    for hit in hits:
        text = " ".join(hit.text.split())
        passage = Text(f"{hit.doc_id}:{hit.start}-{hit.end}", "bold").append(
            f"\n{text[:WIDTH]}{'...' if len(text) > WIDTH else ''}", "not bold"
        )
        scores = [_score(hit, stage) for stage in stages]
        table.add_row(str(hit.rank), f"{hit.score:.3f}", *scores, passage)
    return table


def _score(hit: Hit, stage: str) -> str:
    return f"{hit.stages[stage].score:.3f}" if stage in hit.stages else "-"
