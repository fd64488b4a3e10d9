"""Features: values from metadata, and their place in the weighted sum under every normalisation, on
paper."""

import math

import numpy as np
import pytest

from lab.arrays import NONE, Floats, Ints
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError
from lab.retrieval.config import FeaturesConfig, FusionConfig
from lab.retrieval.features import feature
from lab.retrieval.fusion import Boost, Candidates, boosted, fuse
from tests.given import ranking_of


def dated(**values: object) -> Corpus:
    return Corpus(
        Document(doc_id, "text", metadata={} if value is None else {"f": value})
        for doc_id, value in values.items()
    )


def boost_of(*features: tuple[float, list[float]]) -> Boost:
    """Weights and one value a chunk."""
    values = np.array([own for _, own in features])

    def of(chunks: Ints) -> Floats:
        return values[:, chunks]

    return Boost(tuple(weight for weight, _ in features), of)


def test_numbers_and_dates_are_min_max_normalised_and_what_is_lacking_is_nan() -> None:
    # The documents are ordered by id; 5 of [1, 9] is a half.
    assert feature(dated(a=9, b=1, c=5, d=None, e="5"), "f").tolist() == pytest.approx(
        [1, 0, 0.5, np.nan, 0.5], nan_ok=True
    )
    # 2023-01-01 to 2024-01-01 has 365 days, 2023-07-02 is the 182nd after the first; a month is its
    # first day.
    found = feature(dated(a="2023-01", b="2024-01-01T00:00:00+00:00", c="2023-07-02"), "f")
    assert found.tolist() == pytest.approx([0, 1, 182 / 365])
    assert feature(dated(a=3, b=3, c=None), "f").tolist() == pytest.approx(
        [1, 1, np.nan], nan_ok=True
    )


def test_what_is_no_feature_is_told_with_its_documents() -> None:
    with pytest.raises(ConfigError, match="no document has metadata 'ff'; did you mean 'f'"):
        feature(dated(a=1), "ff")
    with pytest.raises(ConfigError, match="the documents have no metadata"):
        feature(dated(a=None), "f")
    with pytest.raises(ConfigError) as error:
        feature(dated(a=1, b="soon", c=[2], d="inf"), "f")
    assert [problem.split("; ")[0] for problem in error.value.problems] == [
        "features: document 'b' has 'soon' as 'f'",
        "features: document 'c' has [2] as 'f'",
        "features: document 'd' has 'inf' as 'f'",
    ]
    with pytest.raises(ConfigError, match="a number in some documents and a date in others"):
        feature(dated(a=2024, b="2024-01-01"), "f")


def test_weights_add_up_to_at_most_one_and_zero_is_no_feature() -> None:
    assert FeaturesConfig({"b": 0.1, "a": 0, "c": 0.2}).root == (("b", 0.1), ("c", 0.2))
    assert FeaturesConfig({"b": 0.1, "a": 0.3}) == FeaturesConfig({"a": 0.3, "b": 0.1})
    for wrong in ({"a": 0.6, "b": 0.5}, {"a": -0.1}, {"a": True}, {"a": math.nan}, 3):
        with pytest.raises(ValueError, match="expected"):
            FeaturesConfig(wrong)


# One question, chunks 0 1 2: BM25 found 0 and 1 with 4 and 2, the dense leg 2, 1 and 0 with 0.9,
# 0.6 and 0.3.
FOUND = Candidates(
    np.array([[0, 1, 2]]),
    np.array([[4.0, 2.0, np.nan]]),
    np.array([[0.3, 0.6, 0.9]]),
    np.array([[1, 2, 0]]),
    np.array([[3, 2, 1]]),
)
# The documents of the chunks have the feature at 0, 1 and not at all.
BOOST = boost_of((0.2, [0.0, 1.0, np.nan]))


