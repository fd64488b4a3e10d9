"""`lab explain` on one screen: the ranking with the evidence marked, the cut, the cause with its
proof, and the remedy."""

from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lab.diagnosis.causes import CAUSES
from lab.report.proof import ahead_text, alphas_text, unmatched_text
from lab.runs.explain import Explanation
from lab.sweeping.injected import INJECTED

EVIDENCE, CUT, DISTRACTOR = "bold green", "bold red", "yellow"
# Characters of a hit and of a piece that are shown.
HIT, PIECE = 110, 300


def explanation_screen(story: Explanation) -> RenderableType:
    """Question, pieces, hits."""
    head = (
        Text(f"\n{story.query.query_id} ", "bold")
        .append(f"({story.query.kind}) ", "dim")
        .append(story.query.text, "not bold")
    )
    parts: list[RenderableType] = [
        head,
        *map(Text, story.asked()),
        Text(f"system: {story.system}", "dim"),
    ]
    if story.reason:
        return Group(*parts, Text(f"not scored: {story.reason}"))
    parts.append(Text("  ".join(f"{metric} {value:.3f}" for metric, value in story.scores.items())))
    for piece in story.evidence:
        parts += [Text(), _piece(story, piece)]
    searches = [Text(line, "dim") for line in story.searches()]
    return Group(*parts, Text(), *searches, _hits(story))


def _piece(story: Explanation, piece: Any) -> RenderableType:
    """One piece of evidence: its text with the cut, its way through the stages, cause, proof and
    remedy."""
    miss = story.miss(piece.piece)
    place = piece.doc_id if piece.start is None else f"{piece.doc_id}:{piece.start}-{piece.end}"
    head = Text(f"evidence {piece.piece}, grade {piece.grade}, {place}: ")
    if miss is None:
        head.append(f"complete at rank {piece.complete}", EVIDENCE)
    else:
        rank = f"complete only at rank {miss.final_rank}" if miss.final_rank else "never complete"
        head.append(f"missed within {miss.k} ({rank})", CUT)
    lines: list[RenderableType] = [Padding(_evidence(story, piece, miss), (0, 0, 0, 2))]
    if miss is not None:
        lines.append(Padding(_diagnosis(miss), (0, 0, 0, 2)))
    return Group(head, *lines)


def _evidence(story: Explanation, piece: Any, miss: Any) -> Text:
    if piece.doc_id not in story.corpus:
        return Text("the corpus has no such document", "dim")
    text = story.corpus[piece.doc_id].text
    start, end = (0, len(text)) if piece.start is None else (piece.start, piece.end)
    cut = None if miss is None else miss.cut_at
    if cut is not None and start < cut < end:
        left, right = (
            text[max(start, cut - PIECE // 2) : cut],
            text[cut : min(end, cut + PIECE // 2)],
        )
        return Text(_line(left), EVIDENCE).append(" ✂ ", CUT).append(_line(right), EVIDENCE)
    return Text(_line(text[start:end], PIECE), EVIDENCE)


def _diagnosis(miss: Any) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    stages = (
        ("bm25", miss.bm25_rank),
        ("dense", miss.dense_rank),
        ("first stage", miss.first_stage_rank),
        ("final", miss.final_rank),
    )
    rows = [
        ("ranks", "  ".join(f"{name} {rank or '-'}" for name, rank in stages)),
        (
            "cause",
            f"{miss.cause} ({'verified' if miss.verified else 'likely'}): "
            f"{CAUSES[miss.cause].meaning}",
        ),
        ("proof" if miss.verified else "also back with", "; ".join(miss.recovered_by)),
        ("remedy", miss.remedy),
        ("left out", "; ".join(miss.filtered_by)),
        ("terms", unmatched_text(miss.unmatched)),
        (
            "unread",
            f"the encoder stops before {miss.unread_start}-{miss.unread_end}"
            if miss.unread_start is not None
            else "",
        ),
        ("ahead", ahead_text(miss.outranked_by)),
        ("alphas within k", alphas_text(miss.alpha_low, miss.alpha_high)),
    ]
    for name, value in rows:
        if value:
            table.add_row(name, Text(value))
    return table


def _hits(story: Explanation) -> Table:
    """The first hits with every stage's score; a rule is drawn after k."""
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    hits, legs = story.hits(story.k + 2), ("bm25", "dense", "fused", "rerank")
    shown = [leg for leg in legs if any(getattr(hit, f"{leg}_score") is not None for hit in hits)]
    for name in ("", *shown):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("hit", overflow="fold")
    for row in hits:
        scores = [_score(getattr(row, f"{leg}_score")) for leg in shown]
        style = "bold" if row.evidence else DISTRACTOR if row.doc_id.startswith(INJECTED) else "dim"
        place = (f"{row.doc_id}:{row.start}-{row.end}\n", style)
        table.add_row(str(row.rank), *scores, Text.assemble(place, _marked(story, row)))
        if row.rank == story.k:
            table.add_row(
                *[""] * (len(shown) + 1),
                Text(f"--- k = {story.k}: what follows is not read ---", CUT),
            )
    return table


def _marked(story: Explanation, row: Any) -> Text:
    """A hit's text around its evidence, that part marked."""
    text = story.corpus[row.doc_id].text
    inside = [
        (max(piece.start, row.start), min(piece.end, row.end))
        for piece in story.evidence
        if piece.doc_id == row.doc_id
        and piece.start is not None
        and piece.start < row.end
        and piece.end > row.start
    ]
    if not inside:
        return Text(_line(text[row.start : row.end], HIT))
    low, high = inside[0]
    lead = text[max(row.start, low - HIT // 3) : low]
    return (
        Text(_line(lead)).append(" " if lead else "").append(_line(text[low:high], HIT), EVIDENCE)
    )


def _line(text: str, width: int | None = None) -> str:
    folded = " ".join(text.split())
    return folded if width is None or len(folded) <= width else folded[: width - 3] + "..."


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
