"""The cache takes no more room than it may: what was used longest ago leaves first."""

from pathlib import Path

import pytest

import lab.storage.cache as cache_module
from lab.errors import LabError
from lab.storage.cache import Cache
from lab.storage.room import room

VALUE = b"v" * 4_000


@pytest.fixture
def day(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    now = [100]
    monkeypatch.setattr(cache_module, "today", lambda: now[0])
    monkeypatch.setenv("LAB_CACHE_GB", "0.001")
    return now


def key(number: int) -> bytes:
    return f"{number:032}".encode()


def held(path: Path, numbers: range) -> set[int]:
    holding = Cache(path).holding(map(key, numbers))
    return {number for number in numbers if key(number) in holding}


def test_what_was_used_longest_ago_leaves_first(tmp_path: Path, day: list[int]) -> None:
    told: list[str] = []
    cache = Cache(tmp_path / "cache.sqlite", told.append)
    cache.put({key(number): VALUE for number in range(100)}, "old")
    day[0] += 1
    cache.put({key(number): VALUE for number in range(100, 150)}, "new")
    assert not told
    day[0] += 1
    used = range(0, 100, 2)
    assert len(cache.get(map(key, used))) == 50
    cache.put({key(number): VALUE for number in range(150, 290)}, "newest")
    assert cache.size <= 1_000_000
    assert "more than 0.001 GB (LAB_CACHE_GB)" in told[0]
    left = held(cache.path or tmp_path, range(290))
    gone = set(range(290)) - left
    # First the old ones that nobody used, then those of the second day.
    assert set(range(1, 100, 2)) <= gone
    assert {*used, *range(150, 290)} & gone == set() or set(range(100, 150)) <= gone
    assert set(range(150, 290)) <= left


def test_the_file_never_grows_far_beyond_it(tmp_path: Path, day: list[int]) -> None:
    path = tmp_path / "cache.sqlite"
    for turn in range(12):
        day[0] += 1
        cache = Cache(path)
        cache.put({key(1000 * turn + number): VALUE for number in range(100)}, "m")
        assert cache.size <= 1_000_000
        cache.close()
    assert path.stat().st_size <= 1_600_000


def test_a_value_is_marked_once_a_day_and_reading_needs_no_leave(
    tmp_path: Path, day: list[int]
) -> None:
    path = tmp_path / "cache.sqlite"
    cache = Cache(path)
    cache.put({key(1): b"x"}, "m")
    day[0] += 1
    changes = cache._connection.total_changes
    cache.get([key(1)])
    assert cache._connection.total_changes == changes + 1
    cache.get([key(1)])
    assert cache._connection.total_changes == changes + 1


def test_values_of_this_run_are_at_hand_though_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE_GB", "0")
    cache = Cache(tmp_path / "cache.sqlite")
    cache.put({key(1): VALUE}, "m")
    assert cache.get([key(1)]) == {}  # it is computed again, and nothing fails


@pytest.mark.parametrize("said", ["ten", "-1", "inf", "nan"])
def test_a_limit_that_is_none_is_told(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_CACHE_GB", said)
    with pytest.raises(LabError, match="LAB_CACHE_GB is"):
        room()


def test_without_a_word_it_is_ten_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAB_CACHE_GB", raising=False)
    assert room() == 10_000_000_000
