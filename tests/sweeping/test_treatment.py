"""A set is accused where its evidence was chosen by the cuts that it judges, and not otherwise."""

import random
from collections.abc import Callable

import pytest

from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from lab.relevance.query import Evidence, Query
from lab.sweeping.preflight.treatment import treatment_findings

SIZE, LENGTH = 100, 30
WORDS = "seal pump valve motor rotor shaft gauge hose clamp filter".split()


def corpus_of_words(seed: int) -> Corpus:
    dice = random.Random(seed)
    texts = (
        " ".join(
            " ".join(dice.choices(WORDS, k=dice.randint(4, 12))).capitalize() + "."
            for _ in range(60)
        )
        for _ in range(12)
    )
    return Corpus(Document(f"d{number}", text) for number, text in enumerate(texts))


def queries_of(corpus: Corpus, wanted: Callable[[int], bool], seed: int) -> list[Query]:
    """Sixty spans of LENGTH characters whose starts are `wanted`."""
    dice = random.Random(seed)
    queries = []
    while len(queries) < 60:
        document = corpus.documents[dice.randrange(len(corpus))]
        start = dice.randrange(len(document.text) - LENGTH)
        if wanted(start):
            evidence = Evidence(document.doc_id, start, start + LENGTH)
            queries.append(Query(f"q{len(queries)}", "Which?", kind="k", evidence=(evidence,)))
    return queries


def rules(strategy: str, queries: list[Query], corpus: Corpus) -> set[str]:
    config = ChunkConfig(strategy=strategy, size=SIZE)
    chunkings = {config: chunk(corpus, config)}
    return {each.rule for each in treatment_findings(corpus, queries, chunkings, {config: None})}


def test_evidence_within_chunks_is_spared_by_the_cuts() -> None:
    corpus = corpus_of_words(1)
    within = queries_of(corpus, lambda start: start % SIZE <= SIZE - LENGTH, 2)
    assert rules("fixed", within, corpus) == {"evidence spared by the cuts"}


def test_evidence_across_cuts_is_hit_by_them() -> None:
    corpus = corpus_of_words(3)
    across = queries_of(corpus, lambda start: start % SIZE > SIZE - LENGTH, 4)
    assert rules("fixed", across, corpus) == {"evidence hit by the cuts"}


@pytest.mark.parametrize("strategy", ["fixed", "sentences", "structure"])
def test_blind_evidence_is_not_accused(strategy: str) -> None:
    for seed in range(8):
        corpus = corpus_of_words(seed)
        blind = queries_of(corpus, lambda start: True, 100 + seed)
        accused = rules(strategy, blind, corpus) - {"paragraphs shorter than the chunks"}
        assert not accused, (strategy, seed)
