"""Questions without an answer, on the first screen."""

from rich.text import Text

from lab.report.unanswerable import separation_words
from lab.runs.run import Run


def unanswerable(run: Run, system: str, name: str) -> Text | None:
    """How well a system tells that there is no answer; None for a run without such questions."""
    said = separation_words(run, system)
    if not said:
        return None
    text = Text(f"\ncan {name} tell that there is no answer?", "bold")
    for line in said:
        text.append(f"\n  {line}", "not bold")
    return text
