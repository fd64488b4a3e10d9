"""Foreign systems beside the lab's own: hits are found in the corpus, and published runs give their
published numbers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.config.experiment import read_experiment
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.config.retriever import RetrieverConfig
from lab.corpus.document import Corpus
from lab.corpus.read import read_corpus
from lab.errors import ConfigError
from lab.importing.convert import import_source
from lab.importing.formats.collection import Collection
from lab.importing.formats.trec import read_qrels
from lab.pipeline.foreign.anchoring import anchored
from lab.pipeline.foreign.hits import Hit
from lab.relevance.query import Evidence, Query
from lab.relevance.read import read_diagnostics
from lab.report.export.trec import trec_files
from lab.retrieval.trec_run import read_run
from lab.runs.run import Run
from lab.runs.run import read_run as read_run_folder
from lab.sweeping.sweep import sweep
from tests.given import corpus_of

CORPUS = corpus_of({"a": "one two one three", "b": "four  five\nsix", "c": " ", "e f": "blanked"})
CHEAP = Grid(mode="bm25", chunk_strategy="document")


def places(*hits: Hit, corpus: Corpus = CORPUS) -> tuple[list[str | None], dict[str, int]]:
    """Chunk ids of one question's hits, None for noise, and the account."""
    found = anchored(corpus, [hits])
    ids = [found.spans[i].chunk_id for i in found.ranking.hits(0)]
    return [None if name.startswith("\U0010ffff") else name for name in ids], dict(found.counts)


@pytest.mark.parametrize(
    ("hit", "place", "count"),
    [
        (Hit("a", 4, 7), "a:4-7", None),
        (Hit("a:4-7"), "a:4-7", None),
        (Hit("e%20f:0-3"), "e f:0-3", None),
        (Hit("e%20f"), "e f:0-7", "whole document"),
        (Hit("b", text="four five"), "b:0-10", "found by text"),
        (Hit(text="six"), "b:11-14", "found by text"),
        (Hit("gone", text="six"), "b:11-14", "unknown document"),
        (Hit("b"), "b:0-14", "whole document"),
        (Hit("gone"), None, "unknown document"),
        (Hit("gone:0-3"), None, "unknown document"),
        (Hit("a", 4, 99), None, "offsets outside"),
        (Hit("a", 4, 99, "three"), "a:12-17", "offsets outside"),
        (Hit("a", text="seven"), None, "text not found"),
        (Hit(text="one"), "a:0-3", "text in several places"),
        (Hit("c"), None, None),
    ],
)
def test_hits_are_found_by_offsets_by_text_or_as_whole_documents(
    hit: Hit, place: str | None, count: str | None
) -> None:
    found, counts = places(hit)
    assert found == [place]
    assert counts["hits"] == 1
    assert count is None or counts[count] == 1


def test_a_text_that_stands_twice_is_two_hits_and_a_repeated_span_one() -> None:
    assert places(Hit(text="one"), Hit(text="one"))[0] == ["a:0-3", "a:8-11"]
    found, counts = places(Hit("a", 0, 3), Hit("gone"), Hit("a", 0, 3), Hit("gone"), Hit("b"))
    assert found == ["a:0-3", None, "b:0-14"]
    assert counts["repeated"] == 2


