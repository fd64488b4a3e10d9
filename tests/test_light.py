"""What needs no model runs where none is installed, and what does says which extra brings it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# As if these were not installed: no finder knows them, for those who import and those who look.
SCRIPT = """
import sys
from importlib.machinery import PathFinder

ABSENT = {"torch", "sentence_transformers", "transformers", "tokenizers", "huggingface_hub"}

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name in ABSENT else super().find_spec(name, path, target)

sys.meta_path = [Without if finder is PathFinder else finder for finder in sys.meta_path]
from lab.cli import main
main()
"""
EXPERIMENT = """
name = "light"
corpus = "corpora/devices"
diagnostic_sets = ["diagnostic_sets/devices/exact_id.jsonl"]
[chunk]
size = [200, 400]
[retrieve]
mode = "bm25"
"""
RULES = """
[[rule]]
metric = "ndcg@10"
floor = 0.1
"""


def lab(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=folder,
        env=os.environ | {"LAB_CACHE": str(folder / "cache.sqlite"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("light")
    assert lab(folder, "init", "--demo").returncode == 0
    (folder / "light.toml").write_text(EXPERIMENT)
    (folder / "rules.toml").write_text(RULES)
    asked = folder / "diagnostic_sets" / "devices" / "exact_id.jsonl"
    lines = (
        f'{{"query": {json.dumps(json.loads(line)["text"])}}}'
        for line in asked.read_text().splitlines()
    )
    (folder / "questions.jsonl").write_text("\n".join(lines))
    done = lab(folder, "run", "light.toml")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "init corpora/devices --out begun.toml",
        "check corpora/devices diagnostic_sets/devices",
        "check light.toml",
        "show runs/light",
        "explain runs/light dev-id-001",
        "slices runs/light",
        "compare runs/light runs/light",
        "gate runs/light --baseline runs/light --rules rules.toml",
        "search --run runs/light E-4012",
        "index runs/light --to index",
        "export runs/light --to latex",
        "report runs/light",
        "watch questions.jsonl --run runs/light",
    ],
)
def test_a_light_command_runs(folder: Path, command: str) -> None:
    done = lab(folder, *command.split())
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_that_needs_a_model_names_the_extra(folder: Path) -> None:
    extra = "pip install 'retrieval-diagnostics-lab[models]'"
    told = lab(folder, "check", "experiments/quickstart.toml")
    assert extra.split() == [word for word in told.stdout.split() if word in extra.split()][:3]
    for command in (("run", "experiments/quickstart.toml"), ("search", "corpora/devices", "oil")):
        refused = lab(folder, *command)
        assert refused.returncode == 2, refused.stderr
        assert extra in refused.stderr
        assert "Traceback" not in refused.stderr


def test_a_model_that_is_not_there_is_told_before_any_work(folder: Path) -> None:
    (folder / "dense.toml").write_text(EXPERIMENT.replace('"bm25"', '["dense", "hybrid"]'))
    refused = lab(folder, "run", "dense.toml")
    assert refused.returncode == 2
    assert refused.stderr.startswith("1 problem:\n  dense.model: model 'all-MiniLM-L6-v2' needs")
    assert not (folder / "runs" / "dense").exists()
