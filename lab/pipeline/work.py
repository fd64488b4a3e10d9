"""Work: what one process of a run has done, for the one that tells of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.pipeline.resources import Resources


@dataclass(frozen=True, slots=True)
class Work:
    """The account of one task (see `Resources`)."""

    counted: Mapping[str, Mapping[bytes, bool]]
    seconds: Mapping[str, float]
    peak_mb: Mapping[str, float]
    reranked: Mapping[str, Mapping[bytes, tuple[bool, bool]]]
    kept: Mapping[str, int]


def work_of(resources: Resources) -> Work:
    """What was done with these resources until now."""
    return Work(
        resources.counted,
        dict(resources.seconds),
        resources.peak_mb,
        resources.reranked,
        dict(resources.kept.counts),
    )


def absorb(resources: Resources, work: Work) -> None:
    """Add the work of a task. What any process computed counts as computed, once, whichever
    account comes first; seconds add up to more than the clock shows."""
    for what, keys in work.counted.items():
        counted = resources.counted.setdefault(what, {})
        for key, computed in keys.items():
            counted[key] = computed or counted.get(key, False)
    for stage, seconds in work.seconds.items():
        resources.seconds[stage] += seconds
    for stage, peak in work.peak_mb.items():
        resources.peak_mb[stage] = max(peak, resources.peak_mb.get(stage, 0.0))
    for model, pairs in work.reranked.items():
        resources.reranked.setdefault(model, {}).update(pairs)
    resources.kept.counts.update(work.kept)
