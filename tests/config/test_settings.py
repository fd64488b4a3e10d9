"""Every setting of the table through everything that reads it: the grid, the experiment file, the
columns of a table, names, labels, differences, proofs, TOML."""

from itertools import combinations
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pandas as pd
import pytest

from lab.config.config import Config
from lab.config.experiment import read_experiment
from lab.config.grid import Grid
from lab.config.rows import in_play, settings_of, settings_table
from lab.config.settings import PROVES, SETTINGS, SLICES, TABLES, of_stage
from lab.diagnosis.causes import CAUSES
from lab.diagnosis.rescue import pairs
from lab.errors import ConfigError
from lab.evaluation.ablation import Factors
from lab.runs.labels import labels, shown_settings

# A system in which every setting but those of other strategies plays a part.
EVERYTHING: dict[str, Any] = {"mode": "hybrid", "rerank_depth": 5}
# What a setting needs to play a part, where that is not everything's.
NEEDS: dict[str, dict[str, Any]] = {"percentile": {"chunk_strategy": "semantic"}}
# Another value of every setting whose type does not list its values.
OTHER: dict[str, Any] = {
    "phase": 0.25,
    "chunk_size": 200,
    "overlap": 50,
    "percentile": 80,
    "prefix": "title",
    "deliver": "window(1)",
    "k1": 0.9,
    "b": 0.3,
    "synonyms": "words.txt",
    "model": "some/model",
    "dims": 128,
    "storage": "int8",
    "depth": 50,
    "views": ["text", "title"],
    "variants": True,
    "filter": True,
    "alpha": 0.25,
    "features": {"recency": 0.1},
    "rerank_model": "some/reranker",
    "rerank_depth": 20,
    "threshold": 0.2,
    "blend": 0.3,
}


def choices(name: str) -> tuple[Any, ...]:
    """The values that a setting's type lists; none where it lists none."""
    kind = SETTINGS[name].type
    return get_args(kind) if get_origin(kind) is Literal else ()


def two_values(name: str) -> list[Any]:
    default = EVERYTHING.get(name, SETTINGS[name].default)
    listed = [value for value in choices(name) if value != default]
    return [default, listed[0] if listed else OTHER[name]]


def grid_of(name: str) -> Grid:
    """Two systems that differ in one setting alone."""
    return Grid(**(EVERYTHING | NEEDS.get(name, {}) | {name: two_values(name)}))


def table_of(systems: tuple[Config, ...]) -> pd.DataFrame:
    return settings_table([{"system": config.name, **config.settings()} for config in systems])


def test_every_setting_has_another_value_to_be_tested_with() -> None:
    assert set(OTHER) == {name for name in SETTINGS if not choices(name)}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_makes_two_systems_with_names_and_rows_of_their_own(name: str) -> None:
    first, second = grid_of(name).systems()[0]
    assert first.name != second.name
    a, b = first.settings(), second.settings()
    assert list(a) == list(SETTINGS)
    differing = [key for key in SETTINGS if key in in_play(a).keys() & in_play(b).keys()]
    assert [key for key in differing if a[key] != b[key]] == [name]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_one_difference_wherever_differences_are_counted(name: str) -> None:
    rows = [config.settings() for config in grid_of(name).systems()[0]]
    ((a, b, change),) = pairs(rows)
    assert (a, b, change) == (0, 1, name)
    assert PROVES[change]
    assert set(PROVES[change]) <= set(CAUSES)
    assert Factors([in_play(row) for row in rows]).one_apart(1) == [(0, name)]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_seen_in_a_table_of_systems(name: str) -> None:
    table = table_of(grid_of(name).systems()[0])
    shown = shown_settings(table)
    assert list(shown.columns) == [SETTINGS[name].column]
    assert shown.iloc[:, 0].nunique() == 2
    short = labels(table)
    assert len(set(short.values())) == 2
    assert any(len(short[system]) < len(system) for system in short)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_row_of_a_table_makes_its_system_again(name: str, tmp_path: Path) -> None:
    systems = grid_of(name).systems()[0]
    table = table_of(systems).assign(**{"recall@5": 0.5, "verdict": "undecided"})
    table.to_parquet(tmp_path / "systems.parquet")
    read = pd.read_parquet(tmp_path / "systems.parquet")
    for rows in (table, read):
        for config, row in zip(systems, rows.to_dict("records"), strict=True):
            assert settings_of(row) == config.settings()
            for grid in (Grid(**row), Grid.from_row(row), Grid.from_row(config.settings())):
                assert grid.systems()[0] == (config,)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_has_one_name_in_the_experiment_file(name: str, tmp_path: Path) -> None:
    setting = SETTINGS[name]
    (tmp_path / "words.txt").write_text("pump, compressor\n", "utf-8")
    for folder in ("corpus", "questions"):
        (tmp_path / folder).mkdir()
    given = EVERYTHING | NEEDS.get(name, {}) | {name: two_values(name)}
    tables: dict[str, dict[str, Any]] = {}
    for key, value in given.items():
        if key != "features":
            tables.setdefault(SETTINGS[key].table, {})[SETTINGS[key].key] = value
    lines = ['corpus = "corpus"', 'diagnostic_sets = ["questions"]']
    if name == "features":
        lines.append("features = [{}, { recency = 0.1 }]")
    for table, content in tables.items():
        lines.append(f"[{table}]")
        lines += [f"{key} = {toml(key, value)}" for key, value in content.items()]
    file = tmp_path / "experiment.toml"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    read = read_experiment(file).grid
    if name == "synonyms":  # the file is named by where it lies
        assert [Path(path).name for path in read.synonyms] == ["", "words.txt"]
    else:
        assert read == grid_of(name) or name == "threshold"
    assert setting.path == name or TABLES[setting.table][setting.key] == name


