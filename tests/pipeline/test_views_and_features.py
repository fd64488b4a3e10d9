"""Views, features and thresholds by length in a sweep: settings, cells, causes with their proofs,
exact curves, errors."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lab.arrays import NEVER
from lab.config.config import Config
from lab.config.experiment import read_experiment
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus, Document
from lab.diagnosis.chunk_edits import ChunkEdits
from lab.diagnosis.edited_ranks import EditedRanks
from lab.errors import ConfigError
from lab.pipeline.indexes import Indexes
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages
from lab.relevance.judge import judge_for
from lab.relevance.pieces import pieces
from lab.relevance.query import Evidence, Query
from lab.runs.run import read_run
from lab.storage.cache import Cache
from lab.sweeping.measured import Measured
from lab.sweeping.sweep import sweep
from tests.given import GivenEncoder, GivenReranker, measured, run_of

CORPUS = Corpus(
    Document(
        f"d{n}",
        f"page {n} tells of part {n % 5} and part {n % 7}",
        "turbine" if n == 3 else "",
        {"year": 2000 + n, "cited": n % 4, **({"summary": f"about boilers {n}"} if n % 2 else {})},
    )
    for n in range(20)
)
QUERIES = [
    Query("title", "turbine", evidence=(Evidence("d3"),)),
    Query("summary", "which boilers are there", evidence=(Evidence("d5"),)),
    *(Query(f"part {n}", f"part {n % 5} page", evidence=(Evidence(f"d{n}"),)) for n in range(20)),
]
EVERY = ("text", "title", "summary")


def swept(**grid: object) -> Measured:
    settings = {
        "chunk_strategy": "document",
        "mode": "bm25",
        "model": "given",
        "rerank_model": "given",
        **grid,
    }
    measure = Measure(metrics=("recall@3", "ndcg@10"), select_by="ndcg@10")
    scores = {document.text: number / 20 for number, document in enumerate(CORPUS)}
    return measured(
        CORPUS,
        QUERIES,
        Grid(**settings),
        measure,
        encoders={"given": GivenEncoder()},
        rerankers={"given": GivenReranker(scores)},
    )


def systems(**grid: object) -> tuple[Config, ...]:
    return Grid(**grid).systems()[0]


def test_a_title_is_found_by_its_view_alone() -> None:
    result = swept(views=(["text"], ["text", "title"], EVERY))
    place = [query.query_id for query in result.plan.pieces.queries].index("title")
    assert result.complete[:, place].tolist() == [NEVER, 1, 1]
    assert result.systems == (
        "document bm25",
        "document bm25 views=text+title",
        "document bm25 views=text+summary+title",
    )
    assert (
        "views: 19 of 20 documents have no 'title' and are found by the others alone"
        in result.account.notes
    )
    (miss,) = [miss for miss in result.findings.misses[0] if miss.query_id == "title"]
    assert (miss.cause, miss.verified, miss.remedy) == ("lexical_gap", True, "views text+title")


def test_only_new_texts_are_encoded(tmp_path: Path) -> None:
    def encoded(**grid: object) -> list[str]:
        encoder = GivenEncoder()
        settings = {"chunk_strategy": "document", "mode": "dense", "model": "given", **grid}
        sweep(
            CORPUS,
            QUERIES,
            Grid(**settings),
            cache=tmp_path / "c.sqlite",
            encoders={"given": encoder},
        )
        return encoder.encoded

    assert len(encoded()) == len(CORPUS) + len({query.text for query in QUERIES})
    assert encoded(views=[["text", "title"]]) == []  # the one title is a question's text as well
    assert sorted(encoded(views=[EVERY])) == sorted(f"about boilers {n}" for n in range(1, 20, 2))


def test_names_that_no_document_has_are_told_together_before_anything_is_encoded() -> None:
    encoder = GivenEncoder()
    grid = Grid(
        mode="dense",
        model="given",
        views=[["text", "sumary", "year"]],
        features={"yeer": 0.1, "summary": 0.1},
    )
    with pytest.raises(ConfigError) as error:
        sweep(CORPUS, QUERIES, grid, encoders={"given": encoder})
    told = error.value.problems
    assert told[0] == "retrieve.views: no document has a text as 'sumary'; did you mean 'summary'?"
    assert told[1].startswith("retrieve.views: no document has a text as 'year'")
    assert (
        told[2] == "features: document 'd1' has 'about boilers 1' as 'summary'; "
        "expected a number or an ISO date"
    )
    assert told[-1].startswith("features: no document has metadata 'yeer'; did you mean 'year'?")
    assert not encoder.encoded


def test_features_are_a_product_of_weights_and_cells_that_are_the_same_appear_once() -> None:
    found = systems(mode="bm25", features={"year": [0, 0.1], "cited": [0.0, 0.2]})
    assert [str(config.features) for config in found] == [
        "none",
        "cited=0.2",
        "year=0.1",
        "cited=0.2,year=0.1",
    ]
    assert (
        len(systems(mode="bm25", features=({}, {"year": 0}, {"year": 0.1}, {"year": [0.1, 0]})))
        == 2
    )
    assert (
        len(systems(mode="bm25", views=(["text", "b", "a"], ["text", "a", "b", "a"], "text"))) == 2
    )
    assert (
        len(systems(mode="bm25", rerank_depth=5, threshold=(0.2, {"short": 0.2, "long": 0.2}))) == 1
    )
    assert (
        len(systems(mode="bm25", rerank_depth=0, threshold=(0.2, {"short": 0.1, "long": 0.2}))) == 1
    )


SPOKEN = {
    "mode": ("bm25", "dense", "hybrid"),
    "views": (["text"], ["text", "a b", "title"]),
    "features": ({}, {"year": 0.1, "of citations": 0.25}),
    "rerank_depth": 5,
    "threshold": (
        None,
        0.2,
        {"short": 0.4, "long": -0.2},
        {"short": 0.4, "long": -0.2, "words": 3},
    ),
}


def test_every_system_has_its_own_name_and_survives_toml() -> None:
    found = systems(**SPOKEN)
    assert len(found) == len({config.name for config in found}) == 3 * 2 * 2 * 4
    for config in found:
        again = Config.from_toml(config.to_toml())
        assert (again, hash(again), again.name) == (config, hash(config), config.name)
    assert found[-1].name == (
        "fixed-400 hybrid views=text+a b+title alpha=0.5 features=of citations=0.25,year=0.1 "
        "rerank=maxsim@5 threshold=0.4@3w,-0.2"
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"threshold": {"short": 0.4}},
            "rerank.threshold is {'short': 0.4}; expected a number or { short = 0.4, long = 0.2",
        ),
        ({"threshold": {"short": 0.4, "long": 0.2, "words": 0}}, "expected a number or { short"),
        ({"threshold": "x"}, "rerank.threshold is 'x'; expected a number or"),
        ({"views": ["title"]}, "retrieve.views is 'title'; expected views that include \"text\""),
        ({"views": 3}, "retrieve.views is 3; expected names of views"),
        ({"features": {"a": 1.5}}, "features is {'a': 1.5}; expected a weight from 0 to 1 for 'a'"),
        ({"features": {"a": 0.6, "b": [0.1, 0.5]}}, "expected weights that add up to at most 1"),
        ({"features": 3}, "features is 3; expected metadata fields with their weights"),
    ],
)
def test_bad_values_are_told_with_what_is_expected(
    values: dict[str, object], expected: str
) -> None:
    with pytest.raises(ConfigError) as error:
        Grid(**values)
    assert expected in str(error.value)


def test_the_experiment_file_has_the_same_words(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    (tmp_path / "documents.jsonl").write_text(json.dumps({"doc_id": "a", "text": "b"}))
    text = f"""
