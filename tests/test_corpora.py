"""The project's own corpora and sets: counts of the issue, licences, and the separation that each
set was made for."""

import os
import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

import lab
from lab.sets.audit.audit import audit
from lab.sets.audit.wording import PARAPHRASE, shared_words
from tests.conftest import ROOT

ENGLISH = ("contracts", "devices", "software")
CHINESE = "handbook-zh"
MULTILINGUAL = Path(
    os.environ.get("LAB_MULTILINGUAL", ROOT.parent / "models" / "multilingual-e5-small")
)
KINDS = ("keyword", "semantic", "exact_id", "chunk_boundary", "unanswerable")


@cache
def corpus_of(name: str) -> lab.Corpus:
    return lab.read_corpus(ROOT / "corpora" / name)


@cache
def queries_of(name: str) -> tuple[lab.Query, ...]:
    return lab.read_diagnostics(ROOT / "diagnostic_sets" / name, corpus_of(name))


def counts(names: tuple[str, ...]) -> dict[str, int]:
    found = dict.fromkeys(KINDS, 0)
    for name in names:
        for query in queries_of(name):
            found[query.kind] += 1
    return found


def test_at_least_80_documents_and_350000_characters() -> None:
    corpora = [corpus_of(name) for name in (*ENGLISH, CHINESE)]
    assert sum(map(len, corpora)) >= 80
    assert sum(corpus.characters for corpus in corpora) >= 350_000


def test_at_least_60_english_and_25_chinese_questions_of_each_kind_340_in_all() -> None:
    english, chinese = counts(ENGLISH), counts((CHINESE,))
    for kind in KINDS[:4]:
        assert english[kind] >= 60
        assert chinese[kind] >= 25
    assert sum(english[kind] + chinese[kind] for kind in KINDS[:4]) >= 340
    assert english["unanswerable"] + chinese["unanswerable"] >= 20


@pytest.mark.parametrize("name", [*ENGLISH, CHINESE])
def test_a_fifth_needs_several_pieces_and_some_have_alternatives(name: str) -> None:
    answered = [query for query in queries_of(name) if query.evidence]
    assert 5 * sum(len(query.pieces) > 1 for query in answered) >= len(answered)
    assert any(len(piece) > 1 for query in answered for piece in query.pieces)


@pytest.mark.parametrize("name", [*ENGLISH, CHINESE])
def test_tags_grades_and_roles(name: str) -> None:
    for query in queries_of(name):
        assert query.tags["difficulty"] in ("easy", "medium", "hard")
        assert query.tags["answer_type"] in ("fact", "reasoning", "procedure", "opinion")
        assert query.tags["origin"] in ("written", "mined")
        assert (query.kind == "unanswerable") == (not query.evidence)
        if query.kind == "unanswerable":
            assert query.tags["neighbour"] in corpus_of(name)
        assert all(item.grade in (1, 2, 3) and not item.whole for item in query.evidence)


@pytest.mark.parametrize("name", [*ENGLISH, CHINESE])
def test_readme_tells_licence_and_fingerprint(name: str) -> None:
    readme = (ROOT / "corpora" / name / "README.md").read_text("utf-8")
    assert "CC0 1.0" in readme
    assert re.search(r"[0-9a-f]{64}", readme)[0] == corpus_of(name).fingerprint  # type: ignore[index]


@pytest.mark.parametrize("name", [*ENGLISH, CHINESE])
def test_audit_finds_nothing_unfit(name: str) -> None:
    assert not audit(corpus_of(name), queries_of(name)).unfit


@pytest.mark.parametrize("name", [*ENGLISH, CHINESE])
def test_semantic_questions_share_at_most_a_fifth_of_their_words_with_the_evidence(
    name: str,
) -> None:
    for query in queries_of(name):
        if query.kind == "semantic":
            share = shared_words(query, corpus_of(name))
            assert share is None or share <= PARAPHRASE, query.query_id


def recall(name: str, model: str) -> pd.DataFrame:
    """Recall@5 of kind x system: both legs over fixed chunks, BM25 over structure chunks."""
    measure = lab.Measure(metrics=("recall@5",), select_by="recall@5")
    fixed = lab.Grid(mode=("bm25", "dense"), model=model)
    tables = []
    for grid in (fixed, lab.Grid(chunk_strategy="structure", mode="bm25")):
        table = lab.sweep(corpus_of(name), queries_of(name), grid, measure).slices("kind")
        table["system"] = [
            " ".join(system.replace("-400", "").split()[:2]) for system in table["system"]
        ]
        tables.append(table)
    return pd.concat(tables).pivot(index="kind", columns="system", values="recall@5")


@pytest.mark.parametrize("name", ENGLISH)
def test_sets_separate_bm25_and_minilm(name: str) -> None:
    holds_separation(recall(name, "all-MiniLM-L6-v2"))


@pytest.mark.slow
def test_chinese_sets_separate_bm25_and_e5() -> None:
    if not MULTILINGUAL.is_dir():
        pytest.skip(
            f"{MULTILINGUAL} is not there: the multilingual model is no part of the project"
        )
    table = recall(CHINESE, str(MULTILINGUAL))
    holds_separation(table)


def holds_separation(found: pd.DataFrame) -> None:
    keyword, semantic, exact, boundary = (found.loc[kind] for kind in KINDS[:4])
    assert keyword["fixed bm25"] >= 0.85
    assert keyword["fixed bm25"] >= keyword["fixed dense"]
    assert semantic["fixed dense"] - semantic["fixed bm25"] >= 0.15
    assert exact["fixed bm25"] >= 0.9
    assert exact["fixed bm25"] - exact["fixed dense"] >= 0.2
    assert boundary["structure bm25"] - boundary["fixed bm25"] >= 0.15
