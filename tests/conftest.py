"""What several tests share: real models and data, one cache of vectors, and calm threads."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from lab.cli import main

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Frameworks that would report their use.
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")

# Property tests draw the same examples at every run, so that a change is judged by what it changes.
# `pytest --hypothesis-profile=search` draws new ones, to look for faults.
# A loaded machine is slow at drawing, which says nothing about a test.
settings.register_profile(
    "same", derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search")
settings.load_profile("same")


@pytest.fixture(scope="session", autouse=True)
def _quiet_threads() -> None:
    """One thread: batches of a test are small, and more threads fight each other on small
    machines."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def cache(pytestconfig: pytest.Config) -> Path:
    """Vectors of earlier test runs, or of a cache that LAB_CACHE names; keys hash model and text,
    so a change never reads an old value."""
    path = Path(
        os.environ.get("LAB_CACHE") or Path(pytestconfig.cache.mkdir("lab")) / "cache.sqlite"
    )
    os.environ["LAB_CACHE"] = str(path)
    return path


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public data beside the project; tests that need it skip without it."""
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is not there: public data sets are not part of the project")
    return SHARED


Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a command 80 columns wide and returns exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lab", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return (int(end.value.code or 0), *capsys.readouterr())

    return run
