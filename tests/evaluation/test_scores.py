"""Metrics against the literal reference, the design's worked example, and values worked by hand."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.arrays import NEVER
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.errors import ConfigError
from lab.evaluation.metrics import parse_metric
from lab.evaluation.scores import SystemRun, score
from lab.relevance.judge import SpanJudge, judge_for
from lab.relevance.pieces import Pieces, pieces
from lab.relevance.query import Evidence, Query
from lab.retrieval.ranking import Ranking
from tests.evaluation import reference
from tests.evaluation.reference import Piece, Span
from tests.given import corpus_of, ranking_of

METRICS = (
    "recall@1 recall@3 recall@5 precision@1 precision@3 ndcg@1 ndcg@3 ndcg@10 ndcg_burges@5 mrr "
    "mrr@2 map map@3 hit_rate@1 "
    "hit_rate@4 front_hit@3 coverage@2 coverage@5 pieces_needed recall@7tok recall@30tok "
    "context_tokens@3"
).split()


def measure(
    asked: Pieces, spans: Chunking, rankings: list[Ranking], metrics: list[str], hold: float = 0.9
) -> np.ndarray:
    """Systems x questions x metrics; a span costs as many tokens as it has characters."""
    judge = judge_for(asked, spans, hold)
    tokens = (
        spans.end - spans.start
        if asked.unit == "evidence"
        else np.ones(len(spans.corpus), dtype=np.int64)
    )
    runs = [SystemRun(judge, judge.judge(ranking), tokens) for ranking in rankings]
    return score(asked, runs, [parse_metric(metric) for metric in metrics])


def literal(
    texts: dict[str, str], ranked: list[Span], wanted: list[Piece], chunks: list[Span], hold: float
) -> list[float]:
    """METRICS as the reference defines them."""
    ranks = reference.completed(texts, ranked, wanted, hold)
    items = reference.contributed(ranks, wanted, len(ranked))
    grades, total, tokens = (
        [piece.grade for piece in wanted],
        len(wanted),
        np.cumsum([end - start for _, start, end in ranked]),
    )

    def recall(k: int) -> float:
        return sum(rank <= k for rank in ranks.values()) / total

    def needed(piece: Piece) -> int | None:
        for count in range(1, len(chunks) + 1):
            if any(
                reference.completed(texts, list(some), [piece], hold)
                for some in combinations(chunks, count)
            ):
                return count
        return None

    counts = [count for piece in wanted if (count := needed(piece)) is not None]
    return [
        *(recall(k) for k in (1, 3, 5)),
        *(reference.precision(texts, ranked, wanted, k) for k in (1, 3)),
        *(reference.ndcg(items, grades, k) for k in (1, 3, 10)),
        reference.ndcg(items, grades, 5, burges=True),
        *(reference.mrr(items, k) for k in (10**6, 2)),
        *(reference.average_precision(items, total, k) for k in (10**6, 3)),
        *(float(any(items[:k])) for k in (1, 4)),
        float(any(wanted[p].core and rank <= 3 for p, rank in ranks.items())),
        *(reference.coverage(texts, ranked, wanted, k) for k in (2, 5)),
        np.mean(counts) if counts else np.nan,
        *(recall(int((tokens <= budget).sum())) for budget in (7, 30)),
        float(sum(end - start for _, start, end in ranked[:3])),
    ]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31), hold=st.sampled_from([0.5, 0.9, 1.0]))
def test_every_metric_equals_the_literal_reference(seed: int, hold: float) -> None:
    draw = np.random.default_rng(seed)
    texts = {
        name: "".join(draw.choice(list("ab \n水"), size=draw.integers(4, 24))) + "z"
        for name in "de"
    }
    corpus = corpus_of(texts)

    def span() -> Span:
        doc_id = "de"[draw.integers(2)]
        while True:
            start, end = sorted(draw.integers(len(texts[doc_id]) + 1, size=2).tolist())
            if texts[doc_id][start:end].strip():
                return doc_id, start, end

    chunks = sorted({span() for _ in range(draw.integers(1, 9))})
    spans = Chunking.of(
        corpus, [(corpus.position[doc], start, end, 0) for doc, start, end in chunks]
    )
    questions, wanted = [], []
    for number in range(2):
        groups = [
            Piece(
                [span() for _ in range(draw.choice([1, 1, 2]))],
                int(draw.integers(1, 4)),
                bool(draw.integers(2)),
            )
            for _ in range(draw.integers(1, 4))
        ]
        evidence = [
            Evidence(
                *alternative,
                grade=piece.grade,
                role="core" if piece.core else "background",
                group=str(i),
            )
            for i, piece in enumerate(groups)
            for alternative in piece.alternatives
        ]
        questions.append(Query(f"q{number}", "?", evidence=tuple(evidence)))
        wanted.append(groups)
    orders = [
        [
            draw.permutation(len(chunks))[: draw.integers(0, len(chunks) + 1)].tolist()
            for _ in questions
        ]
        for _ in range(2)
    ]
    rankings = [
        ranking_of([{c: -float(r) for r, c in enumerate(row)} for row in rows], 9)
        for rows in orders
    ]
    values = measure(pieces(questions), spans, rankings, METRICS, hold)
    for system, rows in enumerate(orders):
        for query, row in enumerate(rows):
            expected = literal(texts, [chunks[c] for c in row], wanted[query], chunks, hold)
            np.testing.assert_allclose(values[system, query], expected, atol=1e-12)


def worked(first: tuple[int, int], second: tuple[int, int]) -> tuple[Pieces, Chunking, Ranking]:
    """The design's text of 300 characters in three chunks, ranked c1 c0 c2."""
    spans = Chunking.of(
        corpus_of({"d": "x" * 300}), [(0, start, start + 100, 0) for start in (0, 100, 200)]
    )
    asked = pieces([Query("q", "?", evidence=(Evidence("d", *first), Evidence("d", *second)))])
    return asked, spans, ranking_of([{1: 3.0, 0: 2.0, 2: 1.0}], 3)


