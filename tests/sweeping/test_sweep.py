"""The main job as a whole, over models that the test gives: ends of alpha, ties, empties, delivery,
the cache."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lab
from lab.corpus.document import Corpus, Document
from lab.errors import CorpusError, DiagnosticsError
from lab.relevance.query import Evidence, Query
from lab.runs.run import Run
from tests.given import GivenEncoder, GivenReranker, corpus_of

MODEL = "all-MiniLM-L6-v2"
IN_MEMORY = Path(":memory:")  # SQLite's name for a database that no other test sees
TEXTS = {
    "manual": "The pump leaks when the seal is worn. Replace the seal. Error ERR-4042 "
    "means low pressure.\r\nReset with ERR-0.",
    "service": "Call the service line. The pump is serviced every year. 水泵漏水，请检查密封圈。",
    "notes": "Torque the bolts to 12 Nm. The fuse is rated 4 A. !!!",
    "blank": " \n\t",
}
QUERIES = [
    Query("q1", "why does the pump leak", "semantic", evidence=(Evidence("manual", 0, 37),)),
    Query("q2", "ERR-4042", "exact_id", evidence=(Evidence("manual", 56, 91),)),
    Query(
        "q3",
        "zzz nothing here",
        "keyword",
        evidence=(Evidence("notes", 0, 26), Evidence("notes", 27, 49, grade=1)),
    ),
    Query("q4", " ", evidence=(Evidence("service", 0, 22),)),
    Query("q5", "漏水", evidence=(Evidence("service", 56, 60),)),
    Query("q6", "without evidence"),
]


def sweep(
    corpus: Corpus | Mapping[str, str] = TEXTS,
    queries: list[Query] = QUERIES,
    cache: Path | None = None,
    **grid: Any,
) -> Run:
    """A sweep over hashed vectors unless an encoder is given; its cache is thrown away unless one
    is named."""
    grid = {"chunk_size": 40, "mode": ("bm25", "dense", "hybrid"), **grid}
    encoder, rerankers = grid.pop("encoder", None) or GivenEncoder(), grid.pop("rerankers", None)
    measure = grid.pop("measure", None) or lab.Measure(
        metrics=("recall@5", "precision@3", "ndcg@10", "mrr", "coverage@5")
    )
    corpus = corpus if isinstance(corpus, Corpus) else corpus_of(corpus)
    models = {"encoders": {MODEL: encoder}, "rerankers": rerankers}
    return lab.sweep(corpus, queries, lab.Grid(**grid), measure, cache=cache or IN_MEMORY, **models)


def ranked(result: Run, system: str, query_id: str) -> list[str]:
    """Documents of the kept hits, best first."""
    rows = result.tables.rows("rankings", system)
    rows = rows[(rows["query_id"] == query_id) & (rows["rank"] > 0)]
    return rows.sort_values("rank")["doc_id"].astype(str).tolist()


def test_every_question_with_evidence_is_scored_under_every_system() -> None:
    result = sweep(chunk_size=(20, 40, 200), alpha=(0.0, 0.5, 1.0))
    # bm25, which hybrid 0 is, dense, which hybrid 1 is, and hybrid 0.5.
    assert result.tables.values.shape == (3 * 3, 5, 5)
    assert np.isfinite(result.tables.values).all()
    assert ((result.tables.values >= 0) & (result.tables.values <= 1)).all()
    assert result.manifest["questions"]["unscored"] == [["q6", "no evidence"]]
    table = result.table()
    assert len(table) == 9
    assert not table[list(result.metrics)].isna().any().any()
    assert {"recall@5", "precision@3", "ndcg@10"} <= set(table.columns)


@pytest.mark.parametrize("normalization", ["min-max", "theoretical", "z-score", "rrf"])
@pytest.mark.parametrize("variant", ["lucene", "okapi"])
def test_alpha_0_scores_as_bm25_and_alpha_1_as_dense(normalization: str, variant: str) -> None:
    settings = {"normalization": normalization, "variant": variant, "depth": 7}
    legs = sweep(mode=("bm25", "dense"), **settings)
    hybrids = sweep(mode="hybrid", alpha=(0.0, 1.0), **settings)
    complete = [run.tables.evidence["complete"].tolist() for run in (hybrids, legs)]
    assert complete[0] == complete[1]
    assert hybrids.tables.values.tolist() == legs.tables.values.tolist()
    for alone, fused in zip(legs.systems, hybrids.systems, strict=True):
        assert ranked(hybrids, fused, "q1") == ranked(legs, alone, "q1")


def test_b03_a_question_without_lexical_hits_is_the_dense_run_alone_and_is_counted() -> None:
    result = sweep()
    bm25, dense, hybrid = result.systems
    assert ranked(result, bm25, "q3") == []
    assert result.scores(bm25).values[2].tolist() == [0.0] * 5
    assert ranked(result, hybrid, "q3") == ranked(result, dense, "q3")
    # Blank and unknown questions find nothing lexically; a blank one finds nothing at all.
    assert any("no lexical hit: 2 questions" in note and "q3, q4" in note for note in result.notes)
    assert all(ranked(result, system, "q4") == [] for system in result.systems)
    assert any("1 question without text" in note for note in result.notes)


def test_questions_in_the_words_of_their_evidence_are_told_before_the_figures() -> None:
    copied = Query(
        "c1",
        "The pump leaks when the seal is worn",
        "semantic",
        evidence=(Evidence("manual", 0, 37),),
    )
    notes = sweep(queries=[*QUERIES, copied], mode="bm25").notes
    assert any(note.startswith("verbatim questions:") and "c1" in note for note in notes)
    assert any(note.startswith("leakage:") and "c1 (100%)" in note for note in notes)
    assert not any("c1" in note for note in sweep(mode="bm25").notes)


def test_b12_a_question_whose_vector_is_no_number_is_an_error_and_a_zero_one_finds_nothing() -> (
    None
):
    with pytest.raises(lab.LabError, match="question 'ERR-4042'"):
        sweep(encoder=GivenEncoder({"ERR-4042": [float("nan")] * 16}))
    result = sweep(mode="dense", encoder=GivenEncoder({"ERR-4042": [0.0] * 16}))
    assert ranked(result, result.best, "q2") == []


def test_b13_texts_past_the_limit_are_counted_before_anything_is_encoded() -> None:
    texts = {"d1": "filler " * 8 + "ERR-4042", "d2": "filler " * 8 + "valve", "d3": "short text"}
    encoder = GivenEncoder(max_tokens=8)
    result = sweep(
        texts,
        [Query("q", "valve", evidence=(Evidence("d2"),))],
        encoder=encoder,
        chunk_strategy="document",
    )
    (fact,) = result.manifest["chunkings"]
    assert fact["truncated"] == ((MODEL, 2, 2),)
    assert any("2 of 3 chunks are longer than" in note for note in result.notes)


@pytest.mark.parametrize("reverse", [False, True])
def test_b14_forty_equal_chunks_come_in_the_order_of_their_ids_at_any_depth(reverse: bool) -> None:
    ids = [f"c{i:02}" for i in range(40)]
    corpus = Corpus(Document(doc_id, "spare pump") for doc_id in (ids[::-1] if reverse else ids))
    for depth in (5, 10):
        result = sweep(corpus, [Query("q", "spare pump", evidence=(Evidence("c00"),))], depth=depth)
        for system in result.systems:
            assert ranked(result, system, "q") == ids[:depth]


@pytest.mark.parametrize(("pool", "expected"), [(10, [1.0, 1 / 3, 1.0]), (5, [0.0, 0.0, 0.0])])
def test_b40_the_pool_is_the_ceiling_of_the_reranker(pool: int, expected: list[float]) -> None:
    names = [f"d{i:02}" for i in range(1, 11)]
    vectors = {
        f"text {name}": [1.0 - i / 10, (1 - (1.0 - i / 10) ** 2) ** 0.5]
        for i, name in enumerate(names)
    }
    result = sweep(
        {name: f"text {name}" for name in names},
        [Query("q", "ask", evidence=(Evidence("d07", grade=1),))],
        mode="dense",
        encoder=GivenEncoder({**vectors, "ask": [1.0, 0.0]}),
        rerankers={"stub": GivenReranker({"text d07": 1.0})},
        rerank_model="stub",
        rerank_depth=(0, pool),
        depth=10,
        measure=lab.Measure(metrics=("recall@5", "precision@3", "ndcg@10")),
    )
    plain, reranked = result.systems
    assert ranked(result, plain, "q") == names
    assert result.scores(plain).means()["recall@5"] == 0
    if pool == 10:
        assert ranked(result, reranked, "q")[:5] == ["d07", "d01", "d02", "d03", "d04"]
        assert result.scores(reranked).values[0].tolist() == pytest.approx(expected)
    else:
        assert ranked(result, reranked, "q") == names
        assert result.scores(reranked).means()["recall@5"] == 0


def test_a_threshold_that_cuts_everything_leaves_nothing() -> None:
    grid = {
        "mode": "bm25",
        "rerank_model": "stub",
        "rerank_depth": 5,
        "threshold": 9.0,
        "rerankers": {"stub": GivenReranker({})},
    }
    result = sweep(**grid)
    assert not result.tables.values.any()
    assert ranked(result, result.best, "q1") == []


@pytest.mark.parametrize(
    "grid",
    [
        {"mode": "dense"},
        {"mode": "dense", "index": ("hnsw", "ivf")},
        {"depth": 1000},
        {"depth": 1},
        {"chunk_size": 1},
        {"chunk_size": ((10, 30),)},
        {"chunk_strategy": ("sentences", "structure", "document")},
        {"unit": ("words", "tokens"), "chunk_size": 5, "overlap": 2},
        {"deliver": ("chunk", "window(1)", "parent(100)")},
        {"chunk_strategy": "sentences", "deliver": "parent(100)", "overlap": 10},
        {"rerank_model": "stub", "rerank_depth": 3, "blend": (0.0, 0.5)},
        {"variant": ("okapi", "l", "plus"), "analyzer": ("stop", "stem", "english", "jieba")},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "texts",
    [TEXTS, {"only": "pump"}, {"a": "!!!", "b": "pump"}, {"a": "same", "b": "same"}],
    ids=len,
)
def test_the_matrix_of_small_and_odd_corpora(grid: dict[str, Any], texts: dict[str, str]) -> None:
    first, last = Evidence(min(texts)), Evidence(max(texts))
    queries = (
        QUERIES
        if texts is TEXTS
        else [Query("q", "pump", evidence=(last,)), Query("r", "?", evidence=(first,))]
    )
    result = sweep(texts, queries, rerankers={"stub": GivenReranker({})}, **grid)
    assert ((result.tables.values >= 0) & (result.tables.values <= 1)).all()
    tables = result.tables
    scores = tables.rankings.select_dtypes("float64")
    assert not np.isinf(scores.to_numpy()).any()
    assert len(tables.scores) == result.tables.values.size


def test_window_and_parent_deliver_more_and_find_no_less() -> None:
    result = sweep(
        deliver=("chunk", "window(1)", "parent(120)"),
        mode="bm25",
        measure=lab.Measure(metrics=("recall@5", "context_tokens@5")),
    )
    chunk, window, parent = (result.scores(name) for name in result.systems)
    for more in (window, parent):
        assert (more.column("recall@5") >= chunk.column("recall@5")).all()
        assert more.means()["context_tokens@5"] > chunk.means()["context_tokens@5"]


@pytest.mark.parametrize("texts", [{"a": ""}, {"a": "  \n\t"}, {"a": "", "b": "\u3000"}])
def test_b02_a_corpus_without_text_is_an_error_before_anything_is_encoded(
    texts: dict[str, str],
) -> None:
    encoder = GivenEncoder()
    with pytest.raises(CorpusError, match="no text but white space"):
        sweep(texts, [Query("q", "pump", evidence=(Evidence("a"),))], encoder=encoder)
    assert encoder.encoded == []


def test_questions_that_cannot_be_swept() -> None:
    with pytest.raises(DiagnosticsError, match="'q1' is used more than once"):
        sweep(queries=[QUERIES[0], QUERIES[0]])
    with pytest.raises(DiagnosticsError, match="nothing can be scored"):
        sweep(queries=[QUERIES[5]])
    with pytest.raises(DiagnosticsError, match="nothing can be scored"):
        sweep(queries=[])


def test_a_second_run_encodes_and_scores_nothing_and_says_so(tmp_path: Path) -> None:
    grid = {
        "rerank_model": "stub",
        "rerank_depth": (0, 5),
        "alpha": (0.0, 0.5, 1.0),
        "chunk_size": (20, 40),
    }
    encoder, reranker = GivenEncoder(), GivenReranker({})
    first = sweep(
        cache=tmp_path / "c.sqlite", encoder=encoder, rerankers={"stub": reranker}, **grid
    )
    work = len(encoder.encoded), len(reranker.scored)
    assert (
        first.manifest["counts"]["texts computed"],
        first.manifest["counts"]["pairs computed"],
    ) == work
    assert len(set(encoder.encoded)) == len(encoder.encoded)
    assert len(set(reranker.scored)) == len(reranker.scored)
    second = sweep(
        cache=tmp_path / "c.sqlite", encoder=encoder, rerankers={"stub": reranker}, **grid
    )
    assert (len(encoder.encoded), len(reranker.scored)) == work
    assert (
        second.manifest["counts"]["texts computed"],
        second.manifest["counts"]["texts cached"],
    ) == (0, work[0])
    assert (
        second.manifest["counts"]["pairs computed"],
        second.manifest["counts"]["pairs cached"],
    ) == (0, work[1])
    assert second.tables.values.tolist() == first.tables.values.tolist()


def test_a_sweep_changes_none_of_its_inputs() -> None:
    corpus, queries = corpus_of(TEXTS), list(reversed(QUERIES))
    before = corpus.fingerprint, list(queries)
    sweep(corpus, queries)
    assert (corpus.fingerprint, queries) == before


def test_slices_and_explanation() -> None:
    result = sweep()
    slices = result.slices("kind")
    assert set(slices["kind"]) == {"semantic", "exact_id", "keyword", "unspecified"}
    assert slices.groupby("system", observed=True)["questions"].sum().tolist() == [5, 5, 5]
    story = str(result.explain("q2", result.systems[0]))
    assert "ERR-4042" in story
    assert "complete at rank" in story
    with pytest.raises(lab.LabError, match="no question 'q99'"):
        result.explain("q99")
    with pytest.raises(lab.LabError, match="no system 'x'"):
        result.explain("q1", "x")


def test_means_are_means_of_the_questions() -> None:
    result = sweep(mode="bm25")
    table: pd.DataFrame = result.table()
    for metric in result.metrics:
        assert table[metric][0] == pytest.approx(
            result.scores(result.systems[0]).column(metric).mean()
        )


ODD = {
    "a document that is not in the corpus": [
        Query("q", "pump", "x", evidence=(Evidence("absent", 0, 3),)),
        QUERIES[0],
    ],
    "no question with any hit": [QUERIES[3]],
}


@pytest.mark.parametrize("queries", ODD.values(), ids=ODD)
def test_evidence_that_nothing_holds_is_a_miss_down_to_the_report(
    queries: list[Query], tmp_path: Path
) -> None:
    measure = lab.Measure(metrics=("recall@5", "precision@3", "ndcg@10", "pieces_needed"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        result = sweep(
            queries=queries, deliver=("chunk", "window(1)"), alpha=(0.0, 0.5), measure=measure
        )
        result.write(tmp_path / "run")
        assert set(result.slices("kind")["questions"]) == {1}
        assert "never complete" in str(result.explain(queries[0].query_id))
    missed = result.scores(result.best).values[
        result.scores(result.best).query_ids.index(queries[0].query_id)
    ]
    assert not missed[[0, 2]].any()
