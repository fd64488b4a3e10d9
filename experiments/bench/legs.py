"""BM25 and metrics against their peers in one process, from the same terms."""

from pathlib import Path

import numpy as np
import rank_bm25
from timing import Timing, in_process

import lab
from lab.chunking.chunk import Chunking
from lab.corpus.document import Corpus, Document
from lab.evaluation.metrics import parse_metric
from lab.evaluation.scores import SystemRun, score
from lab.relevance.judge import judge_for
from lab.relevance.pieces import pieces
from lab.relevance.query import Evidence, Query
from lab.retrieval import postings
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.bm25 import compile_counts, compile_terms, count_runs, count_terms
from lab.retrieval.config import BM25Config
from lab.retrieval.ranking import Ranking

DEPTH = 100


def bm25(data: Path, rounds: int) -> dict[str, dict[str, Timing]]:
    """All 300 SciFact questions over 5,183 documents: search from given terms, and indexing the
    same terms."""
    import bm25s

    corpus = lab.read_corpus(data / "beir/scifact")
    questions = [query.text for query in lab.read_diagnostics(data / "beir/scifact", corpus)]
    analyzer, config = ANALYZERS["english"], BM25Config(analyzer="english")
    texts = [document.text for document in corpus]
    terms, asked = [analyzer(text) for text in texts], [analyzer(text) for text in questions]
    index, peer = compile_terms(terms, config), rank_bm25.BM25Okapi(terms, k1=1.2)
    peer_s = bm25s.BM25(k1=1.2, b=0.75, method="lucene", backend="numba")
    peer_s.index(terms, show_progress=False)
    known = index.terms.counts(questions)

    def bm25s_index() -> None:
        bm25s.BM25(k1=1.2, b=0.75, method="lucene", backend="numba").index(
            terms, show_progress=False
        )

    peer_s.retrieve(asked, k=DEPTH, show_progress=False)  # compiles for more than one call
    return {
        "search": in_process(
            {
                "lab": lambda: postings.search(known, index.postings, index.constants, DEPTH),
                "bm25s numba": lambda: peer_s.retrieve(asked, k=DEPTH, show_progress=False),
                "rank_bm25": lambda: [peer.get_scores(question) for question in asked],
            },
            rounds,
        ),
        "search from the questions' text": in_process(
            {
                "lab": lambda: index.search(questions, DEPTH),
                "bm25s numba": lambda: peer_s.retrieve(
                    [analyzer(q) for q in questions], k=DEPTH, show_progress=False
                ),
            },
            rounds,
        ),
        "index the same terms": in_process(
            {"lab": lambda: compile_terms(terms, config), "bm25s numba": bm25s_index}, rounds
        ),
        "index from text": in_process(
            {"lab": lambda: compile_counts(count_terms(count_runs(texts), analyzer), config)},
            rounds,
        ),
    }


def metrics(rounds: int, systems: int = 1000, questions: int = 300) -> dict[str, Timing]:
    """Three metrics of 1,000 systems by 300 questions, rankings 100 deep, after compilation."""
    rng = np.random.default_rng(0)
    corpus = Corpus([Document(f"{i:03}", "x" * 1000) for i in range(questions)])
    asked = pieces(
        [
            Query(
                f"{i:03}",
                "?",
                evidence=(Evidence(f"{i:03}", 20, 90), Evidence(f"{i:03}", 400, 450)),
            )
            for i in range(questions)
        ]
    )
    spans = Chunking.of(
        corpus, [(d, s, s + 100, 0) for d in range(questions) for s in range(0, 1000, 100)]
    )
    judge, runs = judge_for(asked, spans), []
    scores = np.tile(-np.arange(DEPTH, dtype=np.float64), (questions, 1))
    found = np.argsort(rng.random((questions, len(spans))), axis=1)[:, :DEPTH]
    for _ in range(systems):
        found = rng.permuted(found, axis=1)
        runs.append(
            SystemRun(
                judge, judge.judge(Ranking(found, scores)), np.ones(len(spans), dtype=np.int64)
            )
        )
    wanted = [parse_metric(name) for name in ("recall@5", "precision@3", "ndcg@10")]
    return in_process({"lab": lambda: score(asked, runs, wanted)}, rounds)
