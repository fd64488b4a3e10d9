"""Foreign systems that show their stages: causes by the stages that are seen, on paper."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import lab
from lab.pipeline.foreign.hits import Failure, Hit
from lab.pipeline.foreign.reply import Reply, parse_reply
from lab.runs.run import Run
from tests.given import corpus_of

# One sentence a document; what is asked for is always in d0.
CORPUS = corpus_of({f"d{n}": f"Sentence number {n}." for n in range(30)})
QUESTION = lab.Query("q", "which?", evidence=(lab.Evidence("d0", 0, 18),))
OTHERS = [f"d{n}" for n in range(1, 30)]


def with_it(rank: int | None, length: int = 10) -> list[tuple[str, float]]:
    """Hits, of which d0 stands at a rank (None: nowhere), with falling scores."""
    names = OTHERS[:length] if rank is None else [*OTHERS[: rank - 1], "d0", *OTHERS[rank - 1 :]]
    return [(name, 1.0 - place / 100) for place, name in enumerate(names[:length])]


class Shows:
    def __init__(self, *stages: Mapping[str, Any]) -> None:
        self.stages = stages

    def search(self, queries: Sequence[str], depth: int) -> list[Any]:
        return [{"stages": self.stages} for _ in queries]


def stage(kind: str, rank: int | None, length: int = 10, **said: Any) -> dict[str, Any]:
    return {"name": f"my {kind}", "kind": kind, "hits": with_it(rank, length), **said}


def run_of(*stages: Mapping[str, Any], **retrievers: Any) -> Run:
    given = retrievers or {"mine": Shows(*stages)}
    return lab.sweep(
        CORPUS,
        [QUESTION],
        lab.Grid(mode="bm25", chunk_strategy="document"),
        lab.Measure(metrics=("recall@5", "mrr"), select_by="mrr"),
        progress=False,
        retrievers=given,
    )


def cause(*stages: Mapping[str, Any]) -> tuple[str, bool, str]:
    causes = run_of(*stages).causes().query("system == 'mine'")
    (row,) = causes.to_dict("records")
    return row["cause"], row["verified"], row["remedy"]


@pytest.mark.parametrize(
    ("stages", "name", "verified"),
    [
        # Legs that are seen name the gap; what they had and fusion ranks low is outranked.
        ([stage("lexical", None), stage("final", None)], "lexical_gap", False),
        ([stage("dense", None), stage("final", None)], "semantic_gap", False),
        ([stage("lexical", None), stage("dense", None), stage("final", None)], "both", False),
        ([stage("lexical", 9), stage("dense", None), stage("fused", 8)], "outranked", False),
        ([stage("lexical", 2), stage("dense", 9), stage("fused", 8)], "outranked", True),
        # A hit that no leg returned: one searched that is not seen.
        ([stage("dense", None, 3), stage("final", None)], "not_returned", False),
        ([stage("final", None)], "not_returned", False),
        ([stage("final", 7)], "outranked", False),
        # The reranker, and what is cut behind it.
        ([stage("dense", 2), stage("rerank", 9)], "demoted", True),
        ([stage("dense", 2), stage("rerank", 9), stage("final", None)], "demoted", True),
        ([stage("dense", 8), stage("rerank", 9), stage("final", None)], "outranked", False),
        ([stage("dense", 8), stage("rerank", 3), stage("final", None, 2)], "cut", True),
        # A filter that is seen removed it; the ranks before it prove that.
        ([stage("dense", 3), stage("filter", None), stage("final", None)], "cut", True),
        ([stage("dense", 9), stage("filter", None), stage("final", None)], "cut", False),
        # Lost between two stages by none that is seen.
        ([stage("dense", 2), stage("final", 8)], "unseen", False),
        ([stage("dense", 2), stage("final", None, 3)], "unseen", False),
        ([stage("dense", 9), stage("final", None, 3)], "unseen", False),
        (
            [stage("lexical", 1), stage("dense", 1), stage("fused", 1), stage("final", None)],
            "unseen",
            False,
        ),
    ],
)
def test_the_stage_that_lost_it(stages: list[dict[str, Any]], name: str, verified: bool) -> None:
    found, proved, _ = cause(*stages)
    assert (found, proved) == (name, verified)


def test_both_legs_with_scores_have_exact_curves() -> None:
    # d0 is BM25's second and the dense leg's ninth: min-max gives it 8/9 and 1/9 of ten hits.
    run = run_of(stage("lexical", 2), stage("dense", 9), stage("fused", 8))
    (row,) = run.causes().query("system == 'mine'").to_dict("records")
    (low,), (high,) = row["alpha_low"], row["alpha_high"]
    assert low == 0.0
    assert 0 < high < 1
    assert row["remedy"] == f"both legs at alpha 0-{high:.4g}"
    assert set(run.alphas()["family"]) == {"mine"}
    rows = run.tables.rows("rankings", "mine")
    assert rows.query("doc_id == 'd0'")[
        ["bm25_rank", "dense_rank", "fused_rank"]
    ].values.tolist() == [[2, 9, 8]]


@pytest.mark.parametrize(
    "dense",
    [
        {"name": "far", "kind": "dense", "hits": [("d1", 0.1), ("d2", 0.9)]},
        {"name": "bare", "kind": "dense", "hits": ["d1", "d2"]},
    ],
)
def test_without_scores_that_fall_there_is_no_curve(dense: dict[str, Any]) -> None:
    run = run_of(stage("lexical", 7), dense, stage("final", 7))
    assert run.alphas().empty
    told = any(
        "scores of its dense leg grow with the rank in 1 question(s)" in n for n in run.notes
    )
    assert told == (dense["name"] == "far")
    by_ranks = stage("fused", 7, normalization="rrf")
    curved = run_of(stage("lexical", 7), dense, by_ranks)
    assert set(curved.alphas()["family"]) == ({"mine"}), "ranks are enough for rrf"


def test_a_fused_order_that_its_own_words_do_not_give_is_told() -> None:
    says = {"normalization": "min-max", "alpha": 0.0}
    right = run_of(stage("lexical", 2), stage("dense", 9), stage("fused", 2, **says))
    assert not [note for note in right.notes if "fused order" in note]
    wrong = run_of(stage("lexical", 2), stage("dense", 9), stage("fused", 6, **says))
    assert [
        note for note in wrong.notes if "in 1 question(s) its fused order is not that of" in note
    ]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"stages": []}, "call 1 has no stages"),
        ({"stages": [{"kind": "lexcal", "hits": []}]}, "did you mean 'lexical'"),
        ({"stages": [{"kind": "dense"}]}, "stage 'dense': answer is a NoneType"),
        ({"stages": [{"kind": "dense", "hits": [3]}]}, "stage 'dense': hit 3; expected doc_id"),
        ({"stages": [{"kind": "dense", "hits": ["a"], "returned": 2}]}, "expected 0 to 1"),
        ({"stages": [{"kind": "fused", "hits": [], "alpha": 2}]}, "alpha is 2"),
        ({"stages": [{"kind": "fused", "hits": [], "normalization": "minmax"}]}, "mean 'min-max'"),
        ({"stages": [{"kind": "dense", "hits": []}] * 2}, "two stages of one call are called"),
        ({"stages": [{"name": " ", "kind": "dense", "hits": []}]}, "stage name ' '"),
        ({"calls": 3}, "calls is a int"),
        ({"calls": ["x"]}, "call 1 has no stages"),
        ({"stages": [7]}, "a stage is a int"),
    ],
)
def test_what_is_no_stage_is_told(reply: Any, reason: str) -> None:
    answer = parse_reply(reply)
    assert isinstance(answer, Failure)
    assert answer.final
    assert reason in answer.reason


def test_hits_beside_stages_are_what_the_reader_gets() -> None:
    reply = parse_reply({"hits": ["b"], "stages": [{"kind": "dense", "hits": ["a", "b"]}]})
    assert isinstance(reply, Reply)
    assert reply.hits == (Hit("b"),)
    assert parse_reply(reply.record) == reply


def test_what_a_retriever_searches_decides_what_is_split() -> None:
    halves = [Hit("d0", 0, 9), Hit("d0", 9, 18), *(Hit(name, 0, 18) for name in OTHERS)]
    shows = Shows(stage("dense", None), stage("final", None))
    before = run_of(mine=shows).causes().query("system == 'mine'").iloc[0]
    assert (before["cause"], before["spans_needed"] is None or before.isna()["spans_needed"]) == (
        "semantic_gap",
        True,
    )
    shows.searched = halves  # type: ignore[attr-defined]
    after = run_of(mine=shows).causes().query("system == 'mine'").iloc[0]
    assert (after["spans_needed"], after["cut_at"]) == (2, 9)
