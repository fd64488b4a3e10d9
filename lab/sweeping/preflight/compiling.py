"""Compiling what the systems of a sweep call."""

from collections.abc import Sequence

from lab.config.config import Config
from lab.diagnosis.alpha.curve import compile_curves
from lab.evaluation.compiled import compile_metric
from lab.evaluation.metrics import Metric
from lab.pipeline.resources import Resources
from lab.retrieval.postings import compile_all
from lab.retrieval.products import compile_products


def compile_for(configs: Sequence[Config], metrics: Sequence[Metric], resources: Resources) -> None:
    """Compile before anything is timed, just what these systems and metrics call."""
    names = sorted({metric.name for metric in metrics})
    advance = resources.progress.stage(
        "compile (the first run on a machine takes longest)", len(names) + 1
    )
    with resources.timed("compile"):
        if any(config.bm25 for config in configs):
            compile_all()
        if any(config.dense for config in configs):
            compile_products()
            compile_curves()
        advance(1)
        for name in names:
            compile_metric(name)
            advance(1)
