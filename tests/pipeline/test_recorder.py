"""The stages of a pipeline noted down in its own code, and several searches for one question."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import lab
from lab.config.retriever import RetrieverConfig
from lab.errors import ConfigError
from lab.runs.run import Run
from tests.given import corpus_of

CORPUS = corpus_of({f"d{n}": f"Sentence number {n}." for n in range(12)})
QUESTIONS = [
    lab.Query("one", "which is one?", evidence=(lab.Evidence("d1", 0, 18),)),
    lab.Query(
        "both", "which are two and three?", evidence=(lab.Evidence("d2"), lab.Evidence("d3"))
    ),
]


def run_of(retriever: Any) -> Run:
    return lab.sweep(
        CORPUS,
        QUESTIONS,
        lab.Grid(mode="bm25", chunk_strategy="document"),
        lab.Measure(metrics=("recall@2", "mrr"), select_by="mrr"),
        progress=False,
        retrievers={"mine": retriever},
    )


def recorded() -> lab.Recorder:
    recorder = lab.Recorder()
    with recorder.question("one"):
        recorder.stage("bm25", [("d1", 3.0), ("d4", 2.0)])
        recorder.stage("cross-encoder", ["d4", "d5", "d1"])
    with recorder.question("both"):
        recorder.call("which is two?")
        recorder.stage("bm25", ["d2", "d9"])
        recorder.call("which is nine?")
        recorder.stage("bm25", ["d9"])
        recorder.call("which is three?")
        recorder.stage("bm25", ["d9", "d3"])
    return recorder


def test_what_was_noted_is_a_finished_run_with_stages(tmp_path: Path) -> None:
    run = run_of(recorded())
    causes = run.causes().query("system == 'mine'").set_index("query_id")
    assert causes.loc["one", "cause"] == "demoted"
    file = recorded().write(tmp_path / "stages.jsonl")
    again = run_of(RetrieverConfig(name="mine", run=file))
    for table in ("causes", "rankings", "scores", "calls"):
        ours, theirs = (getattr(r.tables, table) for r in (run, again))
        assert ours.equals(theirs), table


def test_every_search_says_what_it_added(tmp_path: Path) -> None:
    run = run_of(recorded())
    rows = run.tables.calls
    assert rows["query_id"].tolist() == ["both", "both", "both", "one"]
    both = rows[rows["query_id"] == "both"]
    assert both["asked"].tolist() == ["which is two?", "which is nine?", "which is three?"]
    assert both[["hits", "new_hits", "completed"]].values.tolist() == [
        [2, 2, 1],
        [1, 0, 0],
        [2, 1, 1],
    ]
    assert both["coverage"].tolist() == [0.5, 0.5, 1.0]
    assert both["added"].tolist() == [True, False, True]
    told = "mine: 1 of 4 searches for 2 question(s) added no evidence"
    assert any(note.startswith(told) for note in run.notes)
    story = str(lab.read_run(run.write(tmp_path / "run"), CORPUS).explain("both", "mine"))
    assert "search 2: which is nine?: 0 new of 1 hits, adds no evidence" in story
    assert "search 3: which is three?: 1 new of 2 hits, evidence covered 100%" in story


def test_questions_asked_at_once_keep_their_stages_apart() -> None:
    recorder = lab.Recorder()

    def ask(number: int) -> None:
        with recorder.question(f"q{number}"):
            recorder.stage("dense", [f"d{number}"])
            recorder.stage("final", [f"d{number}"])

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(ask, range(200)))
    replies = recorder.to_dict()
    assert len(replies) == 200
    assert all(reply.hits[0].doc_id == f"d{name[1:]}" for name, reply in replies.items())
    assert all(len(reply.calls[0].stages) == 2 for reply in replies.values())


def test_what_cannot_be_noted_is_told(tmp_path: Path) -> None:
    recorder = lab.Recorder()
    with pytest.raises(ConfigError, match="stage outside a question"):
        recorder.stage("bm25", [])
    with recorder.question("q"):
        with pytest.raises(ConfigError, match="its name does not say its kind"):
            recorder.stage("step 3", [])
        with pytest.raises(ConfigError, match="did you mean 'lexical'"):
            recorder.stage("step 3", [], kind="lexcal")
        with pytest.raises(ConfigError, match="stage 'bm25': hit 3"):
            recorder.stage("bm25", [3])
        recorder.stage("bm25", [])
        with pytest.raises(ConfigError, match="'bm25' twice in one search"):
            recorder.stage("bm25", [])
    with pytest.raises(ConfigError, match="name it like"):
        recorder.write(tmp_path / "stages.txt")
