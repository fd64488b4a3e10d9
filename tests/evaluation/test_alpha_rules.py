"""Rules for alpha as values: what they predict, and the way through JSON."""

import json
from typing import Any

import numpy as np
import pytest

from lab.errors import RunError
from lab.evaluation.alpha_learning import learn
from lab.evaluation.alpha_rules import ALPHAS, AlphaRule, Forest, Groups, Tree, best_alphas
from lab.evaluation.clusters import Clusters

RISING, FALLING = ALPHAS - 0.5, 0.5 - ALPHAS


def test_the_best_alpha_of_several_is_the_middle_one() -> None:
    plateau = np.zeros(21)
    plateau[[8, 9, 10, 11, 12]] = 1.0
    curves = np.array([RISING, FALLING, plateau, plateau + 1e-9 * RISING])
    assert best_alphas(curves).tolist() == [1.0, 0.0, 0.5, 0.5]


def test_a_group_that_was_never_seen_has_the_common_alpha() -> None:
    rule = AlphaRule("by_kind", Groups("kind", RISING, {"exact_id": FALLING}))
    assert rule.alphas({"kind": np.array(["exact_id", "new"])}).tolist() == [0.0, 1.0]


def test_a_tree_on_paper() -> None:
    # words <= 2.5: RISING; else identifiers <= 0.5: FALLING, else their mean, flat: the middle.
    tree = Tree(
        figure=np.array([1, -1, 0, -1, -1]),
        threshold=np.array([2.5, 0, 0.5, 0, 0]),
        left=np.array([1, 0, 3, 0, 0]),
        right=np.array([2, 0, 4, 0, 0]),
        curve=np.array([0 * ALPHAS, RISING, 0 * ALPHAS, FALLING, 0 * ALPHAS]),
    )
    rule = AlphaRule("learned", Forest(("identifiers", "words"), (tree,)))
    figures = {"words": np.array([2.5, 3.0, 3.0]), "identifiers": np.array([0.0, 0.0, 1.0])}
    assert rule.alphas(figures).tolist() == [1.0, 0.0, 0.5]
    assert AlphaRule.from_json(json.loads(json.dumps(rule.to_json()))).alphas(figures).tolist() == [
        1.0,
        0.0,
        0.5,
    ]


def grown() -> tuple[dict[str, Any], np.ndarray, Any]:
    draw = np.random.default_rng(3)
    figures = {name: draw.normal(size=120) for name in ("a", "b", "c")}
    centred = np.outer(figures["a"] + 0.1 * draw.normal(size=120), RISING)
    halves = Clusters(np.arange(120) % 2, "document")
    learned = learn("learned", figures, centred, halves, 7)
    return figures, centred, learned


def test_a_stored_forest_predicts_as_scikit_learn_does() -> None:
    from sklearn.ensemble import ExtraTreesRegressor

    figures, centred, learned = grown()
    model = learned.rule.model
    assert isinstance(model, Forest)
    forest = ExtraTreesRegressor(
        len(model.trees),
        min_samples_leaf=10,  # the candidate that fits so plain a line better
        max_leaf_nodes=32,
        max_features=0.5,
        random_state=7,
    )
    columns = np.stack([figures[name] for name in model.names], axis=1).astype(np.float32)
    forest.fit(columns, centred - centred.mean(axis=1, keepdims=True))
    again = AlphaRule.from_json(json.loads(json.dumps(learned.rule.to_json())))
    assert np.array_equal(again.model.curves(figures), model.curves(figures))
    # Leaves keep six decimals.
    assert again.model.curves(figures) == pytest.approx(forest.predict(columns), abs=1e-6)


def broken(plain: dict[str, Any], how: str) -> Any:
    tree = plain["forest"]["trees"][0]
    changes: dict[str, Any] = {
        "another format": plain | {"format": 99},
        "another rule": plain | {"rule": "by_moon"},
        "no model": {key: value for key, value in plain.items() if key != "forest"},
        "no mapping": [1, 2],
        "endless": plain | {"forest": {"names": ["a"], "trees": [tree | {"left": tree["figure"]}]}},
        "short curve": plain | {"forest": {"names": ["a"], "trees": [tree | {"curve": [[1.0]]}]}},
    }
    return changes[how]


@pytest.mark.parametrize(
    "how",
    ["another format", "another rule", "no model", "no mapping", "endless", "short curve"],
)
def test_what_is_no_rule_is_refused(how: str) -> None:
    tree = Tree(
        figure=np.array([0, -1, -1]),
        threshold=np.zeros(3),
        left=np.array([1, 0, 0]),
        right=np.array([2, 0, 0]),
        curve=np.array([0 * ALPHAS, RISING, FALLING]),
    )
    plain = AlphaRule("learned", Forest(("a",), (tree,))).to_json()
    with pytest.raises(RunError, match="run the experiment again"):
        AlphaRule.from_json(broken(plain, how))
