"""Filters: which metadata meets which condition, what is no condition, and what no document could
be asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.corpus.document import Corpus, Document
from lab.corpus.filter import Fields, Filter
from lab.corpus.read import read_corpus
from lab.errors import DiagnosticsError
from lab.relevance.query import Evidence, Query
from lab.relevance.read import read_diagnostics
from lab.sets.audit.asking import repeated_variants, useless_filters

HOLDS: list[tuple[Any, Any, bool]] = [
    (2020, {"gte": 2020}, True),
    (2020, {"gt": 2020}, False),
    (2019.5, {"lt": 2020, "gte": 2019}, True),
    ("2020", {"gte": 2019}, True),  # a CSV's number
    ("2020", 2020, True),
    (2020, "2020", True),
    ("007", "7", False),  # codes are text
    ("007", 7, True),
    ("v2", {"gte": 2}, False),
    (True, True, True),
    (True, 1, False),
    (1, True, False),
    ("en", "en", True),
    ("EN", "en", False),
    ("e\u0301", "\u00e9", True),
    ("en", {"in": ["de", "en"]}, True),
    ("fr", {"in": ["de", "en"]}, False),
    (["a", "b"], "b", True),
    (["a", "b"], {"ne": "b"}, False),
    ([2018, 2021], {"gt": 2020}, True),
    (None, {"ne": "en"}, True),
    (None, "en", False),
    (None, {"lt": 3}, False),
    ("2020-05-01", {"gte": "2020-05-01"}, True),
    ("2020-05-01T23:59:00Z", {"lte": "2020-05-01"}, True),  # beside a day a time counts as its day
    ("2020-05-01", {"lt": "2020-05-01T00:00:01Z"}, True),
    ("2020-05-01T01:00:00+02:00", {"lt": "2020-05-01"}, True),  # the 30th of April in UTC
    ("2020-02-30", {"gte": "2020-01-01"}, False),
    (float("nan"), {"lte": 3}, False),
    ({"a": 1}, "a", False),
]


@pytest.mark.parametrize(("value", "condition", "holds"), HOLDS)
def test_which_metadata_meets_which_condition(value: Any, condition: Any, holds: bool) -> None:
    assert Filter.of({"key": condition}).passes({"key": value}) is holds


def test_all_conditions_must_hold_and_a_failure_is_told() -> None:
    wanted = Filter.of({"year": {"gte": 2020, "lt": 2023}, "lang": {"in": ["en", "de"]}})
    assert wanted.passes({"year": 2022, "lang": "de"})
    assert not wanted.passes({"year": 2022})
    assert (
        wanted.failed({"year": 2019})
        == "year >= 2020, but it has 2019; lang in en, de, but it has none"
    )
    assert Filter.of(wanted.plain) == wanted
    assert str(wanted) == "year >= 2020, year < 2023, lang in en, de"


def test_everything_that_is_no_condition_is_told_at_once() -> None:
    plain = {
        "a": {"gte": "x"},
        "b": {"above": 3},
        "c": {},
        "d": [1],
        "e": {"in": []},
        "f": {"gt": True},
        "g": None,
        "h": 1,
    }
    with pytest.raises(DiagnosticsError) as caught:
        Filter.of(plain)
    told = caught.value.problems
    assert [problem.split("'")[1] for problem in told] == list("abcdefg")
    assert "expected a number or a date" in told[0]
    assert "unknown operator 'above'" in told[1]
    assert '{"in": [...]}' in told[3]


CORPUS = Corpus(
    [
        Document("a", "pump", "", {"year": 2020, "lang": "en", "day": "2020-05-01"}),
        Document("b", "seal", "", {"year": "n.d.", "lang": "de"}),
    ]
)


@pytest.mark.parametrize(
    ("plain", "told"),
    [
        ({"yaer": 2020}, "no document has 'yaer'; did you mean 'year'?"),
        ({"year": {"gte": 2020}}, "document 'b' has 'n.d.' (1 such values)"),
        ({"day": {"gte": 2020}}, "document 'a' has '2020-05-01'"),
        (
            {"lang": {"gt": "2020-01-01"}},
            "compares with a date, but document 'a' has 'en' (2 such values)",
        ),
        ({"lang": 5}, "'lang = 5' can match nothing"),
    ],
)
def test_what_no_document_could_be_asked_is_told(plain: Any, told: str) -> None:
    problems: list[str] = []
    Fields(CORPUS).check(Filter.of(plain), "q", problems)
    assert len(problems) == 1
    assert told in problems[0]


def test_a_set_is_read_with_filters_and_variants_and_every_fault_of_all_lines(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "query_id": "q1",
            "text": "pump",
            "variants": ["the pump"],
            "filter": {"lang": "en"},
            "evidence": [{"doc_id": "a"}],
        },
        {"query_id": "q2", "text": "seal", "variants": None, "filter": {}},
    ]
    file = tmp_path / "set.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    first, second = read_diagnostics(file, CORPUS)
    assert (first.variants, first.filter) == (("the pump",), Filter.of({"lang": "en"}))
    assert (second.variants, second.filter) == ((), None)
    rows[0] |= {"variants": ["", 3], "filter": {"lang": {"gte": 1}}}
    rows[1] |= {"variants": "seal", "filter": [1]}
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    with pytest.raises(DiagnosticsError) as caught:
        read_diagnostics(file, CORPUS)
    assert [problem.removeprefix(f"{file}:")[0] for problem in caught.value.problems] == list(
        "11122"
    )


def test_beir_folders_have_filters_variants_and_metadata(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    corpus = {"_id": "d", "title": "", "text": "pump", "metadata": {"year": 2020}, "lang": "en"}
    query = {
        "_id": "q",
        "text": "pump",
        "variants": ["pumps"],
        "filter": {"year": {"gte": 2020}, "lang": "en"},
    }
    (tmp_path / "corpus.jsonl").write_text(json.dumps(corpus), "utf-8")
    (tmp_path / "queries.jsonl").write_text(json.dumps(query), "utf-8")
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n", "utf-8")
    read = read_corpus(tmp_path)
    assert read["d"].metadata == {"year": 2020, "lang": "en"}
    (found,) = read_diagnostics(tmp_path, read)
    assert found.variants == ("pumps",)
    assert found.filter is not None
    assert found.filter.passes(read["d"].metadata)


def test_the_audit_names_filters_that_leave_their_own_evidence_out() -> None:
    queries = [
        Query("q1", "pump", evidence=(Evidence("a"),), filter=Filter.of({"lang": "de"})),
        Query(
            "q2",
            "pump",
            evidence=(Evidence("a", group="x"), Evidence("b", group="x")),
            filter=Filter.of({"lang": "de"}),
        ),
        Query("q3", "pump", filter=Filter.of({"lang": "fr"}), variants=("Pump!", "seal")),
        Query("q4", "pump", variants=("seal",)),
    ]
    nothing, excluded = useless_filters(queries, CORPUS)
    assert (nothing.rule, nothing.cases) == ("filters that pass nothing", ("q3 (lang = fr)",))
    assert (excluded.rule, excluded.cases) == (
        "filtered evidence",
        ("q1 (a: lang = de, but it has en)",),
    )
    (repeated,) = repeated_variants(queries)
    assert repeated.cases == ("q3",)
