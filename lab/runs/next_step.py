"""What to change next: of all systems one setting away from a system, the one that gains most."""

from dataclasses import dataclass

from lab.runs.losses import changes_of, rescue_table
from lab.runs.tables import Tables

SHOWN = 3


@dataclass(frozen=True, slots=True)
class NextStep:
    """The largest net rescue: `setting` from `before` to `after`, which is `other`, rescues and
    breaks so many questions, with the exact McNemar p; `looked_at` changes were compared for it.
    `returns` are the changes under which most missed pieces come back, with how many."""

    setting: str
    before: str
    after: str
    other: str
    rescued: int
    broken: int
    p: float
    looked_at: int
    returns: tuple[tuple[str, int], ...]


def next_step(tables: Tables, system: str) -> NextStep | None:
    """The change of one setting that rescues most questions of a system net of those it breaks;
    None where no other system is one setting away."""
    changes = changes_of(rescue_table(tables), system)
    if changes.empty:
        return None
    best = changes.iloc[0]
    missed = tables.rows("causes", system)
    returns = missed["recovered_by"].explode().dropna().astype(str).value_counts()
    most = sorted(returns.to_dict().items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN]
    return NextStep(
        setting=best["setting"],
        before=best["before"],
        after=best["after"],
        other=best["system"],
        rescued=int(best["rescued"]),
        broken=int(best["broken"]),
        p=float(best["p"]),
        looked_at=len(changes),
        returns=tuple((change, int(count)) for change, count in most),
    )
