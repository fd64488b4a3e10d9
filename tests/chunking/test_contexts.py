"""Contexts from a file: which one a chunk gets, what is indexed, and what a bad file is told."""

import json
from pathlib import Path

import pytest

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.contexts import read_contexts
from lab.config.config import Config
from lab.config.experiment import read_experiment
from lab.config.grid import Grid
from lab.errors import ConfigError
from lab.relevance.query import Evidence, Query
from tests.given import corpus_of

TEXTS = {"a": "the pump leaks here. " * 2, "b": "turn it off and wait. " * 2}


def file_of(folder: Path, *lines: object) -> Path:
    place = folder / "contexts.jsonl"
    place.write_text("\n".join(json.dumps(line) for line in lines) + "\n", "utf-8")
    return place


def test_a_chunk_gets_the_context_that_shares_most_of_it(tmp_path: Path) -> None:
    place = file_of(
        tmp_path,
        {"doc_id": "a", "context": "whole"},
        {"doc_id": "a", "start": 0, "end": 20, "context": "first"},
        {"doc_id": "a", "start": 20, "end": 60, "context": " second "},
    )
    contexts = read_contexts(str(place))
    assert contexts.of("a", 0, 20) == "first"  # as much as the whole document, and shorter
    assert contexts.of("a", 18, 60) == "whole"  # 42 against 40
    assert contexts.of("a", 20, 60) == "second"
    assert contexts.of("a", 22, 40) == "second"
    assert not contexts.of("b", 0, 20)
    before = contexts.identity
    file_of(tmp_path, {"doc_id": "a", "context": "another, longer text"})
    assert read_contexts(str(place)).of("a", 0, 20) == "another, longer text"
    assert read_contexts(str(place)).identity != before


def test_contexts_are_searched_and_the_text_alone_is_delivered(tmp_path: Path) -> None:
    place = file_of(tmp_path, {"doc_id": "b", "context": "Switching the zyzzyva motor."})
    corpus = corpus_of(TEXTS)
    query = Query("q", "zyzzyva", evidence=(Evidence("b", 0, 10),))
    grid = Grid(mode="bm25", chunk_size=22, prefix=["", f"file:{place}"])
    run = lab.sweep(corpus, [query], grid, lab.Measure(metrics=("recall@2",)))
    table = run.table().set_index("prefix")["recall@2"]
    assert table.to_dict() == {"": 0.0, f"file:{place}": 1.0}
    system = next(name for name in run.table()["system"] if "^file:contexts.jsonl" in name)
    hit, *_ = lab.load(run, system, corpus).search("zyzzyva")
    assert TEXTS["b"][hit.start : hit.end] == hit.text
    identities = run.manifest["identities"]
    assert identities[f"contexts file:{place}"] == read_contexts(str(place)).identity
    row = run.table().to_dict("records")[1]
    assert Grid.from_row(row).systems()[0][0].name == row["system"]
    plain = Config(chunk=ChunkConfig(prefix=f"file:{place}"))
    assert Config.from_toml(plain.to_toml()) == plain


def test_a_bad_file_is_told_before_any_work(tmp_path: Path) -> None:
    place = file_of(tmp_path, {"doc_id": "a", "context": 3}, {"doc_id": "a", "text": "x"}, [1])
    place.write_text(place.read_text() + "not json\n" * 9)
    with pytest.raises(ConfigError, match="and 7 more such lines") as raised:
        read_contexts(str(place))
    assert len(raised.value.problems) == 6
    other = file_of(tmp_path, {"doc_id": "elsewhere", "context": "x"})
    query = Query("q", "pump", evidence=(Evidence("a", 0, 10),))
    with pytest.raises(ConfigError, match="none of its documents is in the corpus"):
        lab.sweep(corpus_of(TEXTS), [query], Grid(mode="bm25", prefix=f"file:{other}"))
    with pytest.raises(ConfigError, match="cannot be read"):
        lab.sweep(corpus_of(TEXTS), [query], Grid(mode="bm25", prefix="file:nowhere.jsonl"))
    with pytest.raises(ConfigError, match=r"file:contexts\.jsonl"):
        Grid(prefix="titles")


def test_the_file_lies_beside_its_experiment(tmp_path: Path) -> None:
    place = file_of(tmp_path, {"doc_id": "a.txt", "context": "x"})
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("the pump")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "queries.jsonl").write_text('{"query_id": "q", "text": "pump"}\n')
    file = tmp_path / "e.toml"
    head = 'corpus = "docs"\ndiagnostic_sets = ["set"]\n[chunk]\nprefix = '
    file.write_text(head + '["", "title", "file:contexts.jsonl"]\n')
    assert read_experiment(file).grid.prefix == ("", "title", f"file:{place}")
    file.write_text(head + '"file:context.jsonl"\n')
    with pytest.raises(ConfigError, match=r"chunk.prefix file:context.jsonl does not exist"):
        read_experiment(file)
