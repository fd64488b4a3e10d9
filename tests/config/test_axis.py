"""The values of a setting, however they were given: arrays, ranges, columns; what is refused."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.config.axis import MOST_VALUES, values_of
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.errors import ConfigError

GIVEN = [
    ("alpha", np.linspace(0, 1, 3), (0.0, 0.5, 1.0)),
    ("alpha", np.linspace(0, 1, 11), tuple(i / 10 for i in range(11))),
    ("alpha", np.float64(0.5), (0.5,)),
    ("alpha", [np.float32(0.5), 1], (0.5, 1.0)),
    ("alpha", pd.Series([0.1, 0.2]), (0.1, 0.2)),
    ("alpha", 0.1 + 0.2, (0.3,)),
    ("chunk_size", range(200, 500, 100), (200, 300, 400)),
    ("chunk_size", np.arange(200, 500, 100), (200, 300, 400)),
    ("chunk_size", np.linspace(200, 400, 3), (200, 300, 400)),
    ("chunk_size", [np.array([768, 256]), 400], ((256, 768), 400)),
    ("chunk_size", (size for size in (200, 400)), (200, 400)),
    ("chunk_size", {"manual": np.int64(200), "default": 300}, None),
    ("depth", np.int64(50), (50,)),
    ("variants", np.bool_(True), (True,)),
    ("variants", np.array([True, False]), (True, False)),
    ("mode", np.array(["bm25", "dense"]), ("bm25", "dense")),
    ("mode", pd.Index(["bm25"]), ("bm25",)),
    ("model", Path("models/small"), ("models/small",)),
    ("k1", {"start": 1, "stop": 2, "step": 0.5}, (1.0, 1.5, 2.0)),
    ("views", [["text", "title"], "text"], (("text", "title"), ("text",))),
]


@pytest.mark.parametrize(("name", "value", "expected"), GIVEN)
def test_an_axis_may_be_anything_that_holds_values(name: str, value: Any, expected: Any) -> None:
    grid = Grid(**{name: value})
    if expected is not None:
        assert getattr(grid, name) == expected
        assert all(type(part) in (bool, int, float, str, tuple) for part in getattr(grid, name))
    assert grid.systems()[0]


REFUSED = [
    ({"k1": True}, "bm25.k1 is True; expected a finite number"),
    ({"k1": "1.2"}, "bm25.k1 is '1.2'; expected a finite number"),
    ({"k1": [1.2, False]}, "bm25.k1 is False"),
    ({"k1": float("inf")}, "bm25.k1 is inf"),
    ({"k1": None}, "bm25.k1 is None"),
    ({"k1": 10**400}, "bm25.k1 is 1000"),
    ({"depth": True}, "retrieve.depth is True; expected a whole number"),
    ({"depth": 99999999999}, "retrieve.depth is 99999999999; expected a whole number from 1 to"),
    ({"depth": 50.5}, "retrieve.depth is 50.5"),
    ({"depth": "50"}, "retrieve.depth is '50'"),
    ({"rerank_depth": 10**12}, "rerank.depth is 1000000000000"),
    ({"overlap": "5"}, "chunk.overlap is '5'"),
    ({"overlap": True}, "chunk.overlap is True"),
    ({"chunk_size": 10**30}, "chunk.size is 1000"),
    ({"chunk_size": True}, "chunk.size is True"),
    ({"chunk_size": {"manual": True}}, "chunk.size is {'manual': True}"),
    ({"deliver": f"window({10**12})"}, "chunk.deliver is"),
    ({"percentile": "95"}, "chunk.percentile is '95'"),
    ({"blend": True}, "rerank.blend is True"),
    ({"threshold": True}, "rerank.threshold is True"),
    ({"threshold": {"short": True, "long": 0.2}}, "rerank.threshold is"),
    ({"features": {"year": True}}, "expected a weight from 0 to 1 for 'year'"),
    ({"features": {"year": "0.1"}}, "expected a weight from 0 to 1 for 'year'"),
    ({"features": [1]}, "features is"),
    ({"variants": 1}, "retrieve.variants is 1"),
    ({"model": 5}, "dense.model is 5"),
    ({"chunk_size": {200, 400}}, "chunk.size is"),
    ({"chunk_size": []}, "chunk.size is []; expected at least one value"),
    ({"chunk_size": range(0)}, "expected at least one value"),
    ({"alpha": np.array([])}, "expected at least one value"),
    ({"alpha": {"start": 0, "stop": 1, "step": 1e-9}}, "expected at most 1,000 values"),
    ({"alpha": {"start": 0, "stop": float("inf"), "step": 1}}, "expected finite numbers"),
    ({"alpha": {"start": float("nan"), "stop": 1, "step": 1}}, "expected finite numbers"),
    ({"alpha": {"start": False, "stop": True, "step": 1}}, "expected finite numbers"),
    ({"alpha": {"start": 0, "stop": 1, "step": float("inf")}}, "expected finite numbers"),
    ({"k1": itertools.count()}, "expected at most 1,000 values"),
    ({"features": {"a": list(range(500)), "b": list(range(500))}}, "at most 1,000 combinations"),
]


@pytest.mark.parametrize(("values", "expected"), REFUSED)
def test_what_is_no_value_of_a_setting_is_refused_in_one_line(
    values: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ConfigError) as fault:
        Grid(**values)
    (line,) = fault.value.problems
    assert expected in line
    assert len(line) < 400


def test_two_hundred_thousand_values_are_refused_by_their_number() -> None:
    with pytest.raises(ConfigError) as fault:
        Grid(k1=[i / 1000 for i in range(200_000)])
    assert list(fault.value.problems) == [
        "bm25.k1 is [0.0, 0.001, 0.002, ...] (200,000 values); expected at most 1,000 values"
    ]


def test_the_first_bad_values_of_a_setting_stand_for_all() -> None:
    with pytest.raises(ConfigError) as fault:
        Grid(alpha=range(2, 900), k1=-1)
    told = "\n".join(fault.value.problems)
    assert "fusion.alpha: and 893 more such values" in told
    assert "bm25.k1 is -1" in told
    assert len(fault.value.problems) == 7


def test_too_many_cells_are_refused_with_the_longest_axes() -> None:
    with pytest.raises(ConfigError, match=r"the grid has 303,000 cells; .*bm25\.k1 1,000"):
        Grid(k1=range(1000), b=np.linspace(0, 1, 101)).systems()


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_numbers_keep_the_digits_that_names_print(values: list[float]) -> None:
    """Two values of an axis differ if and only if they are printed differently."""
    kept = values_of(values)
    assert kept == values_of(kept) == values_of(np.array(values))
    assert len(set(kept)) == len({f"{value:.12g}" for value in kept})
    assert all(abs(a - b) <= 1e-11 * abs(b) for a, b in zip(kept, values, strict=True))


def test_as_many_values_as_may_be() -> None:
    assert len(values_of(range(MOST_VALUES))) == MOST_VALUES
    assert len(values_of({"start": 0, "stop": MOST_VALUES - 1, "step": 1})) == MOST_VALUES


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"metrics": []}, "measure.metrics is []; expected at least one metric"),
        ({"weights": {"recall@5": float("inf")}}, "measure.weights.recall@5 is inf"),
        ({"weights": {"recall@5": True}}, "measure.weights.recall@5 is True"),
        ({"weights": {"recall@5": "1"}}, "measure.weights.recall@5 is '1'"),
        ({"hold": True}, "measure.hold is True"),
        ({"hold": "0.5"}, "measure.hold is '0.5'"),
        ({"sealed": True}, "measure.sealed is True"),
        ({"seed": True}, "measure.seed is True"),
        ({"seed": -1}, "measure.seed is -1"),
        ({"seed": "3"}, "measure.seed is '3'"),
    ],
)
def test_measure_takes_numbers_for_numbers(values: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConfigError) as fault:
        Measure(**values)
    assert expected in str(fault.value)
