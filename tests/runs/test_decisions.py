"""Ablation, comparison, gate and history on small runs, and the sealed split."""

import json
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import lab
from lab.errors import ConfigError, RunError
from lab.evaluation.ablation import Factors
from lab.relevance.query import Evidence, Query
from lab.report.screens.gate import gate_junit, gate_markdown
from lab.runs.ablate import ablate
from lab.runs.compare import compare_sides
from lab.runs.folder import mark_sealed_use
from lab.runs.gate import judge_gate
from lab.runs.gate_rules import Rules, read_rules
from lab.runs.history import control_limits, read_history
from lab.runs.run import read_run
from lab.runs.side import run_side, sides
from lab.sweeping.heldout import one_cell, seal
from tests.given import corpus_of

QUESTIONS = 40
TODAY = date(2026, 11, 30)


def texts(edited: str = "") -> dict[str, str]:
    """Documents whose answer is in the second half, so that small chunks lose the words of the
    first."""
    return {
        f"d{i:02}": f"pump number{i} of the north hall. "
        + f"Its seal is changed after {i} weeks{edited}."
        for i in range(QUESTIONS)
    }


def questions(count: int = QUESTIONS) -> list[Query]:
    return [
        Query(
            f"q{i:02}",
            f"seal of pump number{i}",
            ("keyword", "semantic")[i % 2],
            evidence=(Evidence(f"d{i:02}", 0, 60),),
        )
        for i in range(count)
    ]


