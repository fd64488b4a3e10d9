"""Session: what it finds is what sweeps find, and what it has run it does not run again."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import lab
from lab.errors import ConfigError, DiagnosticsError
from lab.sweeping import chunking_run
from tests.given import GivenEncoder, GivenReranker, corpus_of
from tests.sweeping.test_sweep import MODEL, QUERIES, TEXTS

FIRST = {"mode": ("bm25", "hybrid"), "chunk_size": 40, "alpha": (0.3, 0.6), "k1": (0.8,)}
BOTH = FIRST | {"chunk_size": (40, 80), "alpha": (0.3, 0.6, 0.9), "k1": (0.8, 1.6)}
TIMES = ("finished", "seconds", "counts", "environment")


def tools() -> dict[str, Any]:
    return {
        "cache": Path(":memory:"),
        "encoders": {MODEL: GivenEncoder()},
        "rerankers": {"given": GivenReranker({"The pump leaks when the seal is worn.": 2.0})},
        "progress": False,
    }


def session() -> lab.Session:
    return lab.Session(corpus_of(TEXTS), QUERIES, **tools())


def digests(run: lab.Run, folder: Path) -> dict[str, str]:
    """Every file of a run folder but the page, which shows times."""
    run.write(folder)
    files = {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.suffix != ".html"
    }
    manifest = json.loads(files["manifest.json"])
    files["manifest.json"] = json.dumps(
        {key: value for key, value in manifest.items() if key not in TIMES}
    ).encode()
    return {name: sha256(data).hexdigest() for name, data in files.items()}


@pytest.mark.parametrize(
    "settings",
    [
        {"mode": "bm25", "k1": 0.8},
        {"mode": "dense", "chunk_size": 60},
        {"mode": "hybrid", "alpha": 0.6, "rerank_model": "given", "rerank_depth": 5},
    ],
)
def test_a_trial_scores_as_a_sweep_does(settings: dict[str, Any]) -> None:
    corpus = corpus_of(TEXTS)
    run = lab.sweep(corpus, QUERIES, settings, **tools())
    trial = session()
    trial.evaluate(mode="bm25", chunk_size=30)
    scores = trial.evaluate(**settings)
    assert scores.query_ids == run.query_ids
    assert scores.values.tolist() == run.scores(run.systems[0]).values.tolist()
    assert trial.evaluate(**settings).values.tolist() == scores.values.tolist()


def test_an_extended_run_is_that_of_all_systems(tmp_path: Path) -> None:
    whole = lab.sweep(corpus_of(TEXTS), QUERIES, BOTH, **tools())
    kept = session()
    extended = kept.sweep(BOTH, extend=kept.sweep(FIRST))
    assert extended.systems == whole.systems
    assert digests(extended, tmp_path / "extended") == digests(whole, tmp_path / "whole")


def test_extending_runs_new_systems_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    outcome = chunking_run._outcome

    def counted(config: lab.Config, *arguments: Any) -> Any:
        asked.append(config.name)
        return outcome(config, *arguments)

    monkeypatch.setattr(chunking_run, "_outcome", counted)
    kept = session()
    first = kept.sweep({"mode": "bm25", "k1": (0.8, 1.2)})
    assert sorted(asked) == sorted(first.systems)
    asked.clear()
    more = kept.sweep({"mode": "bm25", "k1": (1.2, 2.0)}, extend=first)
    assert len(more.systems) == 3
    assert set(asked) == set(more.systems) - set(first.systems)


def test_only_the_named_systems_are_added_to_a_folder_too(tmp_path: Path) -> None:
    kept = session()
    first = kept.sweep({"mode": "bm25", "chunk_size": (40, 80)})
    more = kept.sweep({"mode": "bm25", "chunk_size": 40, "k1": 2.0}, extend=first)
    assert len(more.systems) == 3
    assert more.systems[:2] == first.systems
    first.write(tmp_path / "run")
    again = session().sweep({"mode": "bm25", "chunk_size": 40, "k1": 2.0}, extend=tmp_path / "run")
    assert again.systems == more.systems


def test_other_questions_share_the_indexes() -> None:
    every = session()
    some = every.asking(["q2", "q1"])
    scores = some.evaluate(mode="bm25")
    assert scores.query_ids == ("q1", "q2")
    of_all = every.evaluate(mode="bm25")
    assert scores.values.tolist() == of_all.values[:2].tolist()
    with pytest.raises(DiagnosticsError, match="q99"):
        every.asking(["q99"])


def test_bad_calls_are_told() -> None:
    kept = session()
    with pytest.raises(ConfigError, match=r"2 systems.*k1"):
        kept.evaluate(mode="bm25", k1=(0.8, 1.2))
    with pytest.raises(ConfigError, match="k2"):
        kept.evaluate(k2=1)
    other = kept.asking(["q1"]).sweep({"mode": "bm25"})
    with pytest.raises(ConfigError, match="other questions"):
        kept.sweep({"mode": "bm25"}, extend=other)