def test_the_worked_example_of_the_design() -> None:
    asked, spans, ranking = worked((50, 90), (200, 230))
    metrics = ["recall@1", "recall@2", "recall@3", "ndcg@10", "precision@3", "front_hit@3"]
    found = measure(asked, spans, [ranking], metrics)[0, 0]
    ndcg = (1 / np.log2(3) + 1 / np.log2(4)) / (1 + 1 / np.log2(3))
    assert found.tolist() == pytest.approx([0, 0.5, 1, ndcg, 2 / 3, 1], abs=1e-12)
    assert ndcg == pytest.approx(0.6934, abs=5e-5)


def test_the_worked_example_with_a_piece_in_two_chunks() -> None:
    asked, spans, ranking = worked((80, 120), (200, 230))
    judge = SpanJudge(asked, spans)
    assert judge.judge(ranking).complete.tolist() == [2, 3]
    assert judge.pieces_needed().tolist() == [2, 1]
    assert measure(asked, spans, [ranking], ["precision@3"])[0, 0, 0] == 1


def test_pieces_needed_is_exact_where_greedy_takes_one_too_many() -> None:
    # The middle window holds most of [1, 11), but the two beside it hold all of it.
    spans = Chunking.of(
        corpus_of({"d": "x" * 12}), [(0, start, start + 6, 0) for start in (0, 3, 6)]
    )
    assert SpanJudge(
        pieces([Query("q", "?", evidence=(Evidence("d", 1, 11),))]), spans
    ).pieces_needed().tolist() == [2]


def documents(
    judged: dict[str, dict[str, int]], run: dict[str, list[str]], metrics: list[str]
) -> np.ndarray:
    """Questions x metrics of a run over whole documents, one chunk each."""
    names = sorted(
        {d for ranked in run.values() for d in ranked}
        | {d for grades in judged.values() for d in grades}
    )
    corpus = corpus_of(dict.fromkeys(names, "text"))
    spans = Chunking.of(corpus, [(i, 0, 4, 0) for i in range(len(names))])
    queries = [
        Query(q, "?", evidence=tuple(Evidence(d, grade=g) for d, g in judged[q].items()))
        for q in sorted(judged)
    ]
    asked = pieces(queries)
    assert asked.unit == "document"
    rows = [
        {names.index(d): -float(r) for r, d in enumerate(dict.fromkeys(run.get(q.query_id, [])))}
        for q in asked.queries
    ]
    return measure(asked, spans, [ranking_of(rows, 20)], metrics)[0]


