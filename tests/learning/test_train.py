"""Training tiny models: what is learned, what is refused, what a stop leaves, and the verdict."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.errors import ConfigError, LearningError
from lab.learning.card import read_card
from lab.learning.mined import Example, Mined, Origin, Text, write_mined
from lab.learning.sealed import Sealed, digest_of
from lab.learning.train import train
from lab.learning.trainers import lists, pairs, triples
from lab.learning.training import LOSSES, Training, check_together, split
from lab.storage.interrupt import Interrupted
from lab.storage.progress import Silent
from tests.conftest import Call
from tests.retrieval.shapes import tiny

pytest.importorskip("datasets")
pytest.importorskip("accelerate")
# Words of one topic answer each other; tiny() knows all of them.
TOPICS = [("pump", "water"), ("seal", "leaks"), ("motor", "hot"), ("fuse", "red")]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tiny(tmp_path_factory.mktemp("models") / "base")
    settings = json.loads((folder / "config.json").read_text())
    calm = dict.fromkeys(("hidden_dropout_prob", "attention_probs_dropout_prob"), 0.0)
    (folder / "config.json").write_text(json.dumps(settings | calm))
    return folder


def example(number: int) -> Example:
    draw = random.Random(number)
    topic, other = draw.sample(range(len(TOPICS)), 2)
    (question, answer), (_, wrong) = TOPICS[topic], TOPICS[other]
    return Example(
        query_id=f"q{number}",
        kind="keyword",
        piece=1,
        question=f"{question} {'a ' * (number % 5)}{number}",
        positive=Text(f"d{number % 12}", 0, 9, f"the {answer} {'the ' * (number % 3)}", 0.9),
        negative=Text(f"d{(number + 1) % 12}", 0, 9, f"the {wrong} {'the ' * (number % 4)}", 0.1),
        origins=(Origin("bm25", 1, "outranked"),),
    )


def mined(count: int = 96, sealed: Sealed | None = None, **facts: Any) -> Mined:
    corpus = {"fingerprint": "c1", "absolute_path": "/somewhere", "path": "somewhere"}
    known = {
        "run": None, "name": "given", "corpus": corpus, "questions": "f", "systems": ["bm25"],
        "teacher": "maxsim", "limit": 0.95, "sealed": (sealed or Sealed()).plain, "left_out": {},
    }  # fmt: skip
    return Mined(tuple(example(number) for number in range(count)), known | facts)


def learn(base: Path, place: Path, kind: Any, loss: str, **more: Any) -> dict[str, Any]:
    settings = {"epochs": 3, "batch": 4, "learning_rate": 1e-2} | more
    training = Training(kind, str(base), loss, **settings)
    return train(training, {Path("mined"): mined()}, place, Silent())


def weights(folder: Path) -> Mapping[str, Any]:
    from safetensors.numpy import load_file

    return load_file(next(folder.rglob("model.safetensors")))


@pytest.mark.parametrize(
    ("kind", "loss"), [(kind, loss) for kind, losses in LOSSES.items() for loss in losses]
)
def test_the_loss_falls_on_documents_not_seen(
    base: Path, tmp_path: Path, kind: str, loss: str
) -> None:
    record = learn(base, tmp_path / "model", kind, loss)
    figures = record["figures"]
    assert figures["loss"] < figures["loss_before"]
    assert figures["examples"] + figures["stopping"] == 96
    assert read_card(tmp_path / "model") == json.loads(json.dumps(record))
    assert not list(tmp_path.glob(".model-*"))


def test_a_trained_encoder_is_a_model_of_the_lab(base: Path, tmp_path: Path) -> None:
    from lab.retrieval.encoder import SentenceEncoder

    learn(base, tmp_path / "model", "encoder", "ranking")
    texts = [f"{question} a 7" for question, _ in TOPICS], [f"the {answer}" for _, answer in TOPICS]

    def right(folder: Path) -> float:
        encoder = SentenceEncoder(str(folder))
        asked = encoder.encode(texts[0], "query", lambda done: None)
        read = encoder.encode(texts[1], "passage", lambda done: None)
        return float(((asked @ read.T).argmax(axis=1) == np.arange(len(TOPICS))).mean())

    assert right(tmp_path / "model") == 1.0 > right(base)


def test_a_trained_reranker_is_one_of_the_lab(base: Path, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    from lab.retrieval.cross_encoder import CrossEncoderScorer

    learn(base, tmp_path / "model", "reranker", "bce", epochs=1)
    questions, texts = zip(*TOPICS, strict=True)
    scores = CrossEncoderScorer(str(tmp_path / "model")).score(questions, texts, lambda done: None)
    model = CrossEncoder(str(tmp_path / "model"), local_files_only=True)
    chances = model.predict(list(zip(questions, texts, strict=True)), show_progress_bar=False)
    assert np.allclose(1 / (1 + np.exp(-scores)), chances, atol=1e-5)
    assert len(set(scores.tolist())) == 4


def test_one_seed_gives_one_model(base: Path, tmp_path: Path) -> None:
    for name in "ab":
        learn(base, tmp_path / name, "reranker", "lambda", seed=1, epochs=1, batch=16)
    first, same = (weights(tmp_path / name) for name in "ab")
    assert all(np.array_equal(first[name], same[name]) for name in first)


def test_a_stopped_training_goes_on(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after some steps and begun again it gives the weights of one that never stopped."""

    class Stops(Silent):
        def __init__(self, after: int) -> None:
            self.after, self.notes = after, list[str]()

        def stage(self, label: str, total: int) -> Callable[[int], None]:
            def advance(steps: int) -> None:
                self.after -= 1
                if not self.after:
                    raise KeyboardInterrupt

            return advance

        def note(self, message: str) -> None:
            self.notes.append(message)

    training = Training("encoder", str(base), "ranking", 1, 8, 3e-3)
    sources = {Path("mined"): mined()}
    with pytest.raises(Interrupted, match="kept up to step 4"):
        train(training, sources, tmp_path / "model", Stops(5))
    assert not (tmp_path / "model").exists()
    again = Stops(-1)
    train(training, sources, tmp_path / "model", again)
    assert any("going on from step 4" in note for note in again.notes)
    train(training, sources, tmp_path / "whole", Silent())
    resumed, whole = weights(tmp_path / "model"), weights(tmp_path / "whole")
    assert all(np.allclose(resumed[name], whole[name], atol=1e-6) for name in whole)
    once_more = Stops(-1)
    train(training, sources, tmp_path / "model", once_more)
    assert any("was trained just so" in note for note in once_more.notes)


