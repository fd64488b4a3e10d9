"""Predictors on paper: four chunks, two lists."""

import math

import numpy as np
import pytest

from lab.config.config import Config
from lab.pipeline.indexes import Indexes
from lab.pipeline.predictors import predictors, scq
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages
from lab.relevance.query import Query
from lab.retrieval.config import DenseConfig, FusionConfig
from lab.storage.cache import Cache
from lab.storage.progress import Silent
from tests.given import GivenEncoder, corpus_of

TEXTS = {"a": "pump pump seal", "b": "pump ring", "c": "valve", "d": "motor fuse"}
ANSWERS = {"pump valve zzz": [1.0, 0.0], "K-4012": [0.0, 1.0]}
COSINES = {"pump pump seal": 0.6, "pump ring": 1.0, "valve": 0.8, "motor fuse": 0.0}


@pytest.fixture
def stages(tmp_path: object) -> Stages:
    vectors = {text: [cos, math.sqrt(1 - cos**2)] for text, cos in COSINES.items()} | ANSWERS
    cache = Cache(tmp_path / "cache.sqlite", print)  # type: ignore[operator]
    resources = Resources(cache, Silent(), {"given": GivenEncoder(vectors)}, {})
    corpus, config = corpus_of(TEXTS), Config().chunk
    asked = [Query("q", "pump valve zzz"), Query("code", "K-4012")]
    return Stages(Indexes(corpus, config, resources), Questions.of(asked))


CONFIG = Config(dense=DenseConfig(model="given"), fusion=FusionConfig(), depth=4)


def test_every_figure_on_paper(stages: Stages) -> None:
    assert CONFIG.bm25 is not None
    found = predictors(stages, CONFIG)
    lexical = stages.own_bm25(CONFIG.bm25, 4).scores[0]
    s1, s2, s3 = lexical[:3].tolist()  # valve, then the two that hold pump
    idf_valve = math.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    idf_pump = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    mean = (s1 + s2 + s3) / 3
    spread = math.sqrt(sum((s - mean) ** 2 for s in (s1, s2, s3)) / 3)
    dense_mean = (1.0 + 0.8 + 0.6 + 0.0) / 4
    dense_spread = math.sqrt(sum((s - dense_mean) ** 2 for s in (1.0, 0.8, 0.6, 0.0)) / 4)
    expected = {
        "words": math.log(4),
        "identifiers": 0,
        "unknown": 1 / 3,
        "idf_max": idf_valve,
        "idf_mean": (idf_pump + idf_valve) / 2,
        "bm25_drop": (s1 - s2) / s1,
        "bm25_fall": 1.0,  # there is no tenth
        "dense_top": 1.0,
        "dense_drop": 0.2,
        "dense_fall": 1.0,
        "overlap": 0.3,
        "bm25_of_dense": 1 / 2,  # valve is second in the dense list
        "dense_of_bm25": 1 / 3,  # pump ring is third in the lexical list: the other says it twice
        "wig_bm25": 0.0,  # the first five are the whole list
        "wig_dense": 0.0,
        "nqc_bm25": spread / mean,
        "nqc_dense": dense_spread / dense_mean,
    }
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert found[name][0] == pytest.approx(value, abs=1e-6), name


def test_a_question_without_known_terms_has_finite_figures(stages: Stages) -> None:
    found = predictors(stages, CONFIG)
    assert all(np.isfinite(column).all() for column in found.values())
    assert found["identifiers"].tolist() == [0, 1]
    assert found["unknown"][1] == 1.0
    assert found["idf_max"][1] == found["bm25_drop"][1] == found["nqc_bm25"][1] == 0.0


def test_scq_on_paper(stages: Stages) -> None:
    # pump: 3 occurrences in 2 of 4 chunks; valve: 1 in 1.
    pump = (1 + math.log(3)) * math.log(1 + 4 / 2)
    valve = (1 + math.log(1)) * math.log(1 + 4 / 1)
    assert scq(stages, CONFIG) == pytest.approx([pump + valve, 0.0])
