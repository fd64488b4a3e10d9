"""Interleaved rounds: what is compared runs alternately, so that a busy moment of the machine meets
all alike."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

# Seconds.
LONG = 0.3

Runs = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Timing:
    """Medians over the rounds: seconds on the clock, and seconds of processor time, which other
    users of a shared machine disturb less."""

    wall: float
    cpu: float
    rounds: int

    @staticmethod
    def of(runs: Runs) -> "Timing":
        return Timing(median(wall for wall, _ in runs), median(cpu for _, cpu in runs), len(runs))


def in_process(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Timing]:
    """Time functions, each once uncounted (compilation, caches of the processor), then in turn. In
    its turn a task runs until LONG has passed and the time of one call is taken: a first call finds
    its neighbour's data in the processor's caches."""
    for task in tasks.values():
        task()
    runs: dict[str, Runs] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            wall, cpu, calls = time.perf_counter(), time.process_time(), 0
            while not calls or time.perf_counter() - wall < LONG:
                task()
                calls += 1
            runs[name].append(
                ((time.perf_counter() - wall) / calls, (time.process_time() - cpu) / calls)
            )
    return {name: Timing.of(times) for name, times in runs.items()}


def whole(commands: Mapping[str, Sequence[str]], rounds: int, folder: Path) -> dict[str, Timing]:
    """Time whole processes in turn, imports and all. Raises RuntimeError with the end of what a
    failed one printed."""
    runs: dict[str, Runs] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            printed = folder / f"{name.replace(' ', '-')}.log"
            with printed.open("w") as log:
                start = time.perf_counter()
                process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
                _, status, usage = os.wait4(process.pid, 0)
                wall = time.perf_counter() - start
            if status:
                raise RuntimeError(f"{name} failed: {printed.read_text()[-2000:]}")
            runs[name].append((wall, usage.ru_utime + usage.ru_stime))
    return {name: Timing.of(times) for name, times in runs.items()}
