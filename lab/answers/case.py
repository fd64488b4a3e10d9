"""Case: one answer with everything that a judge or a measure of the user's is shown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """`contexts` is what the generator was given, None where nobody knows; `reference` is the right
    answer, empty without one; `generator` is the model that wrote the answer, empty if not
    known."""

    query_id: str
    system: str
    question: str
    answer: str
    contexts: tuple[str, ...] | None = None
    reference: str = ""
    generator: str = ""
