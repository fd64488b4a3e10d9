"""Prefix: what stands before a chunk's text when it is indexed, and what stays the text's own."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.chunking.config import ChunkConfig
from lab.chunking.prefix import Outline, headings, prefixes
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus, Document
from lab.diagnosis.unread import read_ends, room_of
from lab.errors import ConfigError
from lab.pipeline.indexes import Indexes
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages
from lab.relevance.query import Evidence, Query
from lab.retrieval.config import BM25Config, DenseConfig
from lab.storage.cache import Cache
from lab.sweeping.sweep import sweep
from tests.diagnosis.planted import Concepts
from tests.given import GivenEncoder

MANUAL = """Intro line.

# Pump PX
Above all.
## Cleaning
Rinse twice.

~~~
# no heading
~~~
### Filters
Change them.
## Storage ##
Keep dry.

Seal Kit
--------
Four rings.
"""


def above(text: str, quote: str) -> tuple[str, ...]:
    return Outline(text).above(text.index(quote))


def test_the_headings_above_a_place_are_those_of_its_sections() -> None:
    assert above(MANUAL, "Intro") == ()
    assert above(MANUAL, "Above") == ("Pump PX",)
    assert above(MANUAL, "Rinse") == ("Pump PX", "Cleaning")
    assert above(MANUAL, "# no heading") == ("Pump PX", "Cleaning")
    assert above(MANUAL, "Change") == ("Pump PX", "Cleaning", "Filters")
    assert above(MANUAL, "Keep") == ("Pump PX", "Storage")
    assert above(MANUAL, "Four") == ("Pump PX", "Seal Kit")


def test_a_span_that_begins_with_a_heading_stands_under_the_outer_ones_alone() -> None:
    assert above(MANUAL, "# Pump") == ()
    assert above(MANUAL, "## Cleaning") == ("Pump PX",)
    assert above(MANUAL, "## Storage") == ("Pump PX",)
    assert Outline(MANUAL).above(MANUAL.index("Rinse twice.") + len("Rinse twice.")) == (
        "Pump PX",
        "Cleaning",
    )
    # White space before the heading is no text of its own.
    assert Outline("# A\nx\n\n\n# B\ny").above(5) == ()


def test_what_only_looks_like_a_heading_is_none() -> None:
    for text in ("#no blank", "####### seven", "    # code", "a | b\n--- | ---\n", "- item\n---\n"):
        assert headings(text) == []
    assert [(h.level, h.text) for h in headings("# \n#\n## a ##\r\n   ### b #\n")] == [
        (1, ""),
        (1, ""),
        (2, "a"),
        (3, "b"),
    ]
    assert [(h.start, h.level, h.text) for h in headings("x\n\nOne\n===\n\nTwo\n---\n")] == [
        (3, 1, "One"),
        (12, 2, "Two"),
    ]


LINES = ["# a", "## b", "### c", "text", "", "```", "t\n==="]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["# a", "## b", "### c", "text", "", "```", "t\n==="]), max_size=12)
)
def test_headings_are_lines_of_the_text_and_every_place_has_rising_levels(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = headings(text)
    level = {heading.text: heading.level for heading in found}
    for heading in found:
        assert text[heading.start :].lstrip("# ").startswith(heading.text)
    outline = Outline(text)
    for start in range(len(text) + 1):
        levels = [level[title] for title in outline.above(start)]
        assert levels == sorted(set(levels))


@pytest.mark.parametrize(
    "line", ["# " + " " * 200_000 + "x", "#" * 400_000, "# a" + " #" * 200_000]
)
def test_long_lines_are_read_once(line: str) -> None:
    started = time.perf_counter()
    headings(f"{line}\n{line}")
    assert time.perf_counter() - started < 1


def test_many_headings_are_looked_up_and_not_read_again() -> None:
    text = "".join(f"{'#' * (1 + i % 6)} heading {i}\nwords\n" for i in range(20_000))
    started = time.perf_counter()
    outline = Outline(text)
    assert all(outline.above(start) is not None for start in range(0, len(text), 20))
    assert time.perf_counter() - started < 5


CORPUS = Corpus(
    [
        Document("manual", MANUAL, title="Pump PX"),
        Document("bare", "Nothing is above this."),
        Document("titled", "Words.", title="  Notes "),
    ]
)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("", ["", "", ""]),
        ("title", ["Pump PX\n", "", "Notes\n"]),
        ("headings", ["Pump PX\nCleaning\n", "", ""]),
        # The first heading is the title, and is said once.
        ("title+headings", ["Pump PX\nCleaning\n", "", "Notes\n"]),
    ],
)
def test_parts_stand_a_line_each(kind: str, expected: list[str]) -> None:
    places = {document.doc_id: place for place, document in enumerate(CORPUS)}
    start = MANUAL.index("Rinse")
    spans = [
        (places["manual"], start, start + 12),
        (places["bare"], 0, 7),
        (places["titled"], 0, 6),
    ]
    assert prefixes(CORPUS, spans, kind) == expected


def stages(config: ChunkConfig, **encoder: object) -> Stages:
    resources = Resources(Cache(None), encoders={"given": GivenEncoder(**encoder)})
    questions = Questions.of([Query("q", "pump px cleaning")])
    return Stages(Indexes(CORPUS, config, resources), questions)


def test_both_legs_index_it_and_spans_stay_those_of_the_text() -> None:
    plain = stages(ChunkConfig(strategy="structure", size=40))
    behind = stages(ChunkConfig(strategy="structure", size=40, prefix="title+headings"))
    assert behind.chunking.spans == plain.chunking.spans
    assert behind.chunking.texts == plain.chunking.texts
    rinse = next(i for i, text in enumerate(plain.chunking.texts) if "Four rings" in text)
    assert not np.isin(rinse, plain.own_bm25(BM25Config(), 10).hits(0))
    assert np.isin(rinse, behind.own_bm25(BM25Config(), 10).hits(0))
    dense = DenseConfig(model="given")
    behind.indexes.dense_index(dense)
    encoded = behind.resources.encoders["given"].encoded  # type: ignore[attr-defined]
    assert encoded == sorted(set(behind.indexes.indexed_texts), key=lambda text: (len(text), text))
    assert behind.indexes.texts_of(behind.chunking.spans) == behind.indexes.indexed_texts
    assert any(text.startswith("Pump PX\n") for text in encoded)


def test_it_takes_room_from_the_chunk() -> None:
    """An encoder of 5 words reads 3 of a chunk behind two words of a prefix."""
    of = stages(ChunkConfig(strategy="document", prefix="title"), max_tokens=5)
    encoder, chunking = of.resources.encoder("given"), of.chunking
    room = room_of(encoder, chunking, "title")
    titles = [document.title for document in chunking.corpus]
    assert room.tolist() == [5 - len(title.split()) for title in titles]
    starts = of.resources.token_starts("given", chunking.corpus)
    manual = titles.index("Pump PX")
    read = read_ends(chunking, starts, room)[manual]
    assert MANUAL[:read].split() == ["Intro", "line.", "#"]


def test_a_piece_that_is_found_behind_its_headings_is_proved_by_the_prefix() -> None:
    """Four manuals say the same under other headings: only the headings tell which is asked for."""
    texts = {
        name: f"# Pump {name}\n\nRinse it twice a week with cold water.\n"
        for name in ("alpha", "beta", "gamma", "delta")
    }
    quote = "Rinse it twice a week"
    queries = [
        Query(
            name,
            f"when is pump {name} to be rinsed, twice?",
            evidence=(Evidence(name, text.index(quote), text.index(quote) + len(quote)),),
        )
        for name, text in texts.items()
    ]
    result = sweep(
        Corpus(Document(name, text) for name, text in texts.items()),
        queries,
        Grid(
            chunk_strategy="fixed",
            chunk_size=15,
            mode=("bm25", "dense"),
            prefix=("", "headings"),
            model="concepts",
        ),
        Measure(metrics=("recall@4",), select_by="recall@4", hold=0.5),
        encoders={"concepts": Concepts(("alpha", "beta", "gamma", "delta", "rinse twice"))},
    )
    bare, behind = (
        next(i for i, name in enumerate(result.systems) if name.startswith(start))
        for start in ("fixed-15 bm25", "fixed-15^headings bm25")
    )
    mean = [result.scores(result.systems[i]).means()["recall@4"] for i in (bare, behind)]
    assert mean[0] < mean[1] == 1.0
    steps = result.rescues()
    assert set(steps["setting"]) == {"mode", "prefix"}
    causes = result.causes()
    missed = causes[causes["system"] == result.systems[bare]]
    assert any("prefix headings" in str(changes) for changes in missed["recovered_by"])


def test_whole_documents_have_no_headings_above_them() -> None:
    grid = Grid(
        chunk_strategy="document", mode="bm25", prefix=("", "title", "headings", "title+headings")
    )
    assert [config.name for config in grid.systems()[0]] == ["document bm25", "document^title bm25"]


def test_late_chunks_are_read_behind_nothing_of_their_own() -> None:
    with pytest.raises(ConfigError, match="prefix 'title' and pooling 'late' do not go together"):
        Grid(mode="dense", pooling="late", prefix="title").systems()
    possible, impossible = Grid(mode="dense", pooling="late", prefix=("", "title")).systems()
    assert len(possible) == len(impossible) == 1
