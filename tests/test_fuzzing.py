"""What people may hand in, damaged: read or refused in words, quickly, in time that grows with
size (see `tests/fuzzing.py`)."""

import pytest

from tests.fuzzing import MEGABYTES, TARGETS, Target, fuzz, in_a_process


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_damaged_input_is_read_or_refused_in_words(target: Target) -> None:
    tally = fuzz(target, 60)
    assert tally.faults == []
    assert tally.inputs == tally.refused + tally.read


def test_the_seeds_themselves_are_read() -> None:
    for target in TARGETS:
        assert fuzz(target, 0, whole=True).read == 1, target.name


@pytest.mark.slow  # ten minutes; its table stands in tests/README.md
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_fifty_thousand_damaged_inputs(target: Target) -> None:
    tally = in_a_process(target, 50_000 // len(TARGETS) + 1)
    assert tally.faults == []
    assert tally.megabytes < MEGABYTES
    small, middle, large = (max(seconds, 0.1) for seconds in tally.growth)
    assert middle < 3 * small
    assert large < 3 * middle
