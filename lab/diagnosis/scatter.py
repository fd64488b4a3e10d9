"""The scatter test: how many pieces of evidence lie in one chunk, in two, in more."""

from dataclasses import dataclass

from lab.arrays import NEVER
from lab.chunking.chunk import Chunking
from lab.relevance.judge import HOLD, SpanJudge
from lab.relevance.pieces import Pieces


@dataclass(frozen=True, slots=True)
class Scatter:
    """Pieces by the least number of chunks that hold one together; `label` names the chunk config,
    `never` counts those that all chunks together do not hold."""

    label: str
    one: int
    two: int
    more: int
    never: int

    @property
    def pieces(self) -> int:
        return self.one + self.two + self.more + self.never


def scatter(pieces: Pieces, chunking: Chunking, label: str, hold: float = HOLD) -> Scatter:
    """Count the pieces of a set that is judged by evidence under one chunking."""
    needed = SpanJudge(pieces, chunking, hold).pieces_needed()
    never = needed == NEVER
    return Scatter(
        label,
        *(
            int(count)
            for count in (
                (needed == 1).sum(),
                (needed == 2).sum(),
                ((needed > 2) & ~never).sum(),
                never.sum(),
            )
        ),
    )
