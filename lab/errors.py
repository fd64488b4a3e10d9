"""What the lab raises when its input is wrong: one error, every problem."""

import difflib
from collections.abc import Iterable

COMPARED = 5000
LISTED = 20


class LabError(Exception):
    """Wrong input, told to the person who gave it. `problems` holds every finding, one line
    each."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class CorpusError(LabError):
    """Documents that cannot be read."""


class TooMuchTextError(CorpusError):
    """More text than memory has room for (see `lab.corpus.budget`): reading stops at once."""


class DiagnosticsError(LabError):
    """Questions or evidence that cannot be read, or evidence that is not in the corpus."""


class ConfigError(LabError):
    """A setting that is unknown, out of range or impossible together with another."""


class ModelError(LabError):
    """A model that cannot be found, loaded or trusted."""


class RunError(LabError):
    """A run folder that is absent, incomplete or does not fit what is asked of it."""


class LabWarning(UserWarning):
    """Input that is accepted, but should be looked at."""


def nearest(word: str, known: Iterable[str]) -> str:
    """`, did you mean 'x'?` for the closest known spelling, else the list of what is known."""
    known = sorted(known)
    # difflib compares with every word, so a large corpus's ids are told by example only.
    close = (
        difflib.get_close_matches(word, known, n=1, cutoff=0.6) if len(known) <= COMPARED else []
    )
    shown = ", ".join(known[:LISTED]) + (", ..." if len(known) > LISTED else "")
    return f"; did you mean '{close[0]}'?" if close else f"; known: {shown}"
