"""Late chunking: means over tokens read in their document, worked on paper and against the real
model."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from lab.arrays import Span, Vectors
from lab.chunking.units import words
from lab.retrieval.config import DEFAULT_MODEL
from lab.retrieval.encoder import Role, SentenceEncoder
from lab.retrieval.late import late_vectors, obstacle, windows
from tests.given import GivenEncoder

START, END = 900, 901


@dataclass(frozen=True)
class Numbered(SentenceEncoder):
    """Words are tokens and have numbers: "w7" is 7, a Chinese character its code point. A token's
    vector is (its number, the first number of its window, 1); `seen` keeps the windows."""

    name: str = "numbered"
    room: int = 100
    before: str = ""
    seen: list[list[int]] = field(default_factory=list)

    @property
    def identity(self) -> str:  # type: ignore[override]
        return "numbered"

    @property
    def max_tokens(self) -> int:  # type: ignore[override]
        return self.room

    def prompt(self, role: Role) -> str:
        return self.before

    def offsets(self, text: str) -> list[Span]:
        return words(text)

    def tokens(self, text: str) -> tuple[list[int], list[Span], list[bool]]:
        spans = words(text)
        parts = [text[start:end] for start, end in spans]
        ids = [START, *(int(part[1:]) if part[1:] else ord(part) for part in parts), END]
        return ids, [(0, 0), *spans, (0, 0)], [True, *[False] * len(spans), True]

    def token_embeddings(self, windows: Sequence[Sequence[int]]) -> list[Vectors]:
        self.seen.extend(map(list, windows))
        return [
            np.array([[token, window[1], 1] for token in window], dtype=np.float32)
            for window in windows
        ]


def expected(*tokens: tuple[float, float]) -> list[float]:
    """The unit vector along the mean of (number, first of window, 1)."""
    mean = np.array([[*token, 1.0] for token in tokens]).mean(axis=0)
    return list(mean / np.linalg.norm(mean))


def test_a_chunk_is_the_mean_of_its_tokens_and_the_ends_take_the_special_ones() -> None:
    found = late_vectors(Numbered(), "w1 w2 w3 w4", [(0, 5), (6, 8), (9, 11), (0, 11)])
    assert found[0] == pytest.approx(expected((START, 1), (1, 1), (2, 1)))
    assert found[1] == pytest.approx(expected((3, 1)))
    assert found[2] == pytest.approx(expected((4, 1), (END, 1)))
    assert found[3] == pytest.approx(expected((START, 1), (1, 1), (2, 1), (3, 1), (4, 1), (END, 1)))


def test_a_token_that_a_cut_parts_belongs_to_both_chunks() -> None:
    found = late_vectors(Numbered(), "w1 w222 w3", [(3, 5), (5, 7)])
    assert found[0] == pytest.approx(expected((222, 1)))
    assert found[1] == pytest.approx(expected((222, 1)))


def test_a_token_that_ends_at_a_cut_is_the_left_chunks_alone() -> None:
    left, right = late_vectors(Numbered(), "水泵", [(0, 1), (1, 2)])
    assert left == pytest.approx(expected((START, ord("水")), (ord("水"), ord("水"))))
    assert right == pytest.approx(expected((ord("泵"), ord("水")), (END, ord("水"))))


def test_the_prompt_counts_with_the_chunk_that_begins_the_document() -> None:
    encoder = Numbered(before="w50 ")
    found = late_vectors(encoder, "w1 w2", [(0, 2), (3, 5)])
    assert encoder.seen == [[START, 50, 1, 2, END]]
    assert found[0] == pytest.approx(expected((START, 50), (50, 50), (1, 50)))
    assert found[1] == pytest.approx(expected((2, 50), (END, 50)))


def test_a_long_document_is_read_in_windows_that_overlap() -> None:
    encoder = Numbered(room=8)
    text = " ".join(f"w{i}" for i in range(1, 12))
    found = late_vectors(
        encoder,
        text,
        [(text.index("w6"), text.index("w6") + 2), (text.index("w7"), text.index("w7") + 2)],
    )
    # Tokens 1-8 and 4-11; of the common 4-8, the middle one begins the second half.
    assert encoder.seen == [[START, *range(1, 9), END], [START, *range(4, 12), END]]
    assert found[0] == pytest.approx(expected((6, 1)))
    assert found[1] == pytest.approx(expected((7, 4)))


@pytest.mark.parametrize(
    ("tokens", "room"), [(0, 4), (1, 1), (4, 4), (5, 4), (10, 4), (100, 7), (3, 1), (1000, 254)]
)
def test_windows_are_full_and_keep_every_token_once(tokens: int, room: int) -> None:
    found = windows(tokens, room)
    assert [token for _, first, last in found for token in range(first, last)] == list(
        range(tokens)
    )
    assert all(start <= first and last <= start + room for start, first, last in found)
    assert all(start + room <= tokens for start, _, _ in found if tokens > room)
    for (one, _, last), (other, first, _) in itertools.pairwise(found):
        assert other - one <= room - int(room / 4)
        # A kept token is at least as far from its window's near edge as it would be in the other
        # window.
        assert last == first
        assert abs((one + room - last) - (first - other)) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "The pump leaks. ERR-4042 means low pressure.",
        " 水泵漏水。\nE-4012 means stop. ",
        "x",
        "\x07",
    ],
)
def test_one_chunk_that_is_the_document_has_the_models_own_vector(text: str) -> None:
    encoder = SentenceEncoder(DEFAULT_MODEL)
    own = encoder.encode([text], "passage", lambda done: None)[0]
    late = late_vectors(encoder, text, [(0, len(text))])[0]
    assert np.abs(own - late).max() < 1e-5


def test_context_changes_a_chunk_and_leaves_it_near_itself() -> None:
    encoder = SentenceEncoder(DEFAULT_MODEL)
    text = "Berlin is the capital of Germany. Its population is 3.8 million. The weather is mild."
    span = (34, 64)
    late = late_vectors(encoder, text, [span])[0]
    alone, city = encoder.encode(
        [text[slice(*span)], "population of Berlin"], "passage", lambda done: None
    )
    assert 0.3 < float(late @ alone) < 0.999
    # What "Its" stands for is in the vector: the example of the paper's introduction.
    assert float(late @ city) > float(alone @ city)


def folder_of(path: Path, pooling: dict[str, object], modules: Sequence[str]) -> SentenceEncoder:
    folders = {"Transformer": "", "Pooling": "1_Pooling"}
    named = [
        {"type": f"sentence_transformers.models.{kind}", "path": folders.get(kind, kind)}
        for kind in modules
    ]
    (path / "1_Pooling").mkdir()
    (path / "modules.json").write_text(json.dumps(named))
    (path / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return SentenceEncoder(str(path))


PLAIN = ("Transformer", "Pooling", "Normalize")


@pytest.mark.parametrize(
    ("pooling", "modules", "reason"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, PLAIN, None),
        ({"pooling_mode": "mean"}, PLAIN, None),
        ({"pooling_mode": "cls"}, PLAIN, "it pools its tokens by 'cls'"),
        (
            {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
            PLAIN,
            "it pools its tokens by 'cls'",
        ),
        (
            {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True},
            PLAIN,
            "it pools its tokens by 'mean+max'",
        ),
        (
            {"pooling_mode_mean_sqrt_len_tokens": True},
            PLAIN,
            "it pools its tokens by 'mean_sqrt_len'",
        ),
        (
            {"pooling_mode": "mean", "include_prompt": False},
            PLAIN,
            "it leaves its prompt out of the mean",
        ),
        (
            {"pooling_mode": "mean"},
            (*PLAIN[:2], "Dense"),
            "its vectors go through a module 'Dense'",
        ),
        ({}, ("StaticEmbedding",), "its vectors go through a module 'StaticEmbedding'"),
    ],
)
def test_only_models_whose_vector_is_the_mean_can_pool_late(
    tmp_path: Path, pooling: dict[str, object], modules: Sequence[str], reason: str | None
) -> None:
    assert obstacle(folder_of(tmp_path, pooling, modules)) == reason


def test_an_encoder_given_as_an_object_cannot_pool_late() -> None:
    assert obstacle(GivenEncoder()) == "an encoder that is given as an object has no token vectors"
