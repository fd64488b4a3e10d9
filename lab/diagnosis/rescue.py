"""Rescue table: systems that differ in one setting, and the questions that the change wins and
loses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Bools
from lab.config.rows import Row, change_name, in_play, value_text
from lab.diagnosis.misses import Miss, with_systems
from lab.evaluation.ablation import Factors
from lab.evaluation.significance import sign_test

Key = tuple[str, int]


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


def pairs(settings: Sequence[Row]) -> Iterator[tuple[int, int, str]]:
    """(a, b, change) for every two systems, a before b, that differ in one setting; the change is
    called by the setting, or by the stage that one of both lacks."""
    factors = Factors([in_play(row) for row in settings])
    for a, row in enumerate(settings):
        for b, setting in factors.one_apart(a):
            if b > a:
                yield a, b, change_name(setting, row, settings[b])


def proved_by_systems(
    settings: Sequence[Row],
    misses: Sequence[Sequence[Miss]],
    held: Sequence[Sequence[bool]],
    pieces: Mapping[Key, int],
    spans: bool,
) -> tuple[tuple[Miss, ...], ...]:
    """Misses of every system with what the rest of the grid proves: a system that differs in one
    setting and has the piece is a re-run that has been made already. `held` (systems x pieces) says
    who has which piece, `pieces` numbers them by (query_id, piece), `spans` says whether they are
    spans, which chunks of another size hold otherwise."""
    one_setting_away: dict[int, list[tuple[str, int]]] = {}
    for a, b, setting in pairs(settings):
        one_setting_away.setdefault(a, []).append((setting, b))
        one_setting_away.setdefault(b, []).append((setting, a))
    proved = []
    for system, of_system in enumerate(misses):
        row = []
        for miss in of_system:
            piece, changes, larger = pieces[miss.query_id, miss.piece], dict[str, str](), None
            for setting, other in one_setting_away.get(system, ()):
                if setting not in changes and held[other][piece]:
                    changes[setting] = f"{setting} {value_text(settings[other], setting)}"
                    if setting == "chunk_size" and spans:
                        larger = _larger(settings[other][setting], settings[system][setting])
            row.append(with_systems(miss, changes, larger) if changes else miss)
        proved.append(tuple(row))
    return tuple(proved)


def _larger(size: object, than: object) -> bool | None:
    """None where several sizes are indexed together."""
    return size > than if isinstance(size, int) and isinstance(than, int) else None


def rescues(settings: Sequence[Row], failed: Bools) -> tuple[Rescue, ...]:
    """All pairs, the largest net gain or loss first. `failed` (systems x questions) says where a
    piece is missed."""
    changes = []
    for a, b, setting in pairs(settings):
        rescued, broken = int((failed[a] & ~failed[b]).sum()), int((failed[b] & ~failed[a]).sum())
        p = float(sign_test(np.array(rescued), np.array(broken)))
        changes.append(
            Rescue(
                setting=setting,
                before=value_text(settings[a], setting),
                after=value_text(settings[b], setting),
                a=a,
                b=b,
                rescued=rescued,
                broken=broken,
                p=p,
            )
        )
    return tuple(sorted(changes, key=lambda rescue: (-abs(rescue.net), rescue.a, rescue.b)))
