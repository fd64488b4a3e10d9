"""One alpha for all questions, or one for each: the project's corpora in English, all three pooled,
every one judged by what the other two taught, and XQuAD-en, whose questions are of one kind.

    python experiments/alpha_by_question.py [SHARED]

SHARED holds `bench/`; without it XQuAD-en is left out. Minutes; encoded texts come from the cache.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.arrays import Floats
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.read import read_corpus
from lab.evaluation.alpha_learning import at, learn
from lab.evaluation.alpha_rules import RULES
from lab.evaluation.clusters import Clusters, clustered, main_documents
from lab.evaluation.paired import compare
from lab.evaluation.slices import length_label
from lab.relevance.read import read_diagnostics
from lab.sweeping.sweep import measured
from lab.sweeping.tools import Tools

CORPORA = ("devices", "software", "contracts")
GRID = Grid(chunk_strategy="structure", chunk_size=400, mode="hybrid", alpha=RULES)
MEASURE = Measure(metrics=("recall@5", "ndcg@10"), select_by="ndcg@10")
SEED = MEASURE.seed


@dataclass(frozen=True, eq=False)
class Taught:
    """Questions with what is known of them before fusion, NDCG@10 at every alpha, at the best one,
    and the document of each."""

    figures: Mapping[str, np.ndarray]
    curves: Floats
    oracle: Floats
    documents: np.ndarray

    @property
    def units(self) -> Clusters:
        return clustered(self.documents)


def taught(name: str, corpus: Path, sets: Path) -> Taught:
    """Sweep a corpus with the rules."""
    documents = read_corpus(corpus)
    outcome = measured(documents, read_diagnostics(sets, documents), GRID, MEASURE, name, Tools())
    (weighing,) = outcome.weighings
    queries = outcome.plan.pieces.queries
    figures = {key: column for key, column in weighing.figures.items() if key != "scq"}
    figures["kind"] = np.array([query.kind for query in queries])
    figures["length"] = np.array([length_label(query.text) for query in queries])
    owners = np.array([f"{name}/{owner}" for owner in main_documents(outcome.plan.pieces)])
    return Taught(figures, weighing.curves, weighing.oracle, owners)


def pooled(parts: list[Taught]) -> Taught:
    return Taught(
        {key: np.concatenate([part.figures[key] for part in parts]) for key in parts[0].figures},
        np.concatenate([part.curves for part in parts]),
        np.concatenate([part.oracle for part in parts]),
        np.concatenate([part.documents for part in parts]),
    )


def nested(name: str, of: Taught) -> None:
    """Every rule by nested folds over the documents."""
    common = at(of.curves, learn(None, of.figures, of.curves, of.units, SEED).alphas)
    for rule in RULES:
        own = at(of.curves, learn(rule, of.figures, of.curves, of.units, SEED).alphas)
        line(f"{name} | {rule}", common, own, of)


def transferred(name: str, others: Taught, of: Taught) -> None:
    """Every rule, and one alpha for all, as other corpora taught them."""
    common, *rules = (
        learn(rule, others.figures, others.curves, others.units, SEED).rule
        for rule in (None, *RULES)
    )
    for rule, learned in zip(RULES, rules, strict=True):
        scores = (at(of.curves, which.alphas(of.figures)) for which in (common, learned))
        line(f"{name} | {rule}", *scores, of)


def line(what: str, common: Floats, own: Floats, of: Taught) -> None:
    """A row of the table in experiments/README.md."""
    tested = compare((own - common)[:, None], of.units, SEED)
    print(
        f"| {what} | {len(own)} | {common.mean():.3f} | {own.mean():.3f} | "
        f"{tested.difference[0]:+.3f} [{tested.low[0]:+.3f}, {tested.high[0]:+.3f}] "
        f"{tested.verdicts[0]} | {of.oracle.mean():.3f} |",
        flush=True,
    )


def main(shared: Path | None) -> None:
    print("| corpus | rule | questions | common | by question | difference | oracle |")
    print("|---|---|---|---|---|---|---|")
    parts = {
        name: taught(name, Path("corpora", name), Path("diagnostic_sets", name)) for name in CORPORA
    }
    for name, part in parts.items():
        nested(name, part)
    nested("all three", pooled(list(parts.values())))
    for name, part in parts.items():
        others = pooled([other for key, other in parts.items() if key != name])
        transferred(f"{name}, taught by the others", others, part)
    if shared is not None:
        folder = shared / "bench" / "spans" / "xquad-en"
        nested("XQuAD-en", taught("xquad-en", folder / "documents.jsonl", folder / "queries.jsonl"))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
