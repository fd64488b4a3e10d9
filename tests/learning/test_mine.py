"""Hard negatives of a run: what stands before missed evidence, and what never enters."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lab
from lab.arrays import Floats
from lab.corpus.document import Corpus, Document
from lab.errors import LearningError
from lab.learning.mine import Mine, mined_systems
from lab.learning.mined import Mined, read_mined, write_mined
from lab.learning.sealed import Sealed, answering, digest_of, sealed_of
from lab.relevance.query import Evidence, Query
from lab.runs.run import Run
from tests.conftest import Call

# BM25 places documents by how often they say "pump": ten of them stand before the seal's.
DOCUMENTS = {f"noise-{i:02}": f"pump pump pump number{i}" for i in range(10)}
DOCUMENTS |= {
    "answer": "the seal of the pump lasts eight weeks in warm water",
    "copy": "pump pump the seal of the pump lasts eight weeks in warm water",
    "other": "motors are loud",
}
ASKED = (
    Query("q1", "pump gasket durability", "keyword", evidence=(Evidence("answer"),)),
    Query("q2", "loud motors", "semantic", evidence=(Evidence("other"),)),
)
SEALED = Query("s1", "number3", evidence=(Evidence("noise-03"),))


def corpus(**more: str) -> Corpus:
    return Corpus(Document(doc_id, text) for doc_id, text in (DOCUMENTS | more).items())


def run_of(
    queries: Sequence[Query] = ASKED, documents: Corpus | None = None, sealed: float = 0
) -> Run:
    measure = {"metrics": ["recall@5", "ndcg@10"], "sealed": sealed}
    grid = {"mode": "bm25", "chunk_strategy": "document"}
    place = Path(":memory:")
    return lab.sweep(documents or corpus(), queries, grid, measure, cache=place, progress=False)


def sealing(*queries: Query) -> Sealed:
    """These questions, sealed with all documents that answer them."""
    return Sealed(
        frozenset(query.query_id for query in queries),
        frozenset(digest_of(query.text) for query in queries),
        frozenset(doc_id for query in queries for doc_id in answering(query)),
    )


def even(questions: Sequence[str], texts: Sequence[str]) -> Floats:
    """A teacher that knows the answers by their words."""
    return np.array([1.0 if "seal" in text or "loud" in text else 0.5 for text in texts])


def mined(run: Run, sealed: Sealed | None = None, **more: bool) -> tuple[Mined, dict[str, int]]:
    mine = Mine(run, mined_systems(run, ()), sealed or Sealed(), **more)
    return mine.examples("given", even), dict(mine.left_out)


def test_hits_above_missed_evidence() -> None:
    found, _ = mined(run_of())
    # The answer ranks twelfth: ten hits of noise and its copy stand above, and the run keeps ten.
    assert {example.query_id for example in found.examples} == {"q1"}
    assert {example.cause for example in found.examples} == {"outranked"}
    assert {example.positive.doc_id for example in found.examples} == {"answer"}
    names = [example.negative.doc_id for example in found.examples]
    assert len(names) == len(set(names)) > 5
    assert all(name.startswith("noise") for name in names)
    ranks = {example.negative.doc_id: example.origins[0].rank for example in found.examples}
    assert ranks["noise-00"] < ranks["noise-09"]
    assert "copy" not in names
    assert found.examples[0].positive.score == 1.0
    assert found.examples[0].negative.score == 0.5


def test_found_evidence_on_request() -> None:
    found, _ = mined(run_of((ASKED[0], Query("q2", "loud pump", evidence=(Evidence("other"),)))))
    assert {example.query_id for example in found.examples} == {"q1"}
    more, _ = mined(
        run_of((ASKED[0], Query("q2", "loud pump", evidence=(Evidence("other"),)))), found=True
    )
    of_second = [example for example in more.examples if example.query_id == "q2"]
    assert of_second
    assert {example.cause for example in of_second} == {"found"}


def test_near_duplicates_of_evidence_stay_out() -> None:
    texts = {f"copy-{i}": f"pump pump {DOCUMENTS['answer']}" for i in range(5)}
    found, _ = mined(run_of(documents=corpus(**texts)))
    assert not any(example.negative.doc_id.startswith("copy") for example in found.examples)
    asked = (Query("q1", "pump seal", evidence=(Evidence("answer"),)),)
    copies = {f"copy-{i}": f"pump seal pump seal {DOCUMENTS['answer']}" for i in range(6)}
    with pytest.raises(LearningError, match="near-duplicates of evidence"):
        mined(run_of(asked, corpus(**copies)))


def test_likely_answers_stay_out() -> None:
    def teacher(questions: Sequence[str], texts: Sequence[str]) -> Floats:
        # 0.951 and 0.949 of the positive's.
        scores = {"answer": 0.8, "noise-00": 0.7608, "noise-01": 0.7592}
        by_text = {DOCUMENTS[name]: score for name, score in scores.items()}
        return np.array([by_text.get(text, 0.1) for text in texts])

    run = run_of()
    mine = Mine(run, mined_systems(run, ()), Sealed())
    names = {e.negative.doc_id for e in mine.examples("given", teacher).examples}
    assert "noise-00" not in names
    assert "noise-01" in names
    assert mine.left_out["scored above 0.95 of the positive"] == 1


def test_negative_scores_have_their_margin_below() -> None:
    def teacher(questions: Sequence[str], texts: Sequence[str]) -> Floats:
        scores = {"answer": -0.8, "noise-00": -0.83, "noise-01": -0.85}
        by_text = {DOCUMENTS[name]: score for name, score in scores.items()}
        return np.array([by_text.get(text, -0.2) for text in texts])

    run = run_of()
    examples = Mine(run, mined_systems(run, ()), Sealed()).examples("given", teacher).examples
    assert [example.negative.doc_id for example in examples] == ["noise-01"]


def test_a_sealed_question_is_a_leak() -> None:
    for query in (ASKED[0], Query("other-id", "  PUMP gasket  durability")):
        with pytest.raises(LearningError, match=r"a leak: 1 of its questions are sealed \(q1\)"):
            mined(run_of(), sealing(query))


def test_sealed_documents_never_enter() -> None:
    sealed = sealing(Query("s", "which noise", evidence=(Evidence("noise-00"),)))
    found, left_out = mined(run_of(), sealed)
    assert all(example.negative.doc_id != "noise-00" for example in found.examples)
    assert left_out["hits in sealed documents"] == 1
    sealed = sealing(Query("s", "which answer", evidence=(Evidence("answer"),)))
    with pytest.raises(LearningError, match="1 questions that sealed documents answer"):
        mined(run_of(), sealed)


def test_what_a_run_seals_itself() -> None:
    asked = [Query(f"n{i}", "pump pump", evidence=(Evidence(f"noise-0{i}"),)) for i in range(10)]
    run = run_of(asked, sealed=0.3)
    sealed = sealed_of(run, ())
    assert len(sealed.query_ids) == 3
    assert len(sealed.documents) == 3
    # One text is asked of all of them, so every open question is a sealed one's text as well.
    with pytest.raises(LearningError, match="a leak"):
        mined(run, sealed)
    asked = [
        Query(f"n{i}", f"pump {' x' * i}", evidence=(Evidence(f"noise-0{i}"),)) for i in range(10)
    ]
    run = run_of(asked, sealed=0.3)
    sides = iter((1.0, 0.0))  # asked for the positives, then for the negatives

    def teacher(questions: Sequence[str], texts: Sequence[str]) -> Floats:
        return np.full(len(texts), next(sides))

    found = Mine(run, mined_systems(run, ()), sealed_of(run, ())).examples("given", teacher)
    documents = sealed_of(run, ()).documents
    for example in found.examples:
        assert not {example.positive.doc_id, example.negative.doc_id} & documents


def test_sealed_digest_knows_content_not_place() -> None:
    first = sealing(ASKED[0])
    assert first.digest == replace(first, paths=("there",)).digest
    assert first.digest != sealing(*ASKED).digest
    assert Sealed.of(json.loads(json.dumps(first.plain))) == first


def test_the_folder(tmp_path: Path) -> None:
    import pandas as pd

    found, _ = mined(run_of())
    write_mined(found, tmp_path / "mined")
    again = read_mined(tmp_path / "mined")
    assert again.examples == found.examples
    assert again.digest == found.digest
    rows = pd.read_parquet(tmp_path / "mined" / "dataset" / "train.parquet")
    assert list(rows.columns) == ["anchor", "positive", "negative"]
    assert len(rows) == len(found.examples)
    lines = (tmp_path / "mined" / "examples.jsonl").read_text().splitlines()
    (tmp_path / "mined" / "examples.jsonl").write_text("\n".join([lines[0], '{"a": 1}', "{"]))
    with pytest.raises(LearningError) as fault:
        read_mined(tmp_path / "mined")
    assert len(fault.value.problems) == 2
    (tmp_path / "other").mkdir()
    with pytest.raises(LearningError, match="holds no mined examples"):
        write_mined(found, tmp_path / "other")


def test_the_command(tmp_path: Path, call: Call) -> None:
    lines = "".join(json.dumps({"doc_id": d, "text": t}) + "\n" for d, t in DOCUMENTS.items())
    (tmp_path / "documents.jsonl").write_text(lines)
    for folder, asked in (("set", ASKED), ("set/sealed", [SEALED])):
        (tmp_path / folder).mkdir()
        rows = [
            {"query_id": q.query_id, "text": q.text, "evidence": [{"doc_id": e.doc_id}]}
            for q in asked
            for e in q.evidence
        ]
        (tmp_path / folder / "a.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "x.toml").write_text(
        'name = "x"\ncorpus = "documents.jsonl"\ndiagnostic_sets = ["set"]\n'
        '[chunk]\nstrategy = "document"\n[retrieve]\nmode = "bm25"\n'
    )
    run = tmp_path / "run"
    assert call("run", tmp_path / "x.toml", "--out", run)[0] == 0
    code, screen, problems = call("mine", run)
    assert code == 0, problems
    assert "sealed: 1 question about 1 document" in screen
    assert max(map(len, screen.split("written:")[0].splitlines())) <= 80
    names = {example.negative.doc_id for example in read_mined(run / "mined").examples}
    assert names
    assert "noise-03" not in names
    record = json.loads(call("mine", run, "--json", "--out", tmp_path / "m")[1])
    assert record["sealed"]["questions"] == 1
    assert record["examples"] == sum(sum(of.values()) for of in record["counts"].values())
    code, _, problems = call("mine", run, "--sealed", tmp_path / "set")
    assert code == 2
    assert "a leak: 2 of its questions are sealed" in problems
    assert call("mine", run, "--out", tmp_path / "set")[0] == 2
