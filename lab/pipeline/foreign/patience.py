"""Patience: work that may take so long and no longer, and answers that may be so large."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

# Bytes of one answer: with more, a retriever's mistake becomes the lab's memory.
LARGEST = 16_000_000
TOO_LARGE = f"answer is larger than {LARGEST // 1_000_000} MB"


class LateError(Exception):
    """The work took longer than it may."""


class _Outcome(Generic[T]):
    """What the work gave, or raised."""

    value: T
    fault: BaseException | None = None
    done = False


def within(seconds: float, work: Callable[[], T]) -> T:
    """The result of `work`, which runs in a thread of its own and is left behind when it takes
    longer than `seconds`. Raises LateError then, else what the work raises."""
    outcome = _Outcome[T]()

    def run() -> None:
        try:
            outcome.value = work()
        except BaseException as fault:  # handed on to who waits; also what ends a thread unseen
            outcome.fault = fault
        outcome.done = True

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome.done:
        raise LateError
    if isinstance(outcome.fault, Exception):
        raise outcome.fault
    if outcome.fault is not None:
        raise RuntimeError(f"{type(outcome.fault).__name__}: {outcome.fault}")
    return outcome.value
