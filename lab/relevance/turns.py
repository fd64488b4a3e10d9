"""Reading what was said before a question: the turns of its conversation."""

from collections.abc import Iterable
from typing import get_args

from lab.errors import nearest
from lab.relevance.query import Speaker, Turn

TURN_KEYS = ("role", "text")
SPEAKERS: tuple[Speaker, ...] = get_args(Speaker)


def read_history(value: object, place: str, problems: list[str]) -> tuple[Turn, ...]:
    """The turns before a question, first to last; none where it stands alone."""
    if value is None:
        return ()
    if not isinstance(value, list):
        problems.append(
            f"{place}: 'history' is a {type(value).__name__}; expected a list of turns like "
            '{"role": "user", "text": "..."}'
        )
        return ()
    turns = [
        _turn(record, f"{place}: turn {number} of the history", problems)
        for number, record in enumerate(value, start=1)
    ]
    return tuple(turn for turn in turns if turn is not None)


def _turn(record: object, place: str, problems: list[str]) -> Turn | None:
    if not isinstance(record, dict):
        problems.append(f"{place} is a {type(record).__name__}; expected an object with role, text")
        return None
    wrong = [
        f"{place}: unknown key '{key}'{nearest(key, TURN_KEYS)}"
        for key in record
        if key not in TURN_KEYS
    ]
    wrong += faults_of_turn(record.get("role"), record.get("text"), place)
    problems.extend(wrong)
    return None if wrong else Turn(record["role"], record["text"])


def faults_of_turn(role: object, text: object, place: str) -> Iterable[str]:
    """A line for a speaker that there is not, and one for a text that says nothing."""
    if role not in SPEAKERS:
        yield f"{place}: role is {role!r}; expected 'user' or 'assistant'"
    if not isinstance(text, str) or not text.strip():
        yield f"{place}: text is {text!r}; expected what was said"
