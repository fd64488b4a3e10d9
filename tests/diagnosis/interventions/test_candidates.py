"""A leg keeps `depth` candidates; the evidence is further down."""

import numpy as np
import pytest

from lab.diagnosis.interventions.candidates import EXACT_SEARCH, MORE_CANDIDATES
from tests.diagnosis.interventions.given_case import case_of, causes, query, recovered

# Nearer and nearer to the question; the evidence is fourth.
COSINES = {"one": 0.9, "two": 0.8, "three": 0.7, "pump": 0.6, "four": 0.5}
TEXTS = {text: text for text in COSINES}
ASKED = query("question", "pump", (0, 4))


@pytest.mark.parametrize(("metric", "back"), [("recall@4", True), ("recall@3", False)])
def test_four_times_as_many_candidates(metric: str, back: bool) -> None:
    case = case_of(TEXTS, [ASKED], metric, cosines=COSINES, mode="dense", depth=2)
    assert causes(case) == {"question": "semantic_gap"}
    assert recovered(case, MORE_CANDIDATES) == ({"question": "depth 8"} if back else {})


def test_exact_search_is_tried_where_search_is_approximate() -> None:
    exact = case_of(TEXTS, [ASKED], cosines=COSINES, mode="dense")
    assert EXACT_SEARCH.applies_to(exact).tolist() == []
    # 400 texts on a quarter of a circle: the cells that are looked into lack the 61st nearest.
    angles = np.linspace(0, np.pi / 2, 400, endpoint=False)
    cosines = {f"text {i}": float(np.cos(angle)) for i, angle in enumerate(angles)}
    case = case_of(
        {text: text for text in cosines},
        [query("question", "text 60", (0, 4))],
        "recall@61",
        cosines=cosines,
        mode="dense",
        index="ivf",
        depth=70,
    )
    assert causes(case) == {"question": "approximate"}
    assert recovered(case, EXACT_SEARCH) == {"question": "exact search"}
