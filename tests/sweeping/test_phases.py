"""Phases of a sweep: scores are means over them, and everything that judges counts their spread."""

import io
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.config.measure import Measure
from lab.config.phases import shares
from lab.errors import ConfigError
from lab.evaluation.intervals import mean_intervals
from lab.relevance.query import Evidence, Query
from lab.report.page.page import page
from lab.report.screens.ablate import ablation_screen
from lab.report.screens.slices import sliced_screen
from lab.report.screens.terminal import first_screen
from lab.runs.ablate import ablate
from lab.runs.compare import compare_sides
from lab.runs.gate import judge_gate
from lab.runs.gate_rules import Rule, Rules
from lab.runs.side import run_side
from tests.given import GivenEncoder, corpus_of

WORDS = ("pump", "seal", "motor", "valve", "fuse", "hose", "tank", "bolt", "fan", "relay")
METRICS = ("recall@5", "ndcg@10")


def documents() -> dict[str, str]:
    """Sentences of their own codes, so that a question has one place in its document."""
    return {
        f"d{number:02d}": " ".join(
            f"The {WORDS[(number + place) % 10]} K{number}{place} is checked at {place} bar, so."
            for place in range(12)
        )
        for number in range(12)
    }


def questions(texts: dict[str, str]) -> list[Query]:
    found = []
    for number, (doc_id, text) in enumerate(texts.items()):
        for place in (2, 5, 9):
            quote = f"The {WORDS[(number + place) % 10]} K{number}{place} is checked at {place} bar"
            start = text.index(quote)
            evidence = (Evidence(doc_id, start, start + len(quote)),)
            asked = f"K{number}{place} checked bar"
            kind = "keyword" if place == 5 else "exact_id"
            found.append(Query(f"{doc_id}-{place}", asked, kind, evidence=evidence))
    return found


def swept(phases: int = 4, seed: int = 0, **grid: Any) -> lab.Run:
    texts = documents()
    settings = {"mode": "bm25", "chunk_size": (60, 150), **grid}
    measure = Measure(metrics=METRICS, select_by="ndcg@10", phases=phases, seed=seed)
    encoders = {"all-MiniLM-L6-v2": settings.pop("encoder", None)}
    return lab.sweep(
        corpus_of(texts),
        questions(texts),
        lab.Grid(**settings),
        measure,
        cache=Path(":memory:"),
        progress=False,
        encoders={name: given for name, given in encoders.items() if given},
    )


def shown(run: lab.Run) -> str:
    console = Console(width=120, file=io.StringIO())
    console.print(first_screen(run))
    return str(console.file.getvalue())


@pytest.fixture(scope="module")
def run() -> lab.Run:
    return swept(chunk_strategy=("fixed", "document"))


def at(run: lab.Run, phase: float) -> lab.Run:
    """The same systems at one phase that the grid names."""
    return swept(1, chunk_strategy=("fixed", "document"), phase=phase)


def test_phases_are_spread_evenly_from_a_place_that_the_seed_draws() -> None:
    four = shares(4, 0)
    assert shares(4, 0) == four
    assert shares(4, 1) != four
    assert shares(1, 0) == ()
    gaps = np.diff(sorted(four))
    assert gaps == pytest.approx([0.25] * 3, abs=1e-5)
    assert all(0 < share < 1 for share in four)
    quarters = np.bincount([int(4 * shares(4, seed)[0]) for seed in range(400)])
    assert quarters == pytest.approx([100] * 4, abs=35)


def test_a_score_is_the_mean_over_the_phases(run: lab.Run) -> None:
    phases = run.manifest["phases"]
    assert len(phases) == 4
    for metric in METRICS:
        each = []
        for phase in phases:
            single = at(run, phase)
            named = [name for name in single.systems if name.startswith("fixed")]
            each.append(np.column_stack([single.scores(name).values for name in named]))
        ours = np.column_stack([run.scores(n).values for n in run.systems if n.startswith("fixed")])
        assert ours == pytest.approx(np.mean(each, axis=0)), metric


