"""What a model's files tell about reading a corpus is told by check and by a run."""

from pathlib import Path

import pytest

import lab
from lab.chunking.strategies import chunk
from lab.pipeline.resources import Resources
from lab.retrieval.config import DEFAULT_MODEL
from lab.storage.cache import Cache
from lab.sweeping.preflight.check import check_chunks
from lab.sweeping.preflight.reading import unknown_tokens
from tests.conftest import ROOT
from tests.given import corpus_of
from tests.retrieval.shapes import tiny


def told(corpus: lab.Corpus, queries: list[lab.Query], model: str) -> tuple[str, ...]:
    grid = lab.Grid(mode="dense", model=model)
    return check_chunks(corpus, queries, grid.systems()[0]).notes


@pytest.mark.parametrize(("name", "reads"), [("handbook-zh", False), ("devices", True)])
def test_an_english_model_on_chinese_text(name: str, reads: bool) -> None:
    corpus = lab.read_corpus(ROOT / "corpora" / name)
    queries = list(lab.read_diagnostics(ROOT / "diagnostic_sets" / name, corpus))
    share = unknown_tokens(Resources(Cache(None)), DEFAULT_MODEL, [d.text for d in corpus])
    assert share[0] / share[1] == pytest.approx(0.04 if reads else 0.58, abs=0.04)
    lines = [line for line in told(corpus, queries, DEFAULT_MODEL) if "cannot read" in line]
    assert [("corpus" in line, "(told from 15% on)" in line) for line in lines] == (
        [] if reads else [(True, True), (False, True)]
    )


def test_a_run_says_so_too(tmp_path: Path) -> None:
    corpus = corpus_of({"d1": "水泵漏水，请检查密封圈", "d2": "阀门噪声过大"})
    query = lab.Query("q", "水泵漏水", evidence=(lab.Evidence("d1"),))
    run = lab.sweep(corpus, [query], lab.Grid(mode="dense"), cache=tmp_path / "cache.sqlite")
    assert any(
        note.startswith(f"model {DEFAULT_MODEL} cannot read the corpus") for note in run.notes
    )


def test_prompts_that_fit_no_role_are_told(tmp_path: Path) -> None:
    corpus = corpus_of({"d1": "the pump leaks"})
    query = lab.Query("q", "pump", evidence=(lab.Evidence("d1"),))
    names = {"search_query": "query : ", "search_document": "document : ", "clustering": "a : "}
    lines = told(corpus, [query], str(tiny(tmp_path / "one", prompts=names)))
    assert [line.split(": ", 1)[1] for line in lines if "prompt" in line] == [
        "not used, for fitting neither questions nor passages best: 'clustering'; "
        "questions get 'search_query', passages 'search_document'"
    ]
    lines = told(
        corpus, [query], str(tiny(tmp_path / "two", prompts={"mine": "a : "}, default="mine"))
    )
    assert any("no prompt's name fits query and passage; its default 'mine'" in x for x in lines)
    fitting = {"query": "query : ", "passage": "passage : "}
    lines = told(corpus, [query], str(tiny(tmp_path / "three", prompts=fitting)))
    assert not any("prompt" in line for line in lines)


def test_chunks_that_hold_more_tokens_when_counted_again_are_told() -> None:
    corpus = lab.Corpus(list(lab.read_corpus(ROOT / "corpora" / "devices"))[:14])
    query = lab.Query("q", "pump", evidence=(lab.Evidence(corpus.documents[0].doc_id),))
    grid = lab.Grid(chunk_size=40, overlap=10, unit="tokens", mode="dense")
    config = grid.systems()[0][0].chunk
    offsets = Resources(Cache(None)).encoder(DEFAULT_MODEL).offsets
    chunking = chunk(corpus, config, offsets)
    counts = [len(offsets(text)) for text in chunking.texts]
    above = sum(count > 40 for count in counts)
    assert above
    lines = check_chunks(corpus, [query], grid.systems()[0]).notes
    expected = f"{above} of {len(chunking)} chunks hold more tokens than asked for when counted"
    assert any(expected in line and f"up to {max(counts)}" in line for line in lines)
