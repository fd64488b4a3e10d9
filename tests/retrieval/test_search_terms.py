"""Search terms: analysed once whatever formula weighs them, and the same as counted by hand."""

import numpy as np
import pytest

from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.bm25 import compile_counts, count_runs, count_terms
from lab.retrieval.config import BM25Config
from lab.retrieval.search_terms import SearchTerms

TEXTS = ["pump leaks oil", "pump pump seal", "weather notes", ""]


def test_counts_are_those_of_known_terms_in_order() -> None:
    terms = SearchTerms(ANALYZERS["auto"], {"leak": 0, "oil": 1, "pump": 2})
    counts = terms.counts(["pump oil pump", "nothing known", ""])
    assert counts.toarray().tolist() == [[0, 1, 2], [0, 0, 0], [0, 0, 0]]
    assert terms.counts([]).shape == (0, 3)


def test_indexes_of_other_k1_and_b_share_their_search_terms() -> None:
    counts = count_terms(count_runs(TEXTS), ANALYZERS["auto"])
    one, other = (compile_counts(counts, BM25Config(k1=k1, b=0.5)) for k1 in (0.4, 2.0))
    assert one.terms is other.terms
    assert one.idf is other.idf
    assert not np.array_equal(one.postings.data, other.postings.data)


@pytest.mark.parametrize("variant", ["lucene", "okapi", "l", "plus"])
def test_a_new_text_scores_as_an_indexed_one(variant: str) -> None:
    config = BM25Config.model_validate({"variant": variant, "k1": 1.4, "b": 0.6})
    index = compile_counts(count_terms(count_runs(TEXTS), ANALYZERS["auto"]), config)
    pairs = [(question, text) for question in ("pump oil", "pump pump", "x") for text in TEXTS]
    new = index.scores_of_new(*zip(*pairs, strict=True))
    chunks = np.array([[TEXTS.index(text)] for _, text in pairs])
    old = index.scores([question for question, _ in pairs], chunks)[:, 0]
    assert new == pytest.approx(old, abs=1e-12, nan_ok=True)
    assert np.isnan(new[-len(TEXTS) :]).all()
