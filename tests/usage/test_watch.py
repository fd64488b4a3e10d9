"""A log held against a set: the set itself is no drift, another style is, and what the set lacks is
written to be labelled."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import lab
from lab.cli import app
from lab.errors import UsageError
from lab.pipeline.searcher import Searcher
from lab.relevance.read import read_diagnostics
from lab.report.page.page import page
from lab.runs.folder import write_run
from lab.runs.load import load
from lab.usage.log import Asked
from lab.usage.watch import Watched, watch
from lab.usage.written import drift_record, read_drift, write_drift
from tests.conftest import ROOT

DEVICES = ROOT / "corpora" / "devices", ROOT / "diagnostic_sets" / "devices"


@pytest.fixture(scope="module")
def run() -> lab.Run:
    grid = lab.Grid(chunk_size=400, chunk_strategy="structure", mode="bm25")
    return lab.sweep(*DEVICES, grid, progress=False)


@pytest.fixture(scope="module")
def searcher(run: lab.Run) -> Searcher:
    return load(run)


@pytest.fixture(scope="module")
def texts(run: lab.Run) -> list[str]:
    return [query.text for query in run.queries]


def log_of(texts: Sequence[str]) -> list[Asked]:
    return [Asked(f"log:{place}", text) for place, text in enumerate(texts, start=1)]


def resample(texts: Sequence[str], seed: int, size: int) -> list[Asked]:
    generator = np.random.default_rng(seed)
    return log_of([texts[place] for place in generator.integers(0, len(texts), size)])


def telegraphic(text: str) -> str:
    """The first words, as people type them into a search box."""
    return " ".join(text.lower().rstrip("?").split()[:4])


def chatty(text: str) -> str:
    return f"Hello, I was wondering whether you could tell me this. {text} Many thanks!"


@pytest.fixture(scope="module")
def rewritten(searcher: Searcher, run: lab.Run, texts: Sequence[str]) -> Watched:
    log = [Asked(one.place, telegraphic(one.query)) for one in resample(texts, 1, 200)]
    return watch(searcher, run.queries, log)


def test_a_resample_is_no_drift(searcher: Searcher, run: lab.Run, texts: Sequence[str]) -> None:
    found = watch(searcher, run.queries, resample(texts, 0, 250))
    assert found.shared == found.distinct
    assert not found.drifted
    assert not found.gaps
    assert [row.what for row in found.comparisons] == [
        "wording",
        "topics",
        "signals",
        "far questions",
    ]


def test_the_set_itself_has_nothing_to_compare(
    searcher: Searcher, run: lab.Run, texts: Sequence[str]
) -> None:
    found = watch(searcher, run.queries, log_of(texts))
    assert not found.comparisons
    assert not found.drifted


def test_a_rewritten_style_is_drift(rewritten: Watched) -> None:
    assert rewritten.drifted
    told = {row.what: row for row in rewritten.comparisons if row.told}
    assert told["wording"].found.value > 0.95
    features = {row.name for row in rewritten.features if row.told}
    assert {"words", "question mark", "capitals", "bm25 top score"} <= features


def test_a_chatty_style_is_drift(searcher: Searcher, run: lab.Run, texts: Sequence[str]) -> None:
    log = [Asked(one.place, chatty(one.query)) for one in resample(texts, 2, 60)]
    assert watch(searcher, run.queries, log).drifted


def test_equal_inputs_give_equal_findings(
    searcher: Searcher, run: lab.Run, texts: Sequence[str]
) -> None:
    log = resample(texts, 3, 100)
    once, again = (watch(searcher, run.queries, log, sample=80) for _ in range(2))
    assert once == again
    assert once.sampled == 80


def test_kept_and_read_alike(rewritten: Watched, tmp_path: Path) -> None:
    assert read_drift(tmp_path) is None
    write_drift(tmp_path, rewritten)
    assert read_drift(tmp_path) == rewritten
    (tmp_path / "drift.json").write_text('{"comparisons": 3}')
    with pytest.raises(lab.LabError, match=r"drift\.json: cannot be read as what"):
        read_drift(tmp_path)


def test_the_page_has_a_section(run: lab.Run, rewritten: Watched) -> None:
    text = page(run, drift=rewritten)
    section = text[text.index('id="drift"') : text.index('id="questions"')]
    assert "Told apart by wording" in section
    assert "question mark" in section


def test_too_few_to_tell(searcher: Searcher, run: lab.Run, texts: Sequence[str]) -> None:
    with pytest.raises(UsageError) as caught:
        watch(searcher, run.queries[:5], log_of(texts[:3] * 20))
    assert len(caught.value.problems) == 2
    assert "the log has 3 different questions; expected at least 20" in caught.value.problems[0]


CHINESE = [
    f"{thing}{question}"
    for thing in ("报销", "请假", "出差", "工资", "合同", "食堂")
    for question in ("怎么办理？", "需要什么材料？", "找谁签字？", "多久能到账？")
]


def test_as_a_user_goes(run: lab.Run, texts: Sequence[str], tmp_path: Path) -> None:
    place = write_run(run.tables, tmp_path / "run", {})
    log = tmp_path / "log.jsonl"
    lines = [{"ts": "2026-05-01", "query": text, "satisfaction": 0.25} for text in CHINESE] + [
        {"query": f"I am bob@example.org, 13812345678. {text}"} for text in texts[:20]
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    gaps = tmp_path / "gaps.jsonl"
    command = ["watch", str(log), "--run", str(place), "--gaps", str(gaps), "--into"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1, done.output
    assert "told apart by wording" in done.output
    assert "20 masked" in " ".join(done.output.split())
    assert "bob@" not in done.output + gaps.read_text()
    written = read_diagnostics(gaps, run.corpus)
    assert {query.text for query in written} <= {
        *CHINESE,
        *(f"I am [email], [phone]. {text}" for text in texts),
    }
    assert {query.tags["origin"] for query in written} == {"log"}
    assert read_drift(place) is not None
    again = CliRunner().invoke(app, command)
    assert isinstance(again.exception, UsageError)
    assert "gaps.jsonl: exists" in str(again.exception)
    record = CliRunner().invoke(app, [*command[:4], "--json"])
    assert json.loads(record.stdout)["drifted"] is True


def test_record_is_json(rewritten: Watched) -> None:
    assert json.loads(json.dumps(drift_record(rewritten)))["in_set"] == rewritten.in_set


@pytest.mark.slow
def test_false_alarms_in_5_percent(searcher: Searcher, run: lab.Run, texts: Sequence[str]) -> None:
    """600 logs drawn from the set itself, and 200 of halves that share no question: flagged in 5%,
    give or take 2."""
    drawn = [
        watch(searcher, run.queries, resample(texts, seed, 300), seed=seed).drifted
        for seed in range(600)
    ]
    halves = []
    for seed in range(200):
        order = np.random.default_rng(seed).permutation(len(texts)).tolist()
        log = log_of([texts[place] for place in order[: len(texts) // 2]])
        rest = [run.queries[place] for place in order[len(texts) // 2 :]]
        halves.append(watch(searcher, rest, log, seed=seed).drifted)
    print(f"flagged: drawn from the set {np.mean(drawn):.3f}, halves {np.mean(halves):.3f}")
    assert 0.03 <= np.mean(drawn) <= 0.07
    assert 0.01 <= np.mean(halves) <= 0.09


@pytest.mark.slow
def test_a_rewritten_style_always(searcher: Searcher, run: lab.Run, texts: Sequence[str]) -> None:
    for seed in range(50):
        for style in (telegraphic, chatty, str.upper):
            log = [Asked(one.place, style(one.query)) for one in resample(texts, seed, 100)]
            assert watch(searcher, run.queries, log, seed=seed).drifted, (seed, style)
