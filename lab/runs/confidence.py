"""How sure a judge of answers is, as far as a gate asks."""

from pathlib import Path

from lab.corpus.lines import read_records
from lab.errors import RunError

# Judgements below this confidence go to a person, and stay as cases for the judge's next version.
UNSURE = 0.6


def read_confidences(path: Path) -> list[float]:
    """The confidence of every score of a file of judgements that has one. Raises RunError with
    every faulty line."""
    problems: list[str] = []
    confidences = []
    for place, record in read_records(path, problems, RunError):
        value = record.get("confidence")
        if value is None or record.get("unscored"):
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            problems.append(f"{place}: confidence is {value!r}; expected a number from 0 to 1")
        else:
            confidences.append(float(value))
    if problems:
        raise RunError(problems)
    return confidences
