"""What a person should look at: judgements that are unsure, contradict themselves, or contradict
people."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lab.answers.judges.judgement import Score
from lab.answers.judges.orders import BothOrders
from lab.runs.confidence import UNSURE


@dataclass(frozen=True, slots=True)
class Queued:
    """One judgement to look at, and why."""

    query_id: str
    system: str
    judge: str
    reason: str
    confidence: float


def review_queue(scores: Iterable[Score], orders: Sequence[BothOrders]) -> list[Queued]:
    """The least sure first; pairs with two answers in two orders at the end."""
    unsure = [
        Queued(
            score.query_id,
            score.system,
            score.judge,
            f"confidence {score.confidence:.2f} below {UNSURE}"
            + (f" ({score.criterion})" if score.criterion else ""),
            score.confidence,
        )
        for score in scores
        if score.confidence < UNSURE
    ]
    unsure.sort(key=lambda queued: (queued.confidence, queued.query_id, queued.system))
    discordant = [
        Queued(query_id, f"{a} / {b}", row.judge, "another choice in the other order", 0.0)
        for row in orders
        for query_id, a, b in row.discordant
    ]
    return [*unsure, *discordant]
