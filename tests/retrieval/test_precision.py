"""What a model computes in: systems of their own, vectors kept apart."""

import numpy as np
import pytest

from lab.config.grid import Grid
from lab.errors import ConfigError
from lab.pipeline.resources import Resources
from lab.retrieval.config import DEFAULT_MODEL, DenseConfig
from lab.storage.cache import Cache


def test_the_default_is_the_plain_model() -> None:
    assert DenseConfig().encoder == DEFAULT_MODEL


def test_two_precisions_are_two_systems_with_names_that_tell_them_apart() -> None:
    systems, _ = Grid(mode="dense", dtype=("float32", "bfloat16")).systems()
    assert [system.name for system in systems] == ["fixed-400 dense", "fixed-400 dense bfloat16"]


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"dense\.device"):
        Grid(device="tpu")


def test_bfloat16_gives_vectors_of_its_own_near_those_of_float32() -> None:
    resources = Resources(Cache(None))
    texts = ["The pump primes itself.", "E-4012 means that the valve is stuck."]
    full, half = (
        resources.embed(DenseConfig(dtype=dtype, device="cpu").encoder, "passage", texts)
        for dtype in ("float32", "bfloat16")
    )
    assert resources.counts["texts computed"] == 4
    cosines = (full * half).sum(axis=1) / np.linalg.norm(half, axis=1)
    assert (cosines > 0.999).all()
