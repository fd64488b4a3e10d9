"""Names of metrics and what they mean: `recall@5`, `ndcg@10`, `recall@2000tok`,
`context_tokens@5`."""

import re
from dataclasses import dataclass

from lab.errors import ConfigError, nearest

# Computed by ranx over the contributed items, `recall` and `precision` over what the first k chunks
# contributed.
RANX = ("recall", "precision", "ndcg", "ndcg_burges", "mrr", "map", "hit_rate")
# The lab's own, defined in the README; the last two are costs, not in [0, 1].
OWN = ("front_hit", "coverage", "pieces_needed", "context_tokens")
COSTS = ("pieces_needed", "context_tokens")
CUT_OPTIONAL = ("mrr", "map", "pieces_needed")

# The user's own weighted mean of metrics, a column beside them.
WEIGHTED = "weighted"

GAINS = {"ndcg": "linear gain", "ndcg_burges": "gain 2^grade - 1"}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: what is computed and its cut-off `k` in chunks, or in context tokens if
    `by_tokens`; 0 is no cut."""

    name: str
    k: int
    by_tokens: bool = False

    @property
    def label(self) -> str:
        return self.name + (f"@{self.k}" if self.k else "") + ("tok" if self.by_tokens else "")

    @property
    def is_cost(self) -> bool:
        return self.name in COSTS


def parse_metric(text: str) -> Metric:
    """Read a metric's name; raises ConfigError with the nearest known one."""
    match = re.fullmatch(r"([a-z_]+)(?:@([1-9]\d*)(tok)?)?", text.strip().lower())
    known = RANX + OWN
    if match is None:
        raise ConfigError(
            f"metric '{text}'; expected a name and a cut-off from 1, like 'recall@5', 'ndcg@10' or "
            "'recall@2000tok'"
        )
    name, k, tokens = match.groups()
    if name not in known:
        raise ConfigError(f"metric '{text}' is unknown{nearest(name, known)}")
    if k is None and name not in CUT_OPTIONAL:
        raise ConfigError(f"metric '{text}' needs a cut-off, like '{name}@5'")
    if k is not None and name == "pieces_needed":
        raise ConfigError(
            "metric 'pieces_needed' has no cut-off: it tells how many chunks hold a piece, "
            "wherever they rank"
        )
    if tokens and name not in ("recall", "precision"):
        raise ConfigError(
            f"metric '{text}': only recall and precision are offered at a token budget, like "
            "'recall@2000tok'"
        )
    return Metric(name, int(k or 0), bool(tokens))


def is_cost(label: str) -> bool:
    """Whether less of a measured metric is better."""
    return label != WEIGHTED and parse_metric(label).is_cost
