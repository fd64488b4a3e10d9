"""The idf formulas on paper, and against rank-bm25's own dictionaries to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.retrieval.bm25_formulas import IDF, TermWeight
from tests.retrieval.reference_bm25 import VARIANTS

# Four chunks; terms that 1, 2 and 3 of them have.
DF = np.array([1, 2, 3])


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("lucene", [math.log(1 + 3.5 / 1.5), math.log(1 + 2.5 / 2.5), math.log(1 + 1.5 / 3.5)]),
        ("l", [math.log(5 / 1.5), math.log(5 / 2.5), math.log(5 / 3.5)]),
        ("plus", [math.log(5), math.log(5 / 2), math.log(5 / 3)]),
        # ln(3.5 / 1.5), 0 and its negative average to 0, so a quarter of that takes its place.
        ("okapi", [math.log(3.5 / 1.5), 0.0, 0.0]),
    ],
)
def test_on_paper(variant: str, expected: list[float]) -> None:
    assert IDF[variant](4, DF).tolist() == pytest.approx(expected, abs=1e-15)  # type: ignore[index]


def test_okapi_gives_common_terms_a_quarter_of_the_average() -> None:
    idf = IDF["okapi"](4, np.array([1, 1, 4]))
    rare, common = math.log(3.5 / 1.5), math.log(0.5 / 4.5)
    assert idf.tolist() == pytest.approx([rare, rare, (2 * rare + common) / 3 / 4])


@pytest.mark.parametrize("variant", VARIANTS)
@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9), min_size=1, max_size=9)
)
def test_rank_bm25_has_the_same_bits(variant: str, documents: list[list[str]]) -> None:
    reference = VARIANTS[variant](documents).idf
    frequency = np.array([sum(term in document for document in documents) for term in reference])
    idf = IDF[variant](len(documents), frequency)  # type: ignore[index]
    assert dict(zip(reference, idf.tolist(), strict=True)) == reference


def test_without_a_term_there_is_no_idf() -> None:
    assert all(len(idf(0, np.zeros(0, dtype=np.int64))) == 0 for idf in IDF.values())


def test_the_factor_beside_the_idf_on_paper() -> None:
    # k1 1.5, b 0.5 and a chunk twice as long as the average: n = 0.5 + 0.5 * 2 = 1.5.
    f, lengths = np.array([1.0, 3.0]), np.array([8.0, 8.0])
    okapi = TermWeight("okapi", k1=1.5, b=0.5, average=4.0).of(f, lengths)
    assert okapi.tolist() == pytest.approx([2.5 / 3.25, 7.5 / 5.25])
    # c = 2/3 and 2, and half a word more of each.
    longer = TermWeight("l", k1=1.5, b=0.5, average=4.0).of(f, lengths)
    assert longer.tolist() == pytest.approx([2.5 * (7 / 6) / (8 / 3), 7.5 * 2.5 / 4.0])
