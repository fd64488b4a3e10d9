"""What systems cost: which of them is the cheaper, and in what."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lab.arrays import Floats, Ints
from lab.evaluation.intervals import NOISE

# Costs within a tenth of the cheapest count as equal: chunk borders alone move context tokens by
# some percent.
SAME_COST = 1.1
CONTEXT_TOKENS = "context tokens"
LATENCY = "latency in seconds"
INDEX_BYTES = "index bytes"
VECTOR_BYTES = "vector bytes a chunk"
STAGES = "stages"


@dataclass(frozen=True, eq=False)
class Costs:
    """What a system costs, one entry a system: mean context `tokens` handed to the reader, query
    `latency` in seconds, `stages`, a count of what has to be run and kept (simplicity), and
    `index_bytes`. Latency and bytes are NaN where they were not measured; `vector_bytes` of a chunk
    are given where systems differ in them."""

    tokens: Floats
    latency: Floats
    stages: Floats
    index_bytes: Floats = field(default_factory=lambda: np.array([]))
    vector_bytes: Floats = field(default_factory=lambda: np.array([]))

    def measured(self) -> dict[str, Floats]:
        """The costs that are known of every system, in the order in which they decide."""
        costs = {
            CONTEXT_TOKENS: self.tokens,
            LATENCY: self.latency,
            INDEX_BYTES: self.index_bytes,
            VECTOR_BYTES: self.vector_bytes,
            STAGES: self.stages,
        }
        return {
            name: values
            for name, values in costs.items()
            if len(values) and not np.isnan(values).any()
        }

    def order(self, names: Sequence[str]) -> Ints:
        """The systems from the cheapest on: by tokens, then latency, bytes and stages, then by
        name."""
        return np.lexsort((np.array(names), *reversed(self.measured().values())))

    def cheapest(self, systems: Ints) -> Ints:
        """Those of the systems that no cost sets behind: the least tokens, of these the least
        latency, and so on; a tenth more is no difference."""
        for values in self.measured().values():
            cost = values[systems]
            systems = systems[cost <= cost.min() * SAME_COST + NOISE]
        return systems

    def set_behind(self, systems: Ints, loser: int, winner: int) -> dict[str, tuple[float, float]]:
        """The cost that set `loser` behind when the cheapest were sought: its name,
        and the values of `winner` and of `loser`."""
        for name, values in self.measured().items():
            cost = values[systems]
            systems = systems[cost <= cost.min() * SAME_COST + NOISE]
            if loser not in systems:
                return {name: (float(values[winner]), float(values[loser]))}
        return {}

    def cheaper(self, system: int, other: int) -> dict[str, tuple[float, float]]:
        """Every cost of which `system` has less than `other` by more than a tenth: name -> both."""
        return {
            name: (float(values[system]), float(values[other]))
            for name, values in self.measured().items()
            if values[system] * SAME_COST + NOISE < values[other]
        }
