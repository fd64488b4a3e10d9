"""Which questions are independent: those about one document succeed and fail together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.arrays import Bools, Floats, Ints
from lab.relevance.pieces import Pieces

# With fewer documents, resampling documents gives intervals that are too narrow (Cameron, Gelbach &
# Miller 2008): then the questions are the units, and what is concluded holds for questions about
# these documents, not for other documents.
FEWEST_DOCUMENTS = 20
# Cross-validation only has to keep what belongs together on one side, so a handful of documents
# will do.
FEWEST_GROUPS = 5


@dataclass(frozen=True, eq=False)
class Clusters:
    """The independent units of a set. `of[q]` numbers the unit of question q from 0; `unit` is
    `document` or `question`."""

    of: Ints
    unit: str

    def __len__(self) -> int:
        return int(self.of.max(initial=-1)) + 1

    def sums(self, values: Floats) -> Floats:
        """Sums of questions x columns over the questions of every unit."""
        if len(self) == len(self.of):
            return values[np.argsort(self.of, kind="stable")]
        totals = np.zeros((len(self), values.shape[1]))
        np.add.at(totals, self.of, values)
        return totals

    def only(self, members: Bools) -> "Clusters":
        """The units of a slice of the questions; question by question where the slice touches too
        few documents."""
        return (
            clustered(self.of[members])
            if self.unit == "document"
            else each_question(int(members.sum()))
        )


def each_question(questions: int) -> Clusters:
    """Every question is a unit of its own."""
    return Clusters(np.arange(questions), "question")


def clustered(labels: Ints | NDArray[np.str_], fewest: int = FEWEST_DOCUMENTS) -> Clusters:
    """Questions with one label are one unit, if labels repeat and there are at least `fewest` of
    them."""
    distinct, of = np.unique(labels, return_inverse=True)
    if len(distinct) == len(of) or len(distinct) < fewest:
        return each_question(len(of))
    return Clusters(of.astype(np.int64), "document")


def main_documents(pieces: Pieces) -> NDArray[np.str_]:
    """The document of every question's first piece of the highest grade.

    A question whose evidence lies in several documents counts under its main one. Joining all
    documents that share a question would be stricter, but a few such questions chain most of a set
    into a single unit (160 of the 175 questions about this project's contracts), from which nothing
    could be concluded.
    """
    order = np.lexsort((np.arange(len(pieces)), -pieces.grade, pieces.query))
    first = order[np.searchsorted(pieces.query[order], np.arange(len(pieces.queries)))]
    return np.array(
        [max(pieces.items[piece], key=lambda item: item.grade).doc_id for piece in first],
        dtype=np.str_,
    )