def test_hand_worked_precision_and_recall() -> None:
    judged = {"q": dict.fromkeys(["a", "b", "c", "never"], 1)}
    found = documents(judged, {"q": ["a", "x", "b", "c", "y"]}, ["precision@5", "recall@5"])
    assert found.tolist() == [[pytest.approx(0.6), 0.75]]


def test_hand_worked_mrr() -> None:
    run = {"q1": ["x", "r"], "q2": ["r"], "q3": ["x", "y", "z", "r"]}
    found = documents({query_id: {"r": 1} for query_id in run}, run, ["mrr"])
    assert found.mean() == pytest.approx((1 / 2 + 1 + 1 / 4) / 3, abs=1e-12)
    assert round(found.mean(), 3) == 0.583


def test_hand_worked_average_precision() -> None:
    found = documents(
        {"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "x", "b", "y", "z", "c"]}, ["map"]
    )
    assert found[0, 0] == pytest.approx((1 + 2 / 3 + 3 / 6) / 3, abs=1e-12)
    assert round(found[0, 0], 3) == 0.722


def test_hand_worked_ndcg_of_grades_3_0_2_1_2() -> None:
    judged = {"q": {"a": 3, "b": 0, "c": 2, "d": 1, "e": 2}}
    found = documents(judged, {"q": list("abcde")}, ["ndcg_burges@5", "ndcg@5"])
    assert found[0, 0] == pytest.approx(0.932, abs=5e-4)
    assert found[0, 1] == pytest.approx(0.914, abs=5e-4)


B = ["recall@5", "precision@3", "ndcg@10"]


@pytest.mark.parametrize(
    "run",
    [{"q1": ["d1"]}, {"q1": ["d1"], "q2": []}, {"q1": ["d1"], "q9": ["d1"]}],
    ids=["absent", "empty", "unjudged"],
)
def test_b21_a_judged_question_without_results_counts_0(run: dict[str, list[str]]) -> None:
    means = documents({"q1": {"d1": 1}, "q2": {"d2": 1}}, run, B).mean(axis=0)
    assert means.tolist() == pytest.approx([0.5, 0.166667, 0.5], abs=1e-6)


@pytest.mark.parametrize("run", [{}, {"q1": [], "q2": []}])
def test_b21_an_empty_run_is_0_everywhere(run: dict[str, list[str]]) -> None:
    assert not documents(
        {"q1": {"d1": 1}, "q2": {"d2": 1}}, run, [*B, "mrr", "map", "hit_rate@3", "coverage@3"]
    ).any()


def test_b23_a_twenty_way_tie_is_ordered_by_id() -> None:
    names = [f"d{i:02}" for i in range(20)]
    corpus = corpus_of(dict.fromkeys(names, "text"))
    spans = Chunking.of(corpus, [(i, 0, 4, 0) for i in range(20)])
    asked = pieces([Query("q", "?", evidence=(Evidence("d00", grade=1),))])
    for order in (range(20), range(19, -1, -1)):
        ranking = ranking_of([dict.fromkeys(order, 1.0)], 20)
        found = measure(asked, spans, [ranking], ["mrr", "recall@5", "precision@3", "ndcg@10"])[
            0, 0
        ]
        assert found.tolist() == pytest.approx([1, 1, 1 / 3, 1], abs=1e-12)


def test_b24_gain_is_linear_in_ndcg_and_exponential_in_ndcg_burges() -> None:
    found = documents(
        {"q": {"a": 3, "b": 1, "c": 2}},
        {"q": ["b", "x", "a", "c"]},
        ["ndcg@10", "ndcg_burges@10", "ndcg@3", *B[:2]],
    )
    assert found[0].tolist() == pytest.approx(
        [0.705891, 0.616646, 0.525005, 1.0, 0.666667], abs=1e-6
    )


def test_b25_precision_divides_by_k_however_few_results() -> None:
    for run, expected in (({"q": ["5"]}, [1 / 3, 1.0]), ({"q": []}, [0.0, 0.0])):
        assert (
            documents({"q": {"5": 1}}, run, ["precision@3", "precision@1"])[0].tolist() == expected
        )


@pytest.mark.parametrize(
    ("chunks", "judged", "expected"),
    [
        ("AAB", "A", [1.0, 0.333333, 1.0]),
        ("AA", "AB", [0.5, 0.333333, 0.613147]),
        ("A", "AA", [1.0, 0.333333, 1.0]),
    ],
)
def test_b26_a_document_counts_once_however_many_chunks_or_judgements(
    chunks: str, judged: str, expected: list[float]
) -> None:
    corpus = corpus_of({"A": "x" * 9, "B": "y" * 9})
    spans = Chunking.of(corpus, [(d, s, s + 3, 0) for d in range(2) for s in (0, 3, 6)])
    asked = pieces([Query("q", "?", evidence=tuple(Evidence(d, grade=1) for d in judged))])
    # The n-th chunk of A is number n, of B 3 + n.
    row = {"AB".index(d) * 3 + chunks[:i].count(d): -float(i) for i, d in enumerate(chunks)}
    assert measure(asked, spans, [ranking_of([row], 9)], B)[0, 0].tolist() == pytest.approx(
        expected, abs=1e-6
    )


def test_b27_judgements_of_0_and_below_are_no_gain_and_an_unanswerable_question_is_listed() -> None:
    judged = {"q1": {"d1": 1}, "q2": {"d9": 0}, "q3": {"d1": 1, "d2": -1}}
    queries = [
        Query(q, "?", evidence=tuple(Evidence(d, grade=g) for d, g in grades.items()))
        for q, grades in judged.items()
    ]
    asked = pieces(queries)
    assert asked.unscored == (("q2", "only judgements of 0 or below"),)
    found = documents(judged, {"q1": ["d1"], "q2": ["d1"], "q3": ["d2", "d1"]}, B)
    np.testing.assert_allclose(found, [[1, 1 / 3, 1], [1, 1 / 3, 0.63093]], atol=1e-6)
    np.testing.assert_allclose(found.mean(axis=0), [1.0, 0.333333, 0.815465], atol=1e-6)


def test_b40_metrics_of_a_reranked_run() -> None:
    names = [f"d{i:02}" for i in range(1, 11)]
    judged = {"q": {"d07": 1}}
    assert documents(judged, {"q": ["d07", *names[:6], *names[7:]]}, B)[
        0
    ].tolist() == pytest.approx([1, 1 / 3, 1])
    assert documents(judged, {"q": names}, ["recall@5"])[0, 0] == 0


def test_mrr_without_a_cut_sees_ranks_beyond_every_other_cut() -> None:
    names = [f"d{i:02}" for i in range(60)]
    corpus = corpus_of(dict.fromkeys(names, "text"))
    spans = Chunking.of(corpus, [(i, 0, 4, 0) for i in range(60)])
    asked = pieces([Query("q", "?", evidence=(Evidence("d49", grade=1),))])
    judge = judge_for(asked, spans)
    judged = judge.judge(ranking_of([{i: -float(i) for i in range(60)}], 60))
    run = SystemRun(judge, judged.first(10), np.ones(60, dtype=np.int64))
    assert score(asked, [run], [parse_metric("mrr"), parse_metric("map"), parse_metric("ndcg@10")])[
        0, 0
    ].tolist() == [
        0.02,
        0.02,
        0,
    ]


def test_documents_against_standard_definitions() -> None:
    draw = np.random.default_rng(5)
    for _ in range(30):
        names = [f"d{i}" for i in range(12)]
        judged = {
            name: int(draw.integers(-1, 4)) for name in draw.choice(names, 6, replace=False)
        } | {"d0": 2}
        ranked = draw.permutation(names)[: draw.integers(1, 12)].tolist()
        grades = [max(g, 0) for g in judged.values()]
        items, total = [max(judged.get(d, 0), 0) for d in ranked], sum(g > 0 for g in grades)
        found = documents(
            {"q": judged},
            {"q": ranked},
            ["recall@3", "precision@3", "ndcg@5", "ndcg_burges@5", "mrr", "map"],
        )[0]
        expected = [
            sum(g > 0 for g in items[:3]) / total,
            sum(g > 0 for g in items[:3]) / 3,
            reference.ndcg(items, grades, 5),
            reference.ndcg(items, grades, 5, burges=True),
            reference.mrr(items, 99),
            reference.average_precision(items, total, 99),
        ]
        np.testing.assert_allclose(found, expected, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_scores_stay_within_0_and_1_and_coverage_grows_with_k(seed: int) -> None:
    draw = np.random.default_rng(seed)
    corpus = corpus_of({"d": "word " * 12})
    spans = Chunking.of(corpus, [(0, s, s + int(draw.integers(2, 9)), 0) for s in range(0, 50, 4)])
    starts = draw.integers(0, 50, size=3)
    asked = pieces(
        [
            Query(
                "q", "?", evidence=tuple(Evidence("d", int(s), int(s) + 8, grade=2) for s in starts)
            )
        ]
    )
    ranking = ranking_of(
        [{int(c): -float(r) for r, c in enumerate(draw.permutation(len(spans)))}], 50
    )
    found = measure(
        asked,
        spans,
        [ranking],
        [f"{m}@{k}" for m in ("coverage", "recall", "ndcg", "precision") for k in range(1, 9)],
    )
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()
    assert (np.diff(found[0, 0, :16].reshape(2, 8), axis=1) >= 0).all()
    assert NEVER > 10**9


def test_ndcg_jk_is_the_example_of_jarvelin_and_kekalainen() -> None:
    """The gains, ideal and nDCG of the paper (TOIS 20(4), 2002, section 2.2 and 2.3), log base 2:
    G' = <3, 2, 3, 0, 0, 1, 2, 2, 3, 0, ...>, to two decimals."""
    found = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
    never = [1, 1, 1]
    texts = {f"d{i:02d}": "x" for i in range(len(found) + len(never))}
    grades = dict(zip(texts, found + never, strict=True))
    evidence = tuple(Evidence(doc_id, grade=g) for doc_id, g in grades.items() if g)
    asked = pieces([Query("q", "?", evidence=evidence)], "document")
    expected = [1, 0.83, 0.87, 0.77, 0.71, 0.69, 0.73, 0.77, 0.83, 0.81]
    documents = chunk(corpus_of(texts), ChunkConfig(strategy="document"))
    ranking = ranking_of([{i: -float(i) for i in range(len(found))}], len(found))
    metrics = [f"ndcg_jk@{k}" for k in range(1, 11)]
    (values,) = measure(asked, documents, [ranking], metrics)[0]
    assert values == pytest.approx(expected, abs=0.006)


def test_the_base_of_ndcg_jk_says_from_which_rank_on_it_discounts() -> None:
    """Gains 0, 1, 0, 2 under b = 3: 1 + 2 / log3(4); ideal 2 + 1. Under b = 10 nothing of it is
    discounted."""
    texts = {f"d{i}": "x" for i in range(4)}
    evidence = (Evidence("d1", grade=1), Evidence("d3", grade=2))
    asked = pieces([Query("q", "?", evidence=evidence)], "document")
    documents = chunk(corpus_of(texts), ChunkConfig(strategy="document"))
    ranking = ranking_of([{i: -float(i) for i in range(4)}], 4)
    metrics = ["ndcg_jk_3@10", "ndcg_jk_10@10", "ndcg_jk@10", "ndcg_jk_2@10", "ndcg_jk_2.5@10"]
    (values,) = measure(asked, documents, [ranking], metrics)[0]
    third = (1 + 2 / (np.log(4) / np.log(3))) / 3
    half = (1 + 2 / (np.log(4) / np.log(2.5))) / 3
    second = (1 + 2 / 2) / 3
    assert values == pytest.approx([third, 1, second, second, half], abs=1e-12)
    assert [parse_metric(metric).label for metric in metrics] == [
        *("ndcg_jk_3@10", "ndcg_jk_10@10", "ndcg_jk@10", "ndcg_jk@10", "ndcg_jk_2.5@10")
    ]


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("ndcg_jk_1@10", "needs a base from 2 on"),
        ("ndcg_jk_0@10", "needs a base from 2 on"),
        ("ndcg_3@10", "'ndcg' has no parameter"),
        ("recall_5", "'recall' has no parameter"),
        ("rbp_8", "needs a persistence between 0 and 1"),
        ("rbp", "needs a persistence between 0 and 1"),
    ],
)
def test_numbers_in_names_that_mean_nothing_are_told(metric: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_metric(metric)