def test_rows_of_the_losses() -> None:
    first, second = example(0), replace(example(0), negative=Text("x", 0, 1, "red", 0.1))
    assert len(triples([first, second])) == 2
    labels = {row["text"]: row["label"] for row in pairs([first, second])}
    assert labels == {first.positive.text: 1.0, first.negative.text: 0.0, "red": 0.0}
    (row,) = lists([first, second])
    assert sorted(row["labels"]) == [0.0, 0.0, 1.0]
    # A text that answers is never a negative of its question, whichever came first.
    turned = replace(first, positive=first.negative, negative=first.positive)
    assert {row["label"] for row in pairs([turned, first])} == {1.0}


def test_stopping_documents_answer_nothing_that_is_trained() -> None:
    parts = split({Path("a"): mined(), Path("b"): mined()}, seed=3)
    assert {e.positive.doc_id for e in parts.stop} == set(parts.documents)
    assert len(parts.train) + len(parts.stop) == 192
    one = [replace(e, positive=replace(e.positive, doc_id="d")) for e in mined().examples]
    with pytest.raises(LearningError, match="one document answers all"):
        split({Path("a"): Mined(tuple(one), mined().facts)}, seed=0)


def test_leaks_are_refused() -> None:
    asked = mined().examples[0]
    by_id = Sealed(query_ids=frozenset({"q0"}))
    by_text = Sealed(texts=frozenset({digest_of(f" {asked.question.upper()}")}))
    by_document = Sealed(documents=frozenset({"d0"}))
    for sealed in (by_id, by_text, by_document):
        with pytest.raises(LearningError, match="a leak"):
            check_together({Path("a"): mined(sealed=sealed)})
        with pytest.raises(LearningError, match=r"a: a leak.* sealed for b"):
            check_together({Path("a"): mined(), Path("b"): mined(sealed=sealed)})
    # Ids and documents are those of one corpus; a text is a leak wherever it stands.
    elsewhere = {"fingerprint": "c2", "absolute_path": "/b", "path": "b"}
    for sealed in (by_id, by_document):
        other = mined(0, sealed, corpus=elsewhere)
        check_together({Path("a"): mined(), Path("b"): other})
    with pytest.raises(LearningError, match="a leak"):
        check_together({Path("a"): mined(), Path("b"): mined(0, by_text, corpus=elsewhere)})