def toml(key: str, value: Any) -> str:
    """A value as TOML, which has no null: a list of thresholds cannot hold "none"."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(key, part) for part in value if part is not None) + "]"
    return repr(value).replace("'", '"')


@pytest.mark.parametrize("name", SETTINGS)
def test_a_system_survives_toml_under_every_setting(name: str) -> None:
    for config in grid_of(name).systems()[0]:
        assert Config.from_toml(config.to_toml()) == config


def test_a_key_of_the_file_is_the_name_without_its_table() -> None:
    for name, setting in SETTINGS.items():
        assert name in (setting.key, f"{setting.table}_{setting.key}")
        slice_ = SLICES[setting.stage]
        assert setting.key in (slice_ or Config).model_fields or name in ("mode", "views")
    assert set(Grid.model_fields) == set(SETTINGS)


def test_every_field_of_a_slice_is_a_setting() -> None:
    # These follow from other settings.
    derived = {"tokenizer", "embedder", "views"}
    for stage, slice_ in SLICES.items():
        if slice_ is not None:
            keys = {setting.key for setting in of_stage(stage)}
            assert set(slice_.model_fields) - derived == keys


def test_values_that_name_themselves_belong_to_one_setting() -> None:
    """In a name `hnsw` stands alone, so no other setting may have such a value."""
    listed = [
        set(map(str, choices(name))) - {str(SETTINGS[name].default)}
        for name in SETTINGS
        if SETTINGS[name].speaks
    ]
    for one, other in combinations(listed, 2):
        assert not one & other


def test_the_steps_between_legs_are_found_for_systems_of_a_grid() -> None:
    """bm25, dense and hybrid differ in mode, whatever settings the legs bring along."""
    rows = [config.settings() for config in Grid(chunk_strategy="document").systems()[0]]
    assert [row["mode"] for row in rows] == ["bm25", "dense", "hybrid"]
    assert list(pairs(rows)) == [(0, 1, "mode"), (0, 2, "mode"), (1, 2, "mode")]


def test_all_pairs_of_a_grid_like_the_quickstart() -> None:
    grid = Grid(
        chunk_strategy=("fixed", "structure"),
        chunk_size=(200, 400, 800),
        alpha=(0.2, 0.4, 0.6, 0.8),
        rerank_depth=(0, 20),
        blend=0.3,
    )
    counted: dict[str, int] = {}
    for _, _, change in pairs([config.settings() for config in grid.systems()[0]]):
        counted[change] = counted.get(change, 0) + 1
    # 12 cuts with and without reranker; 6 retrievers: bm25, dense, 4 alphas.
    assert counted == {
        "mode": 12 * (1 + 4 + 4),
        "alpha": 12 * 6,
        "rerank": 36,
        "chunk_size": 2 * 12 * 3,
        "chunk_strategy": 3 * 12,
    }


def test_a_reranker_that_one_of_two_systems_lacks_is_one_change() -> None:
    off, short, deep = (
        config.settings() for config in Grid(mode="bm25", rerank_depth=(0, 5, 20)).systems()[0]
    )
    assert [change for _, _, change in pairs([off, short, deep])] == [
        "rerank",
        "rerank",
        "rerank_depth",
    ]


def test_every_value_is_printed_in_words() -> None:
    for name in SETTINGS:
        for value in two_values(name):
            assert SETTINGS[name].label(value).strip()


def test_a_setting_that_only_one_system_has_is_no_difference_of_its_own() -> None:
    plain, otherwise = (
        config.settings() for config in Grid(mode="bm25", k1=(1.2, 2.0)).systems()[0]
    )
    (hybrid,) = (config.settings() for config in Grid(mode="hybrid", k1=2.0).systems()[0])
    assert list(pairs([plain, hybrid])) == []
    assert list(pairs([otherwise, hybrid])) == [(0, 1, "mode")]
    assert list(pairs([plain, plain])) == []


def test_systems_of_two_dtypes_are_shown_apart() -> None:
    grid = Grid(mode="dense", dtype=("float32", "bfloat16"), chunk_size=(200, 400))
    table = table_of(grid.systems()[0])
    shown = shown_settings(table)
    assert shown.to_numpy().tolist() == [
        ["fixed-200", "float32"],
        ["fixed-200", "bfloat16"],
        ["fixed-400", "float32"],
        ["fixed-400", "bfloat16"],
    ]
    assert list(labels(table).values())[1] == "fixed-200 bfloat16"


SHOWN_APART = [
    {"rerank_depth": 5, "threshold": (None, 0.2)},
    {"rerank_depth": (0, 5), "threshold": (None, 0.2)},
    {"rerank_depth": 5, "rerank_model": ("a/x", "b/x")},
    {"unit": "tokens", "mode": "bm25", "model": ("a/x", "a/y")},
    {"mode": "hybrid", "alpha": (0.3333333, 0.3333334)},
    {"chunk_strategy": "semantic", "percentile": (95, 95.00001), "mode": "bm25"},
    {"chunk_size": (256, [256, 768], {"default": 256})},
    {"synonyms": ("a.txt", "b.txt"), "device": ("cpu", "cuda")},
]


@pytest.mark.parametrize("values", SHOWN_APART)
def test_different_systems_differ_in_every_table(values: dict[str, Any], tmp_path: Path) -> None:
    table = table_of(Grid(**values).systems()[0])
    table.to_parquet(tmp_path / "systems.parquet")
    for rows in (table, pd.read_parquet(tmp_path / "systems.parquet")):
        assert not shown_settings(rows).duplicated().any()
        assert len(set(labels(rows).values())) == len(rows)
        assert not rows["system"].duplicated().any()


def test_a_foreign_system_differs_from_none_in_one_setting() -> None:
    (own,) = (config.settings() for config in Grid(mode="bm25").systems()[0])
    foreign = Config(retriever="theirs").settings()
    assert list(pairs([own, foreign, foreign])) == []
    assert np.flatnonzero(Factors([in_play(own), in_play(foreign)]).alike(0, but_for=[])) == [0]


def test_a_row_with_other_columns_needs_the_name_of_its_system() -> None:
    (config,) = Grid(mode="bm25", chunk_size=[[256, 768]]).systems()[0]
    row = config.settings()
    assert Grid(**row, system=config.name, **{"recall@5": 0.5}).systems()[0] == (config,)
    with pytest.raises(ConfigError, match="unknown setting 'recall@5'"):
        Grid(**row, **{"recall@5": 0.5})
    with pytest.raises(ConfigError, match="names the system 'other', but its settings make"):
        Grid(**row, system="other")


def test_a_row_of_settings_alone_is_told_by_having_all_of_them() -> None:
    (config,) = Grid(mode="dense", views=[["text", "title"]]).systems()[0]
    assert Grid(**config.settings()).systems()[0] == (config,)
    # An axis of two sizes, or two sizes indexed together: nobody can say.
    (several,) = Grid(mode="bm25", chunk_size=[[256, 768]]).systems()[0]
    with pytest.raises(ConfigError, match="sizes indexed together, or one system each"):
        Grid(**several.settings())
    assert Grid.from_row(several.settings()).systems()[0] == (several,)


def test_a_grid_is_made_again_from_what_the_manifest_holds() -> None:
    grid = Grid(chunk_size=[400, [256, 768]], threshold=(None, 0.2), features=({}, {"a": 0.1}))
    assert Grid(**grid.model_dump(mode="json")) == grid


def test_a_foreign_retriever_and_bad_cells_are_no_grid() -> None:
    foreign = Config(retriever="theirs")
    with pytest.raises(ConfigError, match="'theirs' is a foreign retriever"):
        Grid(**foreign.settings(), system="theirs")
    (config,) = Grid(mode="bm25").systems()[0]
    with pytest.raises(ConfigError) as fault:
        Grid.from_row(config.settings() | {"k1": "much", "unit": "miles"})
    assert len(fault.value.problems) == 2
