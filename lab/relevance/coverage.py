"""Covering spans: when a piece of evidence is complete, given which spans were seen when."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import NEVER, Ints


@dataclass(frozen=True, eq=False)
class CoveringSpans:
    """One alternative of a piece: it is complete once the `weights` of its parts that are seen sum
    to `need`; `spans[i]` are the judged things (spans, or the document) that show part i."""

    need: int
    weights: Ints
    spans: tuple[Ints, ...]

    def complete(self, parts: Ints) -> Ints:
        """The rank at which enough parts are seen, one a column; `parts` (parts x any) are the
        ranks at which each is."""
        if not len(parts):
            return np.full(parts.shape[1], NEVER)
        order = np.argsort(parts, axis=0, kind="stable")
        ranks = np.take_along_axis(parts, order, axis=0)
        enough = np.cumsum(np.where(ranks < NEVER, self.weights[order], 0), axis=0) >= self.need
        reached = np.take_along_axis(ranks, enough.argmax(axis=0)[None], axis=0)[0]
        return np.asarray(np.where(enough.any(axis=0), reached, NEVER))

    def fewest(self) -> int:
        """Least number of spans that show enough parts together, exactly; NEVER where all do not.

        Spans over one alternative are runs of its parts. Of nested runs only the outer one can
        help, so both ends of the others ascend, and a chosen run overlaps only the one chosen
        before it: a table over (number of runs, last run) has the most that each choice can show.
        """
        runs = self._outer_runs()
        weight_before = np.concatenate(([0], np.cumsum(self.weights))).tolist()
        most = [weight_before[high] - weight_before[low] for low, high in runs]
        for count in range(1, len(runs) + 1):
            if max(most) >= self.need:
                return count
            most = [
                max(
                    (
                        most[i] + weight_before[high] - weight_before[max(low, runs[i][1])]
                        for i in range(last)
                    ),
                    default=0,
                )
                for last, (low, high) in enumerate(runs)
            ]
        return NEVER

    def _outer_runs(self) -> list[tuple[int, int]]:
        """The parts [low, high) that each span shows, those within another's left out."""
        runs: dict[int, tuple[int, int]] = {}
        for part, spans in enumerate(self.spans):
            for span in spans.tolist():
                low, _ = runs.get(span, (part, part))
                runs[span] = low, part + 1
        outer: list[tuple[int, int]] = []
        for low, high in sorted(set(runs.values()), key=lambda run: (run[0], -run[1])):
            if not outer or high > outer[-1][1]:
                outer.append((low, high))
        return outer


def alone(thing: int) -> tuple[CoveringSpans, ...]:
    """A judged thing as if it were a piece of its own."""
    return (CoveringSpans(1, np.ones(1, dtype=np.int64), (np.array([thing]),)),)
