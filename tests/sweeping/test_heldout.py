"""The sealed part by date: the latest questions, whole dates at a time."""

from pathlib import Path

import pytest

import lab
from lab.config.measure import Measure
from lab.errors import DiagnosticsError
from lab.relevance.query import Evidence, Query
from lab.relevance.read import read_diagnostics
from lab.sweeping.heldout import seal
from lab.sweeping.preflight.check import check
from lab.sweeping.sweep import sweep

CORPUS = lab.Corpus([lab.Document("a", "the pump leaks oil"), lab.Document("b", "motor seal")])


def asked(*dates: str) -> list[Query]:
    return [
        Query(f"q{i}", "pump", evidence=(Evidence("a"),), date=date) for i, date in enumerate(dates)
    ]


def sealed_of(*dates: str, share: float = 0.3) -> set[str]:
    opened, sealed = seal(asked(*dates), "auto", share, 0, "date")
    assert {q.query_id for q in opened} | {q.query_id for q in sealed} == {
        f"q{i}" for i in range(len(dates))
    }
    return {query.query_id for query in sealed}


def test_the_latest_are_sealed_whatever_their_order() -> None:
    months = [f"2024-{month:02d}-01" for month in (3, 10, 1, 7, 2, 9, 4, 6, 5, 8)]
    assert sealed_of(*months) == {"q1", "q5", "q9"}


def test_one_date_stays_together_and_zones_and_precision_count() -> None:
    assert sealed_of("2024-01", "2024-01-02", "2024-02", "2024-02", share=0.4) == {"q2", "q3"}
    # 23:00 in New York is the next day in UTC.
    late = sealed_of("2024-05-01T23:00-05:00", "2024-05-02T01:00Z", "2024-05-01", share=0.3)
    assert late == {"q0"}


def test_questions_without_evidence_stay_open() -> None:
    queries = [*asked("2024-01", "2024-02", "2024-03"), Query("none", "?", date="2025-01")]
    opened, sealed = seal(queries, "auto", 0.34, 0, "date")
    assert [query.query_id for query in sealed] == ["q2"]
    assert "none" in {query.query_id for query in opened}


def test_a_question_without_a_date_has_that_of_the_latest_document_that_answers_it() -> None:
    corpus = lab.Corpus(
        [
            lab.Document(name, "x", metadata={"date": date} if date else {})
            for name, date in {"a": "2024-01", "b": "2024-03-05", "c": "2024-02", "d": ""}.items()
        ]
    )
    queries = [
        Query("first", "?", evidence=(Evidence("a"),)),
        Query("both", "?", evidence=(Evidence("a"), Evidence("b"))),
        Query("own", "?", evidence=(Evidence("b"),), date="2023-12"),
        Query("third", "?", evidence=(Evidence("c"), Evidence("d"))),
    ]
    for share, sealed in ((0.25, {"both"}), (0.5, {"both", "third"})):
        found = seal(queries, "auto", share, 0, "date", corpus)[1]
        assert {query.query_id for query in found} == sealed
    never = Query("never", "?", evidence=(Evidence("d"),))
    with pytest.raises(DiagnosticsError, match=r"1 scored question without one: never"):
        seal([*queries, never], "auto", 0.3, 0, "date", corpus)


def test_missing_dates_and_one_date_for_all_are_refused() -> None:
    with pytest.raises(DiagnosticsError, match=r"2 scored questions without one: q1, q2;"):
        seal(asked("2024-01", "", ""), "auto", 0.3, 0, "date")
    with pytest.raises(DiagnosticsError, match="4 of 4 scored questions have the latest one"):
        seal(asked(*["2024-01"] * 4), "auto", 0.2, 0, "date")


def test_a_sweep_scores_the_latest_once() -> None:
    queries = asked(*[f"2024-{month:02d}" for month in range(1, 11)])
    measure = Measure(metrics=("recall@1",), select_by="recall@1", sealed=0.2, sealed_by="date")
    result = sweep(CORPUS, queries, lab.Grid(mode="bm25"), measure)
    assert result.manifest["conclusions"]["sealed"]["query_ids"] == ["q8", "q9"]


def test_check_tells_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text('{"doc_id": "a", "text": "the pump leaks oil"}\n')
    (tmp_path / "set.jsonl").write_text(
        '{"query_id": "q1", "text": "pump", "evidence": [{"doc_id": "a", "quote": "leaks"}]}\n'
    )
    (tmp_path / "x.toml").write_text(
        'corpus = "documents.jsonl"\ndiagnostic_sets = ["set.jsonl"]\n[retrieve]\nmode = "bm25"\n'
        '[measure]\nsealed = 0.2\nsealed_by = "date"\n'
    )
    with pytest.raises(DiagnosticsError, match=r"measure\.sealed_by is 'date'"):
        check([tmp_path / "x.toml"])


def test_a_date_is_read_or_told(tmp_path: Path) -> None:
    line = '{"query_id": "q%d", "text": "pump", "date": %s, "evidence": [{"doc_id": "a"}]}\n'
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(line % (1, '"2024-05-31"'))
    assert read_diagnostics(good, CORPUS)[0].date == "2024-05-31"
    bad.write_text(line % (1, '"31 May"') + line % (2, "2024"))
    with pytest.raises(DiagnosticsError) as told:
        read_diagnostics(bad, CORPUS)
    assert [p.split(": ", 1)[1][:22] for p in told.value.problems] == [
        "'date' is '31 May'; ex",
        "'date' is 2024; expect",
    ]
