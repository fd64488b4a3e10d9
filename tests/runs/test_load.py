"""From a verdict to its use: the system of a run, loaded, exported, run again."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lab
from lab.cli import app
from lab.config.experiment import read_experiment
from lab.errors import ConfigError, RunError
from lab.runs import inputs
from lab.runs.config_file import experiment_file
from tests.conftest import ROOT

GRID: dict[str, Any] = {
    "chunk_strategy": ("fixed", "structure"),
    "chunk_size": (300, (200, 600)),
    "mode": "bm25",
    "k1": (0.9, 1.2),
    "deliver": ("chunk", "window(1)"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus = lab.read_corpus(ROOT / "corpora" / "devices")
    queries = lab.read_diagnostics(ROOT / "diagnostic_sets" / "devices" / "exact_id.jsonl", corpus)
    run = lab.sweep(corpus, queries, lab.Grid(**GRID), progress=False)
    return run.write(tmp_path_factory.mktemp("runs") / "run")


def test_the_recommended_system_answers_as_in_its_run(folder: Path) -> None:
    run = lab.read_run(folder)
    searcher = lab.load(folder)
    assert searcher.config.name == run.recommended
    table = run.tables.rankings
    rows = table[(table["system"] == run.recommended) & (table["rank"].fillna(0) > 0)]
    for query in [query for query in run.queries if query.query_id in run.query_ids][:10]:
        ranked = rows[rows["query_id"] == query.query_id].sort_values("rank", kind="stable")
        best = ranked.drop_duplicates("rank").head(5)
        spans = zip(best["doc_id"], best["shown_start"], best["shown_end"], strict=True)
        hits = searcher.search(query.text, 5)
        assert [(hit.doc_id, hit.start, hit.end) for hit in hits] == list(spans)


def test_any_system_by_its_full_or_short_name(folder: Path) -> None:
    run = lab.read_run(folder)
    for name in run.systems:
        assert lab.load(run, name).config.name == name
        assert lab.load(run, run.labels[name]).config.name == name
    assert lab.load(run, "best").config.name == run.best
    with pytest.raises(RunError, match="no system 'structur'"):
        lab.load(run, "structur")


def test_documents_that_moved_are_named(folder: Path) -> None:
    searcher = lab.load(folder, corpus=ROOT / "corpora" / "devices")
    assert len(searcher.corpus) == 46
    with pytest.raises(RunError, match="have changed"):
        lab.load(folder, corpus=ROOT / "corpora" / "software")


def test_every_system_survives_its_experiment_file(folder: Path, tmp_path: Path) -> None:
    run = lab.read_run(folder)
    for name in run.systems:
        file = tmp_path / "experiment.toml"
        file.write_text(experiment_file(run, name), "utf-8")
        experiment = read_experiment(file)
        (config,) = experiment.grid.systems()[0]
        assert config.name == name
        assert experiment.measure.model_dump(mode="json") == run.manifest["measure"]


def test_the_commands_search_and_export(folder: Path, tmp_path: Path) -> None:
    searched = CliRunner().invoke(app, ["search", "--run", str(folder), "E-4012", "-k", "2"])
    assert searched.exit_code == 0, searched.output
    assert "bm25" in searched.output
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["export", str(folder), "--to", "config", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert len(read_experiment(out / "experiment.toml").grid.systems()[0]) == 1
    csv = tmp_path / "csv"
    wrong = ["export", str(folder), "--to", "csv", "--system", "x", "--out", str(csv)]
    with pytest.raises(ConfigError, match="--system goes with --to"):
        CliRunner().invoke(app, wrong, catch_exceptions=False)
    CliRunner().invoke(app, ["export", str(folder), "--to", "csv", "--out", str(csv)])
    assert (csv / "systems.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_an_index_is_searched_like_its_run_wherever_it_lies(folder: Path, tmp_path: Path) -> None:
    run = lab.read_run(folder)
    asked = [query.text for query in run.queries][:8]
    written = ["index", str(folder), "--to", str(tmp_path / "index")]
    done = CliRunner().invoke(app, written)
    assert done.exit_code == 0, done.output
    assert "46 added, 0 changed, 0 removed, 0 as they were" in done.output
    again = CliRunner().invoke(app, written)
    assert "0 added, 0 changed, 0 removed, 46 as they were" in again.output
    (tmp_path / "index").rename(tmp_path / "elsewhere")
    searcher = lab.load(tmp_path / "elsewhere")
    assert searcher.search_many(asked, 7) == lab.load(folder).search_many(asked, 7)
    assert lab.load(tmp_path / "elsewhere", run.recommended).config.name == run.recommended
    shown = CliRunner().invoke(app, ["search", "--run", str(tmp_path / "elsewhere"), "E-4012"])
    assert "bm25" in shown.output
    with pytest.raises(RunError, match="this index holds"):
        lab.load(tmp_path / "elsewhere", "another")
    with pytest.raises(RunError, match="an index holds its documents"):
        lab.load(tmp_path / "elsewhere", corpus=ROOT / "corpora" / "devices")


def test_an_index_follows_documents_that_have_changed(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "corpora" / "devices" / "documents", tmp_path / "documents")
    lab.index(folder, tmp_path / "index", corpus=tmp_path / "documents")
    (tmp_path / "documents" / "faq.md").write_text("The zweibrueckener valve is new.\n")
    (tmp_path / "documents" / "glossary.txt").unlink()
    (tmp_path / "documents" / "more.md").write_text("A page about the zweibrueckener valve.\n")
    done = lab.index(folder, tmp_path / "index", corpus=tmp_path / "documents")
    assert (done.added, done.changed, done.removed, done.kept) == (1, 1, 1, 44)
    hits = lab.load(tmp_path / "index").search("zweibrueckener", 5)
    assert {hit.doc_id for hit in hits} == {"faq.md", "more.md"}


def test_a_run_that_is_called_like_its_documents_is_not_taken_for_them(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = lab.read_run(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    place = tmp_path / "devices"
    shutil.copytree(folder, place)
    monkeypatch.chdir(tmp_path)
    named = {"path": "devices", "absolute_path": str(tmp_path / "gone")}
    places = inputs.Inputs(folder=place)
    with pytest.raises(RunError, match="the documents of this run are not there"):
        inputs.find_corpus({"corpus": manifest["corpus"] | named}, places)
    assert run.corpus.fingerprint == manifest["corpus"]["fingerprint"]
