"""Doubts: where what nobody judged may decide, documents or text that looks like evidence."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lab.evaluation.metrics import WEIGHTED, parse_metric
from lab.evaluation.unjudged import Unjudged, can_turn, decided_by_unjudged, unjudged
from lab.sweeping.outcomes import Outcomes
from lab.sweeping.perhaps import Perhaps, perhaps_evidence, perhaps_note
from lab.sweeping.plan import Plan


@dataclass(frozen=True, eq=False)
class Doubts:
    """`unjudged` is None where spans are judged, or the selecting metric passes over what is not
    judged; `perhaps` is empty where documents are."""

    unjudged: Unjudged | None
    perhaps: tuple[Perhaps, ...]

    def notes(self, systems: Sequence[str]) -> tuple[str, ...]:
        """Lines for the reader of the run."""
        turned = decided_by_unjudged(self.unjudged, systems) if self.unjudged else ""
        return tuple(line for line in (perhaps_note(self.perhaps, len(systems)), turned) if line)

    def columns(self) -> dict[str, Any]:
        """Columns of the table of systems, empty where documents are not judged: whether the
        unjudged decide between a system and the one with the highest mean."""
        return {"unjudged_decides": self.unjudged.decides} if self.unjudged else {}

    def record(self) -> list[dict[str, Any]]:
        """Every place of perhaps evidence, for the manifest."""
        return [asdict(place) | {"words": list(place.words)} for place in self.perhaps]


def doubts(plan: Plan, outcomes: Outcomes) -> Doubts:
    """What is unjudged, by the selecting metric; unmarked text, by the answer's words. Of the
    systems that can be compared, in their order."""
    turned, systems = None, [outcomes.systems[place] for place in outcomes.compared]
    if plan.pieces.unit == "document" and plan.measure.select_by != WEIGHTED:
        metric = parse_metric(plan.measure.select_by)
        runs = [system.run for system in systems]
        turned = unjudged(plan.pieces, runs, metric) if can_turn(metric) else None
    rows = [system.rows for system in systems]
    return Doubts(turned, perhaps_evidence(plan.pieces, plan.corpus, rows))
