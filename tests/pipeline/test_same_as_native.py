"""The lab's own stages, shown as a foreign retriever shows its own and read back from a file, are
diagnosed alike, byte for byte."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lab
from lab.config.config import Config
from lab.config.retriever import RetrieverConfig
from lab.diagnosis import diagnose
from lab.diagnosis.interventions.intervention import Case
from lab.diagnosis.interventions.order import VISIBLE, WEIGHED, intervened
from lab.pipeline.resources import Resources
from lab.pipeline.searcher import Searcher
from lab.runs.run import Run
from lab.storage.cache import Cache
from tests.given import GivenEncoder, GivenReranker, corpus_of, hashed

WORDS = "pump valve seal motor gauge filter hose piston rotor flange".split()
RNG = np.random.default_rng(20)


def _text(number: int) -> str:
    words = [*RNG.choice(WORDS, 90), f"unit{number}", *RNG.choice(WORDS, 60)]
    return " ".join(map(str, words))


CORPUS = corpus_of({f"d{n:02}": _text(n) for n in range(40)})


def _question(number: int, documents: bool) -> lab.Query:
    name = f"d{number % 40:02}"
    words = " ".join(map(str, RNG.choice(WORDS, 3)))
    starts = RNG.choice(600, 2, replace=False).tolist()
    return lab.Query(
        f"q{number:02}",
        f"{words} unit{number % 40}" if number % 3 else words,
        kind="abc"[number % 3],
        evidence=(lab.Evidence(name),)
        if documents
        else tuple(lab.Evidence(name, start, start + 60) for start in starts),
    )


SPANS = [_question(number, documents=False) for number in range(60)]
DOCUMENTS = [_question(number, documents=True) for number in range(60)]


class HashedReranker(GivenReranker):
    """Scores that depend on every byte of question and text."""

    def score(self, questions: Sequence[str], texts: Sequence[str], progress: Any) -> np.ndarray:
        progress(len(texts))
        pairs = zip(questions, texts, strict=True)
        return np.array([hashed(f"{question}|{text}")[0] for question, text in pairs])


SYSTEMS: dict[str, dict[str, Any]] = {
    "bm25": {"mode": "bm25"},
    "dense": {"mode": "dense"},
    "min-max": {"mode": "hybrid", "alpha": 0.4},
    "theoretical": {"mode": "hybrid", "alpha": 0.7, "normalization": "theoretical"},
    "z-score": {"mode": "hybrid", "alpha": 0.3, "normalization": "z-score"},
    "rrf": {"mode": "hybrid", "alpha": 0.5, "normalization": "rrf"},
    "few candidates": {"mode": "hybrid", "alpha": 0.5, "depth": 6},
    "reranked": {"mode": "hybrid", "alpha": 0.5, "rerank_model": "given", "rerank_depth": 12},
    "cut": {"mode": "bm25", "rerank_model": "given", "rerank_depth": 12, "threshold": 0.1},
}
MEASURE = lab.Measure(metrics=("recall@5", "precision@3", "ndcg@10"), select_by="ndcg@10")
# What lies in no stage: why a term matches nothing, and what the encoder did not read.
HIDDEN = ["unmatched", "unread_start", "unread_end"]


def visible_alone(case: Case) -> Case:
    """A native system tried on what a foreign one can be."""
    return intervened(case, VISIBLE if case.config.rerank else (*VISIBLE, *WEIGHED))


def native_run(settings: dict[str, Any], queries: list[lab.Query], size: int) -> Run:
    grid = lab.Grid(chunk_size=size, model="given", **settings)
    return lab.sweep(CORPUS, queries, grid, MEASURE, progress=False, **tools())


def tools() -> dict[str, Any]:
    return {"encoders": {"given": GivenEncoder()}, "rerankers": {"given": HashedReranker({})}}


def shown(run: Run, queries: list[lab.Query], folder: Path) -> RetrieverConfig:
    """The stages of a run's only system as files."""
    config = lab.Grid.from_row(run.table().iloc[0].to_dict()).systems()[0][0]
    resources = Resources(Cache(None), encoders={"given": GivenEncoder()})
    resources.scorers["given"] = HashedReranker({})
    searcher = Searcher(CORPUS, config, resources)
    lines = [
        json.dumps({"query_id": query_id, **reply.record})
        for query_id, reply in searcher.replies(queries).items()
    ]
    (folder / "run.jsonl").write_text("\n".join(lines))
    places = [
        json.dumps({"doc_id": chunk.doc_id, "start": chunk.start, "end": chunk.end})
        for chunk in searcher.indexes.chunking
    ]
    (folder / "chunks.jsonl").write_text("\n".join(places))
    return RetrieverConfig(
        name=config.name, run=folder / "run.jsonl", chunks=folder / "chunks.jsonl"
    )


