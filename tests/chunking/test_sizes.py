"""One size for every document type: rules for all documents or one error, and a round trip through
every form."""

import pytest

from lab.chunking.config import ChunkConfig
from lab.chunking.size import SizeByType
from lab.chunking.strategies import chunk
from lab.config.config import Config
from lab.config.grid import Grid
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError

CORPUS = Corpus(
    [
        Document("a", "abcdefgh", metadata={"type": "technical"}),
        Document("b", "abcdefgh", metadata={"type": "narrative"}),
        Document("legal/c.md", "abcdefgh"),
        Document("d.txt", "abcdefgh"),
    ]
)


def sizes_of(**sizes: int) -> dict[str, list[str]]:
    found = chunk(CORPUS, ChunkConfig.model_validate({"size": sizes}))
    return {
        doc_id: [c.chunk_id.rpartition(":")[2] for c in found if c.doc_id == doc_id]
        for doc_id in CORPUS.position
    }


def test_every_document_is_cut_to_the_size_of_its_type() -> None:
    # Without metadata the type is the folder, else the extension; `default` takes what is not
    # named.
    found = sizes_of(technical=4, narrative=8, legal=3, default=6)
    assert found == {
        "a": ["0-4", "4-8"],
        "b": ["0-8"],
        "legal/c.md": ["0-3", "3-6", "6-8"],
        "d.txt": ["0-6", "6-8"],
    }


def test_all_types_without_a_size_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        sizes_of(technical=4)
    told = caught.value.problems
    assert [problem.split("type ")[1].split(" ")[0] for problem in told] == [
        "'.txt'",
        "'legal'",
        "'narrative'",
    ]
    assert (
        "1 document of type 'legal' (legal/c.md); it names technical; add the type, or "
        "'default'" in told[1]
    )


@pytest.mark.parametrize("size", [{}, {"a": 0}, {"a": True}, {"a": 1.5}, {"": 4}, {"a": [1, 2]}])
def test_a_table_without_whole_sizes_is_refused(size: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"chunk.size is .*for every document type"):
        Grid(chunk_size=size)


def test_a_table_is_one_setting_among_others() -> None:
    table = {"technical": 300, "narrative": 800}
    grid = Grid(
        chunk_size=(400, table, dict(reversed(table.items()))), mode="bm25", overlap=(0, 300)
    )
    systems, impossible = grid.systems()
    # Overlap 300 fits 400, but not what technical documents are cut to.
    assert [config.name for config in systems] == [
        "fixed-400 bm25",
        "fixed-400/300 bm25",
        "fixed-narrative=800,technical=300 bm25",
    ]
    assert impossible == ("impossible cell: overlap 300 must be smaller than size 300",)
    assert grid.model_dump(mode="json")["chunk_size"][1] == table
    with pytest.raises(
        ConfigError, match=r"deliver 'parent\(800\)' must be larger than the chunks, size 800"
    ):
        Grid(chunk_size=table, deliver="parent(800)", mode="bm25").systems()


def test_a_table_survives_toml_and_words_in_any_script() -> None:
    config = Config(
        chunk=ChunkConfig.model_validate({"size": {"技术 docs": 300, 'say "hi"': 7, "default": 9}})
    )
    assert config.chunk.size == SizeByType((("default", 9), ('say "hi"', 7), ("技术 docs", 300)))
    assert Config.from_toml(config.to_toml()) == config
    assert config.chunk.sizes == (7, 9, 300)