def test_hits_and_causes_are_those_of_the_first_phase(run: lab.Run) -> None:
    first = at(run, run.manifest["phases"][0])
    ours, theirs = (of.tables.rankings for of in (run, first))
    columns = ["query_id", "doc_id", "start", "end", "rank"]
    fixed = ours["system"].astype(str).str.startswith("fixed")
    shifted = theirs["system"].astype(str).str.startswith("fixed")
    assert ours.loc[fixed, columns].values.tolist() == theirs.loc[shifted, columns].values.tolist()
    causes = [of.causes()[["query_id", "cause"]].astype(str).values.tolist() for of in (run, first)]
    assert causes[0] == causes[1]


def test_by_distance_scores_are_those_of_the_cuts_that_distances_are_from(run: lab.Run) -> None:
    first = at(run, run.manifest["phases"][0])
    systems = [[name for name in of.systems if name.startswith("fixed")] for of in (run, first)]
    ours, theirs = (
        of.slices("distance", names) for of, names in zip((run, first), systems, strict=True)
    )
    pd.testing.assert_frame_equal(ours.drop(columns="system"), theirs.drop(columns="system"))
    sliced = run.sliced("distance", systems[0][0])
    assert sliced.phase == run.manifest["phases"][0]
    assert sliced.gaps[0].near == first.sliced("distance", systems[1][0]).gaps[0].near
    assert run.sliced("kind").phase is None
    console = Console(width=80, file=io.StringIO())
    console.print(sliced_screen(sliced))
    assert f"phase {sliced.phase:g} of the cuts" in " ".join(console.file.getvalue().split())


def test_an_ablation_says_how_much_of_a_change_of_the_chunks_is_luck(run: lab.Run) -> None:
    found = ablate(run, run.baseline)
    shares = run.phase_effects().set_index(["setting", "after"])["share"]
    for row in found.effects.to_dict("records"):
        if (row["setting"], str(row["after"])) in shares:
            assert row["luck"] == pytest.approx(shares[row["setting"], str(row["after"])])
    assert found.effects["luck"].between(0, 1).all()
    console = Console(width=100, file=io.StringIO())
    console.print(ablation_screen(found))
    assert "luck" in console.file.getvalue()
    assert "luck" not in ablate(at(run, 0.5), at(run, 0.5).baseline).effects


def test_whole_documents_have_no_phases(run: lab.Run) -> None:
    counts = run.table().set_index("system")["phases"]
    assert counts["document bm25"] == 1
    assert set(counts.drop("document bm25")) == {4}
    assert set(run.phases()["system"]) == {"fixed-60 bm25", "fixed-150 bm25"}


def test_a_run_read_again_says_the_same(run: lab.Run, tmp_path: Path) -> None:
    read = lab.read_run(run.write(tmp_path / "run"))
    pd.testing.assert_frame_equal(read.phases(), run.phases())
    pd.testing.assert_frame_equal(read.phase_effects(), run.phase_effects())
    pd.testing.assert_frame_equal(read.against(run.baseline), run.against(run.baseline))
    for metric in METRICS:
        assert read.verdicts(metric, run.best) == run.verdicts(metric, run.best)
    rows = pd.read_parquet(tmp_path / "run" / "phases.parquet")
    assert len(rows) == 2 * 4 * 36 * 2
    grouped = rows.groupby(["system", "query_id", "metric"], observed=True)["value"].mean()
    scores = read.tables.scores.set_index(["system", "query_id", "metric"])["value"]
    assert grouped.to_numpy() == pytest.approx(scores.loc[grouped.index].to_numpy())


