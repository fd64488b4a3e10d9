"""Reading what a right answer says: claims, the type of the answer, the order of its evidence."""

from typing import Any, get_args

from lab.errors import nearest
from lab.relevance.query import AnswerType, Claim

CLAIM_KEYS = ("text", "evidence", "vital")
ANSWER_TYPES: tuple[AnswerType, ...] = get_args(AnswerType)


def read_claims(value: object, evidence: int, place: str, problems: list[str]) -> tuple[Claim, ...]:
    """The claims of a question that has `evidence` items of evidence."""
    if not isinstance(value, list):
        problems.append(f"{place}: 'claims' is a {type(value).__name__}; expected a list")
        return ()
    claims = [
        _claim(record, evidence, f"{place}: claim {number}", problems)
        for number, record in enumerate(value, start=1)
    ]
    return tuple(claim for claim in claims if claim is not None)


def _claim(record: object, evidence: int, place: str, problems: list[str]) -> Claim | None:
    if not isinstance(record, dict):
        problems.append(f"{place} is a {type(record).__name__}; expected an object with a text")
        return None
    before = len(problems)
    problems.extend(
        f"{place}: unknown key '{key}'{nearest(key, CLAIM_KEYS)}"
        for key in record
        if key not in CLAIM_KEYS
    )
    text, vital = record.get("text"), record.get("vital", True)
    if not isinstance(text, str) or not text.strip():
        problems.append(f"{place}: text is {text!r}; expected what a right answer says")
    if not isinstance(vital, bool):
        problems.append(f"{place}: vital is {vital!r}; expected true or false")
    links = _links(record.get("evidence", []), evidence, place, problems)
    return None if len(problems) > before else Claim(str(text), links, vital)


def _links(value: Any, evidence: int, place: str, problems: list[str]) -> tuple[int, ...]:
    links = value if isinstance(value, list) else [value]
    if all(_is_place(link, evidence) for link in links):
        return tuple(links)
    expected = (
        f"expected places from 0 to {evidence - 1} of the question's evidence"
        if evidence
        else "the question has no evidence to link"
    )
    problems.append(f"{place}: evidence is {value!r}; {expected}")
    return ()


def _is_place(value: object, evidence: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < evidence


def read_answer_type(value: object, place: str, problems: list[str]) -> AnswerType | None:
    """None where the question does not say."""
    if value is None or value in ANSWER_TYPES:
        return value
    problems.append(f"{place}: answer_type is {value!r}; expected one of {', '.join(ANSWER_TYPES)}")
    return None


def read_order(value: object, place: str, problems: list[str]) -> int | None:
    """The place of evidence in its chain; None where it has none."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    problems.append(f"{place}: order is {value!r}; expected a whole number")
    return None
