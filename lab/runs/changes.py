"""What differs between two runs beside their scores: the first thing to know before a difference is
believed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lab.config.rows import is_absent
from lab.errors import counted
from lab.runs.side import Side

if TYPE_CHECKING:
    import pandas as pd

NAMED = 5


def changes(a: Side, b: Side) -> tuple[str, ...]:
    """One line a difference, from the manifests and the questions; for foreign runs what their
    questions tell."""
    lines = _questions(a, b)
    if a.manifest and b.manifest:
        lines += _corpus(a.manifest["corpus"], b.manifest["corpus"])
        lines += _entries("", a.manifest["identities"], b.manifest["identities"])
        lines += _entries("measure.", a.manifest["measure"], b.manifest["measure"])
        lines += _entries("version of ", a.manifest["versions"], b.manifest["versions"])
    if a.system != b.system:
        lines.append(f"system: {a.system} -> {b.system}")
    return tuple(lines)


def _corpus(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    if a["fingerprint"] == b["fingerprint"]:
        return []
    sizes = (
        f"{a['documents']} documents, {a['characters']} characters -> "
        f"{b['documents']}, {b['characters']}"
    )
    if any(side.get("injected") for side in (a, b)):
        sizes += f", injected by `lab interfere` {a.get('injected', 0)} -> {b.get('injected', 0)}"
    return [f"corpus: {sizes} (fingerprint {a['fingerprint'][:12]} -> {b['fingerprint'][:12]})"]


def _questions(a: Side, b: Side) -> list[str]:
    lines = []
    for here, there, word in ((a, b, "A"), (b, a, "B")):
        alone = sorted(set(here.scores.index) - set(there.scores.index))
        if alone:
            lines.append(
                f"{counted(len(alone), 'question')} scored only in {word}: {_named(alone)}"
            )
    common = sorted(set(a.scores.index) & set(b.scores.index))
    before, after = a.questions.loc[common], b.questions.loc[common]
    names = {
        "text": "text",
        "variants": "variants",
        "filter": "filter",
        "history": "history",
        "evidence_fingerprint": "evidence (document, offsets or grade)",
    }
    for column in (name for name in names if name in before and name in after):
        what, moved = names[column], _differing(before[column], after[column])
        if moved:
            lines.append(
                f"{len(moved)} of {counted(len(common), 'common question')} with another {what}: "
                f"{_named(moved)}"
            )
    return lines


def _differing(before: "pd.Series", after: "pd.Series") -> list[str]:
    """Ids whose values differ, where both sides know one (a TREC run knows no texts)."""
    pairs = zip(before.index, before, after, strict=True)
    return [str(query_id) for query_id, a, b in pairs if "" not in (a, b) and not _same(a, b)]


def _same(a: Any, b: Any) -> bool:
    """Whether two values of a table are the same; null is the same as null."""
    return (is_absent(a) and is_absent(b)) or a == b


def _entries(prefix: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    keys = [key for key in dict.fromkeys((*a, *b)) if a.get(key) != b.get(key)]
    return [f"{prefix}{key}: {_short(a.get(key))} -> {_short(b.get(key))}" for key in keys]


def _short(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _named(ids: list[str]) -> str:
    return ", ".join(ids[:NAMED]) + (", ..." if len(ids) > NAMED else "")
