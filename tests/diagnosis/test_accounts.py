"""Causes add up: none for a hit, exactly one for a miss, and the waterfall ends at recall, on
random worlds."""

from functools import cache

import numpy as np
import pytest

from lab.config.config import Config
from lab.config.distinct import reduced
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus, Document
from lab.diagnosis.alpha.families import Family
from lab.diagnosis.alpha.summary import StepCurve, mean_curve, metric_values
from lab.diagnosis.causes import CAUSES
from lab.diagnosis.rescue import rescues
from lab.evaluation.metrics import parse_metric
from lab.relevance.query import Evidence, Query
from lab.retrieval.config import FusionConfig
from lab.sweeping.heldout import one_cell
from lab.sweeping.measured import Measured
from tests.diagnosis.planted import MODEL, RERANKER, Concepts, Scorer
from tests.given import measured, run_of

WORDS = [f"w{i}" for i in range(60)]


def world(seed: int) -> tuple[Corpus, list[Query]]:
    draw = np.random.default_rng(seed)
    texts = {f"d{i:02d}": " ".join(draw.choice(WORDS, 60)) for i in range(30)}
    queries = []
    for i in range(25):
        doc_id = f"d{draw.integers(30):02d}"
        pieces = []
        for _ in range(int(draw.integers(1, 3))):
            start = int(draw.integers(0, len(texts[doc_id]) - 60))
            pieces.append(Evidence(doc_id, start, start + int(draw.integers(10, 60))))
        inside = texts[doc_id][pieces[0].start : pieces[0].end].split()
        asked = [*draw.choice(inside, min(2, len(inside))), *draw.choice(WORDS, 2)]
        queries.append(Query(f"q{i:02d}", " ".join(asked), f"kind-{i % 3}", {}, tuple(pieces)))
    return Corpus(Document(doc_id, text) for doc_id, text in texts.items()), [
        *queries,
        Query("none", "w1 w2", "unanswerable"),
    ]


def word_overlap(question: str, text: str) -> float:
    return len(set(question.split()) & set(text.split())) / 4


@cache
def result_of(
    seed: int, unit: str = "evidence", metrics: tuple[str, ...] = ("recall@3",)
) -> Measured:
    corpus, queries = world(seed)
    groups = tuple(" ".join(WORDS[i : i + 4]) for i in range(0, 60, 4))
    grid = Grid(
        chunk_size=(60, 150),
        mode=("bm25", "dense", "hybrid"),
        alpha=(0.0, 0.3, 0.7, 1.0),
        depth=8,
        model=MODEL,
        rerank_model=RERANKER,
        rerank_depth=(0, 6),
        threshold=(None, 0.5),
        deliver=("chunk", "window(1)"),
    )
    return measured(
        corpus,
        queries,
        grid,
        Measure(metrics=metrics, select_by=metrics[0], unit=unit),
        encoders={MODEL: Concepts(groups, max_tokens=12)},
        rerankers={RERANKER: Scorer(word_overlap)},
    )


def name_at(family: Family, alpha: float) -> str:
    """The system of a family at an alpha: at 0 and 1 it is a leg."""
    config = family.config.model_copy(update={"fusion": FusionConfig(alpha=alpha)})
    return reduced(config).name


@pytest.fixture(scope="module", params=[(1, "evidence"), (2, "evidence"), (3, "document")])
def result(request: pytest.FixtureRequest) -> Measured:
    return result_of(*request.param)


def test_every_miss_has_exactly_one_cause_and_no_hit_has_any(result: Measured) -> None:
    pieces = result.plan.pieces
    ids = [pieces.queries[q].query_id for q in pieces.query]
    numbers = np.arange(len(ids)) - np.searchsorted(pieces.query, pieces.query) + 1
    for system, found in enumerate(result.findings.misses):
        missed = np.flatnonzero(result.complete[system] > 3)
        assert [(miss.query_id, miss.piece) for miss in found] == [
            (ids[p], numbers[p]) for p in missed
        ]
        assert {miss.cause for miss in found} <= set(CAUSES)


def test_the_waterfall_adds_up_to_recall(result: Measured) -> None:
    for system in result.systems:
        table, mean = (
            run_of(result).waterfall(system),
            run_of(result).scores(system).means()["recall@3"],
        )
        if len(table):
            everything = table[table["kind"] == "all"]
            assert abs(everything["lost"].sum() + mean - 1) < 1e-9
            assert abs(everything["left"].iloc[-1] - mean) < 1e-9
            room = (result.findings.reachable[0] / result.plan.pieces.per_query).mean()
            assert (everything["ceiling"] <= max(room, mean) + 1e-9).all()
            assert (everything["ceiling"] >= mean - 1e-9).all()


def test_verified_means_that_some_change_brought_it_back(result: Measured) -> None:
    for miss in (miss for found in result.findings.misses for miss in found):
        assert bool(miss.recovered_by) or not miss.verified
        assert miss.remedy