def test_mixed_runs_are_refused() -> None:
    with pytest.raises(LearningError, match="different rules: teacher is 'maxsim' and 'x'"):
        check_together({Path("a"): mined(), Path("b"): mined(teacher="x")})
    changed = mined().facts["corpus"] | {"fingerprint": "c2"}
    with pytest.raises(LearningError, match="two states of /somewhere"):
        check_together({Path("a"): mined(), Path("b"): mined(corpus=changed)})
    other = tuple(replace(e, question="motor") for e in mined(1).examples)
    with pytest.raises(LearningError, match="ask 'q0' in different words"):
        check_together({Path("a"): mined(), Path("b"): Mined(other, mined().facts)})


def test_a_loss_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="'lambda', which trains no encoder"):
        Training("encoder", "x", "lambda")
    for rate in (-1.0, 0.0, float("nan"), 2.0):
        with pytest.raises(ConfigError, match="--learning-rate is"):
            Training("encoder", "x", "ranking", learning_rate=rate)


@pytest.fixture
def experiment(tmp_path: Path, base: Path) -> Path:
    """Documents of four topics, whose questions use the topic's other word: BM25 finds nothing and
    the untrained model places them by chance. A quarter of the questions is sealed."""
    documents, asked, sealed = [], [], []
    for number in range(32):
        question, answer = TOPICS[number % 4]
        filler = " ".join(["the", "a", ":", "."][number // 4 % 4 :] * (1 + number // 16))
        documents.append({"doc_id": f"d{number:02}", "text": f"{answer} {filler} {number}"})
        record = {
            "query_id": f"q{number:02}",
            "text": f"{question} {filler} {answer if number % 3 == 0 else ''} x{number}",
            "kind": "semantic",
            "evidence": [{"doc_id": f"d{number:02}"}],
        }
        (sealed if number % 4 == number // 4 % 4 else asked).append(record)
    for name, rows in (("documents", documents), ("set/a", asked), ("set/sealed/a", sealed)):
        file = tmp_path / f"{name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "x.toml").write_text(
        'name = "x"\ncorpus = "documents.jsonl"\ndiagnostic_sets = ["set"]\n'
        f'[chunk]\nstrategy = "document"\n[retrieve]\nmode = "dense"\n[dense]\nmodel = "{base}"\n'
        '[measure]\nmetrics = ["recall@1", "ndcg@10"]\n'
    )
    return tmp_path


def test_the_loop_from_the_command_line(experiment: Path, base: Path, call: Call) -> None:
    run, model = experiment / "run", experiment / "model"
    assert call("run", experiment / "x.toml", "--out", run)[0] == 0
    code, _, problems = call("mine", run, "--found")
    assert code == 0, problems
    words = ["train", "encoder", "--from", run / "mined", "--model", base, "--out", model]
    words += ["--epochs", 2, "--learning-rate", "0.003", "--verdict"]
    code, screen, problems = call(*words)
    assert code in (0, 1), problems
    assert "8 sealed questions" in screen
    assert "no second set was named" in screen
    assert "missed pieces brought back" in screen
    assert max(map(len, screen.split("written:")[0].splitlines())) <= 80
    record = read_card(model)
    assert record is not None
    assert {line["part"] for line in record["verdict"]} == {"sealed"}
    assert code == int(any(line["verdict"] == "worse" for line in record["verdict"]))
    # A second set of what was trained on would say nothing of what was forgotten.
    code, _, problems = call(*words, "--second", run)
    assert code == 2
    assert "a leak: the training examples ask" in problems
    assert call("run", experiment / "x.toml", "--out", model)[0] == 2


def test_what_cannot_be_judged_is_told_before_training(
    experiment: Path, base: Path, call: Call
) -> None:
    write_mined(mined(), experiment / "mined")
    code, _, problems = call(
        "train", "encoder", "--from", experiment / "mined", "--model", base,
        "--out", experiment / "m", "--verdict",
    )  # fmt: skip
    assert code == 2
    assert "nothing is sealed" in problems
    assert not (experiment / "m").exists()
    assert call("train", "decoder", "--from", experiment / "mined")[0] == 2
    assert call("train", "encoder", "--from", experiment)[0] == 2
    occupied = call("train", "encoder", "--from", experiment / "mined", "--out", experiment / "set")
    assert occupied[0] == 2
