"""Phases of a sweep: at which places the first cut falls, by turns."""

import numpy as np

from lab.chunking.config import ChunkConfig
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.errors import ConfigError


def shares(count: int, seed: int) -> tuple[float, ...]:
    """`count` phases, spread evenly over the distance of two cuts from a place that `seed` draws,
    in an order that it draws too; so none is special, 0 neither. None at all for a single one,
    which is that of the chunkings themselves. Causes, rankings and curves are those of the
    first."""
    if count == 1:
        return ()
    draw = np.random.default_rng(seed)
    spread = (draw.random() + np.arange(count)) / count
    return tuple(round(float(share), 6) for share in draw.permutation(spread))


def at_phases(config: ChunkConfig, phases: tuple[float, ...]) -> tuple[ChunkConfig, ...]:
    """A chunk config at every phase; as it is where its cuts do not follow from a length."""
    if not phases or "phase" in config.unread:
        return (config,)
    return tuple(config.model_copy(update={"phase": phase}) for phase in phases)


def check_phases(grid: Grid, measure: Measure) -> None:
    """Raises ConfigError when phases are both swept and averaged over."""
    if measure.phases > 1 and any(grid.phase):
        raise ConfigError(
            f"chunk.phase is {list(grid.phase)} and measure.phases {measure.phases}; expected one "
            "of both: phases that are compared, or phases that scores are means over"
        )