def fused(normalization: str, alpha: float = 0.5, boost: Boost = BOOST) -> dict[int, float]:
    found = fuse(FOUND, FusionConfig(normalization=normalization, alpha=alpha), 10, boost)
    return dict(zip(found.hits(0).tolist(), found.scores[0].tolist(), strict=False))


@pytest.mark.parametrize(
    ("normalization", "expected"),
    [
        # Both legs min-max: bm25 1 0 absent, dense 0 .5 1; halves .5 .25 .5; 0.8 of them and 0.2 of
        # the feature.
        ("min-max", {0: 0.4, 1: 0.2 + 0.2, 2: 0.4}),
        # bm25 / 4: 1 .5 0; (dense + 1) / 1.9: 1.3 1.6 1.9.
        (
            "theoretical",
            {
                0: 0.8 * (0.5 + 0.5 * 1.3 / 1.9),
                1: 0.8 * (0.25 + 0.5 * 1.6 / 1.9) + 0.2,
                2: 0.8 * 0.5,
            },
        ),
        # Ranks by the feature: chunk 1 first, chunk 0 second, chunk 2 has none.
        (
            "rrf",
            {
                0: 0.4 * (1 / 61 + 1 / 63) + 0.2 / 62,
                1: 0.4 * (1 / 62 + 1 / 62) + 0.2 / 61,
                2: 0.4 / 61,
            },
        ),
    ],
)
def test_the_weighted_sum_on_paper(normalization: str, expected: dict[int, float]) -> None:
    assert fused(normalization) == pytest.approx(expected)


def test_a_z_score_of_the_feature_joins_z_scores() -> None:
    # Feature 0, 1 and lacking, which counts as 0: mean 1/3, deviation sqrt(2)/3, so -1, 2, -1 over
    # sqrt 2.
    plain = fuse(FOUND, FusionConfig(normalization="z-score"), 10)
    legs = dict(zip(plain.hits(0).tolist(), plain.scores[0].tolist(), strict=True))
    added = {0: -1 / math.sqrt(2), 1: math.sqrt(2), 2: -1 / math.sqrt(2)}
    assert fused("z-score") == pytest.approx(
        {chunk: 0.8 * legs[chunk] + 0.2 * added[chunk] for chunk in legs}
    )


def test_equal_values_share_their_best_rank_under_rrf() -> None:
    found = fused("rrf", boost=boost_of((1.0, [0.5, 0.5, 0.2])))
    assert found == pytest.approx({0: 1 / 61, 1: 1 / 61, 2: 1 / 63})


def test_several_features_add_up_and_weight_one_forgets_relevance() -> None:
    both = boost_of((0.3, [1.0, 0.0, 0.0]), (0.7, [0.0, 0.0, 0.5]))
    assert fused("min-max", boost=both) == pytest.approx({2: 0.35, 0: 0.3, 1: 0.0})


def test_a_leg_of_weight_zero_gives_the_order_of_the_other_leg_alone_with_the_features() -> None:
    lexical, semantic = (
        ranking_of([{0: 4.0, 1: 2.0}], 10),
        ranking_of([{2: 0.9, 1: 0.6, 0: 0.3}], 10),
    )
    for alpha, leg, lower in ((0.0, lexical, 0.0), (1.0, semantic, -1.0)):
        for normalization in ("min-max", "theoretical", "z-score", "rrf"):
            alone = boosted(leg, lower, normalization, BOOST, 10)
            assert fused(normalization, alpha) == pytest.approx(
                dict(zip(alone.hits(0).tolist(), alone.scores[0].tolist(), strict=False))
            )
    # BM25 alone: 1 and 0 by min-max, so 0.8 and 0.2: chunk 2 was not found and is not brought in.
    assert fused("min-max", 0.0) == pytest.approx({0: 0.8, 1: 0.2})


def test_absent_places_stay_absent() -> None:
    leg = ranking_of([{0: 4.0, 1: 2.0}, {}], 10)
    found = boosted(leg, 0.0, "min-max", BOOST, 10)
    assert found.chunks.tolist() == [[0, 1], [NONE, NONE]]
