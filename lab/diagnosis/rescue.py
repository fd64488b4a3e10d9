"""Rescue table: systems that differ in one setting, and the questions that the change wins and
loses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from lab.arrays import Bools
from lab.diagnosis.misses import Miss, with_systems
from lab.evaluation.significance import sign_test

Key = tuple[str, int]

# Settings that exist only because of another one: alone they make no difference of their own.
FOLLOWS = {
    "mode": (
        "analyzer",
        "variant",
        "k1",
        "b",
        "synonyms",
        "model",
        "index",
        "pooling",
        "normalization",
        "alpha",
    ),
    "rerank": ("rerank_model", "rerank_depth", "threshold", "blend"),
    "chunk_strategy": ("chunk_size", "overlap", "unit", "percentile"),
}


@dataclass(frozen=True, slots=True)
class Rescue:
    """What changing one setting from `before` to `after` does, all else equal: `rescued` questions
    fail under system `a` and not under `b`, `broken` ones the reverse; `p` is the exact McNemar
    test's. `a` and `b` are places of systems."""

    setting: str
    before: str
    after: str
    a: int
    b: int
    rescued: int
    broken: int
    p: float

    @property
    def net(self) -> int:
        return self.rescued - self.broken

    def __str__(self) -> str:
        return (
            f"{self.setting} {self.before} -> {self.after} rescues "
            f"{self.rescued} and breaks {self.broken}"
        )


def differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> str | None:
    """The one setting in which two systems differ, None if there are none or several. A setting
    that only one of them has counts with the one it hangs on (no reranker: `rerank`)."""
    changed = {key for key in a if a[key] != b[key]}
    absent = {key for key in changed if a[key] is None or b[key] is None}
    if absent & set(FOLLOWS["rerank"]):
        changed = (changed - set(FOLLOWS["rerank"])) | {"rerank"}
    for lead in ("mode", "chunk_strategy"):
        if lead in changed:
            changed -= absent & set(FOLLOWS[lead])
    return changed.pop() if len(changed) == 1 else None


def pairs(settings: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int, str]]:
    """(a, b, setting) for every two systems, a before b, that differ in one setting."""
    for a, one in enumerate(settings):
        for b in range(a + 1, len(settings)):
            setting = differing(one, settings[b])
            if setting is not None:
                yield a, b, setting


def told(settings: Mapping[str, Any], setting: str) -> str:
    """A setting's value in words."""
    if setting == "rerank":
        depth = settings["rerank_depth"]
        return "off" if depth is None else f"{settings['rerank_model']}@{depth}"
    value = settings[setting]
    if isinstance(value, bool):
        return "on" if value else "off"
    if setting == "synonyms":
        return PurePath(value).name or "none"
    return (
        "+".join(map(str, value))
        if isinstance(value, tuple)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def proved_by_systems(
    settings: Sequence[Mapping[str, Any]],
    misses: Sequence[Sequence[Miss]],
    held: Sequence[Sequence[bool]],
    pieces: Mapping[Key, int],
    spans: bool,
) -> tuple[tuple[Miss, ...], ...]:
    """Misses of every system with what the rest of the grid proves: a system that differs in one
    setting and has the piece is a re-run that has been made already. `held` (systems x pieces) says
    who has which piece, `pieces` numbers them by (query_id, piece), `spans` says whether they are
    spans, which chunks of another size hold otherwise."""
    beside: dict[int, list[tuple[str, int]]] = {}
    for a, b, setting in pairs(settings):
        beside.setdefault(a, []).append((setting, b))
        beside.setdefault(b, []).append((setting, a))
    found = []
    for system, of_system in enumerate(misses):
        row = []
        for miss in of_system:
            piece, changes, larger = pieces[miss.query_id, miss.piece], dict[str, str](), None
            for setting, other in beside.get(system, ()):
                if setting not in changes and held[other][piece]:
                    changes[setting] = f"{setting} {told(settings[other], setting)}"
                    if setting == "chunk_size" and spans:
                        larger = _larger(settings[other][setting], settings[system][setting])
            row.append(with_systems(miss, changes, larger) if changes else miss)
        found.append(tuple(row))
    return tuple(found)


def _larger(size: object, than: object) -> bool | None:
    """None where several sizes are indexed together."""
    return size > than if isinstance(size, int) and isinstance(than, int) else None


def rescues(settings: Sequence[Mapping[str, Any]], failed: Bools) -> tuple[Rescue, ...]:
    """All pairs, the largest net gain or loss first. `failed` (systems x questions) says where a
    piece is missed."""
    found = []
    for a, b, setting in pairs(settings):
        rescued, broken = int((failed[a] & ~failed[b]).sum()), int((failed[b] & ~failed[a]).sum())
        p = float(sign_test(np.array(rescued), np.array(broken)))
        found.append(
            Rescue(
                setting,
                told(settings[a], setting),
                told(settings[b], setting),
                a,
                b,
                rescued,
                broken,
                p,
            )
        )
    return tuple(sorted(found, key=lambda rescue: (-abs(rescue.net), rescue.a, rescue.b)))