def test_the_curves_of_a_run_hold_every_system_of_their_family(result: Measured) -> None:
    table = result.findings.curves(result.plan.pieces)
    for family in result.findings.families:
        rows = table[table["family"] == family.name]
        widths = (
            (rows["high"] - rows["low"])
            .groupby([rows["query_id"].astype(str), rows["piece"]])
            .sum()
        )
        assert len(widths) == len(result.plan.pieces)
        assert np.allclose(widths, 1)
        for alpha in (0.0, 0.3, 0.7, 1.0):
            name = name_at(family, alpha)
            complete = result.complete[result.systems.index(name)]
            found = np.concatenate([curve.at(np.array([alpha]))[:, 0] for curve in family.curves])
            assert np.array_equal(
                np.where(complete > family.cap, 0, complete), np.where(found > family.cap, 0, found)
            )


def test_a_token_budget_is_a_cut() -> None:
    result = result_of(4, metrics=("recall@10tok",))
    causes = run_of(result).causes()
    assert "cut" in set(causes["cause"])
    assert set(causes.loc[causes["cause"] == "cut", "remedy"]) <= {
        "no threshold",
        "a larger token budget",
    }
    for system in result.systems:
        table = run_of(result).waterfall(system)
        total = (
            table.loc[table["kind"] == "all", "lost"].sum()
            + run_of(result).scores(system).means()["recall@10tok"]
        )
        assert abs(total - 1) < 1e-9


def test_rescues_count_questions_that_fail_under_one_and_not_the_other() -> None:
    settings = [
        config.settings() for config in Grid(mode="bm25", chunk_size=(200, 400)).systems()[0]
    ]
    failed = np.array([[True, True, True, False], [False, False, True, True]])
    (only,) = rescues(settings, failed)
    assert (only.setting, only.before, only.after, only.rescued, only.broken, only.net) == (
        "chunk_size",
        "200",
        "400",
        2,
        1,
        1,
    )
    assert only.p == 1.0


def test_a_leg_rescues_what_the_other_misses() -> None:
    """Three whole documents, one question for either leg: bm25, dense and hybrid are three
    pairs."""
    corpus = Corpus(
        Document(doc_id, text)
        for doc_id, text in (
            ("a", "the pump leaks"),
            ("b", "replace the seal of the motor"),
            ("c", "weather notes"),
        )
    )
    queries = [
        Query("q1", "pump leak", evidence=(Evidence("a"),)),
        Query("q2", "engine gasket", evidence=(Evidence("b"),)),
    ]
    result = measured(
        corpus,
        queries,
        Grid(chunk_strategy="document", model=MODEL),
        Measure(metrics=("recall@1",), select_by="recall@1"),
        encoders={MODEL: Concepts(("pump leak leaks", "seal motor engine gasket", "weather"))},
    )
    found = run_of(result).rescues()
    steps = {(row["a"].split()[1], row["b"].split()[1]): row for row in found.to_dict("records")}
    assert set(steps) == {("bm25", "dense"), ("bm25", "hybrid"), ("dense", "hybrid")}
    assert {row["setting"] for row in steps.values()} == {"mode"}
    for other in ("dense", "hybrid"):
        row = steps["bm25", other]
        assert (row["before"], row["after"], row["rescued"], row["broken"]) == ("bm25", other, 1, 0)
    (miss,) = result.findings.misses[0]
    assert "mode dense" in miss.recovered_by


def test_unanswerable_questions_are_searched_and_told_apart(result: Measured) -> None:
    table = run_of(result).separation()
    assert set(table["system"]) == set(result.systems)
    assert set(table["stage"]) == {"bm25", "dense", "reranker"}
    assert table["auc"].between(0, 1).all()
    assert (table["low"] <= table["auc"]).all()
    assert (table["auc"] <= table["high"]).all()
    assert (table["unanswerable"] == 1).all()
    for system, rows in run_of(result).thresholds().groupby("system"):
        assert np.isnan(rows["threshold"].iloc[0])
        assert rows["recall@5"].iloc[0] >= run_of(result).scores(system).means()["recall@3"] - 1e-12
        assert (np.diff(rows["threshold"].iloc[1:]) > 0).all()
        for falling in ("kept", "precision@3", "recall@5"):
            assert (np.diff(rows[falling]) <= 1e-12).all()
        assert (np.diff(rows["refused"]) >= -1e-12).all()
        assert (rows["recall@5_refusing"] >= rows["recall@5"] - 1e-12).all()
        assert (rows["recall@5_refusing"] <= rows["recall@5"].iloc[0] + 1e-12).all()


