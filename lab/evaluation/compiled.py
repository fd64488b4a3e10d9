"""ranx's metric functions without the rest of ranx.

Importing ranx itself takes 1.5 s of processor time for its plots and readers of data, which the lab
does not use: a quarter of what the quickstart takes when its vectors are known. Its subpackage of
metrics needs nothing else of it, so it is imported under an empty parent; its functions are called
as they are.
"""

import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any

import numpy as np

from lab.arrays import Floats

# The metrics that are computed by ranx, over contributed items or over hits.
RANX = ("recall", "precision", "ndcg", "ndcg_burges", "mrr", "map", "hit_rate")
MetricFunction = Callable[[Floats, Floats, int], Floats]


# ranx runs on numba's threads, and numba ends the process when two threads of Python enter them at
# once.
_ONE_AT_A_TIME = threading.RLock()


def metric_function(name: str) -> MetricFunction:
    """What `ranx.evaluate` calls for a metric: (qrels, run, k) -> one score a row. Threads wait for
    each other."""

    def alone(qrels: Floats, run: Floats, k: int) -> Floats:
        with _ONE_AT_A_TIME:
            return np.asarray(_metrics().metric_switch(name)(qrels, run, k), dtype=np.float64)

    return alone


def compile_metric(name: str) -> None:
    """Have numba compile a metric, or load it from its cache, where ranx has it: seconds, once a
    machine."""
    if name in RANX:
        metric_function(name)(np.ones((1, 1, 2)), np.ones((1, 1, 2)), 1)


@cache
def _metrics() -> Any:
    if "ranx" in sys.modules:
        return import_module("ranx.metrics")
    spec = find_spec("ranx")
    assert spec is not None  # ranx is a dependency
    # The parent knows where its subpackages lie, and is not run. It goes again, so that a later
    # `import ranx` loads the real package.
    sys.modules["ranx"] = module_from_spec(spec)
    try:
        import numba

        metrics = import_module("ranx.metrics")
        numba.config.THREADING_LAYER = "workqueue"  # as ranx sets it
    finally:
        del sys.modules["ranx"]
    return metrics
