"""Progress on the terminal: bars where there is one, plain lines elsewhere."""

import time
from collections.abc import Callable

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lab.report.screens.console import TextConsole

# Seconds before a line of a stage that goes on, where no bar can be drawn; each further line takes
# three times as long, up to the longest, so that a log of hours has a page of them.
EVERY, LONGEST = 10.0, 600.0


class TerminalProgress:
    """Bars with the time left on a terminal; elsewhere a line when a stage first ends, and now and
    then one of a stage that has been going on for ten seconds. What comes again is silent."""

    def __init__(self, console: TextConsole) -> None:
        self._console = console
        self._ended: set[str] = set()
        self._pause, self._printed = EVERY, time.monotonic()
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )

    def __enter__(self) -> "TerminalProgress":
        if self._console.is_terminal:
            self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._console.is_terminal:
            self._bars.stop()

    def stage(self, label: str, total: int) -> Callable[[int], None]:
        """Begin a stage; stages without work are not shown."""
        if not total:
            return lambda steps: None
        return self._bar(label, total) if self._console.is_terminal else self._lines(label, total)

    def note(self, message: str) -> None:
        """A line that stays."""
        self._console.print(f"note: {message}", soft_wrap=True)

    def _bar(self, label: str, total: int) -> Callable[[int], None]:
        task = self._bars.add_task(label, total=total)
        return lambda steps: self._bars.advance(task, steps)

    def _lines(self, label: str, total: int) -> Callable[[int], None]:
        done, began = 0, time.monotonic()

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            now = time.monotonic()
            first = label not in self._ended and done >= total
            late = now - began > EVERY and now - self._printed > self._pause
            if not first and not late:
                return
            if first:
                self._ended.add(label)
            else:
                self._pause = min(3 * self._pause, LONGEST)
            self._printed = now
            self._console.print(f"{label}: {done}/{total}", soft_wrap=True)

        return advance
