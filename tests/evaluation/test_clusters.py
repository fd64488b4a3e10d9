"""The units of a set: which questions count together, whatever the order of lines."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab
from lab.evaluation.clusters import clustered, main_documents
from lab.relevance.pieces import pieces
from lab.relevance.query import Evidence, Query


def asked(*evidence: str) -> list[Query]:
    """A question for each text of document names, a digit after a name its grade: "a b2" is judged
    1 in a and 2 in b."""
    return [
        Query(
            f"q{number}",
            "?",
            evidence=tuple(Evidence(name[0], grade=int(name[1:] or 1)) for name in text.split()),
        )
        for number, text in enumerate(evidence)
    ]


def units(queries: Sequence[Query]) -> dict[str, str]:
    laid = pieces(queries, "document")
    return dict(zip((q.query_id for q in laid.queries), main_documents(laid).tolist(), strict=True))


def filler(count: int) -> list[Query]:
    """Questions about documents of their own, so that a web of others is a small share."""
    return [
        Query(f"other{number}", "?", evidence=(Evidence(f"other{number}"),))
        for number in range(count)
    ]


def test_documents_that_questions_link_are_one_unit_while_they_are_few() -> None:
    found = units([*asked("a b", "b c", "c", "d"), *filler(40)])
    assert [found[f"q{number}"] for number in range(4)] == ["a", "a", "a", "d"]


def test_a_large_web_is_parted_by_the_document_with_most_evidence() -> None:
    # Nothing but one web: grades first, then the document that most questions ask about, then id.
    found = units(asked("a b2", "b c", "c d", "d", "d a"))
    assert found == {"q0": "b", "q1": "b", "q2": "d", "q3": "d", "q4": "d"}


def test_a_document_with_two_pieces_outweighs_one() -> None:
    query = Query(
        "q0",
        "?",
        evidence=(Evidence("a", 0, 5), Evidence("b", 0, 5), Evidence("b", 9, 12)),
    )
    laid = pieces([query, *asked("a", "b")[1:]], "evidence")
    assert main_documents(laid)[0] == "b"


SETS = st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1), min_size=1, max_size=30)


@settings(max_examples=100, deadline=None)
@given(SETS, st.randoms(use_true_random=False))
def test_no_order_of_lines_changes_a_unit(evidence: list[set[str]], shuffle: object) -> None:
    queries = [*asked(*(" ".join(sorted(names)) for names in evidence)), *filler(60)]
    shuffled = [
        Query(q.query_id, q.text, evidence=tuple(shuffle.sample(q.evidence, len(q.evidence))))  # type: ignore[attr-defined]
        for q in shuffle.sample(queries, len(queries))  # type: ignore[attr-defined]
    ]
    assert units(shuffled) == units(queries)


@settings(max_examples=60, deadline=None)
@given(SETS)
def test_questions_that_share_a_document_stay_together_where_webs_are_small(
    evidence: list[set[str]],
) -> None:
    queries = [*asked(*(" ".join(sorted(names)) for names in evidence)), *filler(400)]
    found = units(queries)
    for first, names in enumerate(evidence):
        for second, others in enumerate(evidence):
            if names & others:
                assert found[f"q{first}"] == found[f"q{second}"]


def test_sums_and_sizes_are_of_units() -> None:
    found = clustered(np.array(["b", "a", "b", "a", "a"]))
    assert found.sizes.tolist() == [3, 2]
    assert found.sums(np.array([[1.0], [2], [4], [8], [16]])).ravel().tolist() == [26, 5]


@pytest.mark.parametrize("name", ["scifact", "cranfield"])
def test_shuffled_qrels_of_a_published_set_give_the_same_units(
    name: str, shared: Path, tmp_path: Path
) -> None:
    source = shared / "bench" / "beir" / name
    if not source.is_dir():
        pytest.skip(f"{source} is not there")
    corpus = lab.read_corpus(source)
    shutil.copytree(source, tmp_path / "set")
    for qrels in (tmp_path / "set" / "qrels").glob("*.tsv"):
        head, *lines = qrels.read_text("utf-8").splitlines()
        np.random.default_rng(0).shuffle(lines)
        qrels.write_text("\n".join([head, *lines]) + "\n", "utf-8")
    first, second = (
        units(lab.read_diagnostics(folder, corpus)) for folder in (source, tmp_path / "set")
    )
    assert first == second
