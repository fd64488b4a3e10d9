"""The cache: no two keys meet, a killed or foreign file is told, and a second run computes nothing
(B35)."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.errors import LabError, ModelError
from lab.pipeline.resources import Resources
from lab.storage.cache import Cache, cache_key, default_cache_path
from tests.given import GivenEncoder, GivenReranker


@given(
    one=st.lists(st.text(max_size=5), max_size=4), other=st.lists(st.text(max_size=5), max_size=4)
)
def test_keys_of_different_parts_never_meet(one: list[str], other: list[str]) -> None:
    assert (cache_key(*one) == cache_key(*other)) == (one == other)


def test_b35_two_models_share_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    for identity, vector in (("A", [1.0, 0.0]), ("B", [0.0, 1.0])):
        resources = Resources(
            Cache(path), encoders={"m": GivenEncoder({"pump": vector}, identity=identity)}
        )
        assert resources.embed("m", "passage", ["pump"]).tolist() == [vector]


def test_b35_query_and_passage_prompts_are_two_vectors(tmp_path: Path) -> None:
    encoder = GivenEncoder(prompts={"query": "query: ", "passage": "passage: "})
    resources = Resources(Cache(tmp_path / "cache.sqlite"), encoders={"m": encoder})
    question, passage = (resources.embed("m", role, ["pump"])[0] for role in ("query", "passage"))
    assert question.tolist() != passage.tolist()
    assert resources.counts == {"texts computed": 2, "texts cached": 0}


def test_b35_borders_between_texts_are_kept(tmp_path: Path) -> None:
    resources = Resources(Cache(tmp_path / "cache.sqlite"), encoders={"m": GivenEncoder()})
    vectors = [resources.embed("m", "passage", batch) for batch in (["ab", "c"], ["a", "bc"])]
    fresh = GivenEncoder().encode(["ab", "c", "a", "bc"], "passage", lambda steps: None)
    assert np.concatenate(vectors).tolist() == fresh.tolist()
    assert resources.counts["texts computed"] == 4


def test_b35_another_limit_or_normalisation_is_another_identity() -> None:
    from lab.retrieval.encoder import SentenceEncoder

    identity = SentenceEncoder("all-MiniLM-L6-v2").identity
    assert "max_tokens=254" in identity
    assert "normalized" in identity
    assert "float32" in identity


def test_a_text_is_encoded_once_whoever_asks_and_a_second_run_encodes_nothing(
    tmp_path: Path,
) -> None:
    path, encoder = tmp_path / "cache.sqlite", GivenEncoder()
    first = Resources(Cache(path), encoders={"m": encoder})
    a = first.embed("m", "passage", ["x", "y", "x"])
    b = first.embed("m", "passage", ["y", "z"])
    assert sorted(encoder.encoded) == ["x", "y", "z"]
    assert a[1].tolist() == b[0].tolist()
    second = Resources(Cache(path), encoders={"m": encoder})
    assert second.embed("m", "passage", ["x", "y", "x"]).tolist() == a.tolist()
    assert len(encoder.encoded) == 3
    assert second.counts == {"texts computed": 0, "texts cached": 2}


def test_a_pair_is_scored_once(tmp_path: Path) -> None:
    path, reranker = tmp_path / "cache.sqlite", GivenReranker({"a": 0.5})
    for computed in (2, 0):
        resources = Resources(Cache(path), scorers={"r": reranker})
        assert resources.score_pairs("r", ["q", "q", "q"], ["a", "b", "a"]).tolist() == [
            0.5,
            0.0,
            0.5,
        ]
        assert resources.counts["pairs computed"] == computed
    assert len(reranker.scored) == 2
    assert Resources(Cache(path), scorers={"r": reranker}).score_pairs("r", [], []).tolist() == []


def test_a_score_that_is_no_number_is_an_error_and_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with pytest.raises(
        ModelError,
        match="gave a score that is no finite number for the question 'q' and the text 'a'",
    ):
        Resources(Cache(path), scorers={"r": GivenReranker({"a": float("nan")})}).score_pairs(
            "r", ["q"], ["a"]
        )
    assert Resources(Cache(path), scorers={"r": GivenReranker({"a": 1.0})}).score_pairs(
        "r", ["q"], ["a"]
    ).tolist() == [1.0]


def test_maxsim_over_a_given_encoder_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="reads token vectors"):
        Resources(Cache(None), encoders={"all-MiniLM-L6-v2": GivenEncoder()}).scorer("maxsim")


def test_many_keys_are_found_in_one_call(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    values = {cache_key(str(i)): str(i).encode() for i in range(2500)}
    cache.put(values)
    assert cache.get([*values, cache_key("absent")]) == values
    cache.close()
    assert Cache(tmp_path / "cache.sqlite").get(values) == values


def test_a_file_that_is_no_cache_is_told(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    file.write_bytes(b"not a database, but long enough to be read as one" * 50)
    with pytest.raises(LabError, match="cache cannot be opened"):
        Cache(file)
    with pytest.raises(LabError, match="cache cannot be opened"):
        Cache(file / "below" / "cache.sqlite")


def test_the_place_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "mine.sqlite"))
    assert default_cache_path() == tmp_path / "mine.sqlite"
    monkeypatch.delenv("LAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_path() == tmp_path / "retrieval-diagnostics-lab" / "cache.sqlite"


def test_a_cache_is_cleaned_of_one_model(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    encoders = {name: GivenEncoder(identity=name) for name in ("one", "two")}
    scorers = {"scorer": GivenReranker({"a": 1.0})}
    resources = Resources(Cache(path), encoders=encoders, scorers=scorers)
    for name in encoders:
        resources.embed(name, "passage", ["a", "b", "c"])
    resources.score_pairs("scorer", ["q"], ["a"])
    resources.cache.put({b"old": b"value"})
    resources.cache.close()
    cache = Cache(path)
    kept = {"": (1, 5), "one": (3, 192), "two": (3, 192), "scorer": (1, 8)}
    assert cache.sizes() == kept
    assert cache.forget("three") == 0
    assert cache.sizes() == kept
    assert cache.forget("one") == 3
    assert cache.sizes() == {name: kept[name] for name in kept if name != "one"}
    again = Resources(Cache(path), encoders=encoders)
    again.embed("one", "passage", ["a"])
    again.embed("two", "passage", ["a"])
    assert again.counts == {"texts computed": 1, "texts cached": 1}


def test_a_cache_of_an_earlier_version_is_read_on(tmp_path: Path) -> None:
    import sqlite3
    import zlib

    path = tmp_path / "cache.sqlite"
    old = sqlite3.connect(path)
    old.execute(
        "CREATE TABLE kept (key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL)"
    )
    old.execute(
        "INSERT INTO kept VALUES (?, ?, ?)", (b"k", b"v", zlib.crc32(b"v", zlib.crc32(b"k")))
    )
    old.commit()
    old.close()
    cache = Cache(path)
    cache.put({b"new": b"value"}, "model")
    assert cache.get([b"k", b"new"]) == {b"k": b"v", b"new": b"value"}
    assert cache.sizes() == {"": (1, 1), "model": (1, 5)}
    assert cache.forget("") == 1
    assert cache.sizes() == {"model": (1, 5)}


def test_the_command_tells_what_is_kept_and_forgets_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lab.commands.stored import cache

    path = tmp_path / "cache.sqlite"
    monkeypatch.setenv("LAB_CACHE", str(path))
    cache()
    assert not path.exists()  # asking makes nothing
    Cache(path).put({b"a": b"1234", b"b": b"1234"}, "mine")
    cache()
    assert "  mine: 2 values, 0.0 MB" in capsys.readouterr().out
    with pytest.raises(LabError, match="holds nothing of a model 'mime'; did you mean 'mine'"):
        cache(forget="mime")
    cache(forget="mine")
    assert "2 values of 'mine' removed" in capsys.readouterr().out
    assert Cache(path).sizes() == {}
    Cache(path).put({b"a": b"1234"}, "mine")
    cache(keep=0)
    assert "1 value removed; 0.00 of at most 10 GB" in capsys.readouterr().out
    assert Cache(path).sizes() == {}