class Given:
    """A retriever that answers what it was given, by question text."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers

    def search(self, queries: Sequence[str], depth: int) -> list[Any]:
        return [self.answers[query] for query in queries]


def run_of(
    corpus: Corpus, queries: Sequence[Query], metrics: Sequence[str], **retrievers: Any
) -> Run:
    return sweep(
        corpus,
        queries,
        CHEAP,
        Measure(metrics=tuple(metrics), select_by=metrics[0]),
        retrievers=retrievers,
    )


def test_noise_keeps_its_rank_and_spans_are_judged_by_their_evidence(tmp_path: Path) -> None:
    queries = [
        Query("q1", "which?", evidence=(Evidence("a", 4, 7),)),
        Query("q2", "lost?", evidence=(Evidence("b", 0, 4),)),
    ]
    answers = {"which?": [Hit("gone"), Hit(text="nowhere"), Hit("a", 0, 7)], "lost?": 3}
    result = run_of(CORPUS, queries, ["mrr@10", "precision@3"], mine=Given(answers))
    assert result.scores("mine").column("mrr@10").tolist() == [pytest.approx(1 / 3), 0.0]
    assert result.scores("mine").column("precision@3").tolist() == [pytest.approx(1 / 3), 0.0]
    assert any(
        "1 question(s) without an answer count as nothing found: q2" in note
        for note in result.notes
    )
    assert any(
        "1 of 3 hits name documents that are not in the corpus" in note for note in result.notes
    )
    run = read_run_folder(result.write(tmp_path / "run"))
    rows = run.tables.rows("rankings", "mine")
    assert rows[["doc_id", "start", "end", "rank", "evidence", "relevant"]].values.tolist() == [
        ["a", 0, 7, 3, True, True]
    ]
    table = run.table().set_index("system")
    assert table.loc["mine", "mode"] == "foreign"
    assert str(result.explain("q1", "mine")).count("rank 3") >= 1


def test_the_lab_s_own_ranking_given_back_scores_the_same() -> None:
    corpus = corpus_of({f"d{n}": f"pump {'valve ' * n}leak" for n in range(9)})
    queries = [Query(f"q{n}", "valve leak", evidence=(Evidence(f"d{n}"),)) for n in range(9)]
    result = run_of(corpus, queries, ["mrr@10"])
    own = result.tables.rankings
    hits = own[own["query_id"] == "q0"].sort_values("rank")["doc_id"].tolist()
    back = run_of(corpus, queries, ["mrr@10"], back=Given({"valve leak": hits}))
    assert back.tables.values[1].tolist() == back.tables.values[0].tolist()


def test_names_and_objects_that_cannot_be_retrievers_are_config_errors() -> None:
    queries = [Query("q1", "one", evidence=(Evidence("a"),))]
    with pytest.raises(ConfigError, match="has the name of a system of the grid"):
        run_of(CORPUS, queries, ["mrr@10"], **{"document bm25": Given({})})
    with pytest.raises(
        ConfigError,
        match=r"is a list; expected an object with search\(queries, depth\), a finished",
    ):
        run_of(CORPUS, queries, ["mrr@10"], mine=[])
    with pytest.raises(
        ConfigError, match="none of 1 questions got a valid answer; the first, 'q1'"
    ):
        run_of(CORPUS, queries, ["mrr@10"], mine={})


def test_experiment_files_name_retrievers_and_every_problem_in_them(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text('{"doc_id": "a", "text": "one two"}\n')
    evidence = [{"doc_id": "a", "quote": "two"}]
    (tmp_path / "set.jsonl").write_text(
        json.dumps({"query_id": "q1", "text": "one", "evidence": evidence}) + "\n"
    )
    (tmp_path / "old.jsonl").write_text('{"query_id": "q1", "hits": [{"text": "two"}]}\n')
    file = tmp_path / "x.toml"
    head = 'corpus = "documents.jsonl"\ndiagnostic_sets = ["set.jsonl"]\n'
    file.write_text(head + '[[retriever]]\nname = "old"\nrun = "old.jsonl"\n')
    experiment = read_experiment(file)
    corpus = read_corpus(experiment.corpus)
    queries = read_diagnostics(experiment.diagnostic_sets, corpus)
    old = {retriever.name: retriever for retriever in experiment.retrievers}
    assert sweep(corpus, queries, CHEAP, retrievers=old).scores("old").column(
        "ndcg@10"
    ).tolist() == [1.0]
    file.write_text(
        head + '[[retriever]]\nname = "a"\nrun = "none"\n[[retriever]]\nname = "a"\nurls = '
        '"x"\n[[retriever]]\nname = "a"\nurl = "http://x"\n'
    )
    with pytest.raises(ConfigError) as fault:
        read_experiment(file)
    text = str(fault.value)
    assert "run 'none' of retriever 'a' does not exist" in text
    assert "unknown key 'urls' in retriever 2; did you mean 'url'?" in text
    assert "retriever 3 is the second of the name 'a'" in text


def test_limits_ids_with_blanks_survive_a_round_trip_through_a_trec_run(
    shared: Path, tmp_path: Path
) -> None:
    folder = import_source(str(shared / "data/limit-small"), tmp_path / "limit").folder
    corpus = read_corpus(folder)
    queries = read_diagnostics(folder, corpus)
    first = run_of(corpus, queries, ["ndcg@10", "mrr@10"])
    run = tmp_path / "limit.run"
    run.write_text(dict(trec_files(first))["items/0001.run"])
    assert "Geneva%20Durben" in run.read_text()
    again = run_of(
        corpus, queries, ["ndcg@10", "mrr@10"], back=RetrieverConfig(name="back", run=run)
    )
    given, own = again.tables.values[1].tolist(), again.tables.values[0].tolist()
    assert given == own == first.tables.values[0].tolist()
    assert not any("not in the corpus" in note for note in again.notes)


# --- Published runs
# ------------------------------------------------------------------------------------------


def judged_by(
    qrels: Path, run: Path, mended: dict[str, str] | None = None
) -> tuple[Corpus, list[Query]]:
    """Questions and judgements of a qrels file over a corpus of the ids that either file names."""
    read = Collection()
    read_qrels(qrels, read)
    names = mended or {}
    by_query: dict[str, list[Evidence]] = {}
    for judgement in read.judgements:
        doc_id = names.get(str(judgement.doc_id), str(judgement.doc_id))
        by_query.setdefault(judgement.query_id, []).append(Evidence(doc_id, grade=judgement.grade))
    ids = {item.doc_id for items in by_query.values() for item in items} | {
        line.doc_id for line in read_run(run)
    }
    return corpus_of({doc_id: doc_id for doc_id in ids}), [
        Query(q, q, evidence=tuple(items)) for q, items in by_query.items()
    ]


def expected(path: Path) -> dict[tuple[str, str], str]:
    """(measure, topic) -> value as trec_eval printed it."""
    columns = (line.split() for line in path.read_text().splitlines())
    return {(name, topic): value for name, topic, value in (c for c in columns if len(c) == 3)}


TREC_EVAL = {
    "map": "map",
    "recip_rank": "mrr",
    "P_5": "precision@5",
    "P_10": "precision@10",
    "P_100": "precision@100",
    "recall_5": "recall@5",
    "recall_100": "recall@100",
    "ndcg": "ndcg@500",
    "ndcg_cut_10": "ndcg@10",
    "map_cut_100": "map@100",
    "success_10": "hit_rate@10",
}


@pytest.mark.parametrize(
    ("qrels", "run", "output"),
    [
        ("qrels.test", "results.test", "out.test.aq"),
        ("qrels.test.with-comments", "results.test", "out.test.aq"),
        ("qrels.test", "results.trunc", "out.test.aqc"),
    ],
)
def test_trec_evals_own_runs_give_trec_evals_numbers(
    shared: Path, qrels: str, run: str, output: str
) -> None:
    folder = shared / "data/trec-eval-tests"
    corpus, queries = judged_by(folder / qrels, folder / run)
    result = run_of(
        corpus,
        queries,
        list(TREC_EVAL.values()),
        theirs=RetrieverConfig(name="theirs", run=folder / run),
    )
    scores, printed = result.scores("theirs"), expected(folder / output)
    compared = 0
    for measure, metric in TREC_EVAL.items():
        for query_id, value in zip(scores.query_ids, scores.column(metric), strict=True):
            assert f"{value:.4f}" == printed[measure, query_id], (measure, query_id)
            compared += 1
        assert f"{scores.means()[metric]:.4f}" == printed[measure, "all"], measure
    assert compared == 33


CACM = [
    # run, questions with results, then MAP and reciprocal rank as written and without padding.
    ("1", 51, "0.2208", "0.5698", "0.2352", "0.5953"),
    ("2", 52, "0.2681", None, "0.2858", None),
    ("3", 52, "0.2145", None, "0.2255", None),
]


@pytest.mark.parametrize(
    ("number", "answered", "as_written", "first", "mended", "mended_first"), CACM
)
def test_cacms_published_runs_reproduce_with_and_without_the_padding_defect(
    shared: Path,
    number: str,
    answered: int,
    as_written: str,
    first: str | None,
    mended: str,
    mended_first: str | None,
) -> None:
    folder = shared / "data/cacm"
    run = folder / f"runs/cacm_core_{number}"
    printed = expected(folder / f"trec_eval_output/trec_eval_result_{number}.txt")
    padded = {f"{n:04d}": str(n) for n in range(1000)} | {f"{n:03d}": str(n) for n in range(100)}
    for names, means in (({}, (as_written, first)), (padded, (mended, mended_first))):
        corpus, queries = judged_by(folder / "cacm.qrels", run, names)
        result = run_of(
            corpus,
            queries,
            ["map", "mrr", "precision@10"],
            theirs=RetrieverConfig(name="theirs", run=run),
        )
        scores = result.scores("theirs")
        asked = {line.query_id for line in read_run(run)}
        counted = np.array([query_id in asked for query_id in scores.query_ids])
        assert counted.sum() == answered
        # trec_eval left questions without results out; the lab counts them as 0 and says so.
        assert f"{scores.column('map')[counted].mean():.4f}" == means[0]
        assert means[1] is None or f"{scores.column('mrr')[counted].mean():.4f}" == means[1]
        assert any("without an answer" in note for note in result.notes) == (answered < 52)
        if not names:
            for measure, metric in (("map", "map"), ("recip_rank", "mrr"), ("P10", "precision@10")):
                for query_id, value in zip(scores.query_ids, scores.column(metric), strict=True):
                    assert query_id not in asked or f"{value:.4f}" == printed[measure, query_id]


class Broken:
    """Answers as it was told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def search(self, queries: Sequence[str], depth: int) -> Any:
        return self.answer(queries) if callable(self.answer) else self.answer


