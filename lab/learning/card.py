"""The card of a trained model: README.md in its folder, for people, with the record of its training
as JSON in it. Not a file of its own, for a model is known by the content of its others."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.errors import LearningError

CARD = "README.md"
OPEN, CLOSE = "```json\n", "\n```"


def card_text(record: Mapping[str, Any]) -> str:
    """The card of a record of training."""
    settings, figures = record["settings"], record["figures"]
    lines = [
        f"# {record['name']}",
        "",
        f"{settings['base']}, trained as {settings['kind']} with the loss `{settings['loss']}` by "
        "retrieval-diagnostics-lab.",
        "",
        f"- examples: {figures['examples']:,} to train on, {figures['stopping']:,} about other "
        "documents to stop by",
        f"- loss on the latter: {figures['loss_before']:.4f} before, {figures['loss']:.4f} after "
        f"{figures['best_step']:,} of {figures['steps']:,} steps",
    ]
    for source in record["sources"]:
        lines.append(
            f"- mined from {source['name']}: {source['examples']:,} examples, none of "
            f"{source['sealed_questions']:,} sealed questions (SHA-256 {source['sealed'][:16]})"
        )
    lines += ["", "Verdicts on sealed questions and on what may be forgotten:", ""]
    verdicts = [
        f"- {line['set']} ({line['part']}), {line['system']}, {line['metric']}: "
        f"{line['untrained']:.3f} untrained, {line['trained']:.3f} trained, "
        f"{line['difference']:+.3f} [{line['low']:+.3f}, {line['high']:+.3f}], {line['verdict']}"
        for line in record.get("verdict", ())
    ]
    lines += verdicts or ["- none was asked for (`--verdict`)"]
    plain = json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True)
    return "\n".join([*lines, "", "## Record", "", OPEN + plain + CLOSE, ""])


def read_card(folder: Path) -> dict[str, Any] | None:
    """The record of a folder's card; None where it is no model of ours."""
    try:
        text = (folder / CARD).read_text("utf-8")
        record = json.loads(text.split(OPEN, 1)[1].split(CLOSE, 1)[0])
        return record if isinstance(record, dict) and "key" in record else None
    except (OSError, ValueError, IndexError):
        return None


def write_card(folder: Path, record: Mapping[str, Any]) -> None:
    """Write or replace the card, whole."""
    fresh = folder / f".{CARD}.new"
    try:
        fresh.write_text(card_text(record), "utf-8")
        os.replace(fresh, folder / CARD)
    except OSError as fault:
        raise LearningError(f"{folder / CARD}: cannot be written ({fault.strerror})") from None
