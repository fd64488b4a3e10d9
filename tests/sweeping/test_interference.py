"""Distractors: made from what is there, marked, nested by dose, and never taken for evidence."""

from dataclasses import replace

import pytest

from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus, Document
from lab.corpus.filter import Filter
from lab.errors import ConfigError
from lab.relevance.query import Evidence, Query
from lab.sweeping.distractors import MAKERS, OWN, distractors, source_of
from lab.sweeping.injected import INJECTED, injected
from lab.sweeping.interfere import interfere

TEXTS = {
    "a": "Error E-4012 means that pump 7 of Mr Smith lost oil. Stop it and call service.",
    "b": "Error E-4055 means that valve 3 is stuck. Open it by hand and report to service.",
    "c": "The weather in the valley was fine and the pump house stayed dry all summer.",
}
QUERIES = [
    Query("qa", "what does error E-4012 mean", "exact_id", {}, (Evidence("a", 0, 52),)),
    Query("qb", "what does error E-4055 mean", "exact_id", {}, (Evidence("b", 0, 41),)),
]
CORPUS = Corpus(Document(doc_id, text) for doc_id, text in TEXTS.items())


def test_each_kind_changes_what_it_says() -> None:
    source = source_of(CORPUS, QUERIES)
    made = {kind: distractors(QUERIES, source, kind, 1, seed=0) for kind in MAKERS}
    sibling, twin, duplicate = (made[kind][0].text for kind in ("sibling", "twin", "duplicate"))
    assert duplicate == TEXTS["a"]
    for changed in (sibling, twin):
        assert sum(x != y for x, y in zip(changed, duplicate, strict=True)) == 1
    assert "E-4012" not in sibling
    assert "E-4012" in twin
    assert {document.text for document in made["topical"]} <= {TEXTS["c"]}
    for kind, documents in made.items():
        assert all(
            d.doc_id.startswith(INJECTED) and d.metadata["injected"] == kind for d in documents
        )


def test_a_smaller_dose_is_part_of_a_larger_one_and_the_seed_decides() -> None:
    source = source_of(CORPUS, QUERIES)
    small, large = (distractors(QUERIES, source, "twin", dose, seed=3) for dose in (1, 4))
    assert {(d.doc_id, d.text) for d in small} < {(d.doc_id, d.text) for d in large}
    assert large == distractors(QUERIES, source, "twin", 4, seed=3)


def test_copies_push_the_original_out_and_the_dose_response_says_so() -> None:
    found = interfere(
        CORPUS,
        QUERIES,
        Grid(mode="bm25", chunk_strategy="document"),
        Measure(metrics=("recall@1",), select_by="recall@1"),
        kinds=("duplicate",),
        doses=(0, 1, 2),
    )
    table = found.table()
    assert table["injected"].tolist() == [0, 2, 4]
    # Equal scores: "a" and "b" sort before "injected:...", so the originals stay first.
    assert table["mean"].tolist() == [1.0, 1.0, 1.0]
    late = Corpus(Document(f"z{d.doc_id}", d.text) for d in CORPUS)
    queries = [
        Query(q.query_id, q.text, q.kind, {}, (Evidence(f"z{q.evidence[0].doc_id}", 0, 40),))
        for q in QUERIES
    ]
    measure, grid = (
        Measure(metrics=("recall@1",), select_by="recall@1"),
        Grid(mode="bm25", chunk_strategy="document"),
    )
    pushed = interfere(late, queries, grid, measure, kinds=("duplicate",), doses=(0, 1)).table()
    assert pushed["mean"].tolist() == [1.0, 0.0]
    assert pushed["change"].tolist() == [0.0, -1.0]
    assert len(late) == 3


def test_own_documents_are_injected_once_under_their_own_names() -> None:
    folder = Corpus(
        [
            Document("near.md", "Error codes: what does an error mean?", "Codes", {"year": 2020}),
            Document("far.md", "Nothing of this kind."),
            Document("a", "Does error E-4012 mean anything?"),
        ]
    )
    source = source_of(CORPUS, QUERIES, folder)
    assert {d.doc_id for d in distractors(QUERIES, source, OWN, 1, 0)} == {
        "injected:folder:a",
        "injected:folder:near.md",
    }
    made = distractors(QUERIES, source, OWN, 10, 0)
    # Both questions are near to both, which stand in the corpus once each; a document without a
    # common word is near to none.
    assert [d.doc_id for d in made] == ["injected:folder:a", "injected:folder:near.md"]
    assert (made[1].text, made[1].title) == ("Error codes: what does an error mean?", "Codes")
    assert made[1].metadata == {"year": 2020, "injected": "folder"}


def test_own_documents_pass_the_filters_of_the_questions_they_are_near_to() -> None:
    corpus = Corpus([Document("a", TEXTS["a"], "", {"year": 2024, "lang": "en"})])
    asked = [
        replace(QUERIES[0], query_id=name, filter=Filter.of({key: value}))
        for name, key, value in (("q1", "year", 2024), ("q2", "lang", "en"))
    ]
    (made,) = distractors(
        asked,
        source_of(corpus, asked, Corpus([Document("own", "error", "", {"lang": "de"})])),
        OWN,
        1,
        0,
    )
    # What the document says itself stays.
    assert made.metadata == {"year": 2024, "lang": "de", "injected": "folder"}


def test_a_folder_is_one_kind_of_distractor_and_leaves_the_corpus_alone() -> None:
    before = CORPUS.fingerprint
    folder = Corpus([Document("copy", TEXTS["a"]), Document("other", "what error means")])
    found = interfere(
        CORPUS,
        QUERIES,
        Grid(mode="bm25", chunk_strategy="document"),
        Measure(metrics=("recall@1",), select_by="recall@1"),
        folder=folder,
        doses=(1, 2),
    )
    assert found.injected == {("folder", 0): 0, ("folder", 1): 2, ("folder", 2): 2}
    assert CORPUS.fingerprint == before
    grown = found.runs["folder", 2]
    assert injected(grown.corpus) == 2
    assert any("2 of 5 documents are injected distractors" in note for note in grown.notes)
    assert not any("injected" in note for note in found.runs["folder", 0].notes)


def test_what_cannot_be_asked_is_told() -> None:
    with pytest.raises(
        ConfigError, match=r"distractors 'twins' are unknown; did you mean 'twin'\?"
    ):
        distractors(QUERIES, source_of(CORPUS, QUERIES), "twins", 1, 0)
    with pytest.raises(ConfigError, match="kept for distractors"):
        interfere(Corpus([*CORPUS, Document("injected:x", "text")]), QUERIES)
    with pytest.raises(ConfigError, match="from 0"):
        interfere(CORPUS, QUERIES, doses=(-1,))