def test_the_effect_of_a_threshold_is_what_a_system_with_it_scores() -> None:
    result, metrics = result_of(1), ("recall@5", "precision@3")
    (config,) = (
        c
        for c in result.plan.configs
        if c.name == "fixed-60 hybrid concepts alpha=0.3 rerank=words@6 depth=8"
    )
    for row in (
        run_of(result).thresholds().query("system == @config.name").dropna().to_dict("records")
    ):
        cut = config.model_copy(
            update={"rerank": config.rerank.model_copy(update={"threshold": row["threshold"]})}
        )
        again = one_system(cut, metrics)
        assert {metric: row[metric] for metric in metrics} == pytest.approx(
            run_of(again).scores(run_of(again).best).means()
        )


@pytest.mark.parametrize("unit", ["evidence", "document"])
def test_every_metric_over_ranks_is_an_exact_step_curve(unit: str) -> None:
    metrics = ("recall@3", "precision@3", "ndcg@5", "mrr@5", "front_hit@3")
    result = result_of(5, unit, metrics)
    run = run_of(result)
    for family in result.findings.families:
        for label in metrics:
            (values,) = metric_values(family.curves, result.plan.pieces, [parse_metric(label)])
            steps = mean_curve(family.curves, values)
            for alpha in (0.0, 0.3, 0.7, 1.0):
                name = name_at(family, alpha)
                mean = run.scores(name).means()[label]
                assert abs(steps.at(np.array([alpha]))[0] - mean) < 1e-12, (name, label)
    table = run.alphas()
    assert set(table["metric"]) == set(metrics)
    assert (table["oracle"] >= table["value"] - 1e-12).all()
    assert (table["regret"] >= -1e-12).all()


def test_metrics_beyond_the_cap_of_the_curves_have_none() -> None:
    result = result_of(4, metrics=("recall@200",))
    assert result.findings.families
    table, means = result.findings.alphas(result.plan.pieces, result.metrics)
    assert table.empty
    assert means.empty


@pytest.mark.parametrize("unit", ["evidence", "document"])
def test_the_tables_of_alphas_hold_the_mean_of_every_kind_at_every_swept_alpha(unit: str) -> None:
    result = result_of(5, unit, ("recall@3", "precision@3", "ndcg@5"))
    table, means = result.findings.alphas(result.plan.pieces, result.metrics)
    kinds = np.array([query.kind for query in result.plan.pieces.queries])
    assert set(table["slice"]) == {"all", *kinds}
    looked_up = 0
    for (family, metric, kind), steps in means.groupby(
        ["family", "metric", "slice"], observed=True
    ):
        curve = StepCurve(*(steps[name].to_numpy() for name in ("low", "high", "value")))
        row = table[
            (table["family"] == family) & (table["metric"] == metric) & (table["slice"] == kind)
        ].iloc[0]
        assert (row["low"], row["high"], row["value"]) == curve.best
        assert (np.diff(steps["value"])[1:-1] != 0).all()
        assert (steps["high"].to_numpy()[:-1] == steps["low"].to_numpy()[1:]).all()
        members = (kinds == kind) | (kind == "all")
        assert row["questions"] == members.sum()
        for system, config in zip(result.systems, result.plan.configs, strict=True):
            if (
                config.fusion is not None
                and system.replace(f" alpha={config.fusion.alpha:g}", "", 1) == family
            ):
                expected = run_of(result).scores(system).column(metric)[members].mean()
                assert abs(curve.at(np.array([config.fusion.alpha]))[0] - expected) < 1e-12, (
                    system,
                    metric,
                    kind,
                )
                looked_up += 1
    assert looked_up >= 3


def test_an_alpha_that_is_told_with_a_reranker_does_bring_the_piece_back() -> None:
    result, tried = result_of(1), 0
    for system, found in zip(result.plan.configs, result.findings.misses, strict=True):
        if system.rerank is None or system.fusion is None or system.deliver != "chunk":
            continue
        for miss in found:
            told = next((told for told in miss.recovered_by if told.startswith("alpha ")), None)
            if told is None or "-" in told or "," in told or miss.cause == "cut":
                continue
            alpha = float(told.removeprefix("alpha "))
            again = one_system(system.model_copy(update={"fusion": FusionConfig(alpha=alpha)}))
            place = [query.query_id for query in again.plan.pieces.queries].index(miss.query_id)
            pieces = np.flatnonzero(again.plan.pieces.query == place)
            assert again.complete[0][pieces[miss.piece - 1]] <= 3, (system.name, miss)
            tried += 1
    assert tried >= 3


def one_system(config: Config, metrics: tuple[str, ...] = ("recall@3",)) -> Measured:
    corpus, queries = world(1)
    groups = tuple(" ".join(WORDS[i : i + 4]) for i in range(0, 60, 4))
    return measured(
        corpus,
        queries,
        one_cell(config),
        Measure(metrics=metrics, select_by=metrics[0], unit="evidence"),
        encoders={MODEL: Concepts(groups, max_tokens=12)},
        rerankers={RERANKER: Scorer(word_overlap)},
    )
