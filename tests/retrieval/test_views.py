"""Views: a chunk's score is the best of its views', over one set of statistics, and the first hits
are exact."""

import numpy as np
import pytest

from lab.arrays import NONE, Floats
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from lab.retrieval import dense
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.bm25 import BM25, compile_counts, count_runs, count_terms
from lab.retrieval.config import BM25Config
from lab.retrieval.ranking import rank
from lab.retrieval.similarity import unit
from lab.retrieval.views import Views, entries_of, parted
from tests.retrieval.reference_bm25 import VARIANTS

VIEWS = ("text", "summary", "title")
QUESTIONS = ["pump valve", "seal", "pump seal seal motor", "oil", "nothing known"]


def library(draw: np.random.Generator, documents: int) -> Chunking:
    """Documents of random words, some without title or summary, one with a title and no chunk."""
    words = np.array(["pump", "valve", "seal", "motor", "note", "road", "town"])

    def some(most: int) -> str:
        return " ".join(draw.choice(words, int(draw.integers(0, most + 1))))

    def document(number: int) -> Document:
        metadata = {"summary": some(6)} if draw.random() < 0.7 else {}
        return Document(f"d{number:02}", some(30), some(3), metadata)

    return chunk(
        Corpus([Document("blank", " ", "oil"), *map(document, range(documents))]),
        ChunkConfig(size=40),
    )


def indexed(chunking: Chunking, config: BM25Config) -> Views[BM25]:
    entries = entries_of(chunking, VIEWS)
    texts = [*chunking.texts, *(text for view in entries for text in view.texts)]
    return parted(
        compile_counts(count_terms(count_runs(texts), ANALYZERS["auto"]), config),
        len(chunking),
        entries,
    )


def texts_of(chunking: Chunking) -> tuple[list[str], list[list[int]]]:
    """All texts, the chunks' first, and for every chunk which of them it is found by."""
    texts, mine = list(chunking.texts), [[number] for number in range(len(chunking))]
    for view in ("summary", "title"):
        for place, document in enumerate(chunking.corpus):
            chunks = np.flatnonzero(chunking.document == place)
            said = document.title if view == "title" else document.metadata.get(view, "")
            if said and len(chunks):
                for number in chunks:
                    mine[number].append(len(texts))
                texts.append(said)
    return texts, mine


def best(scores: Floats, mine: list[list[int]]) -> Floats:
    """Questions x texts -> questions x chunks."""
    return np.array([[row[own].max() for own in mine] for row in scores])


@pytest.mark.parametrize("variant", ["lucene", "okapi", "l", "plus"])
@pytest.mark.parametrize("depth", [1, 3, 7, 200])
def test_bm25_over_views_is_the_maximum_of_rank_bm25_over_all_texts(
    variant: str, depth: int
) -> None:
    for seed in range(4):
        chunking = library(np.random.default_rng(seed), 12)
        config = BM25Config(variant=variant, k1=1.5)  # type: ignore[arg-type]  # names are parametrised
        views, (texts, mine) = indexed(chunking, config), texts_of(chunking)
        terms = [ANALYZERS["auto"](text) for text in texts]
        model = VARIANTS[variant](terms, k1=1.5)
        asked = [ANALYZERS["auto"](question) for question in QUESTIONS]
        scores = np.array([model.get_scores(words) for words in asked])
        shared = np.array([[bool({*words} & {*text}) for text in terms] for words in asked])
        expected = best(np.where(shared, scores, -np.inf), mine)
        every = np.tile(np.arange(len(chunking)), (len(QUESTIONS), 1))
        literal = rank(np.where(np.isfinite(expected), every, NONE), expected, depth)
        found = views.search(QUESTIONS, depth)
        for query in range(len(QUESTIONS)):
            assert found.hits(query).tolist() == literal.hits(query).tolist()
        looked_up = np.nan_to_num(views.scores(QUESTIONS, every), nan=-np.inf)
        assert looked_up == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("depth", [1, 4, 200])
def test_dense_over_views_is_the_maximum_cosine(depth: int) -> None:
    draw = np.random.default_rng(3)
    chunking = library(draw, 15)
    entries, (texts, mine) = entries_of(chunking, VIEWS), texts_of(chunking)
    vectors, asked = (
        draw.normal(size=(len(texts), 5)).astype(np.float32),
        draw.normal(size=(6, 5)).astype(np.float32),
    )
    asked = unit(asked)
    borders = np.cumsum([len(chunking), *(len(view.texts) for view in entries)])[:-1]
    own, *others = np.split(vectors, borders)
    views = Views(
        dense.build(own, "exact", chunking),
        tuple(
            (view, dense.index(part, "exact")) for view, part in zip(entries, others, strict=True)
        ),
    )
    expected = best(asked.astype(np.float64) @ unit(vectors).astype(np.float64).T, mine)
    every = np.tile(np.arange(len(chunking)), (len(asked), 1))
    assert (
        views.search(asked, depth).chunks.tolist()
        == rank(every, expected, depth).chunks[:, :depth].tolist()
    )
    assert views.scores(asked, every) == pytest.approx(expected, abs=1e-6)


def test_all_chunks_of_a_document_tie_on_its_title_in_the_order_of_the_text() -> None:
    corpus = Corpus(
        [
            Document("a", "one two. " * 20, "pump"),
            Document("b", "the pump", "valve"),
            Document("c", "pump " * 3),
        ]
    )
    chunking = chunk(corpus, ChunkConfig(size=60))
    views = indexed(chunking, BM25Config(b=0))
    found = views.search(["pump"], 3)
    # With b = 0 one "pump" weighs the same anywhere, three weigh more; a's chunks stand before b by
    # document id.
    assert [chunking[c].chunk_id for c in found.hits(0)] == ["c:0-15", "a:0-60", "a:60-120"]
    assert found.scores[0, 1] == found.scores[0, 2]


def test_a_document_says_a_text_or_a_list_of_texts_under_a_view() -> None:
    document = Document(
        "a",
        "text",
        "Title",
        {"summary": "short", "keywords": ["x", 3, "y"], "year": 2024, "blank": " "},
    )
    assert [
        document.view(name) for name in ("title", "summary", "keywords", "year", "blank", "none")
    ] == [
        "Title",
        "short",
        "x; y",
        "",
        "",
        "",
    ]
