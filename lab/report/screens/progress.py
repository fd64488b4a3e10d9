"""Progress on the terminal: bars where there is one, plain lines elsewhere."""

import time
from collections.abc import Callable

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lab.report.screens.console import TextConsole

# Seconds between two lines of one stage where no bar can be drawn.
EVERY = 10.0


class TerminalProgress:
    """Bars with the time left on a terminal; elsewhere a line when a stage first ends, and at most
    one in ten seconds of any stage that goes on or comes again."""

    def __init__(self, console: TextConsole) -> None:
        self._console = console
        # Stage -> when its last line was printed.
        self._last: dict[str, float] = {}
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
            first = label not in self._last and done >= total
            if first or now - self._last.get(label, began) > EVERY:
                self._last[label] = now
                self._console.print(f"{label}: {done}/{total}", soft_wrap=True)

        return advance