def swept(grid: lab.Grid, edited: str = "", count: int = QUESTIONS, **measure: object) -> lab.Run:
    return lab.sweep(
        corpus_of(texts(edited)),
        questions(count),
        grid,
        lab.Measure(**measure),
        name="small",
        cache=Path(":memory:"),
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """whole: chunks that hold the evidence; shattered: chunks that do not; again: whole once more;
    fewer: five questions less."""
    folder = tmp_path_factory.mktemp("runs")
    swept(lab.Grid(mode="bm25", chunk_size=200)).write(folder / "a-whole")
    swept(lab.Grid(mode="bm25", chunk_size=200)).write(folder / "b-again")
    swept(lab.Grid(mode="bm25", chunk_size=200)).write(folder / "c-third")
    swept(lab.Grid(mode="bm25", chunk_size=12)).write(folder / "d-shattered")
    return folder


def rules(*tables: dict[str, object], **top: object) -> Rules:
    return Rules.model_validate({"rule": tables, "min_questions": 10} | top)


def test_a_run_compared_with_itself_is_the_same(runs: Path) -> None:
    found = compare_sides(run_side(runs / "a-whole"), run_side(runs / "b-again"))
    assert found.changed == ()
    assert {line.verdict for line in (*found.lines, *found.slices)} == {"same"}
    assert found.drift.empty


def test_a_worse_run_is_worse_by_metric_kind_and_question(runs: Path) -> None:
    found = compare_sides(run_side(runs / "a-whole"), run_side(runs / "d-shattered"))
    recall = next(line for line in found.lines if line.metric == "recall@5")
    assert (recall.a, recall.verdict) == (1.0, "worse")
    assert recall.difference == pytest.approx(recall.b - recall.a)
    assert recall.low <= recall.difference <= recall.high
    assert recall.wins == 0
    assert recall.losses == (found.a.scores["recall@5"] > found.b.scores["recall@5"]).sum()
    assert {line.slice for line in found.slices} == {"keyword", "semantic"}
    assert len(found.drift) == (found.a.scores["ndcg@10"] != found.b.scores["ndcg@10"]).sum()
    assert found.drift["difference"].abs().is_monotonic_decreasing


def test_changed_documents_evidence_and_questions_are_named(runs: Path, tmp_path: Path) -> None:
    corpus = corpus_of(texts(" sharp"))
    asked = [*questions(35), Query("q99", "seal", "keyword", evidence=(Evidence("d01", 0, 20),))]
    asked[0] = Query("q00", asked[0].text, "keyword", evidence=(Evidence("d00", 0, 30),))
    lab.sweep(corpus, asked, lab.Grid(mode="bm25", chunk_size=200), cache=Path(":memory:")).write(
        tmp_path / "run"
    )
    told = "\n".join(compare_sides(run_side(runs / "a-whole"), run_side(tmp_path / "run")).changed)
    assert "5 questions scored only in A: q35, q36, q37, q38, q39" in told
    assert "1 question scored only in B: q99" in told
    assert (
        "1 of 35 common questions with another evidence (document, offsets or grade): q00" in told
    )
    assert "corpus: 40 documents" in told


def write_trec(path: Path, ranked: dict[str, list[str]]) -> Path:
    path.write_text(
        "".join(
            f"{q} Q0 {d} {r} {100 - r} t\n" for q, ds in ranked.items() for r, d in enumerate(ds, 1)
        ),
        "utf-8",
    )
    return path


def test_two_trec_runs_on_paper(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 d1 1\nq2 0 d2 1\nq3 0 d3 1\n", "utf-8")
    a = write_trec(tmp_path / "a", {"q1": ["d1"], "q2": ["d9", "d2"], "q9": ["d1"]})
    b = write_trec(tmp_path / "b", {"q1": ["d1"], "q2": ["d2"], "q3": ["d1", "d3"]})
    found = compare_sides(*sides((a, b), (None, None), qrels, ("recall@5", "ndcg@10")))
    assert found.common == 3, "a judged question without hits counts 0, an unjudged one is left out"
    recall, ndcg = found.lines
    assert (recall.a, recall.b) == pytest.approx((2 / 3, 1))
    assert (ndcg.a, ndcg.b) == pytest.approx(((1 + 1 / np.log2(3)) / 3, (2 + 1 / np.log2(3)) / 3))
    assert (ndcg.wins, ndcg.ties, ndcg.losses) == (2, 1, 0)
    assert ndcg.verdict == "cannot be settled"


def test_a_trec_run_needs_judgements_and_a_run_folder_of_spans_does_not_meet_it(
    runs: Path, tmp_path: Path
) -> None:
    trec = write_trec(tmp_path / "a", {"q1": ["d1"]})
    with pytest.raises(RunError, match="--qrels"):
        sides((trec, trec), (None, None), None, ("recall@5",))
    (tmp_path / "qrels").write_text("q01 0 d01 1\n", "utf-8")
    with pytest.raises(RunError, match="different units"):
        compare_sides(
            *sides((trec, runs / "a-whole"), (None, None), tmp_path / "qrels", ("recall@5",))
        )


def statuses(run: Path, baseline: Path, given: Rules) -> dict[str, str]:
    return {
        o.rule: o.status
        for o in judge_gate(run_side(run), run_side(baseline), given, TODAY).outcomes
    }


def test_the_gate_passes_an_unchanged_run_and_stops_a_drop(runs: Path) -> None:
    given = rules(
        {"name": "holds", "metric": "recall@5", "max_drop": 0.02},
        {"figure": "context_tokens", "at_most": 10_000},
    )
    assert statuses(runs / "b-again", runs / "a-whole", given) == {
        "every question of the baseline": "pass",
        "holds": "pass",
        "context_tokens: at most 10000": "pass",
    }
    assert statuses(runs / "d-shattered", runs / "a-whole", given)["holds"] == "fail"


def test_weak_evidence_does_not_pass(runs: Path) -> None:
    """All 40 questions are found, which shows 0.025^(1/40) = 0.91 and not more."""
    assert (
        statuses(
            runs / "a-whole",
            runs / "a-whole",
            rules({"name": "floor", "metric": "recall@5", "floor": 0.9}),
        )["floor"]
        == "pass"
    )
    assert (
        statuses(
            runs / "a-whole",
            runs / "a-whole",
            rules({"name": "floor", "metric": "recall@5", "floor": 0.95}),
        )["floor"]
        == "weak"
    )
    few = rules(
        {"name": "few", "metric": "recall@5", "slice": "keyword", "max_drop": 0.1}, min_questions=30
    )
    assert statuses(runs / "a-whole", runs / "a-whole", few)["few"] == "weak"


def test_a_lost_question_stops_the_gate(runs: Path, tmp_path: Path) -> None:
    swept(lab.Grid(mode="bm25", chunk_size=200), count=35).write(tmp_path / "fewer")
    given = rules({"name": "holds", "metric": "recall@5", "max_drop": 0.02})
    assert (
        statuses(tmp_path / "fewer", runs / "a-whole", given)["every question of the baseline"]
        == "fail"
    )


def test_a_waiver_holds_until_its_day_and_only_for_its_rule(runs: Path) -> None:
    drop = {"name": "holds", "metric": "recall@5", "max_drop": 0.02}
    for until, status in (("2026-11-30", "waived"), ("2026-11-29", "fail")):
        given = rules(
            drop, waiver=[{"rule": "holds", "reason": "until the new model is in", "until": until}]
        )
        gate = judge_gate(run_side(runs / "d-shattered"), run_side(runs / "a-whole"), given, TODAY)
        assert gate.outcomes[1].status == status
        assert gate.passed == (status == "waived")


def test_junit_and_markdown_say_the_same(runs: Path) -> None:
    given = rules({"name": "a | <b>", "metric": "recall@5", "max_drop": 0.02})
    gate = judge_gate(run_side(runs / "d-shattered"), run_side(runs / "a-whole"), given, TODAY)
    suite = ElementTree.fromstring(gate_junit(gate)).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [
        case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None
    ] == ["a | <b>"]
    row = gate_markdown(gate).splitlines()[-1]
    assert "a \\| &lt;b>" in row
    assert row.replace("\\|", "").count("|") == 4


def test_a_cause_can_be_limited(runs: Path) -> None:
    side = run_side(runs / "d-shattered")
    assert side.causes
    cause, lost = max(side.causes.items(), key=lambda item: item[1])
    given = rules(
        {"name": "c", "cause": cause, "max_share": (lost - 1) / QUESTIONS},
        {"name": "d", "cause": cause, "max_share": lost / QUESTIONS},
    )
    found = statuses(runs / "d-shattered", runs / "a-whole", given)
    assert (found["c"], found["d"]) == ("fail", "pass")


def test_all_faults_of_a_rules_file_are_told(tmp_path: Path) -> None:
    file = tmp_path / "gate.toml"
    waiver = '[[waiver]]\nrule = "r"\nreason = "no"\nuntil = 2026-12-01\n'
    file.write_text(
        '[[rule]]\nmetric = "ndcg@10"\n[[rule]]\nmetrc = "x"\nfloor = 2\n' + waiver, "utf-8"
    )
    with pytest.raises(ConfigError) as fault:
        read_rules(file)
    told = "\n".join(fault.value.problems)
    for part in (
        "rule 1: found metric; expected one of",
        "did you mean 'metric'?",
        "rule 2 floor is 2",
        "waiver 1 reason is 'no'",
    ):
        assert part in told


def test_a_rule_about_what_the_run_lacks_is_an_error(runs: Path) -> None:
    given = rules({"metric": "recall@4", "floor": 0.5}, {"figure": "context token", "at_most": 5})
    with pytest.raises(RunError) as fault:
        statuses(runs / "a-whole", runs / "a-whole", given)
    assert "did you mean 'recall@5'?" in str(fault.value)
    assert "did you mean 'context_tokens'?" in str(fault.value)


def test_history_alerts_where_a_limit_is_crossed(runs: Path) -> None:
    found = read_history(runs)
    assert [point.path.name for point in found.points] == [
        "a-whole",
        "b-again",
        "c-third",
        "d-shattered",
    ]
    assert [point.crossed("ndcg@10") for point in found.points] == [False, False, False, True]
    assert {line.slice for line in found.moved} == {"keyword", "semantic"}


def test_control_limits_on_paper() -> None:
    assert control_limits([0.5, 0.6]) == (None, None)
    low, high = control_limits([0.5, 0.6, 0.5])
    assert (low, high) == pytest.approx(
        (1.6 / 3 - 3 * 0.1 / 1.128, 1.6 / 3 + 3 * 0.1 / 1.128), abs=1e-6
    )


def test_ablation_finds_the_pairs_that_differ_in_one_setting() -> None:
    factors = Factors(
        [
            {"mode": "bm25", "size": 200},
            {"mode": "hybrid", "size": 200, "alpha": 0.2},
            {"mode": "hybrid", "size": 200, "alpha": 0.8},
            {"mode": "bm25", "size": 400},
            {"mode": "hybrid", "size": 400, "alpha": 0.2},
        ]
    )
    steps = [(step.setting, step.after, step.pairs.tolist()) for step in factors.one_at_a_time(0)]
    assert steps == [
        ("mode", "hybrid", [[0, 1]]),
        ("mode", "hybrid", [[0, 2]]),
        ("size", 400, [[0, 3]]),
    ]
    effects = {
        (effect.setting, effect.after): effect.pairs.tolist() for effect in factors.main_effects(0)
    }
    assert effects == {
        ("mode", "hybrid"): [[0, 1], [0, 2], [3, 4]],
        ("size", 400): [[0, 3], [1, 4]],
        ("alpha", 0.8): [[1, 2]],
    }


def test_a_main_effect_is_the_mean_over_its_pairs(tmp_path: Path) -> None:
    result = swept(lab.Grid(mode="bm25", chunk_size=(12, 200), k1=(0.5, 2.0)))
    found = ablate(read_run(result.write(tmp_path / "run")), result.systems[0], "recall@5")
    means = dict(zip(result.systems, result.table()["recall@5"], strict=True))
    sizes = [
        np.mean([mean for name, mean in means.items() if name.startswith(f"fixed-{size} ")])
        for size in (12, 200)
    ]
    size = found.effects[found.effects["setting"] == "chunk_size"].iloc[0]
    assert (size["before"], size["after"], size["pairs"]) == (12, 200, 2)
    assert size["recall@5"] == pytest.approx(sizes[1] - sizes[0])
    assert size["verdict"] == "better"
    assert found.effects.iloc[0]["setting"] == "chunk_size", (
        "the setting that moves most stands first"
    )


def test_sealed_questions_choose_nothing_and_are_scored_once() -> None:
    result = swept(lab.Grid(mode="bm25", chunk_size=(12, 200)), sealed=0.25)
    sealed = result.manifest["conclusions"]["sealed"]
    assert len(sealed["query_ids"]) == 10
    assert not set(result.query_ids) & set(sealed["query_ids"])
    assert sealed["system"] == result.recommended
    configs, _ = lab.Grid(mode="bm25", chunk_size=(12, 200)).systems()
    (chosen,) = (config for config in configs if config.name == result.recommended)
    alone = lab.sweep(
        corpus_of(texts()),
        [query for query in questions() if query.query_id in sealed["query_ids"]],
        one_cell(chosen),
        cache=Path(":memory:"),
    )
    mean = alone.scores(alone.best).means()["ndcg@10"]
    assert sealed["scores"]["ndcg@10"][0] == pytest.approx(mean)


def test_the_same_questions_are_sealed_again_whole_documents_at_a_time() -> None:
    asked = [
        Query(f"{i}-{n}", "x", evidence=(Evidence(f"d{i:02}", 0, 20),))
        for i in range(12)
        for n in range(3)
    ]
    opened, sealed = seal(asked, "auto", 0.3, 0)
    assert set(seal(asked[::-1], "auto", 0.3, 0)[1]) == set(sealed)
    assert not {q.evidence[0].doc_id for q in opened} & {q.evidence[0].doc_id for q in sealed}
    assert len(sealed) in (9, 12)


def test_a_second_use_of_sealed_questions_is_marked(tmp_path: Path) -> None:
    manifest = swept(lab.Grid(mode="bm25"), sealed=0.25).manifest
    for use in (1, 2):
        mark_sealed_use(manifest, tmp_path / f"run{use}")
        assert manifest["conclusions"]["sealed"]["use"] == use
        (tmp_path / f"run{use}").mkdir()
        (tmp_path / f"run{use}" / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def test_weights_make_a_metric_that_chooses() -> None:
    result = swept(
        lab.Grid(mode="bm25", chunk_size=(12, 200)), weights={"recall@5": 1, "precision@3": 3}
    )
    table = result.table()
    assert result.tables.select_by == "weighted"
    assert table["weighted"].tolist() == pytest.approx(
        (table["recall@5"] / 4 + table["precision@3"] * 3 / 4).tolist()
    )
    with pytest.raises(ConfigError, match="weights names mrr"):
        lab.Measure(weights={"mrr": 1})


def test_precision_at_a_token_budget_divides_by_what_fits() -> None:
    result = swept(
        lab.Grid(mode="bm25", chunk_size=200),
        metrics=("precision@60tok", "recall@60tok", "precision@1tok"),
    )
    shown = result.scores(result.best).means()
    assert 0 < shown["precision@60tok"] <= 1
    assert shown["recall@60tok"] == 1.0
    assert shown["precision@1tok"] == 0.0, "nothing fits, nothing is shown"


def test_the_same_seed_gives_the_same_conclusions() -> None:
    """Every figure of the table and the manifest, twice from scratch."""
    first, second = (
        swept(lab.Grid(mode="bm25", chunk_size=(12, 60, 200)), sealed=0.25) for _ in range(2)
    )
    assert json.dumps(first.manifest["conclusions"]) == json.dumps(second.manifest["conclusions"])
    assert first.table().to_json() == second.table().to_json()
    assert first.slices().to_json() == second.slices().to_json()


def test_the_table_and_the_manifest_name_the_same_choice() -> None:
    result = swept(lab.Grid(mode="bm25", chunk_size=(12, 60, 200)))
    table, told = result.table(), result.manifest["conclusions"]
    assert table.loc[table["recommended"], "system"].tolist() == [told["recommended"]["system"]]
    assert table["p_best"].sum() == pytest.approx(1)
    assert table["picked"].sum() == pytest.approx(1)
    assert told["few_questions"]
    for metric in result.metrics:
        assert (
            (table[f"{metric}_low"] <= table[metric] + 1e-9)
            & (table[metric] <= table[f"{metric}_high"] + 1e-9)
        ).all()
    against = result.against(result.best)
    assert set(against["system"]) == set(result.systems) - {result.best}
    assert (against["difference"] <= 1e-12).all()


def test_unanswerable_questions_become_figures_that_a_gate_can_limit(tmp_path: Path) -> None:
    asked = [
        *questions(),
        *(Query(f"un{i}", f"weather on day {i}", "unanswerable") for i in range(5)),
    ]
    result = lab.sweep(
        corpus_of(texts()), asked, lab.Grid(mode="bm25", chunk_size=200), cache=Path(":memory:")
    )
    row = result.table().iloc[0]
    assert (row["unanswerable_auc"], row["unanswerable_rejected"]) == (1.0, 1.0)
    side = run_side(result.write(tmp_path / "run"))
    given = rules({"name": "silence", "figure": "unanswerable_auc", "at_least": 0.95})
    assert judge_gate(side, side, given, TODAY).passed


def test_a_drop_within_the_limit_by_the_mean_alone_is_weak_evidence(tmp_path: Path) -> None:
    """One question of 40 is lost: -0.025, and the interval reaches beyond -0.05."""
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"q{i} 0 d{i} 1\n" for i in range(40)), "utf-8")
    whole = write_trec(tmp_path / "a", {f"q{i}": [f"d{i}"] for i in range(40)})
    lost = write_trec(tmp_path / "b", {f"q{i}": [f"d{i}"] for i in range(1, 40)})
    baseline, run = sides((whole, lost), (None, None), qrels, ("recall@5",))
    for limit, status in ((0.01, "fail"), (0.05, "weak"), (0.3, "pass")):
        gate = judge_gate(
            run, baseline, rules({"name": "holds", "metric": "recall@5", "max_drop": limit}), TODAY
        )
        assert gate.outcomes[1].status == status
