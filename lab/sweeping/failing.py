"""A reranker that fails while it is asked takes its own systems out of a sweep, and no others."""

from collections.abc import Sequence

from lab.config.config import Config
from lab.errors import RerankerError, counted

# Systems that are named where many fail.
NAMED = 3


def depends(config: Config, fault: RerankerError) -> bool:
    """Whether a system asks the reranker that failed."""
    return config.rerank is not None and config.rerank.model == fault.model


def without(
    configs: Sequence[Config], faults: Sequence[RerankerError]
) -> tuple[tuple[Config, ...], tuple[str, ...]]:
    """The systems that depend on no reranker that failed, and a line for every one that did."""
    notes = []
    for fault in faults:
        names = [config.name for config in configs if depends(config, fault)]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        notes.append(
            f"{counted(len(names), 'system')} failed, left out of every choice "
            f"({', '.join(names[:NAMED])}{more}): {fault}"
        )
    kept = [config for config in configs if not any(depends(config, fault) for fault in faults)]
    return tuple(kept), tuple(notes)
