"""Runs for the report's tests: a small real one whose every text tries to be markup, and a large
made-up one."""

import numpy as np
import pandas as pd

from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.config.settings import SETTINGS
from lab.corpus.document import Corpus, Document
from lab.relevance.query import Evidence, Query
from lab.runs.inputs import Inputs, questions_fingerprint
from lab.runs.questions import question_table
from lab.runs.run import Run
from lab.runs.tables import Tables
from lab.sweeping.sweep import sweep
from tests.given import GivenEncoder

SCRIPT = "<script>document.title='x'</script> a < b & c"
IMAGE = "<img src=x onerror=alert(1)>"
BREAK = "</script><script>alert(2)</script>"
DOC_ID = 'd"><b>1'

# Case B37: document ids, texts, questions, kinds, tags and answers that would be markup if they
# were not escaped. The emoji is two UTF-16 units, so offsets that count those would highlight the
# wrong text.
TEXTS = {
    DOC_ID: f"{SCRIPT}. The pump \U0001f527 primes itself in forty seconds when the "
    f"valve is open. {BREAK} And so on it goes.",
    "valve.md": "The valve opens at three bar. It closes again at two bar, which takes "
    "about one second in cold water.",
    "水泵.md": "错误码E-4012表示压力过低。请先检查阀门,然后重新启动水泵。"
    "如果问题仍然存在,请联系服务部门。",
    "prices | list": "=1+2 is a formula. +1 and -2+3 are formulas | too. @SUM(1) as well, "
    "and ok is none of these here.",
}
QUESTIONS = (
    (
        "img",
        f"{IMAGE} how does it prime",
        "keyword",
        DOC_ID,
        "The pump \U0001f527 primes itself in forty seconds",
        IMAGE,
    ),
    (
        "valve",
        "when does the valve open",
        "semantic",
        "valve.md",
        "The valve opens at three bar.",
        BREAK,
    ),
    (
        "e-4012",
        "E-4012 是什么意思",
        "exact_id",
        "水泵.md",
        "错误码E-4012表示压力过低。",
        "压力过低",
    ),
    ("=1+2", "what is @SUM", "<b>kind</b>", "prices | list", "@SUM(1) as well", "=1+2"),
    (
        "close",
        "how long does closing take in cold water",
        "semantic",
        "valve.md",
        "about one second in cold water.",
        "",
    ),
)


def small_corpus() -> Corpus:
    return Corpus(Document(doc_id, text) for doc_id, text in TEXTS.items())


def small_queries() -> tuple[Query, ...]:
    found = []
    for query_id, text, kind, doc_id, quote, answer in QUESTIONS:
        start = TEXTS[doc_id].index(quote)
        evidence = (Evidence(doc_id, start, start + len(quote)),)
        found.append(Query(query_id, text, kind, {"origin": IMAGE}, evidence, answer))
    return tuple(found)


def small_run(corpus: Corpus | None = None, queries: tuple[Query, ...] | None = None) -> Run:
    """Two chunk sizes, both legs and two alphas over four documents and five questions."""
    grid = Grid(chunk_size=(30, 80), alpha=(0.3, 0.7), model="given")
    return sweep(
        corpus or small_corpus(),
        queries or small_queries(),
        grid,
        Measure(),
        name=f"small {IMAGE}",
        encoders={"given": GivenEncoder()},
    )