def read_back(retriever: RetrieverConfig, queries: list[lab.Query]) -> Run:
    other = lab.Grid(chunk_strategy="document", mode="bm25")
    return lab.sweep(
        CORPUS, queries, other, MEASURE, progress=False, retrievers={retriever.name: retriever}
    )


def stored(frame: pd.DataFrame, of: tuple[str, str]) -> bytes:
    """The rows of one system, or family, as Parquet has them."""
    column, name = of
    rows = frame[frame[column] == name].drop(columns=[column, *HIDDEN], errors="ignore")
    words = {c: str for c in rows.columns if isinstance(rows[c].dtype, pd.CategoricalDtype)}
    file = io.BytesIO()
    rows.astype(words).reset_index(drop=True).to_parquet(file, index=False)
    return file.getvalue()


@pytest.mark.parametrize("unit", ["spans", "documents"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_stages_read_back_are_diagnosed_alike(
    name: str, unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = SPANS if unit == "spans" else DOCUMENTS
    with monkeypatch.context() as patch:
        patch.setattr(diagnose, "intervened", visible_alone)
        native = native_run(SYSTEMS[name], queries, 120)
    (system,) = native.systems
    back = read_back(shown(native, queries, tmp_path), queries)
    one = ("system", system)
    assert len(native.tables.causes) > 10
    for table in ("causes", "scores", "evidence", "rankings"):
        ours, theirs = (getattr(run.tables, table) for run in (native, back))
        assert stored(ours, one) == stored(theirs, one), table
    waterfalls = [run.waterfall(system).to_csv() for run in (native, back)]
    assert waterfalls[0] == waterfalls[1]
    hybrid = native.tables.systems["family"].iloc[0]
    assert pd.isna(hybrid) == (SYSTEMS[name]["mode"] != "hybrid")
    for table in ("curves", "alphas", "means"):
        ours, theirs = (getattr(run.tables, table) for run in (native, back))
        assert len(ours) or pd.isna(hybrid)
        assert stored(ours, ("family", hybrid)) == stored(theirs, ("family", system)), table
    assert not [note for note in back.notes if note.startswith(system)]


# What only running a system again can show: chunks cut elsewhere, read to their end, searched
# exactly.
RERUN = {"split", "diluted", "detached", "truncated", "approximate"}


@pytest.mark.parametrize("name", ["min-max", "cut"])
def test_what_a_full_native_diagnosis_knows_more_is_what_only_reruns_show(
    name: str, tmp_path: Path
) -> None:
    native = native_run(SYSTEMS[name], SPANS, 120)
    back = read_back(shown(native, SPANS, tmp_path), SPANS)
    causes = back.causes()
    theirs = causes[causes["system"] == native.systems[0]]
    both = native.causes().merge(theirs, on=["query_id", "piece"], suffixes=("", "_back"))
    assert len(both) == len(native.causes()) == len(theirs)
    for row in both.to_dict("records"):
        assert row["cause"] == row["cause_back"] or row["cause"] in RERUN
        assert set(row["recovered_by_back"]) <= set(row["recovered_by"])
    assert both["verified"].sum() > both["verified_back"].sum()


def test_what_hits_of_stages_cannot_say_is_refused(tmp_path: Path) -> None:
    corpus = lab.Corpus([lab.Document("a", "one two", metadata={"n": 1})])
    searcher = Searcher(
        corpus, Config(deliver="window(1)"), Resources(Cache(tmp_path / "c.sqlite"))
    )
    with pytest.raises(lab.LabError, match=r"has deliver 'window\(1\)': hits of its stages do not"):
        searcher.replies([lab.Query("q", "one")])
