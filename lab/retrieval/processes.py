"""Encoding a large corpus in several processes, each with the model loaded once."""

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from lab.arrays import Vectors
from lab.errors import ConfigError, ModelError
from lab.retrieval.encoder import Progress, SentenceEncoder
from lab.retrieval.prompts import Role

# A process loads torch and the model first, which takes as long as encoding some hundred texts.
WORTHWHILE = 2_000
# Texts that a process is given at once, enough to find some of one length.
SHARE = 128

_own: list[SentenceEncoder] = []


def processes_wanted() -> int:
    """`$LAB_PROCESSES`, by default 1: one process already uses all cores of a small machine. Raises
    ConfigError."""
    wanted = os.environ.get("LAB_PROCESSES", "1")
    if not wanted.isdecimal() or int(wanted) < 1:
        raise ConfigError(f"LAB_PROCESSES is {wanted!r}; expected a whole number from 1")
    return int(wanted)


class EncodingProcesses:
    """Encodes like `encoder`, in `count` processes; a context, since processes have to end."""

    def __init__(self, encoder: SentenceEncoder, count: int) -> None:
        # Spawned, not forked: torch's threads do not survive a fork.
        self._pool = ProcessPoolExecutor(
            count,
            get_context("spawn"),
            _start,
            (encoder.name, encoder.dtype, encoder.device, count),
        )

    def __enter__(self) -> "EncodingProcesses":
        return self

    def __exit__(self, *fault: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def parts(
        self, texts: Sequence[str], role: Role, progress: Progress
    ) -> Iterator[tuple[range, Vectors]]:
        """Places of texts and their vectors, as `SentenceEncoder.parts`. Raises ModelError when a
        process dies."""
        shares = [texts[first : first + SHARE] for first in range(0, len(texts), SHARE)]
        first = 0
        try:
            for vectors in self._pool.map(_encode, shares, [role] * len(shares)):
                yield range(first, first + len(vectors)), vectors
                first += len(vectors)
                progress(len(vectors))
        except BrokenProcessPool:
            raise ModelError(
                "a process that encodes has died, most likely for want of memory; lower "
                "LAB_PROCESSES. A script that calls "
                'lab.sweep needs `if __name__ == "__main__":` around it for more than one process'
            ) from None


def _start(name: str, dtype: str, device: str, count: int) -> None:
    import torch

    # Ctrl-C reaches the whole group; the process that asks says what is kept, and ends these.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // count))
    _own.append(SentenceEncoder(name, dtype, device))  # type: ignore[arg-type]  # they come from a SentenceEncoder


def _encode(texts: Sequence[str], role: Role) -> Vectors:
    return _own[0].encode(texts, role, lambda done: None)