def raising(queries: Sequence[str]) -> Any:
    raise RuntimeError("index is gone")


TWENTY = [Query(f"q{n:02d}", f"one {n}", evidence=(Evidence("a"),)) for n in range(20)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (raising, "RuntimeError: index is gone"),
        ([["a"]] * 3, "search returned 3 rankings for 20 questions"),
        ([[1, 2]] * 20, r"hit 1; expected doc_id \(text\)"),
        ([[{"id": "a"}]] * 20, "expected doc_id"),
        ([None] * 20, "answer is a NoneType; expected a list of hits"),
        (None, "TypeError"),
        ([{"a": "high"}] * 20, "answer is a dict; expected a list of hits"),
        ([{"a": float("nan")}] * 20, "answer is a dict"),
        ([[("a", "b", "c")]] * 20, "expected doc_id"),
        (lambda queries: (x for x in [1, 2]), "search returned 2 rankings for 20 questions"),
        ({"q00": {"a": 1.0}}, "search returned 1 rankings for 20 questions"),
    ],
)
def test_a_retriever_without_one_valid_answer_is_an_error_with_the_first_message(
    answer: Any, reason: str
) -> None:
    message = (
        rf"retriever 'mine': none of 20 questions got a valid answer; the first, 'q00': .*{reason}"
    )
    with pytest.raises(ConfigError, match=message):
        run_of(CORPUS, TWENTY, ["mrr@10"], mine=Broken(answer))


