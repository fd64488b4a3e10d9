"""What the lab raises when its input is wrong: one error, every problem."""

import difflib
from collections.abc import Iterable

COMPARED = 1000
LISTED = 20
LONG = 100
# Longer than any sentence of the lab's own: what is cut is input that was quoted.
LONGEST = 2000

# What steers a terminal rather than being shown: controls (as their pictures where there are any),
# and what turns the direction of writing, so that a line can read as another than it is.
CONTROLS = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
CONTROLS |= dict.fromkeys(
    [*range(0x80, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)], "\ufffd"
)
SHAPED = {code: shown for code, shown in CONTROLS.items() if chr(code) not in "\n\t"}


def visible(text: str, shaped: bool = False) -> str:
    """Text with every control character shown in place of being obeyed, one character for one;
    line ends and tabs stay where it is `shaped` by them."""
    return text.translate(SHAPED if shaped else CONTROLS)


def encodable(text: str) -> bool:
    """Whether the text can be written as UTF-8. Halves of surrogate pairs cannot: escapes in JSON
    smuggle them in, as cut emojis do, and so do file names that are no UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class LabError(Exception):
    """Wrong input, told to the person who gave it. `problems` holds every finding, one line
    each, whatever the input that it quotes."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        listed = (problems,) if isinstance(problems, str) else problems
        self.problems = tuple(_line(problem) for problem in listed)
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[object, ...]:
        # Between the processes of a cluster; an exception would else be made of its text alone.
        return type(self), (self.problems,)


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


class RerankerError(ModelError):
    """A reranker (`model` as the config names it) that failed while it was asked; systems without
    it can go on."""

    def __init__(self, problems: str | Iterable[str], model: str) -> None:
        super().__init__(problems)
        self.model = model

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.problems, self.model)


class RunError(LabError):
    """A run folder that is absent, incomplete or does not fit what is asked of it."""


class AnswersError(LabError):
    """Answers or judgements of answers that cannot be read, or fit no run."""


class LearningError(LabError):
    """Examples to learn from that cannot be read, leak what is sealed, or do not go together."""


class UsageError(LabError):
    """Logs of what users asked and clicked that cannot be read, or that cannot tell what is
    asked of them."""


class LabWarning(UserWarning):
    """Input that is accepted, but should be looked at."""

    def __init__(self, message: str) -> None:
        super().__init__(_line(message))


def _line(message: str) -> str:
    shown = visible(message.strip())
    middle = LONGEST // 2
    return shown if len(shown) <= LONGEST else f"{shown[:middle]} ... {shown[-middle:]}"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 question`, `2,000 questions`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def nearest(word: str, known: Iterable[str]) -> str:
    """`, did you mean 'x'?` for the closest known spelling, else the list of what is known."""
    known = sorted(known)
    close = _closest(word, known) if len(known) <= COMPARED else []
    shown = ", ".join(name[:LONG] for name in known[:LISTED]) + (
        ", ..." if len(known) > LISTED else ""
    )
    return f"; did you mean '{close[0]}'?" if close else f"; known: {shown}"


def _closest(word: str, known: list[str]) -> list[str]:
    """difflib compares every letter with every other: long names and many ids are told by example
    only."""
    short = [name for name in known if len(name) <= LONG]
    return difflib.get_close_matches(word, short, n=1, cutoff=0.6) if len(word) <= LONG else []
