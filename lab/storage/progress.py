"""How long work tells where it is: bars in a script or notebook, and on the command line (see
`lab.report.screens.progress`)."""

import sys
from collections.abc import Callable, Iterable
from typing import Protocol

from lab.errors import visible

Advance = Callable[[int], None]


class Progress(Protocol):
    """Told of every stage that takes time."""

    def stage(self, label: str, total: int) -> Advance:
        """Begin a stage of `total` steps; the returned function is called with the steps done since
        its last call."""

    def note(self, message: str) -> None:
        """A line worth reading: a warning, or what came from the cache."""


class Silent:
    """Progress of a script that did not ask for any."""

    def stage(self, label: str, total: int) -> Advance:
        return lambda steps: None

    def note(self, message: str) -> None:
        return None


class Bars:
    """Progress of a script or notebook: a bar a stage that vanishes with it, and notes that stay,
    on standard error."""

    def stage(self, label: str, total: int) -> Advance:
        from tqdm.auto import tqdm

        if not total:
            return lambda steps: None
        bar = tqdm(total=total, desc=label, leave=False, file=sys.stderr)

        def advance(steps: int) -> None:
            bar.update(steps)
            if bar.n >= total:
                bar.close()

        return advance

    def note(self, message: str) -> None:
        from tqdm.auto import tqdm

        tqdm.write(f"note: {visible(message)}", file=sys.stderr)


def progress_of(wanted: Progress | bool | None) -> Progress:
    """What a caller asked for: an object of their own, True for bars, False or None for
    silence."""
    if wanted is None or isinstance(wanted, bool):
        return Bars() if wanted else Silent()
    return wanted


def noted(progress: Progress, lines: Iterable[str]) -> tuple[str, ...]:
    """The lines, each noted."""
    lines = tuple(lines)
    for line in lines:
        progress.note(line)
    return lines