def large(systems: int = 100, questions: int = 2000) -> Run:
    """A run of the shape of a real one, its numbers drawn at random."""
    draw = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(4000)])
    texts = [" ".join(draw.choice(words, 500)) for _ in range(300)]
    corpus = Corpus(Document(f"doc-{i:03d}", text) for i, text in enumerate(texts))
    length = min(map(len, texts))
    home, start = draw.integers(0, len(texts), questions), draw.integers(0, length - 200, questions)
    spans = [
        Evidence(f"doc-{document:03d}", int(begin), int(begin) + 120)
        for document, begin in zip(home, start, strict=True)
    ]
    queries = tuple(
        Query(
            f"q-{i:04d}", f"question {i} about {words[i % 4000]}", f"kind-{i % 4}", {}, (spans[i],)
        )
        for i in range(questions)
    )
    names = [f"fixed-{200 + 100 * (i // 10)} hybrid alpha={i % 10 / 10:g}" for i in range(systems)]
    ids, metrics = [query.query_id for query in queries], ("recall@5", "precision@3", "ndcg@10")
    values = np.round(draw.beta(2, 1, (systems, questions, 3)), 2)
    shape = {
        "system": np.repeat(names, questions * 3),
        "query_id": np.tile(np.repeat(ids, 3), systems),
        "metric": np.tile(metrics, systems * questions),
    }
    scores = pd.DataFrame(
        {
            key: pd.Categorical(column, categories=list(dict.fromkeys(column)))
            for key, column in shape.items()
        }
    )
    return Run(
        Tables(
            _manifest(names, metrics, corpus, queries),
            _systems(names, values, metrics),
            scores.assign(value=values.reshape(-1)),
            pd.DataFrame(columns=["system", "phase", "query_id", "metric", "value"]),
            _rankings(names, ids, home, start, length, draw),
            _evidence(names, ids, home, start, draw),
            _questions(queries),
            _causes(names, ids, draw),
            pd.DataFrame(columns=["family", "query_id", "piece", "low", "high", "complete"]),
            pd.DataFrame(columns=["family", "metric", "slice"]),
            pd.DataFrame(columns=["family", "metric", "slice", "value"]),
            *(pd.DataFrame(columns=["system"]) for _ in ("separation", "thresholds", "calls")),
            *(pd.DataFrame(columns=["family", "rule"]) for _ in ("weighing", "weights")),
        ),
        Inputs(corpus, queries),
    )


