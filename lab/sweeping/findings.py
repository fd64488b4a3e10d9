"""Findings: what a sweep knows of its misses, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.arrays import NEVER, Ints
from lab.config.config import Config
from lab.diagnosis.alpha.families import Family
from lab.diagnosis.alpha.summary import AlphaSummary, has_curve, metric_values, summaries
from lab.diagnosis.cutoff import Cutoff
from lab.diagnosis.misses import Ahead, Miss, Ranks
from lab.diagnosis.rescue import proved_by_systems
from lab.diagnosis.separation import METRICS, Separation, ThresholdEffect
from lab.diagnosis.unanswerable import Unanswered
from lab.evaluation.metrics import WEIGHTED, parse_metric
from lab.relevance.pieces import Pieces

if TYPE_CHECKING:
    import pandas as pd
    from _typeshed import DataclassInstance

AHEAD = tuple(field.name for field in fields(Ahead))


@dataclass(frozen=True, eq=False)
class Findings:
    """The misses of every system with cause and proof, relative to `cutoff`, the alpha curves of
    every hybrid family, how each system's scores tell unanswerable questions apart (empty where
    the sets have none), and `reachable` (systems x questions), the most pieces that any ranking
    could hold within the cut-off (see `lab.diagnosis.places`)."""

    cutoff: Cutoff
    misses: tuple[tuple[Miss, ...], ...]
    families: tuple[Family, ...]
    unanswered: tuple[Unanswered, ...]
    reachable: Ints

    def unanswerable_columns(self, systems: Sequence[str]) -> dict[str, list[float]]:
        """Columns of the table of systems, empty without unanswerable questions: by each system's
        last stage with a score of its own, the chance that an answerable question scores above an
        unanswerable one, and the share of unanswerable ones below the threshold that keeps 95% of
        the answerable; NaN for a foreign system."""
        if not self.unanswered:
            return {}
        last = {
            result.system: result.separations[-1]
            for result in self.unanswered
            if result.separations
        }
        return {
            "unanswerable_auc": [last[name].auc if name in last else np.nan for name in systems],
            "unanswerable_rejected": [
                last[name].rejected if name in last else np.nan for name in systems
            ],
        }

    def separation(self) -> "pd.DataFrame":
        """How well each stage's best score tells answerable from unanswerable questions: a row a
        system and stage, `system` and the fields of Separation. Hybrid scores are normalised within
        a question, so they cannot tell questions apart."""
        return _rows(
            Separation,
            [(result.system, row) for result in self.unanswered for row in result.separations],
        )

    def thresholds(self) -> "pd.DataFrame":
        """What thresholds on the reranker do: a row a system and threshold, `system` and the fields
        of ThresholdEffect."""
        effects = [(result.system, row) for result in self.unanswered for row in result.effects]
        return _rows(ThresholdEffect, effects).rename(columns=METRICS)

    def causes(self, systems: Sequence[str]) -> "pd.DataFrame":
        """A row a system and missed piece (see `lab.runs.columns`)."""
        import pandas as pd

        named = [
            (name, miss)
            for name, misses in zip(systems, self.misses, strict=True)
            for miss in misses
        ]
        misses = [miss for _, miss in named]
        tails, cuts = [miss.tail for miss in misses], [miss.cut for miss in misses]
        columns: dict[str, Any] = {"system": [name for name, _ in named]}
        for name in ("query_id", "piece", "kind", "cause", "stage", "verified", "remedy"):
            columns[name] = [getattr(miss, name) for miss in misses]
        columns["recovered_by"] = [list(miss.recovered_by) for miss in misses]
        columns["k"] = [miss.k for miss in misses]
        columns["spans_needed"] = [miss.needed for miss in misses]
        for name in (field.name for field in fields(Ranks)):
            columns[f"{name}_rank"] = [getattr(miss.ranks, name) for miss in misses]
        columns |= {
            "cut_at": [cut and cut.offset for cut in cuts],
            "cut_before": [cut and cut.before for cut in cuts],
            "cut_after": [cut and cut.after for cut in cuts],
            "unmatched": [
                [{"term": word.term, "reason": word.why} for word in miss.unmatched]
                for miss in misses
            ],
            "unread_start": [tail and tail.start for tail in tails],
            "unread_end": [tail and tail.end for tail in tails],
            "outranked_by": [[_record(ahead) for ahead in miss.outranked_by] for miss in misses],
            "alpha_low": [_ends(miss, 0) for miss in misses],
            "alpha_high": [_ends(miss, 1) for miss in misses],
            "filtered_by": [list(miss.filtered) for miss in misses],
        }
        table = pd.DataFrame({name: _column(name, values) for name, values in columns.items()})
        return table.astype(
            dict.fromkeys(("system", "query_id", "kind", "cause", "stage"), "category")
        )

    def curves(self, asked: Pieces) -> "pd.DataFrame":
        """A row a step of a piece's exact alpha curve, before any reranker: `family` (the systems'
        name without alpha), `query_id`, `piece`, the step's ends `low` and `high` in [0, 1], and
        `complete`, the rank at which the piece is complete there, null beyond the cap. A family's
        steps of one piece tile [0, 1]; the points 0 and 1 are steps of their own, for there a leg
        brings no candidates."""
        import pandas as pd

        columns: dict[str, list[object]] = {
            name: [] for name in ("family", "query_id", "piece", "low", "high", "complete")
        }
        for family in self.families:
            for query, curve in zip(asked.queries, family.curves, strict=True):
                for piece, ranks in enumerate(curve.complete, start=1):
                    starts = _changes(ranks)
                    columns["family"].extend([family.name] * len(starts))
                    columns["query_id"].extend([query.query_id] * len(starts))
                    columns["piece"].extend([piece] * len(starts))
                    columns["low"].extend(curve.low[starts].tolist())
                    columns["high"].extend(
                        curve.high[np.append(starts[1:], len(ranks)) - 1].tolist()
                    )
                    columns["complete"].extend(
                        None if rank == NEVER else rank for rank in ranks[starts].tolist()
                    )
        table = pd.DataFrame(columns)
        kinds = {"piece": "int32", "complete": "Int32", "low": "float64", "high": "float64"}
        return table.astype(kinds | {"family": "category", "query_id": "category"})

    def alphas(self, asked: Pieces, metrics: Sequence[str]) -> "tuple[pd.DataFrame, pd.DataFrame]":
        """What alpha does to every hybrid family before any reranker, by recall at the cut-off and
        by every metric of ranks within the cap, over all questions and over every kind: a row a
        family, metric and slice (see `lab.diagnosis.alpha.summary.AlphaSummary`), and a row a step
        of its mean, from `low` to `high`."""
        import pandas as pd

        kinds, named = [query.kind for query in asked.queries], list[tuple[str, AlphaSummary]]()
        labels = [
            label
            for label in dict.fromkeys((f"recall@{self.cutoff.k}", *metrics))
            if label != WEIGHTED
        ]
        for family in self.families:
            drawn = [label for label in labels if has_curve(parse_metric(label), family.cap)]
            if not drawn:  # all reach beyond the cap
                continue
            every = metric_values(family.curves, asked, [parse_metric(label) for label in drawn])
            for label, values in zip(drawn, every, strict=True):
                named += [
                    (family.name, summary)
                    for summary in summaries(family.curves, kinds, self.cutoff.k, label, values)
                ]
        names, lengths = (
            ["family", "metric", "slice"],
            [len(summary.steps.low) for _, summary in named],
        )
        table = pd.DataFrame(
            [{"family": name} | summary.row for name, summary in named],
            columns=None if named else names,
        )
        means = {
            name: table[name].astype("category").repeat(lengths).reset_index(drop=True)
            for name in names
        }
        edges = {
            name: np.concatenate([getattr(summary.steps, name) for _, summary in named] or [[]])
            for name in ("low", "high", "value")
        }
        return table, pd.DataFrame(means | edges)


def _record(ahead: Ahead) -> dict[str, Any]:
    """Its fields by name; `asdict`, which copies deeply, takes as long as all other columns."""
    return {name: getattr(ahead, name) for name in AHEAD}


def _ends(miss: Miss, end: int) -> list[float] | None:
    """The lower (0) or upper (1) ends of a miss's intervals of alpha."""
    return None if miss.alphas is None else [interval[end] for interval in miss.alphas]


