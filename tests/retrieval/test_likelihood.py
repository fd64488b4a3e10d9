"""Query likelihood is the mean log-probability of the question's tokens behind the text."""

from pathlib import Path

import numpy as np
import pytest

import lab
from lab.errors import ConfigError, ModelError
from lab.retrieval.likelihood import BETWEEN, QueryLikelihood
from tests.given import corpus_of
from tests.retrieval.shapes import tiny, tokenizer, vocabulary

TEXTS = ["the pump leaks water", "hot motor fuse", "red", "the pump leaks water seal valve hot", ""]


def quietly(_: int) -> None:
    """No progress."""


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny causal model of random weights."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("causal") / "model"
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(vocabulary()),
        n_positions=48,
        n_embd=16,
        n_layer=2,
        n_head=2,
        initializer_range=0.5,
        bos_token_id=None,
        eos_token_id=None,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer(False, None).save_pretrained(folder)
    return folder


def by_hand(folder: Path, question: str, text: str) -> float:
    """One token after the other, each behind all before it."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    words = AutoTokenizer.from_pretrained(str(folder))
    model = AutoModelForCausalLM.from_pretrained(str(folder)).eval()
    read = [words(part, add_special_tokens=False)["input_ids"] for part in (text, BETWEEN)]
    ids, logs = read[0] + read[1], []
    for token in words(question, add_special_tokens=False)["input_ids"]:
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([ids])).logits[0, -1]
        logs.append(float(torch.log_softmax(logits, 0)[token]))
        ids = [*ids, token]
    return float(np.mean(logs))


def test_scores_are_those_of_one_token_after_the_other(causal: Path) -> None:
    questions = ["the pump", "hot red fuse", "the pump", "water", "seal : seal"]
    scores = QueryLikelihood(str(causal)).score(questions, TEXTS, quietly)
    expected = [by_hand(causal, q, t) for q, t in zip(questions, TEXTS, strict=True)]
    np.testing.assert_allclose(scores, expected, rtol=1e-5)
    assert (scores < 0).all()
    # Two tokens of probability 1/2 and 1/8 have the mean logarithm -2 log 2.
    assert np.mean(np.log([1 / 2, 1 / 8])) == pytest.approx(-2 * np.log(2))


def test_a_pair_does_not_depend_on_those_beside_it(causal: Path) -> None:
    scorer = QueryLikelihood(str(causal))
    questions = ["the pump", "hot red", "water seal"]
    pairs = [(question, text) for question in questions for text in TEXTS]
    together = scorer.score(*map(list, zip(*pairs, strict=True)), quietly)
    alone = [scorer.score([question], [text], quietly)[0] for question, text in pairs]
    assert np.array(alone).tobytes() == together.tobytes()


def test_no_question_no_score_and_long_texts_are_cut(causal: Path) -> None:
    scorer = QueryLikelihood(str(causal))
    long = "pump leaks " * 40
    scores = scorer.score(
        ["", "red", "red", "red " * 99], ["red", long, long + "hot", "hot"], quietly
    )
    assert scores[0] == 0
    assert scores[1] == scores[2], "what does not fit is not read"
    assert np.isfinite(scores).all()


def test_a_sweep_reranks_with_it_and_keeps_its_scores(causal: Path, tmp_path: Path) -> None:
    corpus = corpus_of({f"d{i}": text for i, text in enumerate(TEXTS) if text})
    queries = [
        lab.Query(f"q{i}", text, evidence=(lab.Evidence(f"d{i}"),))
        for i, text in enumerate(TEXTS)
        if text
    ]
    grid = lab.Grid(
        chunk_strategy="document",
        mode="bm25",
        rerank_model=f"likelihood:{causal}",
        rerank_depth=(0, 4),
        blend=(0.5, 1.0),
    )
    runs = [
        lab.sweep(corpus, queries, grid, ["recall@1"], cache=tmp_path / "c", progress=False)
        for _ in range(2)
    ]
    assert len(runs[0].table()) == 3
    assert runs[0].manifest["counts"]["pairs computed"] > 0
    assert runs[1].manifest["counts"]["pairs computed"] == 0
    identities = runs[0].manifest["identities"]
    assert identities[f"reranker likelihood:{causal}"].startswith("likelihood ")
    searched = lab.load(runs[0], next(name for name in runs[0].systems if "likelihood" in name))
    assert searched.search("the pump leaks", 1)


def test_what_is_no_causal_model_is_told(tmp_path: Path) -> None:
    bert = tiny(tmp_path / "bert")
    with pytest.raises(ModelError, match="holds BertModel; expected a causal language model"):
        QueryLikelihood(str(bert)).score(["red"], ["hot"], quietly)
    queries = [lab.Query("q", "red", evidence=(lab.Evidence("d"),))]
    for model, told in (("likelihood", "names no model"), ("likelihood:x/y.gguf", "no such file")):
        with pytest.raises(ConfigError, match=told):
            lab.sweep(
                corpus_of({"d": "red"}),
                queries,
                {"mode": "bm25", "rerank_model": model, "rerank_depth": 5},
                progress=False,
            )
