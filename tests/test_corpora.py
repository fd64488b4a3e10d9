"""The project's own corpora and sets: shapes, counts, needs, the sealed fifth, evidence that no cut
has chosen, and what the kinds separate."""

import re
import runpy
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.sets.audit.audit import audit
from lab.sets.audit.cuts import chance_of_windows, chosen_by_cuts, cut_rates, evidence_spans, parted
from lab.sets.audit.hands import one_hand
from lab.sets.audit.shapes import paragraph_lengths
from lab.sets.audit.wording import PARAPHRASE, shared_words
from tests.conftest import ROOT

SEALING = runpy.run_path(str(ROOT / "experiments" / "seal.py"))
SEALED = "sealed"
CHINESE = "handbook-zh"
ENGLISH = ("contracts", "devices", "software")
# Those whose documents and questions were written anew for 0.2.
REMADE = ("contracts", "devices", "handbook-zh", "software")
KINDS = ("keyword", "semantic", "exact_id", "chunk_boundary", "unanswerable")
NEEDS = (
    *("bridge", "comparison", "negation", "as_of", "counting", "units", "vague", "typos"),
    *("narrative", "mixed_language", "conversation"),
)
# Characters of a long paragraph; a Chinese one says about twice as much.
LONG = dict.fromkeys(ENGLISH, 600) | {CHINESE: 250}


@cache
def corpus_of(name: str) -> lab.Corpus:
    return lab.read_corpus(ROOT / "corpora" / name)


@cache
def queries_of(name: str, part: str = "open") -> tuple[lab.Query, ...]:
    folder = ROOT / "diagnostic_sets" / name
    return lab.read_diagnostics(folder / SEALED if part == SEALED else folder, corpus_of(name))


def all_of(name: str) -> tuple[lab.Query, ...]:
    return (*queries_of(name), *queries_of(name, SEALED))


def test_the_largest_corpus_has_1500_chunks_of_400() -> None:
    assert max(len(chunk(corpus_of(name), ChunkConfig())) for name in ENGLISH) >= 1_500


@pytest.mark.parametrize("name", REMADE)
def test_paragraphs_have_real_shapes(name: str) -> None:
    lengths = paragraph_lengths(corpus_of(name))
    assert (lengths >= LONG[name]).mean() >= 0.25
    assert lengths.std() / lengths.mean() >= 0.65
    sizes = [len(document.text) for document in corpus_of(name)]
    assert max(sizes) >= (12_000 if name == CHINESE else 25_000)


@pytest.mark.parametrize("name", REMADE)
def test_every_need_has_twenty_questions_and_unanswerable_ones_miss_near_and_far(name: str) -> None:
    needs = Counter(query.tags.get("need") for query in all_of(name))
    assert all(needs[need] >= 20 for need in NEEDS), needs
    without = [query for query in all_of(name) if query.kind == "unanswerable"]
    assert len(without) >= 25
    near = sum(query.tags["miss"] == "near" for query in without)
    assert 0.4 <= near / len(without) <= 0.6
    assert all(query.tags["neighbour"] in corpus_of(name) for query in without)


@pytest.mark.parametrize("name", REMADE)
def test_conversations_have_a_history_and_bridges_an_order(name: str) -> None:
    for query in all_of(name):
        assert (query.tags.get("need") == "conversation") == bool(query.history), query.query_id
        if query.tags.get("need") == "bridge":
            assert any(item.order for item in query.evidence), query.query_id


@pytest.mark.parametrize("name", REMADE)
def test_a_fifth_is_sealed_by_documents_and_nobody_chose_which(name: str) -> None:
    sets = ROOT / "diagnostic_sets" / name
    read, touches = SEALING["read"], SEALING["touches"]
    opened, closed = (
        [question for of in read(folder).values() for question in of]
        for folder in (sets, sets / SEALED)
    )
    documents = [file.name for file in (ROOT / "corpora" / name / "documents").iterdir()]
    taken = SEALING["sealed_documents"](documents, [*opened, *closed])
    assert all(touches(question, taken) for question in closed)
    assert not any(touches(question, taken) for question in opened)
    answered = sum(bool(question.get("evidence")) for question in [*opened, *closed])
    assert 0.2 <= len(closed) / answered <= 0.3
    assert {query.query_id for query in queries_of(name)} == {one["query_id"] for one in opened}


@pytest.mark.parametrize("name", REMADE)
def test_no_kind_of_evidence_was_chosen_by_cuts(name: str) -> None:
    spans, rates = evidence_spans(all_of(name), corpus_of(name)), []
    for size in (200, 400, 512, 800, 1_000):
        config = ChunkConfig(size=size)
        chance = chance_of_windows((spans.end - spans.start).astype(float), float(size), 0.0)
        cut = parted(chunk(corpus_of(name), config), spans)
        rates += cut_rates(config.label, cut, chance, spans)
    assert not list(chosen_by_cuts(rates))


