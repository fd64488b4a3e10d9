"""Reranking: case B40, threshold, blend and ties; a cross-encoder that was trained here; maxsim
against a literal loop."""

import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab
from lab.arrays import NONE
from lab.errors import ModelError
from lab.pipeline.pairs import rerank_notes
from lab.pipeline.resources import Resources
from lab.relevance.query import Evidence, Query
from lab.retrieval.config import DEFAULT_MODEL, RerankConfig
from lab.retrieval.cross_encoder import CrossEncoderScorer
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.ranking import Ranking
from lab.retrieval.rerank import MaxSim, rerank
from lab.storage.cache import Cache
from tests.given import GivenEncoder, GivenReranker, corpus_of, ranking_of

TOPICS = {
    "pump": "impeller seal suction cavitation priming leak".split(),
    "motor": "winding bearing overheats torque stator fuse".split(),
    "filter": "mesh clogged pleats micron backwash cartridge".split(),
}


def ignore(steps: int) -> None:
    return None


def first_stage(hits: int = 10) -> Ranking:
    """Chunks 1 to `hits` (d01, d02, ...) with scores `hits` to 1."""
    return ranking_of([{i: float(hits + 1 - i) for i in range(1, hits + 1)}], hits)


def test_b40_the_reranker_sees_the_pool_and_ties_keep_their_order() -> None:
    scores = np.array([[1.0 if i == 7 else 0.0 for i in range(1, 11)]])
    assert rerank(first_stage(), scores, RerankConfig(depth=10), ["?"]).hits(0)[:5].tolist() == [
        7,
        1,
        2,
        3,
        4,
    ]


def test_b40_with_a_pool_of_five_the_rest_follows_unchanged() -> None:
    found = rerank(first_stage(), np.zeros((1, 5)), RerankConfig(depth=5), ["?"])
    assert found.hits(0).tolist() == list(range(1, 11))
    assert (np.diff(found.scores[0, 4:]) < 0).all()


def test_a_threshold_cuts_hits_and_what_the_reranker_never_saw() -> None:
    scores = np.array([[0.1, 0.9, 0.5, 0.3]])
    assert rerank(first_stage(), scores, RerankConfig(depth=4, threshold=0.3), ["?"]).hits(
        0
    ).tolist() == [2, 3, 4]
    assert rerank(
        first_stage(), scores, RerankConfig(depth=4, threshold=2.0), ["?"]
    ).lengths.tolist() == [0]