def _systems(names: list[str], values: np.ndarray, metrics: tuple[str, ...]) -> pd.DataFrame:
    same = dict.fromkeys(SETTINGS) | {
        "chunk_strategy": "fixed",
        "unit": "characters",
        "overlap": 0,
        "mode": "hybrid",
    }
    rows = [
        same
        | {
            "system": name,
            "family": None,
            "deliver": "chunk",
            "chunk_size": str(200 + 100 * (i // 10)),
            "alpha": i % 10 / 10,
        }
        for i, name in enumerate(names)
    ]
    table = pd.DataFrame(rows)
    for column, metric in enumerate(metrics):
        means = values[:, :, column].mean(axis=1)
        table[metric], table[f"{metric}_low"], table[f"{metric}_high"] = (
            means,
            means - 0.01,
            means + 0.01,
        )
    best = table["ndcg@10"].idxmax()
    flags = {
        "pareto": table.index == best,
        "recommended": table.index == best,
    }
    return table.assign(
        **{
            "context_tokens": 500.0,
            "p_best": 0.0,
            "picked": 0.0,
            "p": 0.01,
            "least_p": 0.0,
            "verdict": np.where(table.index == best, "same", "worse"),
            "cost_rank": np.arange(len(table)) + 1,
            "hurt": 0,
            "helped": 0,
            "georisk": 0.0,
            **flags,
        }
    )


def _rankings(names: list[str], ids: list[str], home, start, length: int, draw) -> pd.DataFrame:
    systems, questions, depth = len(names), len(ids), 10
    rows = systems * questions * depth
    begin = draw.integers(0, length // 400, rows) * 400
    document = draw.integers(0, 300, rows)
    rank = np.tile(np.arange(1, depth + 1), systems * questions)
    holds = (rank == 3) & (draw.random(rows) < 0.7)
    query = np.tile(np.repeat(np.arange(questions), depth), systems)
    document[holds], begin[holds] = home[query[holds]], start[query[holds]] - 50
    begin = np.maximum(begin, 0)
    scores = {f"{leg}_score": np.round(draw.random(rows), 6) for leg in ("bm25", "dense", "fused")}
    ranks = {
        f"{leg}_rank": draw.integers(0, 100, rows).astype(np.int32)
        for leg in ("bm25", "dense", "fused")
    }
    return pd.DataFrame(
        {
            "system": pd.Categorical.from_codes(
                np.repeat(np.arange(systems), questions * depth), names
            ),
            "query_id": pd.Categorical.from_codes(query, ids),
            "doc_id": pd.Categorical.from_codes(document, [f"doc-{i:03d}" for i in range(300)]),
            **{name: begin.astype(np.int32) for name in ("start", "shown_start")},
            **{name: (begin + 400).astype(np.int32) for name in ("end", "shown_end")},
            "rank": rank.astype(np.int32),
            "evidence": holds,
            "relevant": holds,
            **scores,
            **ranks,
            "bm25_part": np.full(rows, np.nan),
            "dense_part": np.full(rows, np.nan),
            "rerank_score": np.full(rows, np.nan),
        }
    )


def _evidence(names: list[str], ids: list[str], home, start, draw) -> pd.DataFrame:
    systems, questions = len(names), len(ids)
    return pd.DataFrame(
        {
            "system": pd.Categorical.from_codes(np.repeat(np.arange(systems), questions), names),
            "query_id": pd.Categorical.from_codes(np.tile(np.arange(questions), systems), ids),
            "piece": 1,
            "doc_id": np.tile([f"doc-{i:03d}" for i in home], systems),
            "start": np.tile(start, systems),
            "end": np.tile(start + 120, systems),
            "grade": 3,
            "complete": draw.integers(0, 20, systems * questions).astype(np.int32),
            "reachable": 1,
        }
    )


def _causes(names: list[str], ids: list[str], draw) -> pd.DataFrame:
    """A third of all pieces missed."""
    system, query = np.nonzero(draw.random((len(names), len(ids))) < 0.33)
    absent = dict.fromkeys(("cut_at", "cut_before", "cut_after", "unread_start", "unread_end"))
    lists = ("recovered_by", "unmatched", "outranked_by", "filtered_by", "alpha_low", "alpha_high")
    table = pd.DataFrame(
        {
            "system": np.array(names)[system],
            "query_id": np.array(ids)[query],
            "piece": 1,
            "kind": "",
            "cause": draw.choice(["both", "outranked", "split"], len(system)),
            "stage": "ranking",
            "verified": True,
            "remedy": "alpha 0.3-0.5",
            "k": 5,
            **absent,
        }
    )
    return table.assign(**{name: [[] for _ in system] for name in lists})


def _questions(queries: tuple[Query, ...]) -> pd.DataFrame:
    return question_table(queries, {q.query_id: q.evidence[0].doc_id for q in queries}, {})


def _manifest(
    names: list[str], metrics: tuple[str, ...], corpus: Corpus, queries: tuple[Query, ...]
) -> dict[str, object]:
    honest = {
        "apparent": 0.67,
        "estimate": 0.66,
        "interval": [0.65, 0.68],
        "optimism": 0.01,
        "folds": 5,
        "grouped_by": "document",
    }
    best = {"system": names[0], "mean": 0.67}
    return {
        "name": "large",
        "unit": "evidence",
        "best": names[0],
        "recommended": names[0],
        "as_good_as_best": names[:1],
        "notes": [],
        "causes": {"k": 5, "budget": None, "cap": 10},
        "grid": {},
        "seconds": {},
        "counts": {},
        "measure": {"metrics": list(metrics), "select_by": "ndcg@10", "seed": 0, "hold": 0.9},
        "corpus": {
            "documents": 300,
            "characters": 1,
            "fingerprint": corpus.fingerprint,
            "path": None,
        },
        "chunkings": [],
        "phases": [],
        "identities": {},
        "versions": {},
        "questions": {
            "scored": len(queries),
            "pieces": len(queries),
            "unscored": [],
            "fingerprint": questions_fingerprint(queries),
            "paths": [],
        },
        "conclusions": {
            "select_by": "ndcg@10",
            "unit": "document",
            "units": 300,
            "resamples": 9999,
            "flips": 9999,
            "best": best,
            "recommended": best,
            "honest": honest,
            "runner_up": None,
            "documents": 300,
            "tied": [],
            "cheaper": {},
            "units_needed": {"least": 6, "tenth": 32},
            "verdicts": {
                "better": 0,
                "worse": len(names) - 1,
                "undecided": 0,
                "cannot be settled": 0,
                "same": 0,
            },
            "detectable_difference": {
                metric: {"planned": 0.02, "in_grid": 0.03} for metric in metrics
            },
            "not_comparable": {},
            "few_questions": False,
            "sealed": None,
        },
    }
