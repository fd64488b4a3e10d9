"""A rubric has both anchors for every criterion, or it is refused with every problem."""

from pathlib import Path

import pytest

from lab.answers.judges.rubric import Length, read_rubric
from lab.errors import ConfigError

WHOLE = """
name = "mine"
[[criterion]]
name = "fidelity"
scale = [1, 5]
meaning = "m"
positive = "p"
negative = "n"
"""


def test_the_shipped_rubric_has_four_criteria_with_both_anchors() -> None:
    rubric = read_rubric()
    scales = {criterion.name: criterion.scale for criterion in rubric.criterion}
    assert scales == {
        "fidelity": (1, 5),
        "need": (1, 5),
        "completeness": (1, 5),
        "relevance": (0, 2),
    }
    assert all(criterion.positive and criterion.negative for criterion in rubric.criterion)


def test_steps_are_taken_for_every_portion_begun() -> None:
    length = Length(limit=200, portion=100, criteria=("need",))
    assert [length.steps_off(n) for n in (0, 200, 201, 300, 301)] == [0, 0, 1, 1, 2]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('positive = "p"\n', "", "'criterion 1 positive' is missing; every criterion needs"),
        ('negative = "n"\n', 'negative = "  "\n', "criterion 1 negative is '  '"),
        ('negative = "n"', 'negative = "p"', "positive and negative are the same"),
        ("[1, 5]", "[5, 1]", "expected the lesser end first"),
        ("[1, 5]", "[1, 5.5]", "criterion 1 scale 2 is 5.5"),
        ('meaning = "m"', 'meaning = "m"\nanchor = "x"', "unknown key 'criterion 1 anchor'"),
        ('name = "mine"', 'name = "mine"\nlenght = 3', "unknown key 'lenght'; did you mean"),
        (
            'name = "mine"',
            'name = "mine"\nlength = {limit = 9, portion = 9, criteria = ["ned"]}',
            "length speaks of 'ned', no criterion",
        ),
    ],
)
def test_a_rubric_that_is_not_whole_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    file = tmp_path / "rubric.toml"
    file.write_text(WHOLE, "utf-8")
    assert read_rubric(file).criterion[0].name == "fidelity"
    assert old in WHOLE
    file.write_text(WHOLE.replace(old, new), "utf-8")
    with pytest.raises(ConfigError, match=str(file)) as fault:
        read_rubric(file)
    assert any(said in problem for problem in fault.value.problems), fault.value.problems


def test_all_problems_of_a_rubric_are_said_at_once(tmp_path: Path) -> None:
    file = tmp_path / "rubric.toml"
    second = WHOLE.split("[[criterion]]")[1].replace('name = "fidelity"', 'name = "need"')
    both = WHOLE + "[[criterion]]" + second
    file.write_text(both.replace('positive = "p"\n', ""), "utf-8")
    with pytest.raises(ConfigError) as fault:
        read_rubric(file)
    assert len(fault.value.problems) == 2