def test_blend_mixes_both_normalised_scores() -> None:
    # Fused 3, 2, 1 -> 1, .5, 0; reranker -4, 0, 4 -> 0, .5, 1.
    ranking, scores = first_stage(3), np.array([[-4.0, 0.0, 4.0]])
    found = rerank(ranking, scores, RerankConfig(depth=3, blend=0.25), ["?"])
    assert found.hits(0).tolist() == [1, 2, 3]
    assert found.scores[0].tolist() == pytest.approx([0.75, 0.5, 0.25])
    assert rerank(ranking, scores, RerankConfig(depth=3, blend=0.0), ["?"]).hits(0).tolist() == [
        1,
        2,
        3,
    ]
    assert rerank(ranking, scores, RerankConfig(depth=3, blend=1.0), ["?"]).hits(0).tolist() == [
        3,
        2,
        1,
    ]


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(
        st.lists(st.sampled_from([-3.0, 0.0, 0.5, 0.5 + 1e-8, 2.0]), max_size=8),
        min_size=1,
        max_size=3,
    ),
    depth=st.integers(1, 9),
    threshold=st.sampled_from([None, 0.0, 0.5, 9.0]),
)
def test_reranking_against_a_literal_sort(
    rows: list[list[float]], depth: int, threshold: float | None
) -> None:
    """Rows of reranker scores by first-stage rank; chunk r stands at rank r + 1."""
    ranking = ranking_of([{i: -float(i) for i in range(len(row))} for row in rows], 8)
    width = ranking.chunks.shape[1]
    scores = np.array([[*row, *[np.nan] * (width - len(row))] for row in rows]).reshape(
        len(rows), width
    )
    found = rerank(
        ranking,
        scores[:, :depth],
        RerankConfig(depth=depth, threshold=threshold),
        ["?"] * len(rows),
    )
    for query, row in enumerate(rows):
        pool = sorted(range(len(row[:depth])), key=lambda i: -round(row[i], 6))
        kept = [i for i in pool if threshold is None or row[i] >= threshold]
        rest = list(range(depth, len(row))) if threshold is None else []
        assert found.hits(query).tolist() == kept + rest
        assert NONE not in found.chunks[query, : found.lengths[query]]


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny BERT that learned in two seconds which questions and texts share a
    topic."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = [word for topic in TOPICS.values() for word in topic]
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    plain = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    plain.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, model_max_length=64, **names)
    shape = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        num_labels=1,
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
        initializer_range=0.2,
    )
    torch.manual_seed(0)
    draw, model = random.Random(0), BertForSequenceClassification(shape)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(120):
        topics = [
            (draw.choice(sorted(TOPICS)), draw.choice(sorted(TOPICS)), draw.random() < 0.4)
            for _ in range(48)
        ]
        pairs = [
            (
                " ".join(draw.sample(TOPICS[a], 2)),
                " ".join(draw.sample(TOPICS[a if same else b], 3)),
            )
            for a, b, same in topics
        ]
        labels = torch.tensor([float(same or a == b) for a, b, same in topics])
        logits = model(
            **tokenizer(*map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt")
        ).logits[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    folder = tmp_path_factory.mktemp("cross-encoder")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_cross_encoder_from_a_folder_ranks(cross_encoder: Path) -> None:
    scorer = CrossEncoderScorer(str(cross_encoder))
    texts = [
        "fuse torque stator",
        "pleats clogged cartridge",
        "priming suction impeller",
        "bearing winding",
    ]
    done: list[int] = []
    questions = ["seal leak", "micron mesh"]
    pairs = [(question, text) for question in questions for text in texts]
    scores = scorer.score([q for q, _ in pairs], [t for _, t in pairs], done.append).reshape(2, -1)
    assert sum(done) == len(pairs)
    assert texts[int(scores[0].argmax())] == "priming suction impeller"
    assert texts[int(scores[1].argmax())] == "pleats clogged cartridge"
    alone = [[scorer.score([q], [t], ignore)[0] for t in texts] for q in questions]
    np.testing.assert_array_equal(scores, alone)


def test_a_sweep_reranks_with_a_cross_encoder_from_a_folder(cross_encoder: Path) -> None:
    texts = {
        "d1": "fuse torque stator",
        "d2": "pleats clogged cartridge",
        "d3": "priming suction impeller",
    }
    queries = [
        Query("q1", "seal leak", evidence=(Evidence("d3"),)),
        Query("q2", "micron mesh", evidence=(Evidence("d2"),)),
    ]
    blind = GivenEncoder(
        {text: [1.0, 0.0] for text in (*texts.values(), "seal leak", "micron mesh")}
    )
    result = lab.sweep(
        corpus_of(texts),
        queries,
        lab.Grid(mode="dense", rerank_model=str(cross_encoder), rerank_depth=(0, 3)),
        lab.Measure(metrics=("mrr",), select_by="mrr"),
        cache=Path(":memory:"),
        encoders={DEFAULT_MODEL: blind},
    )
    plain, reranked = (result.scores(system).column("mrr").tolist() for system in result.systems)
    assert plain == [pytest.approx(1 / 3), 0.5]
    assert reranked == [1.0, 1.0]
    assert result.manifest["counts"]["pairs computed"] == 6


def test_a_cross_encoder_is_named_by_its_bytes(cross_encoder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in cross_encoder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    assert CrossEncoderScorer(str(copy)).identity == CrossEncoderScorer(str(cross_encoder)).identity
    other = tmp_path / "other"
    other.mkdir()
    for file in cross_encoder.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    weights = bytearray((other / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (other / "model.safetensors").write_bytes(weights)
    assert (
        CrossEncoderScorer(str(other)).identity != CrossEncoderScorer(str(cross_encoder)).identity
    )


def test_what_is_no_cross_encoder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such folder"):
        CrossEncoderScorer(str(tmp_path / "absent")).score(["q"], ["t"], ignore)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be loaded as a CrossEncoder"):
        CrossEncoderScorer(str(tmp_path)).score(["q"], ["t"], ignore)


def test_maxsim_is_the_mean_over_question_tokens_of_the_best_cosine() -> None:
    encoder = SentenceEncoder(DEFAULT_MODEL)
    questions = ["why does the pump leak", "fuse rating", "why does the pump leak"]
    texts = [
        "Replace the seal when water leaks from the pump.",
        "The fuse is rated 4 A.",
        "The fuse is rated 4 A.",
    ]
    scores = MaxSim(encoder).score(questions, texts, ignore)
    for question, text, score in zip(questions, texts, scores, strict=True):
        asked, held = (
            encoder.model.encode(part, output_value="token_embeddings").numpy()
            for part in (question, text)
        )
        cosines = [
            max(float(q @ t / np.linalg.norm(q) / np.linalg.norm(t)) for t in held) for q in asked
        ]
        assert score == pytest.approx(sum(cosines) / len(cosines), abs=1e-5)
    assert scores[0] > scores[2]


def saturating(cross_encoder: Path, folder: Path, **config: object) -> Path:
    """A copy whose logits all lie near 30, where a Sigmoid in float32 gives 1."""
    import torch
    from transformers import AutoModelForSequenceClassification

    shutil.copytree(cross_encoder, folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        model.classifier.weight.mul_(0.01)
        model.classifier.bias.fill_(30.82)
    for name, value in config.items():
        setattr(model.config, name, value)
    model.save_pretrained(folder)
    return folder


def test_a_saturated_reranker_orders_by_its_logits_and_both_faults_are_counted(
    cross_encoder: Path, tmp_path: Path
) -> None:
    folder = saturating(cross_encoder, tmp_path / "model")
    resources = Resources(Cache(None))
    texts = ["fuse torque stator", "priming suction impeller", "pleats " * 80]
    found = resources.score_pairs(str(folder), ["seal leak"] * 3, texts)
    plain = CrossEncoderScorer(str(cross_encoder)).score(["seal leak"] * 3, texts, ignore)
    assert len(set(found.tolist())) == 3
    assert np.argsort(found).tolist() == np.argsort(plain).tolist()
    assert (found > 30).all()
    faults = [(True, False), (True, False), (True, True)]  # saturated, cut
    assert sorted(resources.reranked[str(folder)].values()) == faults
    again = Resources(resources.cache)
    again.score_pairs(str(folder), ["seal leak"] * 3, texts)
    assert again.reranked == resources.reranked
    told = rerank_notes(resources)
    assert "its Sigmoid gives exactly 0 or 1 to 3 of 3 pairs" in told[0]
    assert "1 of 3 pairs are longer than it reads" in told[1]


def test_logits_without_a_sigmoid_saturate_nothing(cross_encoder: Path, tmp_path: Path) -> None:
    activation = {"activation_fn": "torch.nn.modules.linear.Identity"}
    folder = saturating(cross_encoder, tmp_path / "model", sentence_transformers=activation)
    assert not CrossEncoderScorer(str(folder)).saturated(np.array([30.0, 99.0])).any()


@pytest.mark.parametrize(
    ("given", "described"),
    [
        (np.zeros((2, 2)), r"an array of shape \(2, 2\)"),
        (np.zeros((2, 1)), r"an array of shape \(2, 1\)"),
        ([0.5], r"an array of shape \(1,\)"),
        ([0.5, 0.5, 0.5], r"an array of shape \(3,\)"),
        (["a", "b"], "type <U1"),
        ([[1.0], [1.0, 2.0]], "rows of different lengths"),
        (None, "a single NoneType"),
        (1.0, "a single float"),
        ([1.0, float("nan")], "no finite number for the question 'q' and the text 'two'"),
        ([1.0, float("inf")], "no finite number"),
    ],
)
def test_what_is_no_score_a_pair_is_refused_by_name_and_never_kept(
    given: object, described: str
) -> None:
    class Wrong:
        identity = "wrong"

        def score(self, questions: object, texts: object, progress: object) -> object:
            return given

    cache = Cache(None)
    with pytest.raises(ModelError, match=f"reranker 'mine' gave .*{described}"):
        Resources(cache, scorers={"mine": Wrong()}).score_pairs("mine", ["q", "q"], ["one", "two"])
    right = GivenReranker({"one": 2.0, "two": 1.0}, identity="wrong")
    found = Resources(cache, scorers={"mine": right}).score_pairs(
        "mine", ["q", "q"], ["one", "two"]
    )
    assert found.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("given", [np.zeros(2), np.zeros((3, 4)), [["a"], ["b"]], None])
def test_what_is_no_vector_a_text_is_refused_by_name_and_never_kept(given: object) -> None:
    class Wrong(GivenEncoder):
        def encode(self, texts: object, role: object, progress: object) -> object:
            return given

    cache = Cache(None)
    with pytest.raises(ModelError, match=r"model 'mine' gave .* for 2 texts"):
        Resources(cache, encoders={"mine": Wrong()}).embed("mine", "passage", ["one", "two"])
    right = Resources(cache, encoders={"mine": GivenEncoder()})
    assert right.embed("mine", "passage", ["one", "two"]).shape == (2, 16)
    assert right.counts["texts computed"] == 2


def test_vectors_with_nan_are_not_kept() -> None:
    cache, nan = Cache(None), float("nan")
    broken = GivenEncoder({"one": [nan, 1.0], "two": [1.0, 0.0]})
    Resources(cache, encoders={"m": broken}).embed("m", "passage", ["one", "two"])
    right = Resources(cache, encoders={"m": GivenEncoder({"one": [0.0, 1.0]})})
    assert right.embed("m", "passage", ["one", "two"]).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_one_identity_for_two_models_is_refused() -> None:
    cache = Cache(None)
    two, three = {"one": [1.0, 0.0]}, {"two": [1.0, 0.0, 0.0]}
    Resources(cache, encoders={"m": GivenEncoder(two)}).embed("m", "passage", ["one"])
    with pytest.raises(ModelError, match=r"several dimensions \(2, 3\)"):
        Resources(cache, encoders={"m": GivenEncoder(three)}).embed("m", "passage", ["one", "two"])
