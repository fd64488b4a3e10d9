"""From a run to what its answers lose, and a judge checked: as a user goes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import lab
from lab.answers.contexts import prompts
from lab.cli import app
from lab.errors import AnswersError

TEXTS = {
    f"d{number}": (
        f"The pump P{number} opens at {number + 3} bar. It is painted green. "
        f"Stop the pump P{number}, then drain the hose of valve V{number}. Engineers like tea."
    )
    for number in range(12)
}


@pytest.fixture(scope="module")
def run() -> lab.Run:
    corpus = lab.Corpus(lab.Document(doc_id, text) for doc_id, text in TEXTS.items())
    queries = [
        lab.Query(
            f"q{number:02}",
            f"At how many bar does pump P{number} open?",
            evidence=(lab.Evidence(f"d{number}", 0, TEXTS[f"d{number}"].index(" It")),),
            answer=f"{number + 3} bar",
            answer_type="fact",
        )
        for number in range(12)
    ]
    grid = lab.Grid(chunk_size=60, mode="bm25", k1=(1.2, 0.0))
    return lab.sweep(corpus, queries, grid, progress=False)


@pytest.fixture(scope="module")
def folder(run: lab.Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("answers")
    documents = place / "documents.jsonl"
    lines = ({"doc_id": doc_id, "text": text} for doc_id, text in TEXTS.items())
    documents.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    sets = place / "questions.jsonl"
    lines = (
        {
            "query_id": query.query_id,
            "text": query.text,
            "answer": query.answer,
            "answer_type": "fact",
            "evidence": [
                {"doc_id": item.doc_id, "start": item.start, "end": item.end}
                for item in query.evidence
            ],
        }
        for query in run.queries
    )
    sets.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    grid = lab.Grid(chunk_size=60, mode="bm25")
    lab.sweep(documents, sets, grid, progress=False).write(place / "run")
    return place


def written(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def test_every_mode_gives_what_it_says(run: lab.Run) -> None:
    system = run.recommended
    asked = {
        mode: list(prompts(run, system, mode, 3))
        for mode in (
            "chain",
            "gold",
            "gold+noise(2)",
            "reordered(back)",
            "reordered(sides)",
            "none",
        )
    }
    gold = asked["gold"][0].contexts
    assert [context.text for context in gold] == ["The pump P0 opens at 3 bar."]
    assert {prompt.system for prompt in asked["gold"]} == {"gold"}
    noisy = asked["gold+noise(2)"][0].contexts
    assert gold[0] in noisy
    assert len(noisy) == 3
    chain, back = asked["chain"][0].contexts, asked["reordered(back)"][0].contexts
    assert sorted(chain, key=str) == sorted(back, key=str)
    assert "opens at 3 bar" in back[-1].text
    assert asked["none"][0].contexts == ()
    assert "[1] " in asked["chain"][0].prompt
    assert asked["chain"][0].prompt.endswith(f"Question: {run.queries[0].text}\nAnswer:")
    with pytest.raises(AnswersError, match="mode is 'golden'"):
        list(prompts(run, system, "golden", 3))


def test_from_contexts_to_losses(folder: Path) -> None:
    out = folder / "prompts.jsonl"
    done = CliRunner().invoke(app, ["contexts", str(folder / "run"), "--out", str(out), "-k", "2"])
    assert done.exit_code == 0, done.output
    chain = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len(chain) == 12
    # A generator that is right where it sees the evidence, and says nothing of use elsewhere.
    answers = []
    for line in chain:
        number = int(line["query_id"][1:])
        right = f"{number + 3} bar"
        answers.append({"query_id": line["query_id"], "system": "gold", "answer": right})
        answers.append({**{k: line[k] for k in ("query_id", "system")}, "answer": "unknown"})
    file = written(folder / "answers.jsonl", answers)
    done = CliRunner().invoke(
        app, ["answers", str(folder / "run"), "--answers", str(file), "--json"]
    )
    assert done.exit_code == 0, done.output
    record = json.loads(done.output)
    (losses,) = record["losses"].values()
    assert losses[0]["slice"] == "all"
    assert losses[0]["retrieval"] == 1.0
    assert losses[0]["generation"] == 0.0
    assert losses[0]["verdict"] == "retrieval"
    assert record["means"]["gold"]["score"] == 1.0
    assert record["means"]["gold"]["context_recall"] == 1.0
    shown = CliRunner().invoke(app, ["answers", str(folder / "run"), "--answers", str(file)])
    assert "lost to retrieval" in shown.output
    assert shown.output.splitlines()[-1].endswith("retrieval")


def test_wrong_answers_are_told_at_once(folder: Path) -> None:
    file = written(
        folder / "wrong.jsonl",
        [
            {"query_id": "q99", "system": "gold", "answer": "x"},
            {"query_id": "q01", "system": "", "answer": 3},
            {
                "query_id": "q02",
                "system": "gold",
                "answer": "x",
                "contexts": ["a"],
                "citations": [2],
            },
        ],
    )
    done = CliRunner().invoke(app, ["answers", str(folder / "run"), "--answers", str(file)])
    assert isinstance(done.exception, AnswersError)
    told = "\n".join(done.exception.problems)
    for part in (
        "no question 'q99'",
        "system is ''",
        "answer is 3",
        "citation 2; the answer has 1",
    ):
        assert part in told


def test_a_judge_is_checked_against_people_and_its_old_self(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    people, judged = [], []
    for number in range(120):
        for generator in ("red-1", "blue-2"):
            label = int(rng.integers(1, 6))
            item = {"query_id": f"q{number:03}", "system": generator}
            people.append({**item, "judge": "person", "score": label})
            words = int(rng.integers(20, 300))
            score = min(5, label + (generator == "red-1"))
            judged.append(
                {
                    **item,
                    "judge": "red-9",
                    "score": score,
                    "generator": generator,
                    "words": words,
                    "confidence": 0.5 if number < 3 else 0.9,
                }
            )
    scores, human = written(tmp_path / "s.jsonl", judged), written(tmp_path / "h.jsonl", people)
    done = CliRunner().invoke(app, ["judge-check", str(scores), "--human", str(human), "--json"])
    assert done.exit_code == 0, done.output
    record = json.loads(done.output)
    (judge,) = record["judges"]
    assert judge["shared_with_people"] == 240
    assert judge["family"]["bonus"] > 0.5
    assert judge["family"]["p"] < 0.01
    assert judge["length"]["low"] < 0 < judge["length"]["high"]
    assert len(record["queue"]) == 6
    shown = CliRunner().invoke(app, ["judge-check", str(scores), "--human", str(human)])
    assert "points for its own family" in shown.output

    milder = written(tmp_path / "new.jsonl", [{**row, "score": row["score"] - 1} for row in judged])
    changed = CliRunner().invoke(app, ["judge-check", str(milder), "--before", str(scores)])
    assert changed.exit_code == 1
    assert "the mean moved by -1.00" in changed.output
    same = CliRunner().invoke(app, ["judge-check", str(scores), "--before", str(scores)])
    assert same.exit_code == 0
