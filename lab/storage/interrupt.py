"""Ctrl-C: writing is not disturbed by it, and it says what is kept."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with a sentence on what is kept of the work until then."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C during the block takes effect after it. Python delivers signals to the main thread;
    others are never disturbed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting and before not in (signal.SIG_IGN, None):
        raise KeyboardInterrupt
