"""Measures of a context, worked on paper."""

import pytest

from lab.answers.context import (
    Context,
    completion_ranks,
    context_precision,
    context_scores,
    in_order_share,
)
from lab.corpus.document import Corpus, Document
from lab.relevance.query import Claim, Evidence, Query

TEXT = "".join(f"{number:02}........" for number in range(30))  # ten characters a step
CORPUS = Corpus([Document("a", TEXT), Document("b", TEXT)])


def shown(doc_id: str, start: int, end: int) -> Context:
    return Context(CORPUS[doc_id].text[start:end], doc_id, start, end)


def test_context_precision_of_the_seeds() -> None:
    assert context_precision([True, False, True, False]) == pytest.approx(0.8333, abs=1e-4)
    assert context_precision([False, False]) == 0.0
    assert context_precision([]) == 0.0
    # 1, 2/2, 3/4
    assert context_precision([True, True, False, True]) == pytest.approx((1 + 1 + 0.75) / 3)


def test_context_recall_counts_claims_whose_evidence_is_all_held() -> None:
    spans = [Evidence("a", 10 * n, 10 * n + 10) for n in range(5)]
    claims = tuple(Claim(f"claim {n}", (n,)) for n in range(5))
    query = Query("q", "?", evidence=tuple(spans), claims=claims)
    assert context_scores(query, [shown("a", 0, 40)], CORPUS).context_recall == 0.8
    both = Query("q", "?", evidence=tuple(spans), claims=(Claim("x", (0, 4)), Claim("y", (1,))))
    assert context_scores(both, [shown("a", 0, 40)], CORPUS).context_recall == 0.5


def test_a_claim_without_links_is_looked_for_by_its_words() -> None:
    query = Query("q", "?", claims=(Claim("The seal leaks oil slowly"), Claim("Paint is green")))
    scores = context_scores(query, [Context("a seal that leaks"), Context("oil slowly")], CORPUS)
    # Two of its four content words stand in one context; of the other claim none does.
    assert (scores.context_recall, scores.by_words) == (0.5, 2)


def test_an_alternative_of_linked_evidence_holds_the_claim() -> None:
    evidence = (Evidence("a", 0, 10, group="g"), Evidence("b", 50, 60, group="g"))
    query = Query("q", "?", evidence=evidence, claims=(Claim("x", (0,)),))
    assert context_scores(query, [shown("b", 40, 70)], CORPUS).context_recall == 1.0
    assert context_scores(query, [shown("b", 0, 40)], CORPUS).context_recall == 0.0


def test_evidence_is_complete_once_nine_tenths_of_it_are_shown() -> None:
    evidence = (Evidence("a", 0, 20), Evidence("a"), Evidence("b", 0, 10))
    contexts = [shown("b", 100, 110), shown("a", 0, 10), shown("a", 10, 18), shown("b", 0, 9)]
    assert completion_ranks(evidence, contexts, CORPUS) == [3, 2, 4]
    assert completion_ranks(evidence, contexts[:2], CORPUS) == [None, 2, None]


def test_the_chain_asks_for_every_core_piece() -> None:
    evidence = (
        Evidence("a", 0, 10, group="g"),
        Evidence("b", 0, 10, group="g"),
        Evidence("a", 50, 60),
        Evidence("a", 90, 99, role="background"),
    )
    query = Query("q", "?", evidence=evidence)
    assert context_scores(query, [shown("b", 0, 10), shown("a", 50, 60)], CORPUS).chain == 1.0
    assert context_scores(query, [shown("a", 0, 30)], CORPUS).chain == 0.0
    assert context_scores(Query("q", "?"), [], CORPUS).chain is None


def test_pairs_in_order() -> None:
    chain = tuple(Evidence("a", 10 * n, 10 * n + 10, order=n) for n in range(3))
    assert in_order_share(chain, [1, 2, 3]) == 1.0
    # (0, 1) is turned round, (0, 2) and (1, 2) are in order.
    assert in_order_share(chain, [2, 1, 3]) == pytest.approx(2 / 3)
    # What is missing is in order with nothing.
    assert in_order_share(chain, [1, 2, None]) == pytest.approx(1 / 3)
    # One context completes the first two: their places in the text decide.
    assert in_order_share(chain, [1, 1, 2]) == 1.0
    assert in_order_share((Evidence("a", 0, 10, order=1), Evidence("a", 5, 9)), [1, 1]) is None


def test_relevance_is_that_of_precision_at_k() -> None:
    query = Query("q", "?", evidence=(Evidence("a", 0, 40),))
    inside, half, less = shown("a", 30, 50), shown("a", 35, 45), shown("a", 38, 60)
    scores = [context_scores(query, [c], CORPUS).context_precision for c in (inside, half, less)]
    assert scores == [1.0, 1.0, 0.0]
    assert context_scores(query, [Context("no document")], CORPUS).context_precision == 0.0
