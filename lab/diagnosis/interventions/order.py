"""All interventions, in the order in which they are tried, and what they prove together."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lab.diagnosis.causes import CAUSES
from lab.diagnosis.interventions.bm25 import OTHER_ANALYZER, OTHER_BM25
from lab.diagnosis.interventions.budget import LARGER_BUDGET
from lab.diagnosis.interventions.candidates import EXACT_SEARCH, MORE_CANDIDATES
from lab.diagnosis.interventions.chunk import CUT_AROUND, CUT_ELSEWHERE, CUT_LONGER
from lab.diagnosis.interventions.corpus import ALL_CHUNKS
from lab.diagnosis.interventions.delivery import NEIGHBOURS, ONLY_NEIGHBOURS
from lab.diagnosis.interventions.duplicates import DUPLICATES_ONCE
from lab.diagnosis.interventions.encoder import READ_TO_END
from lab.diagnosis.interventions.features import WITHOUT_FEATURES
from lab.diagnosis.interventions.filter import NO_FILTER
from lab.diagnosis.interventions.fusion import ALPHA, OTHER_FUSION
from lab.diagnosis.interventions.intervention import Case, Intervention
from lab.diagnosis.interventions.reranker import NO_RERANKER, NO_THRESHOLD
from lab.diagnosis.interventions.vectors import WHOLE_VECTORS

# Tried from top to bottom, each on what the ones before it have left. Chunking comes before what
# the stages are blamed for: where a whole chunk alone brings a parted piece back, chunking lost it.
# What no change of the blamed stage brings back is then tried in closer and in longer chunks.
INTERVENTIONS: tuple[Intervention, ...] = (
    NEIGHBOURS,
    CUT_ELSEWHERE,
    DUPLICATES_ONCE,
    ALL_CHUNKS,
    NO_FILTER,
    NO_THRESHOLD,
    LARGER_BUDGET,
    NO_RERANKER,
    WHOLE_VECTORS,
    ALPHA,
    OTHER_FUSION,
    MORE_CANDIDATES,
    WITHOUT_FEATURES,
    EXACT_SEARCH,
    OTHER_ANALYZER,
    OTHER_BM25,
    READ_TO_END,
    CUT_AROUND,
    ONLY_NEIGHBOURS,
    CUT_LONGER,
)
# What the hits of stages show without running any of them again, so that foreign systems are tried
# on it too. Another alpha in front of a reranker would need its scores for other pairs.
VISIBLE = (DUPLICATES_ONCE, ALL_CHUNKS, NO_FILTER, NO_THRESHOLD, LARGER_BUDGET, NO_RERANKER)
WEIGHED = (ALPHA, OTHER_FUSION)
NOTHING = "nothing tried brings it back"


@dataclass(frozen=True, slots=True)
class Proof:
    """`verified` says that a change of the blamed stage alone brings the piece back; `remedy` is
    the smallest such change, else the smallest change of any kind that does, else advice;
    `recovered_by` lists all changes that do, smallest first."""

    verified: bool
    remedy: str
    recovered_by: tuple[str, ...]


def intervened(case: Case, among: Collection[Intervention] = INTERVENTIONS) -> Case:
    """The case after every intervention, or after those `among` them."""
    for intervention in INTERVENTIONS:
        if intervention not in among:
            continue
        units = intervention.applies_to(case)
        if len(units):
            case = case.after(intervention, intervention.rerun(case, units))
    return case


def proof(cause: str, changes: Mapping[Intervention, str]) -> Proof:
    """What the interventions that brought a piece back, each in words, say of its cause."""
    ordered = sorted(changes, key=lambda intervention: intervention.size)
    proving = [intervention for intervention in ordered if cause in intervention.proves]
    recovered_by = tuple(changes[intervention] for intervention in ordered)
    if proving:
        return Proof(True, changes[proving[0]], recovered_by)
    if ordered:
        return Proof(False, changes[ordered[0]], recovered_by)
    return Proof(False, f"{NOTHING}; {CAUSES[cause].remedy}", ())
