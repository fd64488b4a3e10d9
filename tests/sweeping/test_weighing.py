"""Alpha by question from the sweep to the searcher, on a planted world of two halves."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import lab
from lab.config.config import Config
from lab.config.grid import Grid
from lab.errors import ConfigError, RunError
from lab.evaluation.alpha_rules import AlphaRule
from lab.relevance.query import Query
from lab.report.screens.weighing import weighing_screen
from lab.runs.index import index
from tests.given import GivenReranker, corpus_of
from tests.sweeping.halves import world

TEXTS, QUERIES, ENCODER = world(20)
CORPUS = corpus_of(TEXTS)
NO_ANSWER = [Query("none", "K9999 nowhere", kind="exact_id"), Query("other", "bano delu")]
PLANTED: dict[str, Any] = {
    "chunk_strategy": "fixed",
    "chunk_size": 60,
    "model": "given",
    "mode": "hybrid",
}
RULES = ("by_kind", "by_length", "learned")


def swept(tmp_path: Path, measure: Any = ("recall@5", "ndcg@10"), **grid: Any) -> lab.Run:
    return lab.sweep(
        CORPUS,
        [*QUERIES, *NO_ANSWER],
        Grid(**(PLANTED | grid)),
        measure,
        progress=False,
        cache=tmp_path / "cache.sqlite",
        encoders={"given": ENCODER},
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> lab.Run:
    return swept(tmp_path_factory.mktemp("sweep"), alpha=(0.5, *RULES))


@pytest.fixture(scope="module")
def folder(run: lab.Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run.write(tmp_path_factory.mktemp("runs") / "halves")


def test_planted_halves_give_most_of_what_the_oracle_gains(run: lab.Run) -> None:
    table = run.weighing().set_index("rule")
    assert table.index.tolist() == ["common", *RULES, "oracle"]
    for rule in ("by_kind", "learned"):
        assert table.loc[rule, "share"] >= 0.8
        assert table.loc[rule, "verdict"] == "better"
    # All questions have three words: length says nothing.
    assert table.loc["by_length", "difference"] == 0.0
    assert table.loc["by_length", "verdict"] == "same"


def test_systems_score_what_their_alphas_score_on_the_exact_curves(run: lab.Run) -> None:
    questions = run.tables.weighing
    for rule in RULES:
        name = next(name for name in run.systems if name.endswith(f"alpha={rule}"))
        column = run.metrics.index("ndcg@10")
        assert run.scores(name).values[:, column].tolist() == questions[f"at_{rule}"].tolist()


def test_an_alpha_for_each_half(run: lab.Run) -> None:
    questions = run.tables.weighing.set_index("query_id")
    by_code = [query.query_id for query in QUERIES if query.kind == "exact_id"]
    others = [query.query_id for query in QUERIES if query.kind != "exact_id"]
    for rule in ("by_kind", "learned"):
        assert questions.loc[by_code, f"alpha_{rule}"].mean() < 0.3
        assert questions.loc[others, f"alpha_{rule}"].mean() > 0.6


def test_a_run_read_from_disk_answers_alike(run: lab.Run, folder: Path) -> None:
    again = lab.read_run(folder)
    assert again.weighing().equals(run.weighing())
    assert again.predictors().equals(run.predictors())
    assert again.labels == run.labels
    # The column of alpha holds numbers and names; a row makes its system again.
    for row in again.table().to_dict("records"):
        (config,) = Grid(**row).systems()[0]
        assert config.name == row["system"]


def test_the_screen_and_the_page_say_it(run: lab.Run, folder: Path) -> None:
    out = io.StringIO()
    screen = weighing_screen(run)
    assert screen is not None
    Console(file=out, width=80).print(screen)
    lines = out.getvalue().splitlines()
    assert any(line.startswith("learned") and "better" in line for line in lines)
    assert any(line.startswith("identifiers") for line in lines)
    assert max(map(len, lines)) <= 80
    assert "Alpha by question: ndcg@10" in (folder / "report.html").read_text("utf-8")


def searcher_of(folder: Path, tmp_path: Path, system: str) -> Any:
    return lab.load(
        folder, system, CORPUS, cache=tmp_path / "c.sqlite", encoders={"given": ENCODER}
    )


def hits_of(searcher: Any, questions: Any) -> list[list[tuple[Any, ...]]]:
    return [
        [(hit.doc_id, hit.start, hit.score) for hit in hits]
        for hits in searcher.search_many(questions)
    ]


@pytest.mark.parametrize("rule", ["by_kind", "learned"])
def test_a_searcher_gives_each_question_its_alpha(
    run: lab.Run, folder: Path, tmp_path: Path, rule: str
) -> None:
    system = next(name for name in run.systems if rule in name)
    searcher = searcher_of(folder, tmp_path, system)
    assert searcher.config.name == system
    (stored,) = run.tables.weights.query("rule == @rule")["weights"]
    figures = run.tables.weighing if rule == "learned" else None
    ordered = sorted(QUERIES, key=lambda query: query.query_id)
    kinds = {"kind": np.array([query.kind for query in ordered])}
    known = kinds if figures is None else {n: figures[n].to_numpy() for n in figures.columns[2:20]}
    alphas = AlphaRule.from_json(json.loads(stored)).alphas(known)
    # What the rule says of each question, fused by hand at that alpha.
    for query, alpha in list(zip(ordered, alphas.tolist(), strict=True))[::7]:
        by_hand = hits_of(searcher.at_alpha(alpha), [query])
        assert hits_of(searcher, [query]) == by_hand
    # All at once or one by one.
    assert hits_of(searcher, ordered) == [hits_of(searcher, [query])[0] for query in ordered]


def test_an_index_folder_answers_as_the_run(run: lab.Run, folder: Path, tmp_path: Path) -> None:
    system = next(name for name in run.systems if "learned" in name)
    of_run = searcher_of(folder, tmp_path, system)
    to = tmp_path / "index"
    index(folder, to, system, CORPUS, cache=tmp_path / "c.sqlite", encoders={"given": ENCODER})
    kept = lab.load(to, cache=tmp_path / "c.sqlite", encoders={"given": ENCODER})
    texts = [query.text for query in QUERIES]
    assert hits_of(kept, texts) == hits_of(of_run, texts)
    (weights,) = to.rglob("weights.json")
    weights.write_text('{"format": 1}')
    with pytest.raises(RunError, match=r"size|weights"):
        lab.load(to, cache=tmp_path / "c.sqlite", encoders={"given": ENCODER})


def test_a_run_without_the_weights_says_so(run: lab.Run, tmp_path: Path) -> None:
    tables = replace(run.tables, weights=run.tables.weights.iloc[:0])
    with pytest.raises(RunError, match="no weights for alpha 'learned'"):
        lab.load(replace(run, tables=tables), next(n for n in run.systems if "learned" in n))


def test_sealed_questions_are_scored_by_what_the_open_ones_taught(tmp_path: Path) -> None:
    run = swept(
        tmp_path,
        {"metrics": ["ndcg@10"], "select_by": "ndcg@10", "sealed": 0.3},
        alpha=("by_kind",),
    )
    sealed = run.manifest["conclusions"]["sealed"]
    searcher = lab.load(run, encoders={"given": ENCODER}, cache=tmp_path / "c.sqlite")
    held = [query for query in run.queries if query.query_id in sealed["query_ids"]]
    firsts = [hits[0] for hits in searcher.search_many(held)]
    right = [
        (hit.doc_id, hit.start) == (query.evidence[0].doc_id, query.evidence[0].start)
        for hit, query in zip(firsts, held, strict=True)
    ]
    assert sealed["scores"]["ndcg@10"][0] >= np.mean(right) - 1e-6
    assert np.mean(right) > 0.8


def test_every_phase_learns_anew_and_a_delivery_has_weights_of_its_own(tmp_path: Path) -> None:
    measure = {"metrics": ["ndcg@10"], "select_by": "ndcg@10", "phases": 3}
    run = swept(tmp_path, measure, alpha=("by_kind",), deliver=("chunk", "window(1)"))
    assert run.tables.phases["phase"].nunique() == 3
    assert len(run.tables.weights) == 2
    given = {"encoders": {"given": ENCODER}, "cache": tmp_path / "c.sqlite"}
    assert lab.load(run, run.systems[1], **given).search("K1003", 1)


def test_a_reranker_has_the_weights_of_the_system_without(tmp_path: Path) -> None:
    reranker = GivenReranker({})
    run = lab.sweep(
        CORPUS,
        QUERIES,
        Grid(**PLANTED, alpha="by_kind", rerank_depth=(0, 3), rerank_model="given-reranker"),
        ["ndcg@10"],
        progress=False,
        cache=tmp_path / "cache.sqlite",
        encoders={"given": ENCODER},
        rerankers={"given-reranker": reranker},
    )
    assert len(run.tables.weights) == 1
    models = {"encoders": {"given": ENCODER}, "rerankers": {"given-reranker": reranker}}
    searcher = lab.load(run, run.systems[1], cache=tmp_path / "c.sqlite", **models)
    assert searcher.search("K1003", 1)[0].stages.keys() >= {"fused", "rerank"}


def test_a_profile_times_them(tmp_path: Path) -> None:
    run = lab.sweep(
        CORPUS,
        QUERIES,
        Grid(**PLANTED, alpha=(0.5, "by_kind")),
        ["ndcg@10"],
        progress=False,
        cache=tmp_path / "cache.sqlite",
        encoders={"given": ENCODER},
        profile=True,
    )
    assert run.table()["query_p50_ms"].notna().all()


def test_a_session_scores_the_same(run: lab.Run, tmp_path: Path) -> None:
    session = lab.Session(
        CORPUS,
        [*QUERIES, *NO_ANSWER],
        ["recall@5", "ndcg@10"],
        cache=tmp_path / "cache.sqlite",
        encoders={"given": ENCODER},
        progress=False,
    )
    scores = session.evaluate(**PLANTED, alpha="by_kind")
    name = next(name for name in run.systems if "by_kind" in name)
    assert np.array_equal(scores.values, run.scores(name).values)


def test_what_cannot_be_is_told_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected a number from 0 to 1, or one of 'by_kind'"):
        Grid(**PLANTED, alpha="by_moon")
    with pytest.raises(ConfigError, match="alpha 'learned' and variants do not go together"):
        Grid(**PLANTED, alpha="learned", variants=True).systems()
    with pytest.raises(ConfigError, match=r"learned by measure\.select_by, 'recall@200tok'"):
        swept(tmp_path, ["recall@200tok"], alpha="learned")


def test_a_system_goes_through_toml() -> None:
    (config,) = Grid(**PLANTED, alpha="learned").systems()[0]
    assert Config.from_toml(config.to_toml()) == config
    assert config.name.endswith("alpha=learned")
