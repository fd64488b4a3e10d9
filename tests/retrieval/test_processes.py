"""Encoding in several processes gives the vectors of one."""

from pathlib import Path

import numpy as np
import pytest

from lab.errors import ConfigError
from lab.pipeline import given as pipeline_given
from lab.pipeline.resources import Resources
from lab.retrieval import processes
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.processes import EncodingProcesses, processes_wanted
from lab.storage.cache import Cache

MODEL = "all-MiniLM-L6-v2"


def test_two_processes_give_the_vectors_of_one_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "SHARE", 32)
    texts = sorted((f"{'pump ' * (i % 7)}number {i}" for i in range(70)), key=len)
    alone = SentenceEncoder(MODEL).encode(texts, "passage", lambda done: None)
    done: list[int] = []
    with EncodingProcesses(SentenceEncoder(MODEL), 2) as several:
        parts = list(several.parts(texts, "passage", done.append))
    assert [place for places, _ in parts for place in places] == list(range(70))
    np.testing.assert_array_equal(np.concatenate([vectors for _, vectors in parts]), alone)
    assert done == [32, 32, 6]


def test_a_large_corpus_is_encoded_in_the_processes_that_were_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    class Counted(EncodingProcesses):
        def __init__(self, encoder: SentenceEncoder, count: int) -> None:
            started.append(count)
            super().__init__(encoder, count)

    monkeypatch.setattr(pipeline_given, "EncodingProcesses", Counted)
    monkeypatch.setattr(pipeline_given, "WORTHWHILE", 3)
    monkeypatch.setenv("LAB_PROCESSES", "2")
    few, many = ["one", "two"], ["three", "four", "five"]
    given = Resources(Cache(None))
    given.embed(MODEL, "passage", few)
    assert started == []
    found = given.embed(MODEL, "passage", many)
    assert started == [2]
    np.testing.assert_array_equal(
        found, SentenceEncoder(MODEL).encode(many, "passage", lambda done: None)
    )


@pytest.mark.parametrize("wanted", ["0", "two", "-1", ""])
def test_a_number_of_processes_that_is_none_is_refused(
    wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_PROCESSES", wanted)
    with pytest.raises(ConfigError, match="expected a whole number from 1"):
        processes_wanted()
