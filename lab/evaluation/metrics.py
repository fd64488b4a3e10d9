"""Metrics as values: `recall@5`, `ndcg@10`, `recall@2000tok`, `rbp_0.8`, `bpref`."""

import re
from dataclasses import dataclass
from typing import Literal

from lab.errors import ConfigError, nearest

# The user's own weighted mean of metrics, a column beside them.
WEIGHTED = "weighted"
# The base of every discount of which nothing else is said.
PLAIN_BASE = 2.0
# Begins the name of a metric that is a function of the user's.
PYTHON = "python:"

GAINS = {
    "ndcg": "linear gain",
    "ndcg_burges": "gain 2^grade - 1",
    "ndcg_jk": "linear gain, no discount before rank b (Järvelin and Kekäläinen 2002)",
    "ndcg_condensed": "linear gain, over the judged documents alone",
}


@dataclass(frozen=True, slots=True)
class Family:
    """What the metrics of one name have in common.

    `cut` says whether they have a cut-off, `by_ranks` whether they are functions of the ranks at
    which pieces are complete and of relevant hits alone (so that they have an exact alpha curve),
    `by_tokens` whether they are offered at a token budget. A `cost` is better when lower and need
    not lie in [0, 1]. `by_document` needs a set judged per document; `whole` reads every hit,
    however far down. `persistence` is part of the name, `base` may be.
    """

    cut: Literal["needed", "optional", "none"] = "needed"
    by_ranks: bool = False
    by_tokens: bool = False
    cost: bool = False
    by_document: bool = False
    whole: bool = False
    persistence: bool = False
    base: bool = False


FAMILIES: dict[str, Family] = {
    "recall": Family(by_ranks=True, by_tokens=True),
    "precision": Family(by_ranks=True, by_tokens=True),
    "ndcg": Family(by_ranks=True),
    "ndcg_burges": Family(by_ranks=True),
    "ndcg_jk": Family(by_ranks=True, base=True),
    "mrr": Family("optional", by_ranks=True),
    "map": Family("optional", by_ranks=True),
    "hit_rate": Family(by_ranks=True),
    "front_hit": Family(by_ranks=True),
    "coverage": Family(),
    "pieces_needed": Family("none", cost=True),
    "context_tokens": Family(cost=True),
    "judged": Family(by_document=True),
    "bpref": Family("none", by_document=True, whole=True),
    "ndcg_condensed": Family(by_document=True, whole=True),
    "rbp": Family("optional", by_document=True, whole=True, persistence=True),
    "rbp_residual": Family("optional", cost=True, by_document=True, whole=True, persistence=True),
    "python": Family("none", whole=True),
}
KNOWN = tuple(name for name in FAMILIES if name != "python")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: what is computed and its cut-off `k` in chunks, or in context tokens if
    `by_tokens`; 0 is no cut. `persistence` is that of rank-biased precision, in (0, 1), `base`
    that of the logarithm which discounts, from 2 on, and `function` names the user's own."""

    name: str
    k: int = 0
    by_tokens: bool = False
    persistence: float = 0.0
    base: float = PLAIN_BASE
    function: str = ""

    @property
    def label(self) -> str:
        if self.function:
            return PYTHON + self.function
        stem = self.name + (f"_{self.persistence:g}" if self.persistence else "")
        stem += "" if self.base == PLAIN_BASE else f"_{self.base:g}"
        return stem + (f"@{self.k}" if self.k else "") + ("tok" if self.by_tokens else "")

    @property
    def family(self) -> Family:
        return FAMILIES[self.name]

    @property
    def is_cost(self) -> bool:
        return self.family.cost


def parse_metric(text: str) -> Metric:
    """Read a metric's name; raises ConfigError with the nearest known one."""
    text = text.strip()
    if text.startswith(PYTHON):
        return Metric("python", function=text.removeprefix(PYTHON))
    match = re.fullmatch(r"([a-z_]+?)(?:_(\d*\.?\d+))?(?:@([1-9]\d*)(tok)?)?", text.lower())
    if match is None:
        raise ConfigError(
            f"metric '{text}'; expected a name and a cut-off from 1, like 'recall@5', 'ndcg@10' or "
            "'recall@2000tok'"
        )
    name, parameter, k, tokens = match.groups()
    if name not in KNOWN:
        raise ConfigError(f"metric '{text}' is unknown{nearest(name, KNOWN)}")
    family, value = FAMILIES[name], float(parameter or 0)
    wrong = _wrong_parameter(text, name, parameter) or _wrong(text, name, k, tokens)
    if wrong:
        raise ConfigError(wrong)
    return Metric(
        name,
        int(k or 0),
        bool(tokens),
        persistence=value if family.persistence else 0.0,
        base=value if family.base and parameter else PLAIN_BASE,
    )


def _wrong_parameter(text: str, name: str, parameter: str | None) -> str:
    """What is wrong with the number in a metric's name, nothing if all is right."""
    family, value = FAMILIES[name], float(parameter or 0)
    if family.persistence and not 0 < value < 1:
        return f"metric '{text}' needs a persistence between 0 and 1, like '{name}_0.8'"
    if family.base and parameter and value < PLAIN_BASE:
        return f"metric '{text}' needs a base from {PLAIN_BASE:g} on, like '{name}_3@10'"
    if parameter and not (family.persistence or family.base):
        return f"metric '{text}': '{name}' has no parameter; expected '{name}@5'"
    return ""


def _wrong(text: str, name: str, k: str | None, tokens: str | None) -> str:
    """What is wrong with the cut-off of a metric of a known name, nothing if all is right."""
    family = FAMILIES[name]
    if k is None and family.cut == "needed":
        return f"metric '{text}' needs a cut-off, like '{name}@5'"
    if k is not None and name == "pieces_needed":
        return (
            "metric 'pieces_needed' has no cut-off: it tells how many chunks hold a piece, "
            "wherever they rank"
        )
    if k is not None and family.cut == "none":
        return f"metric '{text}': '{name}' has no cut-off"
    if tokens and not family.by_tokens:
        return (
            f"metric '{text}': only recall and precision are offered at a token budget, like "
            "'recall@2000tok'"
        )
    return ""


def is_cost(label: str) -> bool:
    """Whether less of a measured metric is better."""
    return label != WEIGHTED and parse_metric(label).is_cost
