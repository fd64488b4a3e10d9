"""Claims that a model extracts from an answer, once, and whether its passages support them:
faithfulness; and answer relevancy, both as RAGAS defines them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.answers.case import Case
from lab.answers.judges.chat import Chat
from lab.answers.judges.prompts import claims_messages, verdict_messages
from lab.answers.judges.reply import ReplyError, read_claims, read_verdicts
from lab.arrays import Floats
from lab.corpus.lines import identifier, read_records
from lab.errors import AnswersError


@dataclass(frozen=True, slots=True)
class Claimed:
    """Claims of one answer with a verdict each (1 supported, 0 not). `unscored` is empty, or says
    why there is no faithfulness: no claims, or a broken reply."""

    claims: tuple[str, ...]
    verdicts: tuple[int, ...]
    unscored: str = ""

    @property
    def faithfulness(self) -> float | None:
        return faithfulness(self.verdicts) if not self.unscored else None


def faithfulness(verdicts: Sequence[int]) -> float | None:
    """Supported claims over all claims (Es et al. 2024, RAGAS): 4 of 5 give 0.8. None, unscored,
    without claims."""
    return sum(verdicts) / len(verdicts) if verdicts else None


def answer_relevancy(
    question: Floats, generated: Floats, noncommittal: Sequence[bool]
) -> float | None:
    """Mean cosine between a question's vector and those of the questions, a row each, that a model
    would ask to get the answer; 0 where every answer seen was noncommittal (Es et al. 2024, as
    ragas computes it). None, unscored, without generated questions or with a vector of zeros."""
    if not len(generated):
        return None
    norms = np.linalg.norm(generated, axis=1) * np.linalg.norm(question)
    if np.any(norms == 0):
        return None
    if all(noncommittal):
        return 0.0
    return float(np.mean(generated @ question / norms))


def claims_of(chat: Chat, case: Case) -> tuple[str, ...] | None:
    """The claims of an answer; None for a reply that holds none in the form asked for."""
    try:
        return read_claims(chat.ask(claims_messages(case)).text)
    except ReplyError:
        return None


def claimed(chat: Chat, case: Case, claims: tuple[str, ...] | None) -> Claimed:
    """A verdict for every claim."""
    if not claims:
        return Claimed((), (), "no claims" if claims is not None else "broken reply")
    try:
        verdicts = read_verdicts(chat.ask(verdict_messages(case, claims)).text, len(claims))
    except ReplyError:
        return Claimed(claims, (), "broken reply")
    return Claimed(claims, verdicts)


def read_claims_file(path: Path) -> dict[tuple[str, str], tuple[str, ...]]:
    """Claims kept before, by question and system; empty where the file is not there yet. Raises
    AnswersError with every faulty line."""
    if not path.exists():
        return {}
    problems: list[str] = []
    kept: dict[tuple[str, str], tuple[str, ...]] = {}
    for place, record in read_records(path, problems, AnswersError):
        query_id = identifier(record, "query_id", place, problems)
        system, claims = record.get("system"), record.get("claims")
        if not isinstance(system, str):
            problems.append(f"{place}: system is {system!r}; expected a name")
        elif not isinstance(claims, list) or not all(isinstance(c, str) for c in claims):
            problems.append(f"{place}: claims is no list of texts")
        elif query_id is not None:
            kept[query_id, system] = tuple(claims)
    if problems:
        raise AnswersError(problems)
    return kept