def test_the_share_of_an_effect_that_is_luck_on_paper(run: lab.Run) -> None:
    effect = run.phase_effects("recall@5").set_index("setting").loc["chunk_size"]
    means = run.tables.phases.query("metric == 'recall@5'")
    means = means.groupby(["system", "phase"], observed=True, sort=False)["value"].mean().unstack()
    one, other = means.loc["fixed-60 bm25"], means.loc["fixed-150 bm25"]
    sign = 1 if effect["before"] == "60" else -1
    gaps = sign * (other - one)
    assert effect["difference"] == pytest.approx(gaps.mean())
    assert effect["spread"] == pytest.approx(gaps.std())
    assert (effect["lowest"], effect["highest"]) == pytest.approx((gaps.min(), gaps.max()))
    assert effect["share"] == pytest.approx(min(1, gaps.std() / abs(gaps.mean())))


def test_the_screens_tell_how_much_is_luck(run: lab.Run) -> None:
    assert "where the cuts fell: ndcg@10 over 4 phases of the cuts" in shown(run)
    assert "chunk_size" in shown(run)
    assert "where the cuts fell" not in shown(swept(1))
    assert "here the cuts fell" in run._repr_html_()
    assert "here the cuts fell: ndcg@10 over 4 phases" in page(run)
    assert "here the cuts fell: ndcg@10" not in page(swept(1))


def test_intervals_are_those_of_every_room(run: lab.Run, tmp_path: Path) -> None:
    """Table, ablation, gate and comparison count the same spread."""
    folder = run.write(tmp_path / "run")
    system = "fixed-60 bm25"
    row = run.table().set_index("system").loc[system]
    side = run_side(folder, system)
    rules = Rules(rule=(Rule(metric="recall@5", floor=0.01),), min_questions=1)
    told = judge_gate(side, side, rules, date(2026, 1, 1)).outcomes[1].finding
    assert f"[{row['recall@5_low']:.3f}, {row['recall@5_high']:.3f}]" in told
    other = run_side(folder, "fixed-150 bm25")
    line = next(one for one in compare_sides(side, other).lines if one.metric == "ndcg@10")
    paired = run.paired("fixed-150 bm25", system)
    place = run.metrics.index("ndcg@10")
    assert (line.low, line.high) == pytest.approx((paired.low[place], paired.high[place]))
    steps = ablate(run, system, "ndcg@10").steps.set_index("system")
    step = steps.loc["fixed-150 bm25"]
    assert (step["low"], step["high"]) == pytest.approx((paired.low[place], paired.high[place]))


def test_counting_the_cuts_widens_what_one_alignment_hides(run: lab.Run) -> None:
    """The interval of the mean over phases without their spread is the narrower one."""
    system = "fixed-60 bm25"
    values = run.scores(system).values[:, [run.metrics.index("recall@5")]]
    low, high = mean_intervals(values, run.tables.clusters, run.tables.seed)
    row = run.table().set_index("system").loc[system]
    assert row["recall@5_low"] < low[0]
    assert row["recall@5_high"] > high[0] or row["recall@5_high"] == 1


def test_phases_cost_only_texts_that_differ() -> None:
    """Every distinct text is embedded once, whichever phases cut it so."""
    encoder = GivenEncoder()
    run = swept(4, chunk_strategy="structure", mode="dense", encoder=encoder)
    texts = {text for config in at_each(run) for text in chunk(run.corpus, config).texts}
    assert texts <= set(encoder.encoded)
    assert len(encoder.encoded) == len(set(encoder.encoded))


def at_each(run: lab.Run) -> list[ChunkConfig]:
    """Both chunkings at every phase."""
    return [
        ChunkConfig(strategy="structure", size=size, phase=phase)
        for size in (60, 150)
        for phase in run.manifest["phases"]
    ]


@pytest.mark.parametrize("phases", [0, 2, 33, 1.5, "many"])
def test_numbers_of_phases_that_say_nothing_are_refused(phases: Any) -> None:
    with pytest.raises(ConfigError, match=r"measure\.phases"):
        Measure(phases=phases)


def test_phases_are_swept_or_averaged_over_not_both() -> None:
    with pytest.raises(ConfigError, match="expected one of both"):
        swept(4, phase=(0.0, 0.5))
