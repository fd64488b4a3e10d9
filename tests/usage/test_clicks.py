"""Clicks become judgements: worked on paper, against independent code and simulated users, and
refused where they cannot."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2
from typer.testing import CliRunner

from lab.cli import app
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError, UsageError
from lab.relevance.read import read_diagnostics
from lab.usage.clicks.asked import judge, settings_of
from lab.usage.clicks.counts import Counts, counts_of
from lab.usage.clicks.examination import examination
from lab.usage.clicks.judged import Judged, Judgement, updated
from lab.usage.clicks.relevance import coec, ctr, pbm
from lab.usage.log import Asked
from tests.usage.simulated import World, clicked, grades_of, quality, world

THRESHOLDS = (0.1, 0.3, 0.6)


def log_of(*rows: tuple[str, str, int]) -> list[Asked]:
    """`("ab", "b", 3)`: three times a and b shown, b clicked."""
    return [
        Asked("", "Q", None, tuple(hits), tuple(hits.index(c) + 1 for c in clicks))
        for hits, clicks, times in rows
        for _ in range(times)
    ]


def test_counts_on_paper() -> None:
    log = [*log_of(("ab", "b", 3), ("ba", "", 2)), Asked("", "  q ", None, ("a",), (1,))]
    counts = counts_of(log, 10)
    assert counts.pairs == (("Q", "a"), ("Q", "b"))
    cells = zip(counts.pair, counts.rank, counts.shown, counts.clicked, strict=True)
    assert [tuple(map(int, cell)) for cell in cells] == [
        (0, 1, 4, 1),
        (0, 2, 2, 0),
        (1, 1, 2, 0),
        (1, 2, 3, 3),
    ]
    assert counts_of(log, 1).ranks == 1


def test_ctr_and_coec_on_paper() -> None:
    """a: 20 shown at rank 1, 10 clicks; b: 20 at rank 2, 4 clicks; in turn 10 and 10, 5 and 1.
    Rank 1 is clicked 15 of 30 times, rank 2 5 of 30; a is expected 20/2 + 10/6 = 35/3 clicks."""
    log = log_of(("ab", "a", 8), ("ab", "ab", 2), ("ab", "b", 2), ("ab", "", 8))
    log += log_of(("ba", "b", 4), ("ba", "ba", 1), ("ba", "", 5))
    counts = counts_of(log, 10).enough()
    assert ctr(counts).relevance == pytest.approx([11 / 30, 9 / 30], abs=1e-12)
    found = coec(counts)
    assert found.exposure == pytest.approx([15 / 30, 5 / 30])
    assert found.relevance == pytest.approx([11 / (35 / 3), 9 / (25 / 3)], abs=1e-12)
    assert found.high[0] == pytest.approx(chi2.ppf(0.975, 24) / 2 / (35 / 3))


def test_intervals_of_nothing_and_everything() -> None:
    """Never clicked in 20: the likelihood (1 - r)^20 falls to exp(-chi2/2); always: mirrored."""
    found = ctr(counts_of(log_of(("ab", "a", 20)), 10).enough())
    edge = 1 - np.exp(-chi2.ppf(0.95, 1) / 2 / 20)
    assert found.relevance == pytest.approx([1, 0], abs=1e-9)
    assert found.high == pytest.approx([1, edge], abs=1e-9)
    assert found.low == pytest.approx([1 - edge, 0], abs=1e-9)


def likelihood(parameters: np.ndarray, counts: Counts) -> float:
    """Minus the log likelihood of the position-based model, written out."""
    chances = 1 / (1 + np.exp(-parameters))
    product = chances[: counts.ranks][counts.rank - 1] * chances[counts.ranks :][counts.pair]
    missed = counts.shown - counts.clicked
    return -float((counts.clicked * np.log(product) + missed * np.log1p(-product)).sum())


def test_examination_maximises_the_likelihood() -> None:
    of = world(1, queries=6, documents=14)
    counts = counts_of(clicked(of, (0, 1, 2, 3), 4000, 1), 10).enough()
    start = np.zeros(counts.ranks + len(counts.pairs))
    other = minimize(likelihood, start, counts, "L-BFGS-B", options={"maxiter": 2000})
    looked = 1 / (1 + np.exp(-other.x[: counts.ranks]))
    assert examination(counts) == pytest.approx(looked / looked[0], abs=0.005)


def order_of(values: np.ndarray) -> list[int]:
    return np.argsort(-values).tolist()


def learned(of: World, log: list[Asked]) -> tuple[float, np.ndarray, np.ndarray]:
    """Largest error of examination, and nDCG of every system by grades of pbm and of ctr."""
    counts = counts_of(log, 10).enough()
    by_model = []
    for found in (pbm(counts), ctr(counts)):
        relevance = np.zeros(of.relevance.shape)
        for (query, document), value in zip(counts.pairs, found.relevance, strict=True):
            relevance[int(query[1:]), int(document[1:])] = value
        by_model.append(quality(of, grades_of(relevance, THRESHOLDS)))
    error = float(np.abs(examination(counts) - of.looked).max())
    return error, by_model[0], by_model[1]


def test_simulated_users() -> None:
    """5,000 sessions of four systems: examination to 0.06, systems in their true order."""
    of = world(0)
    error, by_pbm, _ = learned(of, clicked(of, (0, 1, 2, 3), 5000, 0))
    assert error < 0.06
    assert order_of(by_pbm) == order_of(quality(of, grades_of(of.relevance, THRESHOLDS)))


@pytest.mark.slow
def test_simulated_users_at_50_000_sessions() -> None:
    """Examination within 0.03 and the order of systems kept, over 20 worlds."""
    errors, furthest = [], []
    for seed in range(20):
        of = world(seed)
        truth = quality(of, grades_of(of.relevance, THRESHOLDS))
        error, by_pbm, by_ctr = learned(of, clicked(of, (0, 1, 2, 3), 50_000, seed))
        assert order_of(by_pbm) == order_of(truth), seed
        errors.append(error)
        furthest.append([np.abs(by_pbm - truth).max(), np.abs(by_ctr - truth).max()])
    print(f"examination: largest error {max(errors):.4f}, mean of 20 {np.mean(errors):.4f}")
    print(f"nDCG@10 off by at most: pbm, ctr {np.max(furthest, axis=0).round(3)}")
    assert max(errors) < 0.03


def test_the_update_on_paper() -> None:
    """a (0.5) clicked at rank 1 of exposure 1: 0.5 + 0.1 (1 - 0.5) = 0.55; b (0.4) not at rank 2 of
    exposure 0.5: 0.4 - 0.1 * 0.2 = 0.38; c is new, begins at the mean 0.45, and is out of depth."""
    of = (Judgement("q", "a", 10, 5, 0.5, 0.2, 0.8), Judgement("q", "b", 10, 4, 0.4, 0.1, 0.7))
    earlier = Judged("pbm", (1.0, 0.5), of)
    found = updated(earlier, log_of(("abc", "ac", 1)), 0.1)
    assert [each.relevance for each in found.judgements] == pytest.approx([0.55, 0.38], abs=1e-12)
    assert (found.judgements[0].shown, found.judgements[0].clicks) == (11, 6)
    fresh = updated(earlier, log_of(("ca", "", 1)), 0.1)
    assert fresh.judgements[2].relevance == pytest.approx(0.45 * 0.9, abs=1e-12)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ([Asked("", "q")], "no line has 'hits'"),
        (log_of(("ab", "", 50)), "no line has a click among its first 10 hits"),
        (log_of(("ab", "a", 9)), "no document was shown 10 times"),
        (log_of(("ab", "ab", 500)), r"cannot be identified at rank 2: .*--depth 1"),
        (log_of(("abc", "abc", 99), ("bac", "ab", 99)), "cannot be identified at rank 3"),
        (log_of(("ab", "a", 99), ("ba", "a", 9)), "cannot be identified at rank 2"),
    ],
)
def test_refused(log: list[Asked], reason: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=reason):
        judge(log, settings_of("pbm", None, 10, 0.1, tmp_path / "out"))


def test_settings_are_checked_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of("pmb", "0.3,0.1", 10, 2.0, tmp_path)
    assert len(caught.value.problems) == 4
    assert "did you mean 'pbm'" in caught.value.problems[0]


def test_as_a_user_goes(tmp_path: Path) -> None:
    of = world(3, queries=5)
    log = tmp_path / "log.jsonl"
    lines = [
        {
            "query": one.query,
            "hits": one.hits,
            "clicks": [one.hits[rank - 1] for rank in one.clicks],
        }
        for one in clicked(of, (0, 1, 2, 3), 1500, 3)
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = CliRunner()
    done = run.invoke(app, ["clicks", str(log), "--out", str(tmp_path / "judged")])
    assert done.exit_code == 0, done.output
    assert "of 5 questions judged by pbm" in done.output
    corpus = Corpus(Document(f"d{number}", "text") for number in range(20))
    queries = read_diagnostics(tmp_path / "judged", corpus)
    assert sorted(query.text for query in queries) == ["q0", "q1", "q2", "q3", "q4"]
    assert {query.tags["origin"] for query in queries} == {"clicks"}
    with (tmp_path / "judged" / "relevance.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(float(r["low"]) <= float(r["relevance"]) <= float(r["high"]) for r in rows)
    assert {r["grade"] for r in rows} <= set("0123")
    command = ["clicks", str(log), "--from", str(tmp_path / "judged")]
    again = run.invoke(app, [*command, "--out", str(tmp_path / "updated"), "--json"])
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["judgements"][0]["low"] is None
    mixed = run.invoke(app, [*command, "--out", str(tmp_path / "mixed"), "--model", "ctr"])
    assert "the earlier judgements are of 'pbm'" in str(mixed.exception)
    assert not (tmp_path / "mixed").exists()
    (tmp_path / "judged" / "exposure.csv").write_text("model,rank\n")
    broken = run.invoke(app, [*command, "--out", str(tmp_path / "broken")])
    assert "expected the columns model, rank, exposure" in str(broken.exception)
