"""A profiled sweep: times that add up, latencies for every system, and results that profiling does
not touch."""

import time

import numpy as np

from lab.config.grid import Grid
from lab.corpus.document import Corpus, Document
from lab.pipeline.resources import Resources
from lab.relevance.query import Evidence, Query
from lab.report.screens.profile import LATENCY, profile_screen
from lab.storage.cache import Cache
from lab.sweeping.profile import Latency
from lab.sweeping.sweep import sweep

CORPUS = Corpus(
    [Document("pump", "The pump has a valve. " * 9), Document("fan", "The fan turns. " * 9)]
)
QUERIES = (
    Query("q1", "pump valve", evidence=(Evidence("pump", 0, 20),)),
    Query("q2", "fan", evidence=(Evidence("fan", 0, 9),)),
)
GRID = Grid(mode="bm25", chunk_size=(50, 100))


def test_time_inside_an_inner_stage_is_not_the_outer_ones() -> None:
    resources = Resources(Cache(None))
    with resources.timed("outer"), resources.timed("inner"):
        time.sleep(0.05)
    assert resources.seconds["inner"] >= 0.05
    assert 0 <= resources.seconds["outer"] < 0.05
    assert set(resources.peak_mb) == {"outer", "inner"}


def test_every_system_gets_latencies_and_every_index_a_size() -> None:
    run = sweep(CORPUS, QUERIES, GRID, profile=True)
    assert (run.tables.systems[list(LATENCY)] > 0).all(axis=None)
    assert set(run.manifest["profile"]["index_bytes"]) == {"fixed-50 bm25", "fixed-100 bm25"}
    assert set(run.manifest["profile"]["peak_mb"]) == set(run.manifest["seconds"])
    assert profile_screen(run)


def test_profiling_changes_no_result() -> None:
    profiled, plain = sweep(CORPUS, QUERIES, GRID, profile=True), sweep(CORPUS, QUERIES, GRID)
    np.testing.assert_array_equal(profiled.tables.values, plain.tables.values)
    assert set(profiled.table()) - set(plain.table()) == set(LATENCY)
    assert set(profiled.manifest["counts"].items()) == set(plain.manifest["counts"].items())


def test_a_system_that_was_not_timed_has_no_latency() -> None:
    assert np.isnan(Latency().p50)