def test_a_set_that_was_chosen_by_cuts_is_told() -> None:
    """As the sets of 0.1 were: quotes inside chunks of 400, those of one kind across their cuts."""
    corpus = corpus_of(CHINESE)
    draw, queries = np.random.default_rng(0), []
    for document in corpus:
        for place in range(2):
            start = 400 * int(draw.integers(0, max(len(document.text) // 400 - 1, 1)))
            whole = (start + 150, start + 210) if start + 210 < len(document.text) else None
            across = (start + 370, start + 430) if start + 430 < len(document.text) else None
            for kind, span in (("keyword", whole), ("chunk_boundary", across)):
                if span:
                    evidence = (lab.Evidence(document.doc_id, *span),)
                    name = f"{kind}-{document.doc_id}-{place}"
                    queries.append(lab.Query(name, "?", kind, evidence=evidence))
    spans, config = evidence_spans(queries, corpus), ChunkConfig(size=400)
    chance = chance_of_windows((spans.end - spans.start).astype(float), 400.0, 0.0)
    rates = cut_rates(config.label, parted(chunk(corpus, config), spans), chance, spans)
    rules = {finding.rule for finding in chosen_by_cuts(rates)}
    assert rules == {"evidence spared by the cuts", "evidence hit by the cuts"}


@pytest.mark.parametrize("name", [*ENGLISH, CHINESE])
def test_a_fifth_needs_several_pieces_and_some_have_alternatives(name: str) -> None:
    answered = [query for query in queries_of(name) if query.evidence]
    assert 5 * sum(len(query.pieces) > 1 for query in answered) >= len(answered)
    assert any(len(piece) > 1 for query in answered for piece in query.pieces)


@pytest.mark.parametrize("name", REMADE)
def test_answer_types_grades_and_roles(name: str) -> None:
    for query in all_of(name):
        assert query.tags["origin"] in ("written", "mined")
        assert not {"difficulty", "answer_type"} & set(query.tags)
        assert (query.kind == "unanswerable") == (not query.evidence)
        assert query.kind in KINDS
        assert all(item.grade in (1, 2, 3) and not item.whole for item in query.evidence)
        assert all((item.role == "background") == (item.grade == 1) for item in query.evidence)


@pytest.mark.parametrize("name", [*ENGLISH, CHINESE])
def test_readme_tells_licence_and_fingerprint(name: str) -> None:
    readme = (ROOT / "corpora" / name / "README.md").read_text("utf-8")
    assert "CC0 1.0" in readme
    assert re.search(r"[0-9a-f]{64}", readme)[0] == corpus_of(name).fingerprint  # type: ignore[index]
    assert name not in REMADE or "language model" in readme


@pytest.mark.parametrize("name", [*ENGLISH, CHINESE])
def test_audit_finds_nothing_unfit(name: str) -> None:
    assert not audit(corpus_of(name), queries_of(name)).unfit


def test_remade_corpora_are_of_several_hands() -> None:
    assert not list(one_hand({name: corpus_of(name) for name in REMADE}))


@pytest.mark.parametrize("name", [*ENGLISH, CHINESE])
def test_semantic_questions_share_at_most_a_fifth_of_their_words_with_the_evidence(
    name: str,
) -> None:
    for query in queries_of(name):
        if query.kind == "semantic":
            share = shared_words(query, corpus_of(name))
            assert share is None or share <= PARAPHRASE, query.query_id


def recall(name: str, phases: int = 4, **grid: object) -> pd.DataFrame:
    """Recall@5 of kind x system, mean over four phases."""
    measure = lab.Measure(metrics=("recall@5",), select_by="recall@5", phases=phases)
    run = lab.sweep(corpus_of(name), queries_of(name), {"mode": "bm25"} | grid, measure)
    table = run.slices("kind")
    table["system"] = [" ".join(one.replace("-400", "").split()[:2]) for one in table["system"]]
    return table.pivot(index="kind", columns="system", values="recall@5")


@pytest.mark.parametrize("name", REMADE)
def test_what_words_alone_reach(name: str) -> None:
    """BM25 reaches what shares words with the question, and little of what does not."""
    reached = recall(name)["fixed bm25"]
    assert reached["keyword"] >= 0.55
    assert reached["exact_id"] >= 0.6
    assert reached["semantic"] <= 0.4
    assert reached["keyword"] - reached["semantic"] >= 0.25


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in REMADE if name != CHINESE])
def test_sets_separate_bm25_and_minilm(name: str) -> None:
    found = recall(name, mode=("bm25", "dense"), model="all-MiniLM-L6-v2")
    assert found.loc["semantic", "fixed dense"] > found.loc["semantic", "fixed bm25"]
    assert found.loc["exact_id", "fixed bm25"] > found.loc["exact_id", "fixed dense"]