corpus = "{tmp_path}"
diagnostic_sets = ["{tmp_path}"]
[retrieve]
mode = "bm25"
views = [["text"], ["text", "title"]]
[features]
year = [0, 0.1]
cited = 0.2
[rerank]
depth = 20
threshold = [0.2, {{ short = 0.4, long = 0.2, words = 6 }}]
"""
    file.write_text(text)
    assert read_experiment(file).grid.systems() == (
        systems(
            mode="bm25",
            views=(["text"], ["text", "title"]),
            features={"year": (0, 0.1), "cited": 0.2},
            rerank_depth=20,
            threshold=(0.2, {"short": 0.4, "long": 0.2}),
        ),
        (),
    )
    file.write_text(text.replace("cited = 0.2", 'cited = "much"'))
    with pytest.raises(ConfigError, match="expected a weight from 0 to 1 for 'cited'"):
        read_experiment(file)


@pytest.mark.parametrize("normalization", ["min-max", "theoretical", "z-score", "rrf"])
@pytest.mark.parametrize("deliver", ["chunk", "window(1)"])
def test_exact_curves_equal_the_systems_at_every_alpha(normalization: str, deliver: str) -> None:
    alphas = {"start": 0, "stop": 1, "step": 0.05}
    result = swept(
        mode="hybrid",
        alpha=alphas,
        normalization=normalization,
        deliver=deliver,
        chunk_strategy="fixed",
        chunk_size=20,
        features=({"year": 0.2, "cited": 0.1},),
        views=[EVERY],
        depth=15,
    )
    (family,) = result.findings.families
    tried = np.array([config.fusion.alpha for config in result.plan.configs if config.fusion])
    complete = np.concatenate([curve.at(tried) for curve in family.curves])
    evaluated = np.where(result.complete > family.cap, NEVER, result.complete).T
    assert complete.tolist() == evaluated.tolist()


def test_without_features_alpha_0_and_1_are_the_legs_and_with_them_the_legs_with_features() -> None:
    for features in ({}, {"year": 0.3}):
        legs = swept(mode=("bm25", "dense"), features=features, views=[EVERY])
        hybrids = swept(mode="hybrid", alpha=(0.0, 1.0), features=features, views=[EVERY])
        assert hybrids.complete.tolist() == legs.complete.tolist()


def test_a_piece_that_a_feature_pushed_out_is_outranked_and_proved_without_it() -> None:
    result = swept(features={"year": 0.9})
    found = {miss.query_id: miss for miss in result.findings.misses[0]}
    # d0 is among the best for its words, and the oldest.
    assert found["part 0"].cause == "outranked"
    assert found["part 0"].verified
    assert "no features" in found["part 0"].recovered_by


def test_the_waterfall_adds_up_and_every_miss_has_one_cause() -> None:
    result = swept(
        mode=("bm25", "dense", "hybrid"),
        views=(["text"], EVERY),
        features=({}, {"year": 0.3}),
        rerank_depth=(0, 4),
        threshold=({"short": 0.5, "long": 0.1, "words": 3},),
        chunk_strategy="fixed",
        chunk_size=20,
    )
    for system, name in enumerate(result.systems):
        missed = int((result.complete[system] > 3).sum())
        assert len(result.findings.misses[system]) == missed
        steps = run_of(result).waterfall(name)
        whole = steps[steps["kind"] == "all"]
        recall = result.values[system, :, 0].mean()
        assert 1 - whole["lost"].sum() == pytest.approx(recall, abs=1e-9)


def test_a_threshold_by_length_cuts_short_questions_and_spares_long_ones() -> None:
    by_length = {"short": 9.0, "long": -9.0, "words": 3}
    result = swept(rerank_depth=20, threshold=(None, by_length, 9.0), views=[EVERY])
    ids = [query.query_id for query in result.plan.pieces.queries]
    free, cut, strict = result.complete
    long = [len(query.text.split()) > 3 for query in result.plan.pieces.queries]
    assert sum(long) == 1
    assert cut[long].tolist() == free[long].tolist() != [NEVER]
    assert (cut[~np.array(long)] == NEVER).all()
    assert (strict == NEVER).all()
    causes = {miss.query_id: miss for miss in result.findings.misses[1]}
    within = [
        name for name, rank in zip(ids, free.tolist(), strict=True) if rank <= 3 and name in causes
    ]
    assert within
    for name in within:
        assert (causes[name].cause, causes[name].verified, causes[name].remedy) == (
            "cut",
            True,
            "no threshold",
        )


def test_the_columns_of_the_table_and_of_the_run_folder(tmp_path: Path) -> None:
    result = swept(
        rerank_depth=(0, 20),
        threshold=(None, 0.2, {"short": 0.4, "long": 0.2}),
        features=({}, {"year": 0.1}),
        views=(["text"], ["text", "title"]),
    )
    run_of(result).write(tmp_path / "run")
    thresholds = {"0.2", '{"short": 0.4, "long": 0.2, "words": 6}'}
    for table in (run_of(result).table(), read_run(tmp_path / "run").table()):
        assert set(table["threshold"].dropna()) == thresholds
        assert set(table["features"]) == {"{}", '{"year": 0.1}'}
        assert set(map(tuple, table["views"])) == {("text",), ("text", "title")}
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["grid"]["features"] == [{}, {"year": 0.1}]
    assert manifest["grid"]["threshold"] == [None, 0.2, {"short": 0.4, "long": 0.2, "words": 6}]


def test_a_cut_piece_is_proved_by_a_whole_chunk_whatever_else_ranks_it() -> None:
    # The cut at 60 parts the sentence; the whole chunk has the document's year and title, as its
    # parts have.
    filler = {
        f"f{n}": Document(f"f{n}", f"note {n} about roads", "roads", {"year": 2000 + n})
        for n in range(9)
    }
    text = "x " * 20 + "the pump leaks because its gasket hardened in winter and " + "y " * 20
    quote = "pump leaks because its gasket hardened in winter"
    start = text.index(quote)
    query = Query("q", "pump leaks", evidence=(Evidence("a", start, start + len(quote)),))
    corpus = Corpus([*filler.values(), Document("a", text, "repairs", {"year": 2004})])
    for mode in ("bm25", "hybrid"):
        settings = {"mode": mode, "alpha": 0.1, "model": "given"}
        grid = Grid(**settings, chunk_size=60, views=[["text", "title"]], features={"year": 0.05})
        result = measured(
            corpus,
            [query],
            grid,
            Measure(metrics=("recall@1",), select_by="recall@1"),
            encoders={"given": GivenEncoder()},
        )
        (miss,) = result.findings.misses[0]
        assert (miss.cause, miss.verified) == ("split", True)


@pytest.mark.parametrize("mode", ["bm25", "dense", "hybrid"])
@pytest.mark.parametrize("normalization", ["min-max", "z-score", "rrf"])
@pytest.mark.parametrize("deep", [4, 100])
def test_a_chunk_put_in_its_own_place_keeps_its_rank(
    mode: str, normalization: str, deep: int
) -> None:
    # Documents are chunks, so the chunk that holds a document whole is the chunk that it replaces:
    # nothing may change. No two scores are equal, for among equals the new chunk is the last.
    corpus = Corpus(
        replace(
            d,
            text=d.text + " road" * n,
            metadata={
                key: v + " far" * n if key == "summary" else v for key, v in d.metadata.items()
            },
        )
        for n, d in enumerate(CORPUS)
    )
    settings = {
        "mode": mode,
        "normalization": normalization,
        "depth": deep,
        "model": "given",
        "chunk_strategy": "document",
    }
    (config,) = systems(
        **settings, views=[EVERY], features={"year": 0.2, "cited": 0.01}, alpha=0.37
    )
    asked, resources = pieces(QUERIES), Resources(Cache(None), encoders={"given": GivenEncoder()})
    stage = Stages(Indexes(corpus, config.chunk, resources), Questions.of(asked.queries))
    judge = judge_for(asked, stage.chunking, 0.9)
    complete = judge.judge(stage.ranking(config)).complete
    edits, units = ChunkEdits(stage, asked), np.arange(len(asked))
    ranks = EditedRanks(stage, asked).ranks(
        config, judge, units, [edits.around(unit) for unit in units.tolist()]
    )
    assert ranks.tolist() == complete.tolist()
