"""A missed piece in words: what was seen of it, for screens and the page."""

from collections.abc import Sequence
from typing import Any


def ahead_text(ahead: Sequence[dict[str, Any]]) -> str:
    """What stands ahead: spans with what they are to the evidence, or documents."""
    return ", ".join(
        one["doc_id"]
        if one["start"] is None
        else f"{one['doc_id']}:{one['start']}-{one['end']} ({one['relation']})"
        for one in ahead
    )


def unmatched_text(terms: Sequence[dict[str, str]]) -> str:
    """Terms without a match, each with the reason."""
    return ", ".join(f"{one['term']} ({one['reason']})" for one in terms)


def alphas_text(lows: Sequence[float] | None, highs: Sequence[float] | None) -> str:
    """Intervals of alpha like `0.2-0.45, 1`; empty where there is none."""
    return ", ".join(
        f"{low:.4g}" if low == high else f"{low:.4g}-{high:.4g}"
        for low, high in zip(lows or (), highs or (), strict=True)
    )


def proof_of(miss: Any) -> str:
    """A row of the table of causes as a sentence: proved or not, the remedy, and what was seen."""
    said = [
        f"verified, brought back by: {miss.remedy}" if miss.verified else f"likely; {miss.remedy}"
    ]
    if miss.cut_at is not None:
        said.append(f"cut at {miss.cut_at}: {miss.cut_before} | {miss.cut_after}")
    for what, seen in (
        ("left out by the filter", "; ".join(miss.filtered_by)),
        ("without a match", unmatched_text(miss.unmatched)),
        ("outranked by", ahead_text(miss.outranked_by)),
        ("within k at alpha", alphas_text(miss.alpha_low, miss.alpha_high)),
    ):
        if seen:
            said.append(f"{what}: {seen}")
    if miss.unread_start is not None:
        said.append(f"the encoder does not read {miss.unread_start}-{miss.unread_end}")
    return "; ".join(said) + "."
