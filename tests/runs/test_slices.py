"""Slices, the boundary gap with its worst cuts, and sibling confusion, on a run small enough to
count by hand."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lab
from lab.cli import app
from lab.corpus.document import Corpus, Document
from lab.errors import RunError
from lab.evaluation.slices import distance_label, labels
from lab.relevance.query import Evidence, Query
from lab.runs.boundary import boundary_gap, margins, scores_of, systems_alike, worst_cuts
from lab.runs.siblings import sibling_confusion

# Four texts of 40 characters; fixed chunks of 20 cut each in the middle.
FIRST = "alpha bravo charlie delta echo foxtrot g"
SECOND = "india juliet kilo lima mike november osc"
CORPUS = Corpus(
    [
        Document("errors.md", "E-4012 low\nE-4021 high\nE-4012 again here"),
        Document("first.md", FIRST),
        Document("manual/second.md", SECOND, metadata={"type": "manual"}),
    ]
)


def span(doc_id: str, quote: str) -> Evidence:
    start = CORPUS[doc_id].text.index(quote)
    return Evidence(doc_id, start, start + len(quote))


QUERIES = (
    Query(
        "cut",
        "charlie",
        "chunk_boundary",
        {"pair": "1", "boundary": "cut"},
        (span("first.md", "charlie delta"),),
    ),
    Query(
        "mid",
        "juliet",
        "chunk_boundary",
        {"pair": "1", "boundary": "control"},
        (span("manual/second.md", "juliet kilo"),),
    ),
    Query("id", "E-4021", "exact_id", {"lang": "de"}, (span("errors.md", "E-4021 high"),)),
    Query(
        "zh",
        "错误码E-9999表示什么",
        "keyword",
        {},
        (span("first.md", "alpha"), span("manual/second.md", "osc")),
    ),
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> lab.Run:
    grid = lab.Grid(chunk_size=(20, 60), mode="bm25")
    cache = tmp_path_factory.mktemp("cache") / "cache.sqlite"
    return lab.sweep(
        CORPUS, QUERIES, grid, lab.Measure(metrics=("recall@1",), select_by="recall@1"), cache=cache
    )


def test_labels_by_kind_tag_type_length_and_language() -> None:
    assert labels(QUERIES, CORPUS, "kind") == [
        "chunk_boundary",
        "chunk_boundary",
        "exact_id",
        "keyword",
    ]
    assert labels(QUERIES, CORPUS, "boundary") == ["cut", "control", "-", "-"]
    assert labels(QUERIES, CORPUS, "doctype") == [".md", "manual", ".md", "several"]
    assert labels(QUERIES, CORPUS, "length") == [
        "1-3 words",
        "1-3 words",
        "1-3 words",
        "8-14 words",
    ]
    assert labels(QUERIES, CORPUS, "language") == ["latin", "latin", "de", "zh"]
    with pytest.raises(RunError, match="did you mean 'boundary'"):
        labels(QUERIES, CORPUS, "boundry")


def test_distance_labels() -> None:
    assert [distance_label(m) for m in (-3, 0, 24, 25, 99, 100)] == [
        "cut",
        "0-24",
        "0-24",
        "25-99",
        "25-99",
        "100+",
    ]


def test_margins_of_a_run_are_those_of_its_chunks(run: lab.Run) -> None:
    tables = run.tables
    # "charlie delta" is [12, 25): chunks [0, 20) and [20, 40); the better one lacks 5 characters
    # "juliet kilo" is [6, 17): three characters from the cut at 20, the document's start is no cut
    assert margins(tables, CORPUS, QUERIES, "fixed-20 bm25") | {"zh": [0], "id": [0]} == {
        "cut": [-5],
        "mid": [3],
        "id": [0],
        "zh": [0],
    }
    assert (
        min(min(found) for found in margins(tables, CORPUS, QUERIES, "fixed-60 bm25").values()) > 0
    )


def test_gap_of_mined_pairs_is_their_difference(run: lab.Run) -> None:
    tables = run.tables
    found = {name: margins(tables, CORPUS, QUERIES, name) for name in run.systems}
    gap = boundary_gap(tables, QUERIES, found, "fixed-20 bm25", "recall@1")
    assert (gap.paired_by, gap.pairs, gap.near, gap.mid, gap.gap) == ("pair", 1, 0.0, 1.0, 1.0)
    assert boundary_gap(tables, QUERIES, found, "fixed-60 bm25", "recall@1").gap == 0.0


def test_without_probes_a_question_is_paired_with_itself_under_whole_chunks(
    run: lab.Run,
) -> None:
    tables = run.tables
    plain = tuple(Query(q.query_id, q.text, q.kind, {}, q.evidence) for q in QUERIES)
    found = {name: margins(tables, CORPUS, plain, name) for name in run.systems}
    gap = boundary_gap(tables, plain, found, "fixed-20 bm25", "recall@1")
    assert gap.paired_by == "question"
    cut = [query_id for query_id, distances in found["fixed-20 bm25"].items() if min(distances) < 0]
    here, there = (
        scores_of(tables, name, "recall@1") for name in ("fixed-20 bm25", "fixed-60 bm25")
    )
    assert gap.pairs == len(cut)
    assert gap.gap == pytest.approx(sum(there[q] - here[q] for q in cut) / len(cut))


def test_worst_cuts_show_the_text_on_either_side(run: lab.Run) -> None:
    tables = run.tables
    found = margins(tables, CORPUS, QUERIES, "fixed-20 bm25")
    cuts = {
        (cut.doc_id, cut.offset): cut
        for cut in worst_cuts(tables, CORPUS, QUERIES, found, "fixed-20 bm25", k=1)
    }
    cut = cuts["first.md", 20]
    assert (cut.before, cut.after, cut.query_ids) == (FIRST[:20], FIRST[20:], ("cut",))


def test_slices_are_means_over_their_questions(run: lab.Run) -> None:
    rows = run.slices("kind", ["fixed-20 bm25"]).set_index("kind")
    assert rows.loc["chunk_boundary", "questions"] == 2
    # The cut one is lost, its control is found.
    assert rows.loc["chunk_boundary", "recall@1"] == 0.5
    assert set(run.slices("distance", ["fixed-60 bm25"])["distance"]) == {"25-99"}


def test_slices_of_a_run_know_the_same_axes(run: lab.Run) -> None:
    assert set(run.slices("language")["language"]) == {"latin", "de", "zh"}


def test_systems_alike_differ_in_chunks_only(run: lab.Run) -> None:
    assert systems_alike(run.tables, "fixed-20 bm25") == ["fixed-20 bm25", "fixed-60 bm25"]


def test_confusion_counts_a_sibling_above_the_identifier() -> None:
    # Two rows of one document each; the sibling's is preferred by the words beside the identifier.
    corpus = Corpus(
        [
            Document("a", "E-4012 pump pump stops"),
            Document("b", "E-4021 valve"),
            Document("c", "nothing"),
        ]
    )
    queries = (
        Query("wrong", "E-4021 pump pump stops", "exact_id", {}, (Evidence("b", 0, 12),)),
        Query("right", "E-4012", "exact_id", {}, (Evidence("a", 0, 22),)),
        Query("other", "E-4012 pump", "keyword", {}, (Evidence("a", 0, 22),)),
    )
    result = lab.sweep(corpus, queries, lab.Grid(chunk_strategy="document", mode="bm25"))
    (found,) = sibling_confusion(result.tables, corpus, queries)
    assert (found.questions, found.outranked, found.first, found.absent) == (2, 0.5, 0.5, 0.0)
    assert found.query_ids == ("wrong",)
    with pytest.raises(RunError, match="no question of kind 'exact_id'"):
        sibling_confusion(result.tables, corpus, queries[2:])


def test_command_slices_a_run_folder(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for document in CORPUS:
        (tmp_path / "docs" / document.doc_id).parent.mkdir(exist_ok=True)
        (tmp_path / "docs" / document.doc_id).write_text(document.text, "utf-8")
    (tmp_path / "set.jsonl").write_text(
        '{"query_id": "a", "text": "E-4021", "kind": "exact_id", '
        '"evidence": [{"doc_id": "errors.md", "quote": "E-4021 high"}]}\n',
        "utf-8",
    )
    experiment = tmp_path / "e.toml"
    experiment.write_text(
        'corpus = "docs"\ndiagnostic_sets = ["set.jsonl"]\n[retrieve]\nmode = '
        '"bm25"\n[chunk]\nsize = [20, 60]\n',
        "utf-8",
    )
    runner = CliRunner()
    assert (
        runner.invoke(app, ["run", str(experiment), "--out", str(tmp_path / "run")]).exit_code == 0
    )
    for by, expected in {
        "kind": "exact_id",
        "distance": "boundary gap",
        "siblings": "outranked",
    }.items():
        done = runner.invoke(app, ["slices", str(tmp_path / "run"), "--by", by])
        assert done.exit_code == 0, done.output
        assert expected in done.output
    record = json.loads(
        runner.invoke(app, ["slices", str(tmp_path / "run"), "--by", "distance", "--json"]).output
    )
    assert [gap["pairs"] for gap in record["gaps"]] == [
        1,
        0,
    ]  # parted at 20 characters, whole at 60
    assert record["gaps"][1]["gap"] is None


def test_gap_of_a_run_judged_by_document_is_refused() -> None:
    queries = (Query("a", "alpha", evidence=(Evidence("first.md"),)),)
    result = lab.sweep(CORPUS, queries, lab.Grid(chunk_size=20, mode="bm25"))
    with pytest.raises(RunError, match="judged whole documents"):
        result.sliced("distance")
