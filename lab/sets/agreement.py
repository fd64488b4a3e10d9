"""Agreement of two annotators: Cohen's kappa over shared judgements, its interval, base rates and
the disagreements."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats
from lab.chunking.sentences import sentence_spans
from lab.corpus.document import Corpus
from lab.errors import DiagnosticsError
from lab.relevance.query import Query

# (question, what is judged): a document, or `doc_id:start-end` of a sentence.
Item = tuple[str, str]
Grades = Mapping[Item, int]

# Below the first the guide is not settled, from the second on judgements are usable.
UNSETTLED, USABLE = 0.6, 0.7
RESAMPLES = 2000
TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One item with the grades of both annotators."""

    query_id: str
    item: str
    a: int
    b: int


@dataclass(frozen=True, eq=False)
class Agreement:
    """Cohen's kappa of two annotators over the `items` that both judged.

    `kappa` counts every disagreement alike; `weighted` counts it by the distance of the grades
    (linear weights) and equals `kappa` for two grades. `low`, `high` are the ends of the 95%
    interval of `weighted`. `base_a` and `base_b` are each annotator's share of every grade.
    `only_a`, `only_b` count items that one of them judged alone, which are left out.
    """

    items: int
    questions: int
    grades: tuple[int, ...]
    kappa: float
    weighted: float
    low: float
    high: float
    base_a: tuple[float, ...]
    base_b: tuple[float, ...]
    only_a: int
    only_b: int
    disagreements: tuple[Disagreement, ...]

    @property
    def verdict(self) -> str:
        """What the weighted kappa allows."""
        if self.weighted < UNSETTLED:
            return (
                f"below {UNSETTLED}: the guide is not settled; talk the disagreements "
                "through, mend the guide, judge again"
            )
        if self.weighted < USABLE:
            return (
                f"between {UNSETTLED} and {USABLE}: not yet usable; mend what "
                "the disagreements show"
            )
        return f"from {USABLE}: usable"


def agreement(a: Grades, b: Grades, seed: int = 0) -> Agreement:
    """Compare two sets of judgements. Raises DiagnosticsError when they share none."""
    shared = sorted(a.keys() & b.keys())
    if not shared:
        raise DiagnosticsError(
            "the two sets judge nothing in common; expected the same questions and documents in "
            "both"
        )
    grades = sorted({a[item] for item in shared} | {b[item] for item in shared})
    pairs = np.array(
        [(grades.index(a[item]), grades.index(b[item])) for item in shared], dtype=np.int64
    )
    questions = sorted({query_id for query_id, _ in shared})
    owner = np.searchsorted(questions, [query_id for query_id, _ in shared])
    tables = np.zeros((len(questions), len(grades), len(grades)))
    np.add.at(tables, (owner, pairs[:, 0], pairs[:, 1]), 1)
    total = tables.sum(axis=0)
    weights = _linear(np.array(grades, dtype=np.float64))
    low, high = _interval(tables, weights, seed)
    apart = sorted(
        (item for item in shared if a[item] != b[item]),
        key=lambda item: (-abs(a[item] - b[item]), item),
    )
    return Agreement(
        items=len(shared),
        questions=len(questions),
        grades=tuple(grades),
        kappa=float(kappa(total, 1 - np.eye(len(grades)))),
        weighted=float(kappa(total, weights)),
        low=low,
        high=high,
        base_a=tuple((total.sum(axis=1) / len(shared)).tolist()),
        base_b=tuple((total.sum(axis=0) / len(shared)).tolist()),
        only_a=len(a.keys() - b.keys()),
        only_b=len(b.keys() - a.keys()),
        disagreements=tuple(Disagreement(*item, a[item], b[item]) for item in apart),
    )


def kappa(table: Floats, weights: Floats) -> Floats:
    """Cohen's weighted kappa, 1 - sum(w * observed) / sum(w * expected), of counts (... x grades of
    a x grades of b) under weights of disagreement (Cohen 1968, eq. 8). Where chance alone would
    never disagree (one grade throughout) it is 1 if nobody disagrees; kappa says nothing there."""
    expected = (
        table.sum(axis=-1)[..., :, None]
        * table.sum(axis=-2)[..., None, :]
        / table.sum(axis=(-1, -2))[..., None, None]
    )
    seen, chance = (table * weights).sum(axis=(-1, -2)), (expected * weights).sum(axis=(-1, -2))
    return np.asarray(1 - np.divide(seen, chance, out=np.zeros_like(chance), where=chance > 0))


def _linear(grades: Floats) -> Floats:
    """Distance of every two grades as a share of the whole scale; grades that are numbers count by
    their distance."""
    distance = np.abs(grades[:, None] - grades[None, :])
    return np.asarray(distance / max(distance.max(), 1))


def _interval(tables: Floats, weights: Floats, seed: int) -> tuple[float, float]:
    """Percentile bootstrap over questions, whose judgements hang together; over items where there
    are too few questions."""
    if len(tables) < 10:
        counts = tables.sum(axis=0).reshape(-1)
        draws = np.random.default_rng(seed).multinomial(
            int(counts.sum()), counts / counts.sum(), size=RESAMPLES
        )
        kappas = kappa(draws.reshape(RESAMPLES, *weights.shape).astype(np.float64), weights)
    else:
        drawn = np.random.default_rng(seed).multinomial(
            len(tables), np.full(len(tables), 1 / len(tables)), size=RESAMPLES
        )
        kappas = kappa(np.tensordot(drawn.astype(np.float64), tables, axes=1), weights)
    low, high = np.quantile(kappas, [TAIL, 1 - TAIL])
    return float(low), float(high)


def document_grades(queries: Iterable[Query]) -> Grades:
    """Grades of whole documents as they were judged."""
    return {
        (query.query_id, item.doc_id): item.grade for query in queries for item in query.evidence
    }


def sentence_grades(
    a: Sequence[Query], b: Sequence[Query], corpus: Corpus
) -> tuple[Grades, Grades]:
    """Evidence of two annotators as grades of sentences, for the questions that both have.

    Judged are all sentences of the documents in which either of them marked something; a sentence
    has the highest grade of the evidence that holds at least half of it, else 0.
    """
    others = {query.query_id: query for query in b}
    both: tuple[dict[Item, int], dict[Item, int]] = {}, {}
    spans: dict[str, list[tuple[int, int]]] = {}
    for query in a:
        other = others.get(query.query_id)
        if other is None:
            continue
        for doc_id in sorted({item.doc_id for item in (*query.evidence, *other.evidence)}):
            text = corpus[doc_id].text
            for start, end in spans.setdefault(
                doc_id, [s for s in sentence_spans(text) if text[slice(*s)].strip()]
            ):
                for grades, marked in zip(both, (query, other), strict=True):
                    grades[query.query_id, f"{doc_id}:{start}-{end}"] = _grade(
                        marked, doc_id, text, start, end
                    )
    return both


def _grade(query: Query, doc_id: str, text: str, start: int, end: int) -> int:
    best = 0
    for item in query.evidence:
        if item.doc_id == doc_id:
            left, right = item.span(text)
            held = len("".join(text[max(left, start) : min(right, end)].split()))
            if right > start and left < end and 2 * held >= len("".join(text[start:end].split())):
                best = max(best, item.grade)
    return best
