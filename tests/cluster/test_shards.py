"""Shards have the scores, ranks and runs of one index."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lab
from lab.arrays import NONE, Ints
from lab.chunking.config import ChunkConfig
from lab.cluster.cluster import Cluster
from lab.config.experiment import read_experiment
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError
from lab.pipeline.indexes import Indexes
from lab.pipeline.resources import Resources
from lab.pipeline.shard import Shard
from lab.pipeline.sharded import ShardedIndexes
from lab.pipeline.shards import Shards
from lab.relevance.query import Query
from lab.retrieval.config import BM25Config, DenseConfig
from lab.storage.cache import Cache
from lab.sweeping.sweep import sweep
from tests.cluster.sweeps import GRID, differing, world
from tests.conftest import ROOT
from tests.given import GivenEncoder, GivenReranker

CHUNK = ChunkConfig(size=40)
QUESTIONS = ["pump leak", "valve valve x3", "nothing known", "", "rotor noise heat gauge"]


def given_resources() -> Resources:
    return Resources(Cache(None), encoders={"given": GivenEncoder()})


class ShardsHere(Shards):
    """The same in this process: what is asked of an actor is asked of the shard itself."""

    def __init__(self, corpus: Corpus, borders: Sequence[int]) -> None:
        self._first = np.array([0, *borders])
        ends = [*borders, len(corpus)]
        self._actors = [
            Shard(list(corpus.documents[first:end]), given_resources())
            for first, end in zip(self._first, ends, strict=True)
        ]

    def ask(self, method: str, arguments: Any) -> list[Any]:
        return [
            None if some is None else getattr(shard, method)(*some)
            for shard, some in zip(self._actors, arguments, strict=True)
        ]

    def put(self, value: Any) -> Any:
        return value


def documents() -> Corpus:
    """Drawn words with titles; two documents in the middle have nothing to index, one no term."""
    plain = list(world()[0].documents)
    titled = [replace(d, title=f"the {d.text.split()[0]} manual") for d in plain[:10]]
    empty = [Document("d04a", "  "), Document("d04b", "\n"), Document("d04c", "... !!!")]
    return Corpus([*titled, *plain[10:], *empty])


@pytest.mark.parametrize("borders", [(8,), (1, 5, 6, 7, 8, 12), (4, 5, 18)])
@pytest.mark.parametrize("views", [("text",), ("text", "title")])
@pytest.mark.parametrize("variant", ["lucene", "okapi", "l", "plus"])
def test_bm25_over_shards_is_that_of_the_whole(
    borders: tuple[int, ...], views: tuple[str, ...], variant: Any
) -> None:
    corpus, config = documents(), BM25Config(variant=variant, views=views)
    whole = Indexes(corpus, CHUNK, given_resources())
    parts = ShardedIndexes(corpus, CHUNK, given_resources(), ShardsHere(corpus, borders))
    for name in ("document", "start", "end", "level"):
        assert getattr(parts.chunking, name).tolist() == getattr(whole.chunking, name).tolist()
    one, other = whole.bm25_index(config), parts.bm25_index(config)
    _alike(one, other, QUESTIONS, whole.chunking.document)
    fresh = ["pump leak new", "valve", "x", "y", "rotor rotor"]
    np.testing.assert_array_equal(
        one.own.scores_of_new(QUESTIONS, fresh), other.own.scores_of_new(QUESTIONS, fresh)
    )


@pytest.mark.parametrize("borders", [(8,), (1, 5, 6, 7, 8, 12), (4, 5, 18)])
@pytest.mark.parametrize("views", [("text",), ("text", "title")])
def test_the_dense_leg_over_shards_is_that_of_the_whole(
    borders: tuple[int, ...], views: tuple[str, ...]
) -> None:
    corpus, config = documents(), DenseConfig(model="given", views=views)
    whole = Indexes(corpus, CHUNK, given_resources())
    parts = ShardedIndexes(corpus, CHUNK, given_resources(), ShardsHere(corpus, borders))
    vectors = whole.resources.embed("given", "query", QUESTIONS)
    one, other = whole.dense_index(config), parts.dense_index(config)
    _alike(one, other, vectors, whole.chunking.document)


def _alike(one: Any, other: Any, questions: Any, document: Ints) -> None:
    """Rankings at several depths, over all chunks and over those of some documents, and scores of
    drawn ones."""
    draw = np.random.default_rng(0)
    for depth in (1, 7, 50, 10_000):
        hits = [each.search(questions, depth) for each in (one, other)]
        for query in range(len(questions)):
            assert hits[0].hits(query).tolist() == hits[1].hits(query).tolist()
            held = len(hits[0].hits(query))
            scores = [each.scores[query, :held].tolist() for each in hits]
            assert scores[0] == scores[1]
    some = np.flatnonzero((draw.random(document.max() + 1) < 0.4)[document])
    narrow = [each.only(some).search(questions, 20) for each in (one, other)]
    for query in range(len(questions)):
        assert narrow[0].hits(query).tolist() == narrow[1].hits(query).tolist()
    asked = draw.integers(NONE, len(document), (len(questions), 30))
    for ask in ("scores", "scores_of_others"):
        np.testing.assert_array_equal(
            getattr(one, ask)(questions, asked), getattr(other, ask)(questions, asked)
        )


def test_shards_are_a_number_and_need_a_cluster(tmp_path: Path) -> None:
    corpus, queries = world()
    with pytest.raises(ConfigError, match="needs Ray's processes"):
        sweep(corpus, queries, {"mode": "bm25"}, shards=2, progress=False)
    (tmp_path / "d.txt").write_text("a")
    (tmp_path / "q.jsonl").write_text("")
    text = 'diagnostic_sets = ["q.jsonl"]\n[corpus]\npath = "d.txt"\nshards = {}\n'
    (tmp_path / "e.toml").write_text(text.format(3))
    read = read_experiment(tmp_path / "e.toml")
    assert (read.corpus, read.shards) == (tmp_path / "d.txt", 3)
    for wrong in ("0", "true", "2.5", '"4"'):
        (tmp_path / "e.toml").write_text(text.format(wrong) + "shard = 2\n")
        with pytest.raises(ConfigError, match="expected a whole number from 1") as fault:
            read_experiment(tmp_path / "e.toml")
        assert "unknown key 'corpus.shard'; did you mean 'shards'?" in str(fault.value)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    with Cluster() as connected:
        yield connected


def both(
    corpus: Corpus, queries: list[Query], tmp_path: Path, cluster: Cluster, **given: Any
) -> None:
    """The run in one process and the run in shards differ in nothing but times."""
    one, other = (
        sweep(corpus, queries, **given, **parts, progress=False, cache=tmp_path / f"{n}.sqlite")
        for n, parts in enumerate([{}, {"cluster": cluster, "shards": 3}])
    )
    folders = one.write(tmp_path / "one"), other.write(tmp_path / "other")
    assert differing(*folders) == []
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in folders]
    for manifest in manifests:
        del manifest["finished"], manifest["seconds"]
    assert manifests[0] == manifests[1]


def test_a_run_in_shards_has_the_bytes_of_one_index(cluster: Cluster, tmp_path: Path) -> None:
    models = {"given": GivenEncoder()}, {"given": GivenReranker({"pump valve": 1.0})}
    both(*world(), tmp_path, cluster, grid=GRID, encoders=models[0], rerankers=models[1])


def test_a_shard_that_dies_is_made_again(cluster: Cluster, tmp_path: Path) -> None:
    import ray

    corpus, config = documents(), BM25Config()
    whole = Indexes(corpus, CHUNK, given_resources())
    resources = replace(given_resources(), cache=Cache(tmp_path / "c.sqlite"), cluster=cluster)
    shards = Shards(corpus, 3, resources)
    parts = ShardedIndexes(corpus, CHUNK, resources, shards)
    document = whole.chunking.document
    for actor in shards._actors:
        _alike(whole.bm25_index(config), parts.bm25_index(config), QUESTIONS, document)
        ray.kill(actor, no_restart=False)
    _alike(whole.bm25_index(config), parts.bm25_index(config), QUESTIONS, document)
    shards.end()


def test_an_approximate_index_in_shards_is_refused(cluster: Cluster) -> None:
    corpus, queries = world()
    grid = {"mode": "dense", "model": "given", "index": "hnsw"}
    with pytest.raises(ConfigError, match="'hnsw' over shards"):
        sweep(corpus, queries, grid, encoders={"given": GivenEncoder()}, cluster=cluster, shards=2)


# Vectors without a meaning are as good as others where two ways to rank them are compared.
LEGS = {"chunk_size": 400, "mode": ("bm25", "dense", "hybrid"), "alpha": 0.4, "model": "given"}
SETS = ("devices", "contracts", "software", "handbook-zh")


@pytest.mark.slow  # whole sets
@pytest.mark.parametrize("name", SETS)
def test_own_sets_in_shards(name: str, cluster: Cluster, tmp_path: Path) -> None:
    corpus = lab.read_corpus(ROOT / "corpora" / name)
    queries = lab.read_diagnostics(ROOT / "diagnostic_sets" / name, corpus)
    both(corpus, queries, tmp_path, cluster, grid=LEGS, encoders={"given": GivenEncoder()})


@pytest.mark.slow  # whole public sets
@pytest.mark.parametrize("name", ["beir/scifact", "spans/chroma"])
def test_public_sets_in_shards(name: str, cluster: Cluster, tmp_path: Path, shared: Path) -> None:
    corpus = lab.read_corpus(shared / "bench" / name)
    queries = lab.read_diagnostics(shared / "bench" / name, corpus)
    both(corpus, queries, tmp_path, cluster, grid=LEGS, encoders={"given": GivenEncoder()})
