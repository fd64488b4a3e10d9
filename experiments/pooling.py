"""Labels where they decide: CACM with 70 % of its judgements hidden, labelled again by budget.

Run: python experiments/pooling.py FOLDER [SEEDS], where FOLDER holds cacm.all, query.text and
cacm.qrels. Kendall's tau-b of the order of systems by NDCG@10 against that of all judgements, the
mean over seeds, each of which hides others. The pool holds what any system has among its first ten
documents; labels come from the full judgements, what they do not name being irrelevant. Budgets
are shares of the pool's unjudged pairs, spent in rounds: 5, 10, 20, 40 %.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

import lab
from lab.arrays import NEVER, NONE
from lab.evaluation.incomplete import UNJUDGED
from lab.evaluation.metrics import parse_metric
from lab.evaluation.pooling import Pool, weight, worth
from lab.sets.audit.foreign import read_foreign

K = 10
HIDDEN = 0.7
BUDGETS = (0.05, 0.1, 0.2, 0.4)
METRIC = parse_metric(f"ndcg@{K}")
Picker = Callable[[Pool, np.random.Generator], np.ndarray]


def rankings(folder: Path) -> tuple[lab.Corpus, list[lab.Query], np.ndarray]:
    """Systems x questions x K: the documents that each system finds first."""
    read = read_foreign([folder / "cacm.all", folder / "query.text", folder / "cacm.qrels"])
    grids = (
        lab.Grid(
            mode="bm25", chunk_strategy="document", analyzer=("auto", "stop", "stem", "english"),
            k1=(0.6, 1.2, 2.0), b=(0.3, 0.75),
        ),
        lab.Grid(
            mode=("dense", "hybrid"), chunk_strategy="document", analyzer=("auto", "english"),
            alpha=(0.1, 0.3, 0.5, 0.7, 0.9),
        ),
    )  # fmt: skip
    found = []
    for grid in grids:
        run = lab.sweep(read.corpus, read.queries, grid, lab.Measure(metrics=("ndcg@10",)))
        place = {query_id: number for number, query_id in enumerate(run.query_ids)}
        for system in run.systems:
            rows = run.tables.rows("rankings", system).dropna(subset="rank")
            rows = rows[rows["rank"] <= K]
            hits = np.full((len(place), K), NONE)
            at = [place[query_id] for query_id in rows["query_id"].astype(str)]
            documents = [read.corpus.position[doc_id] for doc_id in rows["doc_id"].astype(str)]
            hits[at, rows["rank"].to_numpy(dtype=int) - 1] = documents
            found.append(hits)
    asked = {query.query_id: query for query in read.queries}
    return read.corpus, [asked[query_id] for query_id in run.query_ids], np.array(found)


def ndcg(hits: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """Mean NDCG@10 of every system over the questions with a relevant document; `grades` are
    questions x documents, 0 or 1."""
    discount = 1 / np.log2(np.arange(2, K + 2))
    scored = grades.any(axis=1)
    gain = np.take_along_axis(
        np.broadcast_to(grades, (len(hits), *grades.shape)), np.maximum(hits, 0), axis=2
    ) * (hits != NONE)
    ideal = np.array([discount[: min(K, int(n))].sum() for n in grades.sum(axis=1)])
    return ((gain @ discount) / np.maximum(ideal, 1e-12))[:, scored].mean(axis=1)


def pool_of(hits: np.ndarray, documents: int) -> tuple[Pool, np.ndarray]:
    """The pool, all of it unjudged, and the document of every pair."""
    systems, queries, _ = hits.shape
    ranks = np.full((systems, queries, documents + 1), NEVER)
    system, query, place = np.nonzero(hits != NONE)
    ranks[system, query, hits[system, query, place]] = place + 1
    query, document = np.nonzero((ranks < NEVER).any(axis=0))
    unknown = np.full(len(query), UNJUDGED)
    return Pool(query, ranks[:, query, document], unknown), document


def by_worth(pool: Pool, draw: np.random.Generator) -> np.ndarray:
    return worth(pool, range(len(pool.ranks)), weight(METRIC))


def by_depth(pool: Pool, draw: np.random.Generator) -> np.ndarray:
    return 1 / pool.ranks.min(axis=0) + 1e-9 * draw.random(len(pool.query))


def at_random(pool: Pool, draw: np.random.Generator) -> np.ndarray:
    return draw.random(len(pool.query))


PICKERS: dict[str, Picker] = {
    "lab pool": by_worth,
    "depth pooling": by_depth,
    "random": at_random,
}


def one_seed(seed: int, hits: np.ndarray, full: np.ndarray, picker: Picker) -> list[float]:
    """tau before any label and after each budget."""
    draw = np.random.default_rng(seed)
    whole = ndcg(hits, full)
    kept = full * (draw.random(full.shape) >= HIDDEN)
    pool, document = pool_of(hits, full.shape[1])
    known = np.where(kept[pool.query, document] > 0, 1, UNJUDGED)
    open_pairs = int((known == UNJUDGED).sum())
    taus = [kendalltau(whole, ndcg(hits, kept)).statistic]
    spent = 0
    for share in BUDGETS:
        round_budget = round(share * open_pairs) - spent
        now = replace(pool, grade=known)
        value = np.where(known == UNJUDGED, picker(now, draw), -1.0)
        picked = np.argsort(-value, kind="stable")[:round_budget]
        known[picked] = full[pool.query[picked], document[picked]]
        kept[pool.query[picked], document[picked]] = known[picked]
        spent += round_budget
        taus.append(kendalltau(whole, ndcg(hits, kept)).statistic)
    return taus


def main(folder: Path, seeds: int) -> None:
    corpus, queries, hits = rankings(folder)
    full = np.zeros((len(queries), len(corpus)))
    for row, query in enumerate(queries):
        full[row, [corpus.position[item.doc_id] for item in query.evidence if item.grade > 0]] = 1
    pool, _ = pool_of(hits, len(corpus))
    print(f"{len(hits)} systems, {len(queries)} questions, {len(pool.query)} pairs, {seeds} seeds")
    print("| picks | none | " + " | ".join(f"{share:.0%}" for share in BUDGETS) + " |")
    print("|---" * (len(BUDGETS) + 2) + "|")
    for name, picker in PICKERS.items():
        taus = np.array([one_seed(seed, hits, full, picker) for seed in range(seeds)])
        cells = " | ".join(f"{tau:.3f}" for tau in taus.mean(axis=0))
        print(f"| {name} | {cells} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
