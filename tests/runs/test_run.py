"""One noun for a finished sweep: it knows its documents, answers by short names, and is not
replaced in silence."""

import shutil
from pathlib import Path

import pytest

import lab
from lab.errors import RunError
from lab.relevance.query import Evidence, Query
from lab.runs.folder import free_place, write_run

DOCUMENTS = {"a": "the pump leaks", "b": "replace the seal of the motor"}


def made_in_python() -> lab.Run:
    corpus = lab.Corpus(lab.Document(doc_id, text) for doc_id, text in DOCUMENTS.items())
    queries = [
        Query("q1", "pump leaks", evidence=(Evidence("a"),), filter={"year": 1}),  # type: ignore[arg-type]
        Query("q2", "engine gasket", evidence=(Evidence("b"),), tags={"lang": "en"}),
    ]
    grid = lab.Grid(mode="bm25", chunk_strategy="document", k1=(0.9, 1.2))
    measure = lab.Measure(metrics=("recall@1",), select_by="recall@1")
    return lab.sweep(corpus, queries, grid, measure, cache=Path(":memory:"), progress=False)


@pytest.fixture(scope="module")
def run() -> lab.Run:
    return made_in_python()


def test_a_run_made_in_python_is_explained_once_its_documents_are_named(
    run: lab.Run, tmp_path: Path
) -> None:
    folder = write_run(run.tables, tmp_path / "run")
    read = lab.read_run(folder)
    assert read.queries == run.queries
    with pytest.raises(RunError, match="--corpus"):
        read.explain("q2")
    assert str(lab.read_run(folder, corpus=run.corpus).explain("q2")) == str(run.explain("q2"))


def test_documents_that_moved_are_named_and_others_are_refused(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for doc_id, text in DOCUMENTS.items():
        (tmp_path / "docs" / f"{doc_id}.md").write_text(text, "utf-8")
    corpus = lab.read_corpus(tmp_path / "docs")
    queries = [Query("q", "pump", evidence=(Evidence("a.md"),))]
    grid = lab.Grid(mode="bm25", chunk_strategy="document")
    swept = lab.sweep(corpus, queries, grid, cache=Path(":memory:"), progress=False)
    folder = write_run(swept.tables, tmp_path / "run")
    assert lab.read_run(folder).corpus == corpus
    shutil.move(tmp_path / "docs", tmp_path / "moved")
    with pytest.raises(RunError, match="are not there"):
        _ = lab.read_run(folder).corpus
    assert lab.read_run(folder, corpus=tmp_path / "moved").corpus == corpus
    (tmp_path / "moved" / "a.md").write_text("another text", "utf-8")
    with pytest.raises(RunError, match="changed"):
        _ = lab.read_run(folder, corpus=tmp_path / "moved").corpus


def test_short_names_do_wherever_a_system_is_named(run: lab.Run) -> None:
    short = run.labels[run.recommended]
    assert short != run.recommended
    assert run.explain("q2", short).system == run.explain("q2").system == run.recommended
    assert run.waterfall(short).equals(run.waterfall())


def test_a_run_is_shown_in_one_short_line(run: lab.Run) -> None:
    assert repr(run) == f"Run('sweep', 2 systems, 2 questions, recommended '{run.recommended}')"


def test_siblings_are_sliced_or_said_to_be_none(run: lab.Run) -> None:
    with pytest.raises(RunError, match="no question of kind 'exact_id'"):
        run.slices("siblings")


def test_a_second_run_goes_beside_the_first(tmp_path: Path) -> None:
    places = []
    for _ in range(3):
        places.append(free_place(tmp_path, "handbook"))
        places[-1].mkdir()
    assert [place.name for place in places] == ["handbook", "handbook-2", "handbook-3"]


def test_misses_that_come_back_at_a_low_alpha_are_one_expression(run: lab.Run) -> None:
    causes = run.causes().explode(["alpha_low", "alpha_high"])
    assert causes[causes["alpha_low"] < 0.3].empty