def _column(name: str, values: Sequence[Any]) -> "pd.Series":
    """Whole numbers that may be absent as such, lists as Python has them."""
    import pandas as pd

    if name in ("piece", "k"):
        return pd.Series(values, dtype="int32")
    if name.endswith(("_rank", "_at", "_start", "_end", "_needed")):
        return pd.Series(values, dtype="Int32")
    plain = {"verified": "bool", "remedy": "str", "cut_before": "str", "cut_after": "str"}
    return pd.Series(values, dtype=plain.get(name, "object"))


def _rows(kind: type, values: "Sequence[tuple[str, DataclassInstance]]") -> "pd.DataFrame":
    """Values of one kind, each with its system."""
    import pandas as pd

    names = ["system", *(field.name for field in fields(kind))]
    return pd.DataFrame([(system, *astuple(value)) for system, value in values], columns=names)


def proved(
    misses: Sequence[Sequence[Miss]], configs: Sequence[Config], asked: Pieces
) -> tuple[tuple[Miss, ...], ...]:
    """The misses with what other systems of the run prove."""
    place = _places(asked)
    held = np.ones((len(configs), len(asked)), dtype=bool)
    for system, of_system in enumerate(misses):
        held[system, [place[miss.query_id, miss.piece] for miss in of_system]] = False
    return proved_by_systems(
        [config.settings() for config in configs],
        misses,
        held.tolist(),
        place,
        asked.unit == "evidence",
    )


def _places(asked: Pieces) -> Mapping[tuple[str, int], int]:
    """(query_id, number of the piece) -> place among all pieces."""
    ids = (asked.queries[query].query_id for query in asked.query)
    return {key: place for place, key in enumerate(zip(ids, asked.number.tolist(), strict=True))}


def _changes(ranks: Ints) -> Ints:
    """Steps at which a piece's rank changes; the two end points always."""
    first = np.ones(len(ranks), dtype=bool)
    first[2:-1] = ranks[2:-1] != ranks[1:-2]
    return np.flatnonzero(first)
