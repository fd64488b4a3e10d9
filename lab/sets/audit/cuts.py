"""Evidence chosen by the cuts it judges: how often a chunking parts the evidence of a kind, beside
how often it would if the evidence had been chosen blind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Bools, Floats
from lab.chunking.chunk import Chunking
from lab.chunking.cuts import Cuts
from lab.corpus.document import Corpus, Document
from lab.relevance.query import Query
from lab.sets.audit.finding import Finding

# Corrected for all kinds and chunkings together (Holm): a sound set is accused once in 100 audits.
LEVEL = 0.01
# Other places of the first cut at which a chunking is tried.
PHASES = 7
# A share of a kind's spans that is worth a word, however sure it is.
LEAST_DIFFERENCE = 0.05
MINED = "mined"


@dataclass(frozen=True, slots=True)
class CutRate:
    """How often a chunking parts the spans of a kind: `cut` of `spans`, where `expected` would be
    cut if they had been chosen without a look at the cuts; `p` is two-sided, not yet corrected."""

    kind: str
    label: str
    spans: int
    cut: int
    expected: float
    p: float


@dataclass(frozen=True, eq=False)
class EvidenceSpans:
    """All distinct spans of written questions, by kind: positions of documents, ends in
    characters."""

    kinds: tuple[str, ...]
    kind: np.ndarray
    document: np.ndarray
    start: np.ndarray
    end: np.ndarray


def evidence_spans(queries: Sequence[Query], corpus: Corpus) -> EvidenceSpans:
    """The spans of all questions but mined ones, whose evidence is chosen by the cuts on purpose.
    A span that several questions of a kind share counts once."""
    spans = sorted(
        {
            (query.kind, corpus.position[item.doc_id], *item.span(corpus[item.doc_id].text))
            for query in queries
            if query.tags.get("origin") != MINED
            for item in query.evidence
            if not item.whole and item.doc_id in corpus
        }
    )
    kinds = tuple(sorted({kind for kind, *_ in spans}))
    codes = [kinds.index(kind) for kind, *_ in spans]
    places = np.array([place for _, *place in spans], dtype=np.int64).reshape(-1, 3)
    return EvidenceSpans(kinds, np.array(codes, dtype=np.int64), *places.T)


def parted(chunking: Chunking, spans: EvidenceSpans) -> Bools:
    """Which spans no chunk of a chunking holds whole."""
    cuts = Cuts(chunking)
    rows = zip(spans.document.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True)
    return np.array([cuts.margin(*row) < 0 for row in rows], dtype=bool)


def chance_of_windows(lengths: Floats, size: float, overlap: float) -> Floats:
    """The chance that no window of `size` that begins every `size - overlap` characters holds a
    span of each length, for windows that begin anywhere: a span of L characters lies within one of
    them from size - L + 1 of the size - overlap places of the first cut."""
    step = size - overlap
    return np.clip(1 - (size - lengths + 1) / step, 0.0, 1.0)


def shifted(corpus: Corpus, documents: Sequence[int], phase: int) -> Corpus:
    """Some documents without their first `phase` characters, which moves every cut that depends on
    where a text begins; a shorter document is left whole."""
    kept = (corpus.documents[place] for place in documents)
    return Corpus(
        Document(each.doc_id, each.text[phase:] or each.text, each.title, each.metadata)
        for each in kept
    )


def chance_by_phases(observed: Bools, others: Sequence[Bools]) -> Floats:
    """The mean over the chunking as it is and with its first cut elsewhere. Blind evidence makes
    all of them exchangeable, so that a splitter whose cuts follow the text, not a count, expects
    what it shows."""
    counts = np.sum([observed, *others], axis=0)
    return np.asarray(counts / (1 + len(others)), dtype=np.float64)


def cut_rates(
    label: str,
    observed: Bools,
    chance: Floats,
    spans: EvidenceSpans,
    others: Sequence[Bools] = (),
) -> list[CutRate]:
    """One row a kind. `others` are the chunking with its first cut elsewhere, where `chance` comes
    from these: they also say how far a kind's count strays from phase to phase, which can only
    acquit what the level would accuse."""
    rows = []
    for code, kind in enumerate(spans.kinds):
        members = spans.kind == code
        cut, probabilities = int(observed[members].sum()), chance[members]
        p = poisson_binomial_p(cut, probabilities)
        if others and p <= LEVEL:
            p = max(p, prediction_p(cut, [int(other[members].sum()) for other in others]))
        rows.append(CutRate(kind, label, int(members.sum()), cut, float(probabilities.sum()), p))
    return rows


def poisson_binomial_p(count: int, probabilities: Floats) -> float:
    """Two-sided p of `count` successes among independent trials of unequal probabilities: twice the
    smaller tail, at most 1. The distribution is the exact convolution (Wang 1993)."""
    distribution = np.ones(1)
    for probability in probabilities.tolist():
        distribution = np.convolve(distribution, (1 - probability, probability))
    below, above = distribution[: count + 1].sum(), distribution[count:].sum()
    return float(min(1.0, 2 * min(below, above)))


def prediction_p(count: int, others: Sequence[int]) -> float:
    """Two-sided p of one more count beside the counts of other phases: Student's t of the
    difference to their mean, with the spread of a prediction, sd * sqrt(1 + 1/m)."""
    from scipy.special import stdtr

    spread = float(np.std(others, ddof=1)) * np.sqrt(1 + 1 / len(others))
    difference = abs(count - float(np.mean(others)))
    if not spread:
        return 1.0 if not difference else 0.0
    return float(2 * stdtr(len(others) - 1, -difference / spread))


def chosen_by_cuts(rates: Sequence[CutRate]) -> Iterator[Finding]:
    """Kinds whose evidence is cut more or less often than blind choice allows, Holm over all rows;
    one finding for too few cuts and one for too many."""
    order = sorted(rates, key=lambda rate: rate.p)
    guilty: list[CutRate] = []
    for place, rate in enumerate(order):
        if rate.p * (len(order) - place) > LEVEL:
            break
        if abs(rate.cut - rate.expected) >= LEAST_DIFFERENCE * rate.spans:
            guilty.append(rate)
    few = [rate for rate in guilty if rate.cut < rate.expected]
    many = [rate for rate in guilty if rate.cut > rate.expected]
    for members, way, meaning in (
        (few, "spared by", "these questions hide what such chunks lose elsewhere"),
        (many, "hit by", "these questions show more than such chunks lose elsewhere"),
    ):
        if members:
            shown = "; ".join(_sentence(rate) for rate in members[:4])
            more = f"; and {len(members) - 4} more" if len(members) > 4 else ""
            yield Finding(
                "warning",
                f"evidence {way} the cuts",
                f"{shown}{more}: {meaning}",
                "differences between chunkings are partly the choice of quotes: choose evidence "
                "without a look at cuts, or compare several places of the first cut",
                tuple(f"{rate.kind} {rate.label}" for rate in members),
            )


def _sentence(rate: CutRate) -> str:
    """`keyword under fixed-400: 1 of 54 spans are cut, 12.4 by chance`."""
    return (
        f"{rate.kind} under {rate.label}: {rate.cut} of {rate.spans} spans are cut, "
        f"{rate.expected:.1f} by chance"
    )
