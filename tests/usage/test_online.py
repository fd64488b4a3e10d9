"""Two versions compared while they run: intervals that hold at every look, and who met what."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom
from typer.testing import CliRunner

from lab.cli import app
from lab.errors import UsageError
from lab.usage.online import online, read_arms
from lab.usage.sequential import NARROWEST, PLANNED, difference, ratio_p

LOOKS = (30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000)


def test_the_interval_on_paper() -> None:
    """Two samples of 2,500 with variance 2,500/2,499: at NARROWEST units the mixture is r V with
    r = 2 ln 20 + ln(2 ln 20 + 1), and the half width sqrt(V (1 + r) / r (ln(1 + r) + 2 ln 20))."""
    a = np.tile([-1.0, 1.0], NARROWEST // 4)
    found = difference(a, a + 0.5, 0.05)
    variance = 2 * (2500 / 2499) / 2500
    r = 2 * math.log(20) + math.log(2 * math.log(20) + 1)
    half = math.sqrt(variance * (1 + r) / r * (math.log(1 + r) + 2 * math.log(20)))
    assert (found.a, found.b, found.difference) == (0, 0.5, 0.5)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-12)


def test_the_ratio_is_a_bayes_factor() -> None:
    """The chance of the count under the plan, over its mean chance under the beta priors."""
    share = np.linspace(1e-6, 1 - 1e-6, 200_001)
    prior = np.mean([beta.pdf(share, weight * 0.75, weight * 0.25) for weight in PLANNED], axis=0)
    for a, b in ((30, 60), (100, 400)):
        others = np.trapezoid(binom.pmf(b, a + b, share) * prior, share)
        expected = min(1.0, binom.pmf(b, a + b, 0.75) / others)
        assert ratio_p(a, b, 0.75) == pytest.approx(expected, rel=1e-4)
    assert ratio_p(400, 600, 0.5) < 0.001
    assert ratio_p(10_000, 10_100, 0.5) == 1


def missed(sets: int, seed: int) -> float:
    """Share of pairs of equal samples of skewed times that any look calls different."""
    generator = np.random.default_rng(seed)
    found = 0
    for _ in range(sets):
        a, b = generator.lognormal(0, 1, (2, LOOKS[-1]))
        intervals = [difference(a[:n], b[:n], 0.05) for n in LOOKS]
        found += any(not each.low <= 0 <= each.high for each in intervals)
    return found / sets


def test_looking_often_finds_nothing_where_there_is_nothing() -> None:
    assert missed(100, 0) <= 0.05


@pytest.mark.slow
def test_looking_often_at_2_000_pairs() -> None:
    share = missed(2000, 1)
    print(f"any of {len(LOOKS)} looks calls equal versions different: {share:.4f}")
    assert share <= 0.05


def written(file: Path, rows: list[str], header: str = "user,latency_ms,satisfaction") -> Path:
    file.write_text("\n".join([header, *rows]) + "\n")
    return file


def arms(folder: Path, slower: float = 0.0, users: int = 200) -> tuple[Path, Path]:
    generator = np.random.default_rng(0)
    files = []
    for name, extra in (("a", 0.0), ("b", slower)):
        rows = [
            f"{name}{user},{generator.lognormal(4, 0.3) + extra:.1f},{generator.integers(0, 2)}"
            for user in range(users)
            for _ in range(2)
        ]
        files.append(written(folder / f"{name}.csv", [*rows, f"{name}0,50,"]))
    return files[0], files[1]


def test_users_are_the_units(tmp_path: Path) -> None:
    a, b = read_arms(*arms(tmp_path))
    found = online(a, b)
    assert found.units == (200, 200)
    assert found.rows == (401, 401)
    assert [row.measure for row in found.measures] == ["latency_ms", "satisfaction"]
    assert [row.verdict for row in found.measures] == ["undecided", "undecided"]
    assert not found.negative
    assert len(a.values["latency_ms"]) == 200


def test_slower_is_worse_and_the_other_way_better(tmp_path: Path) -> None:
    a, b = read_arms(*arms(tmp_path, slower=30))
    assert online(a, b).measures[0].verdict == "worse"
    assert online(b, a).measures[0].verdict == "better"


def test_lost_users_void_the_comparison(tmp_path: Path) -> None:
    a, b = arms(tmp_path)
    lines = b.read_text().splitlines()
    b.write_text("\n".join(lines[: len(lines) // 2]))
    found = online(*read_arms(a, b))
    assert found.units == (200, 100)
    assert found.mismatch
    assert found.negative
    assert not online(*read_arms(a, b), share=1 / 3).mismatch


@pytest.mark.parametrize(
    ("rows", "header", "reason"),
    [
        (["x,fast,1"], "user,latency_ms,satisfaction", r"b.csv:2: latency_ms is 'fast'"),
        (["x,-1,1"], "user,latency_ms,satisfaction", r"b.csv:2: latency_ms is '-1'"),
        ([",1,1"], "user,latency_ms,satisfaction", r"b.csv:2: 'user' is empty"),
        (["1,2"], "one,two", "no column latency_ms, latency_seconds, score, satisfaction"),
        (["1,2,3"], "user,latency_ms,satisfaction", "1 unit with 'latency_ms'; expected 30"),
        (["1,2"], "user,latency_ms", "has no column 'satisfaction', which the other file has"),
        (["1,2"], "latency_ms,satisfaction", "has no column 'user', which the other file has"),
        (["a1,2,3"], "user,latency_ms,satisfaction", "1 user met both versions, among them 'a1'"),
        (["1,2", "3"], "user,latency_ms", "1 columns, the header has 2"),
    ],
)
def test_refused(tmp_path: Path, rows: list[str], header: str, reason: str) -> None:
    a, _ = arms(tmp_path)
    with pytest.raises(UsageError, match=reason):
        online(*read_arms(a, written(tmp_path / "b.csv", rows, header)))


def test_as_a_user_goes(tmp_path: Path) -> None:
    a, b = map(str, arms(tmp_path, slower=30))
    done = CliRunner().invoke(app, ["online", a, b])
    assert done.exit_code == 1, done.output
    assert "▼ worse" in done.output
    assert CliRunner().invoke(app, ["online", b, a]).exit_code == 0
    record = json.loads(CliRunner().invoke(app, ["online", a, b, "--json"]).stdout)
    assert record["measures"][0]["verdict"] == "worse"
    assert record["mismatch"] is False
