"""Chunking as swept settings: semantic strategies, late pooling, other libraries' splitters and
sizes by type in a sweep."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lab
from lab.arrays import Vectors
from lab.chunking import splitters
from lab.chunking.config import ChunkConfig
from lab.config.config import Config
from lab.config.experiment import read_experiment
from lab.config.grid import Grid
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError
from lab.pipeline.indexes import Indexes
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages
from lab.relevance.query import Evidence, Query
from lab.retrieval.config import DEFAULT_MODEL, DenseConfig
from lab.retrieval.encoder import Role
from lab.runs.labels import labels
from lab.runs.run import Run
from lab.storage.cache import Cache
from lab.sweeping.preflight.check import check_chunks
from tests.given import GivenEncoder
from tests.retrieval.test_late import folder_of

IN_MEMORY = Path(":memory:")
FILLER = "The depot keeps spare parts of every kind and lends ladders on request. "
LONG = FILLER * 30 + "The heron nests behind the boiler house each spring."
HERON = Evidence("long", len(FILLER) * 30, len(LONG))
CORPUS = Corpus(
    [
        Document("long", LONG, metadata={"type": "narrative"}),
        Document(
            "short",
            "Pumps leak when seals wear. Replace the seal. " * 3,
            metadata={"type": "technical"},
        ),
    ]
)
QUERIES = [
    Query("heron", "where does the heron nest", "semantic", evidence=(HERON,)),
    Query(
        "seal",
        "which part of a leaking pump is exchanged",
        "semantic",
        evidence=(Evidence("short", 28, 45),),
    ),
]


def sweep(corpus: Corpus = CORPUS, **grid: Any) -> Run:
    encoders = grid.pop("encoders", None)
    measure = lab.Measure(metrics=("recall@1",), select_by="recall@1")
    return lab.sweep(corpus, QUERIES, Grid(**grid), measure, cache=IN_MEMORY, encoders=encoders)


def stages(chunk: ChunkConfig, resources: Resources) -> Stages:
    return Stages(Indexes(CORPUS, chunk, resources), Questions.of(QUERIES))


def test_a_file_sweeps_all_of_it_and_names_every_system(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "questions").mkdir()
    file = tmp_path / "wild.toml"
    file.write_text(
        """
        corpus = "documents"
        diagnostic_sets = ["questions"]
        [chunk]
        strategy = ["fixed", "semantic", "langchain:recursive"]
        size = [400, { technical = 300, narrative = 800 }]
        percentile = [80, 95]
        [dense]
        pooling = ["chunk", "late"]
        [retrieve]
        mode = ["bm25", "dense"]
        """
    )
    systems = read_experiment(file).grid.systems()[0]
    # Percentiles change semantic chunks only, pooling dense systems only: (1 + 2 + 1) x 2 sizes x
    # (1 + 2).
    assert len(systems) == len({config.name for config in systems}) == 4 * 2 * 3
    assert "semantic-narrative=800,technical=300-p80 dense late" in {
        config.name for config in systems
    }
    assert "langchain:recursive-400 bm25" in {config.name for config in systems}
    for config in systems:
        assert Config.from_toml(config.to_toml()) == config
        assert (config.settings()["percentile"] is None) == (config.chunk.strategy != "semantic")


def test_semantic_chunks_belong_to_the_model_that_reads_the_sentences() -> None:
    systems = Grid(
        chunk_strategy="semantic", mode="bm25", model=(DEFAULT_MODEL, "some/other")
    ).systems()[0]
    assert [config.name for config in systems] == [
        "semantic-400-p95 bm25",
        "semantic-400-p95 bm25 sentences=other",
    ]
    with pytest.raises(
        ConfigError, match=r"chunk.percentile is 101.0; expected a number from 0 to 100"
    ):
        Grid(percentile=101.0)


def test_sentences_are_encoded_once_for_all_percentiles_and_sizes() -> None:
    encoder = GivenEncoder()
    found = sweep(
        chunk_strategy="semantic",
        percentile=(50, 90),
        chunk_size=(100, 400),
        mode="bm25",
        encoders={DEFAULT_MODEL: encoder},
    )
    assert len(encoder.encoded) == len(set(encoder.encoded))
    assert found.manifest["counts"]["texts computed"] == len(encoder.encoded)
    table = found.table()
    assert table["percentile"].tolist() == [50.0, 90.0, 50.0, 90.0]
    assert list(labels(table).values()) == [
        "semantic-100-p50",
        "semantic-100-p90",
        "semantic-400-p50",
        "semantic-400-p90",
    ]


def test_sizes_by_type_stand_in_the_table() -> None:
    found = sweep(chunk_size=(400, {"technical": 300, "narrative": 800}), mode="bm25")
    table = found.table()
    assert table["chunk_size"].tolist() == ["400", '{"narrative": 800, "technical": 300}']
    assert list(labels(table).values()) == ["fixed-400", "fixed-narrative=800,technical=300"]


def test_late_vectors_are_kept_by_document_and_span() -> None:
    cache = Cache(None)
    late = DenseConfig(pooling="late")
    first = stages(ChunkConfig(strategy="sentences", size=100), Resources(cache))
    vectors = first.indexes.dense_index(late).own.vectors
    again = stages(ChunkConfig(strategy="sentences", size=100), Resources(cache))
    assert np.array_equal(again.indexes.dense_index(late).own.vectors, vectors)
    assert (again.resources.counts["texts computed"], again.resources.counts["texts cached"]) == (
        0,
        len(first.chunking),
    )
    # The same text stands thirty times in one document: each time in another context.
    twins = [i for i, text in enumerate(first.chunking.texts) if text == first.chunking.texts[0]]
    assert len(twins) > 10
    assert len({vectors[i].tobytes() for i in twins}) == len(twins)
    own = first.indexes.dense_index(DenseConfig()).own.vectors
    assert len({own[i].tobytes() for i in twins}) == 1


def test_late_pooling_reads_what_is_truncated_otherwise() -> None:
    corpus = Corpus(
        [*CORPUS, Document("birds", "Herons and storks are birds that nest in spring.")]
    )
    found = sweep(corpus, chunk_strategy="document", mode="dense", pooling=("chunk", "late"))
    assert found.systems == ("document dense", "document dense late")
    own, late = (list(found.tables.rows("causes", name).itertuples()) for name in found.systems)
    assert [(miss.query_id, miss.cause) for miss in own] == [("heron", "truncated")]
    assert own[0].unread_end == len(LONG)
    assert [(miss.query_id, miss.cause) for miss in late] == [("heron", "outranked")]
    assert late[0].unread_start is pd.NA
    assert [chunks for _, chunks, _ in found.manifest["chunkings"][0]["truncated"]] == [1]
    assert any(
        "late pooling: 1 of 3 documents are longer" in note and "windows of 254 tokens" in note
        for note in found.notes
    )


def test_no_fact_of_a_late_run_says_that_something_is_unread() -> None:
    found = sweep(chunk_strategy="document", mode="dense", pooling="late")
    assert found.manifest["chunkings"][0]["truncated"] == ()
    assert not any("invisible to the dense leg" in note for note in found.notes)


def test_a_whole_chunk_is_put_in_as_its_document_reads_it() -> None:
    stage, late = stages(ChunkConfig(size=30), Resources(Cache(None))), DenseConfig(pooling="late")
    span = (CORPUS.position["short"], 3, 40)
    document = CORPUS["short"].text
    context = stage.resources.embed_late(DEFAULT_MODEL, [(document, 3, 40)])
    assert np.array_equal(stage.indexes.span_vectors(late, [span]), context)
    alone = stage.resources.embed(DEFAULT_MODEL, "passage", [document[3:40]])
    assert np.array_equal(stage.indexes.span_vectors(DenseConfig(), [span]), alone)
    assert not np.allclose(context, alone)


@pytest.mark.parametrize("pool", ["chunk", "late"])
def test_a_split_piece_is_recovered_by_a_whole_chunk_under_either_pooling(
    pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, embed = [], Resources.embed

    def watched(self: Resources, model: str, role: Role, texts: Sequence[str]) -> Vectors:
        alone.extend(texts if role == "passage" else ())
        return embed(self, model, role, texts)

    monkeypatch.setattr(Resources, "embed", watched)
    text = (
        "Cats purr and sleep. " * 4
        + "The heron nests behind the boiler house each spring. "
        + "Dogs bark at night. " * 4
    )
    start = text.index("The heron")
    corpus = Corpus([Document("a", text), Document("b", "Pumps leak. " * 20)])
    query = Query(
        "q", "where does the heron nest each spring", evidence=(Evidence("a", start, start + 52),)
    )
    measure = lab.Measure(metrics=("recall@1",), select_by="recall@1")
    grid = Grid(chunk_size=57, mode="dense", pooling=pool)
    found = lab.sweep(corpus, [query], grid, measure, cache=IN_MEMORY)
    (miss,) = found.causes().itertuples()
    assert (miss.cause, miss.verified) == ("split", True)
    # Late pooling reads neither a chunk nor what takes its place outside its document.
    assert bool(alone) == (pool == "chunk")


def test_models_and_libraries_that_cannot_do_it_are_told_together_before_anything_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = folder_of(tmp_path, {"pooling_mode": "cls"}, ("Transformer", "Pooling")).name
    monkeypatch.setattr(splitters, "find_spec", lambda name: None)
    monkeypatch.setattr(
        "lab.sweeping.preflight.preparation.Stages", None
    )  # nothing gets as far as that
    with pytest.raises(ConfigError) as caught:
        sweep(
            chunk_strategy=("fixed", "chonkie:token", "llama-index:token"),
            pooling="late",
            model=(model, "given"),
            encoders={"given": GivenEncoder()},
        )
    assert [problem.split(";")[0] for problem in caught.value.problems] == [
        "chunk.strategy 'chonkie:token' needs chonkie",
        "chunk.strategy 'llama-index:token' needs llama_index.core",
        f"dense.pooling 'late' cannot be had of model '{model}': it pools its tokens by 'cls'",
        "dense.pooling 'late' cannot be had of model 'given': an encoder that is given as an "
        "object has no token vectors",
        f"dense.model: model '{tmp_path}': {tmp_path / 'tokenizer.json'} is missing",
    ]


def test_what_a_splitter_loses_stands_in_notes_and_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def lossy(size: int, overlap: int, units: object) -> splitters.Split:
        return lambda text: [(part.replace("Replace", "Change"), None) for part in text.split(". ")]

    monkeypatch.setitem(splitters.SPLITTERS, "langchain:recursive", lossy)
    monkeypatch.setattr(splitters, "find_spec", lambda name: name)
    # Full stops are cut away, 30 of one and 6 of the other, and "Replacetheseal", 14 characters, is
    # altered three times.
    expected = (
        "langchain:recursive-400: 3 strings of the splitter not in their document, and no "
        "chunks: short 3; such as "
        "'Change the seal'",
        f"langchain:recursive-400: {30 + 48} visible characters lie in no chunk: long 30, short 48",
    )
    grid = Grid(chunk_strategy="langchain:recursive", mode="bm25")
    found = sweep(chunk_strategy="langchain:recursive", mode="bm25")
    told: Sequence[str] = [note for note in found.notes if note.startswith("langchain")]
    assert tuple(told) == expected
    assert check_chunks(CORPUS, QUERIES, grid.systems()[0]).notes == expected


def test_check_does_not_encode_sentences_and_says_so() -> None:
    found = check_chunks(
        CORPUS,
        QUERIES,
        Grid(chunk_strategy=("fixed", "semantic"), mode="dense", pooling="late").systems()[0],
    )
    assert [fact.label for fact in found.facts] == ["fixed-400"]
    assert len(found.scatter) == 1
    assert found.notes[0].startswith(
        "semantic-400-p95: where it cuts is known once its sentences are encoded"
    )
    assert found.notes[1].startswith("late pooling: 1 of 2 documents are longer")
