"""The grid: cells that make no difference appear once, impossible ones are told, and every system
survives TOML."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.chunking.config import ChunkConfig
from lab.config.config import Config
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.config.settings import SETTINGS
from lab.errors import ConfigError
from lab.retrieval.config import BM25Config, DenseConfig, FusionConfig, RerankConfig
from lab.sweeping.heldout import one_cell


def systems(**values: object) -> tuple[Config, ...]:
    return Grid(**values).systems()[0]


def test_the_product_in_a_fixed_order_with_unique_names() -> None:
    found = systems(
        chunk_size=(200, 400),
        mode=("bm25", "dense", "hybrid"),
        alpha=(0.0, 0.5, 1.0),
        rerank_depth=(0, 20),
    )
    # Per size bm25 (hybrid 0), hybrid 0.5 and dense (hybrid 1), each with and without the reranker.
    assert len(found) == 2 * 3 * 2
    assert len({config.name for config in found}) == len(found)
    assert found == systems(
        chunk_size=(200, 400),
        mode=("bm25", "dense", "hybrid"),
        alpha=(0.0, 0.5, 1.0),
        rerank_depth=(0, 20),
    )


SAME = [
    {
        "mode": "bm25",
        "alpha": (0.0, 0.5),
        "normalization": ("min-max", "rrf"),
        "index": ("exact", "hnsw"),
    },
    {"mode": "bm25", "model": ("a", "b")},
    {
        "mode": "dense",
        "k1": (0.9, 1.2),
        "b": (0.1, 0.9),
        "variant": ("lucene", "okapi"),
        "analyzer": ("auto", "stem"),
    },
    {"mode": "dense", "synonyms": ("", "words.txt")},
    {
        "mode": "bm25",
        "rerank_depth": 0,
        "blend": (0.1, 0.9),
        "threshold": (None, 0.5),
        "rerank_model": ("maxsim", "x"),
    },
    {
        "mode": "bm25",
        "chunk_strategy": "document",
        "chunk_size": (100, 200),
        "overlap": (0, 9),
        "deliver": ("chunk", "window(1)"),
    },
    {"mode": "bm25", "chunk_size": ((256, 768), (768, 256), (256, 256, 768))},
    {"mode": "bm25", "chunk_size": (256, 256, (256,))},
]
DIFFERENT = [
    {"mode": "bm25", "unit": "tokens", "model": ("a", "b")},
    {"mode": "bm25", "rerank_depth": 5, "model": ("a", "b")},
]


@pytest.mark.parametrize(
    ("values", "count"), [*((same, 1) for same in SAME), *((two, 2) for two in DIFFERENT)]
)
def test_cells_that_make_no_difference_appear_once(values: dict[str, object], count: int) -> None:
    found = systems(**values)
    assert len(found) == count
    assert len({config.name for config in found}) == count


def test_a_range_names_plain_decimals() -> None:
    found = systems(mode="hybrid", alpha={"start": 0.0, "stop": 1.0, "step": 0.1})
    assert [config.fusion.alpha for config in found if config.fusion] == [
        round(i / 10, 1) for i in range(11)
    ]
    assert found[3].name == "fixed-400 hybrid alpha=0.3"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"alpha": 1.2}, "fusion.alpha is 1.2; expected a number from 0 to 1"),
        ({"alpha": {"start": 0, "stop": 1, "step": 0}}, "fusion.alpha is"),
        ({"chunk_size": 0}, "chunk.size is 0; expected"),
        ({"chunk_size": [[]]}, "chunk.size"),
        ({"depth": 0}, "retrieve.depth is 0"),
        ({"rerank_depth": -1}, "rerank.depth is -1; expected a whole number from 0 (off)"),
        ({"mode": "sparse"}, "retrieve.mode is 'sparse'; expected 'bm25', 'dense' or 'hybrid'"),
        ({"k1": float("nan")}, "bm25.k1 is nan"),
        ({"b": 1.5}, "bm25.b is 1.5"),
        ({"threshold": float("inf")}, "rerank.threshold is inf"),
        ({"alpah": 0.5}, "unknown setting 'alpah'; did you mean 'alpha'?"),
        ({"mode": ()}, "retrieve.mode"),
    ],
)
def test_bad_values_are_told_under_the_key_of_the_file(
    values: dict[str, object], expected: str
) -> None:
    with pytest.raises(ConfigError) as error:
        Grid(**values)
    assert expected in str(error.value)


def test_all_bad_values_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        Grid(alpha=1.2, chunk_size=0, mode="x", foo=1)
    assert len(error.value.problems) == 4


def test_impossible_cells() -> None:
    with pytest.raises(ConfigError, match=r"rerank.depth 50 exceeds retrieve.depth 10"):
        systems(mode="bm25", depth=10, rerank_depth=50)
    possible, told = Grid(mode="bm25", chunk_size=(100, 400), deliver="parent(400)").systems()
    assert [config.chunk.size for config in possible] == [100]
    assert told == (
        "impossible cell: deliver 'parent(400)' must be larger than the chunks, size 400",
    )


def test_models_whose_names_would_be_confused_are_refused() -> None:
    with pytest.raises(ConfigError, match="2 systems would share the name"):
        systems(mode="dense", model=("one/model", "two/model"))


CONFIGS = st.builds(
    Config,
    chunk=st.builds(
        ChunkConfig,
        strategy=st.sampled_from(["fixed", "sentences", "structure", "document"]),
        size=st.sampled_from([200, (100, 300)]),
        overlap=st.integers(0, 99),
        unit=st.sampled_from(["characters", "words"]),
    ),
    bm25=st.builds(
        BM25Config,
        analyzer=st.sampled_from(["auto", "jieba"]),
        k1=st.floats(0, 5),
        b=st.floats(0, 1),
    ),
    dense=st.none()
    | st.builds(DenseConfig, model=st.text(max_size=8), index=st.sampled_from(["exact", "ivf"])),
    fusion=st.none()
    | st.builds(
        FusionConfig, alpha=st.floats(0, 1), normalization=st.sampled_from(["rrf", "z-score"])
    ),
    rerank=st.none()
    | st.builds(
        RerankConfig,
        model=st.text(max_size=8),
        depth=st.integers(1, 50),
        threshold=st.none() | st.floats(-9, 9),
    ),
    depth=st.integers(50, 1000),
    deliver=st.sampled_from(["chunk", "window(2)", "parent(900)"]),
)


@settings(max_examples=100, deadline=None)
@given(config=CONFIGS)
def test_a_config_survives_toml(config: Config) -> None:
    again = Config.from_toml(config.to_toml())
    assert again == config
    assert hash(again) == hash(config)
    assert again.name == config.name


def test_a_dense_config_without_bm25_survives_toml_and_bad_toml_is_told() -> None:
    config = Config(bm25=None, dense=DenseConfig())
    assert Config.from_toml(config.to_toml()) == config
    with pytest.raises(ConfigError, match="not TOML"):
        Config.from_toml("= 3")
    with pytest.raises(ConfigError) as error:
        Config.from_toml("depth = 0\n[bm25]\nb = 2\nc = 3\n")
    assert len(error.value.problems) == 3


def test_settings_have_the_names_of_the_grid() -> None:
    assert set(SETTINGS) == set(Grid.model_fields)
    for config in systems(rerank_depth=(0, 5), chunk_strategy=("fixed", "document")):
        assert list(config.settings()) == list(SETTINGS)
    assert systems(mode="bm25")[0].settings()["alpha"] is None


def test_names_tell_close_values_apart() -> None:
    close = systems(mode="hybrid", alpha=(0.3333333, 0.3333334), k1=(1.2, 1.2000001))
    assert len({config.name for config in close}) == 4


def test_measure_tells_every_problem() -> None:
    with pytest.raises(ConfigError) as error:
        Measure(
            metrics=("recal@5", "ndcg", "recall@0"), hold=2, select_by="context_tokens@5", foo=1
        )
    text = str(error.value)
    for part in (
        "did you mean 'recall'",
        "needs a cut-off",
        "'recall@0'",
        "measure.hold is 2",
        "not a cost",
        "unknown key 'measure.foo'",
    ):
        assert part in text


def test_every_setting_takes_one_value_or_several() -> None:
    one, several = Grid(chunk_size=200, mode="bm25"), Grid(chunk_size=[200], mode=("bm25",))
    assert one == several
    assert (
        list(itertools.chain(*(grid.systems()[0] for grid in (one, several))))
        == [one.systems()[0][0]] * 2
    )


WIDE = [
    Grid(
        chunk_size=(300, (200, 400), {"manual": 200, "default": 300}),
        unit=("characters", "tokens"),
        model="some/model",
    ),
    Grid(
        chunk_strategy=("document", "semantic"),
        percentile=(80, 95),
        model=("all-MiniLM-L6-v2", "some/model"),
    ),
    Grid(
        mode="hybrid",
        features=({}, {"recency": [0.1, 0.2]}),
        views=("text", ["text", "title"]),
        variants=(False, True),
    ),
    Grid(
        rerank_depth=(0, 20),
        rerank_model=("maxsim", "a/reranker"),
        threshold=(None, 0.2),
        model="some/model",
    ),
    Grid(
        synonyms=("", "words.txt"),
        filter=(True, False),
        pooling=("chunk", "late"),
        deliver=("chunk", "window(1)"),
    ),
]


@pytest.mark.parametrize("grid", WIDE)
def test_every_system_is_the_only_one_of_its_own_grid(grid: Grid) -> None:
    for config in grid.systems()[0]:
        assert one_cell(config).systems()[0] == (config,)