def ranked(answer: Any) -> list[float]:
    return run_of(CORPUS, TWENTY, ["mrr@10"], mine=answer).scores("mine").column("mrr@10").tolist()


@pytest.mark.parametrize(
    "row",
    [
        ["b", "a"],
        [("b", 2.0), ("a", 1.0)],
        [["b", 2.0], ["a", np.float32(1.0)]],
        {"a": 1.0, "b": 2.0},
        {"a": np.float32(1), "b": 2, "c": 0.5},
        [{"doc_id": "b"}, {"doc_id": "a", "score": 1.0}],
        [Hit("b"), Hit("a")],
    ],
)
def test_results_are_taken_in_the_shapes_that_people_hold_them_in(row: Any, tmp_path: Path) -> None:
    assert ranked(Broken([row] * 20)) == [0.5] * 20
    assert ranked(Broken({query.text: row for query in TWENTY})) == [0.5] * 20
    assert ranked({query.query_id: row for query in TWENTY}) == [0.5] * 20


HELD = {query.query_id: {"a": 1.0, "b": 2.0} for query in TWENTY}


@pytest.mark.slow  # ranx compiles its Run for a minute
def test_runs_of_ranx_are_retrievers() -> None:
    import ranx

    assert ranked(ranx.Run(HELD)) == [0.5] * 20


def test_run_files_and_what_becomes_a_dict_are_retrievers(tmp_path: Path) -> None:
    class RanxLike:
        def to_dict(self) -> dict[str, dict[str, float]]:
            return HELD

    assert ranked(RanxLike()) == [0.5] * 20
    lines = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, hits in HELD.items() for d, s in hits.items())
    (tmp_path / "r.run").write_text(lines)
    assert ranked(tmp_path / "r.run") == [0.5] * 20
    assert ranked(str(tmp_path / "r.run")) == [0.5] * 20
    (tmp_path / "r.jsonl").write_text(
        "".join(json.dumps({"query_id": q, "hits": h}) + "\n" for q, h in HELD.items())
    )
    assert ranked(tmp_path / "r.jsonl") == [0.5] * 20


def test_answers_of_one_text_named_in_another_normal_form_meet_their_documents() -> None:
    corpus = corpus_of({"u\u0308ber.txt": "one", "b": "two"})
    queries = [Query("fra\u0301ge", "one", evidence=(Evidence("u\u0308ber.txt"),))]
    held = {"fr\xe1ge": {"\xfcber.txt": 1.0}}
    result = run_of(corpus, queries, ["mrr@10"], mine=held)
    assert result.scores("mine").column("mrr@10").tolist() == [1.0]
    assert not any("not in the corpus" in note for note in result.notes)
