"""Cohen's kappa by hand, against scikit-learn, and against the published labels of LLMJudge."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from typer.testing import CliRunner

from lab.cli import app
from lab.corpus.document import Corpus, Document
from lab.errors import DiagnosticsError
from lab.relevance.query import Evidence, Query
from lab.sets.agreement import agreement, sentence_grades


def grades(labels: list[int]) -> dict[tuple[str, str], int]:
    return {(f"q{i // 5}", f"d{i}"): label for i, label in enumerate(labels)}


def test_kappa_by_hand() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, by chance 0.5 * 0.6 + 0.5 * 0.4 =
    # 0.5, kappa 0.4
    a, b = [1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    found = agreement(grades(a), grades(b))
    assert found.kappa == pytest.approx(0.4)
    assert found.weighted == pytest.approx(0.4)  # two grades have one distance
    assert (found.base_a, found.base_b) == ((0.5, 0.5), (0.4, 0.6))
    assert len(found.disagreements) == 15
    assert found.low < 0.4 < found.high
    assert "not settled" in found.verdict


def test_kappa_equals_scikit_learn_plain_and_weighted() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        a, noise = rng.integers(0, 4, 80), rng.integers(0, 4, 80)
        b = np.where(rng.random(80) < 0.6, a, noise)
        found = agreement(grades(a.tolist()), grades(b.tolist()))
        assert found.kappa == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
        assert found.weighted == pytest.approx(cohen_kappa_score(a, b, weights="linear"), abs=1e-12)


def test_distance_counts_the_grades_themselves_not_their_places() -> None:
    # With grade 2 unused by both, 1 and 3 are two apart: disagreement 2/3 of the scale 0..3 and not
    # 1/2.
    a, b = [0, 0, 1, 1, 3, 3], [0, 1, 1, 3, 3, 0]
    weights = np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]]) / 3
    observed = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]) / 6
    expected = np.full((3, 3), 1 / 9)
    assert agreement(grades(a), grades(b)).weighted == pytest.approx(
        1 - (weights * observed).sum() / (weights * expected).sum()
    )


def test_same_seed_same_interval_and_full_agreement_is_usable() -> None:
    labels = [0, 1, 2, 3] * 10
    assert agreement(grades(labels), grades(labels)).weighted == 1
    assert agreement(grades(labels), grades(labels)).verdict.endswith("usable")
    other = [*labels[:-4], 3, 2, 1, 0]
    first, second = (
        agreement(grades(labels), grades(other)),
        agreement(grades(labels), grades(other)),
    )
    assert (first.low, first.high) == (second.low, second.high)


def test_items_of_one_alone_are_counted_and_left_out() -> None:
    found = agreement(
        {("q", "a"): 1, ("q", "b"): 0, ("q", "c"): 1}, {("q", "a"): 1, ("q", "b"): 0, ("q", "z"): 2}
    )
    assert (found.items, found.only_a, found.only_b) == (2, 1, 1)
    with pytest.raises(DiagnosticsError, match="nothing in common"):
        agreement({("q", "a"): 1}, {("r", "a"): 1})


def test_evidence_is_compared_sentence_by_sentence() -> None:
    text = "The pump stops. The valve opens. The lamp is red."
    corpus = Corpus([Document("a", text), Document("b", "Nothing marked here.")])

    def marked(quote: str, grade: int) -> tuple[Query, ...]:
        start = text.index(quote)
        return (Query("q", "?", evidence=(Evidence("a", start, start + len(quote), grade),)),)

    # "valve opens." is most of its sentence, "stops." less than half of its own
    first, second = sentence_grades(
        marked("stops. The valve opens.", 3), marked("The valve opens. The lamp is red.", 2), corpus
    )
    assert list(first.values()) == [0, 3, 0]
    assert list(second.values()) == [0, 2, 2]
    assert all(item.startswith("a:") for _, item in first)


def test_command_on_two_sets_needs_the_documents(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        "The pump stops. The valve opens. The lamp is red.", "utf-8"
    )
    for name, quote in (("a", "The pump stops."), ("b", "The pump stops. The valve opens.")):
        record = {"query_id": "q", "text": "?", "evidence": [{"doc_id": "a.md", "quote": quote}]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    sets = [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
    done = CliRunner().invoke(app, ["agree", *sets])
    assert isinstance(done.exception, DiagnosticsError)
    done = CliRunner().invoke(app, ["agree", *sets, "--corpus", str(tmp_path / "docs"), "--json"])
    found = json.loads(done.output)
    assert (found["unit"], found["items"], len(found["disagreements"])) == ("sentence", 3, 1)
    assert done.exit_code == 1  # kappa 0.4


@pytest.mark.parametrize(
    ("judge", "expected", "strange"),
    [
        ("willia-umbrela1", 0.2863, 0),
        ("h2oloo-zeroshot1", 0.2817, 0),
        ("TREMA-nuggets", 0.0604, 0),
        ("RMITIR-llama70B", None, 2),
    ],
)
def test_published_judges(judge: str, expected: float | None, strange: int, shared: Path) -> None:
    folder = shared / "data" / "llmjudge"
    paths = [str(folder / "llmjudge_test_qrel_idx.txt"), str(folder / "scores" / f"{judge}.txt")]
    found = json.loads(CliRunner().invoke(app, ["agree", *paths, "--json"]).output)
    assert len(found["left_out"]) == strange
    if expected is not None:
        assert round(found["kappa"], 4) == expected
        assert found["items"] == 4423
