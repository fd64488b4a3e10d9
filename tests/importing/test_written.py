"""What import writes: the lab reads it, and nothing of the user's is lost."""

import json
from pathlib import Path

import pytest

import lab
from lab.corpus.read import read_corpus
from lab.errors import CorpusError
from lab.importing.convert import REPORT, Imported, import_source
from lab.importing.written import MANIFEST, readers_of
from lab.relevance.read import read_diagnostics
from tests.importing.given_files import folder_of


def a_set(folder: Path, question: str = "what?", answer: str = "") -> Imported:
    """An import of a document and a judged question to `folder / "set"`."""
    row = {"_id": "q", "text": question} | ({"answer": answer} if answer else {})
    files = {
        "in/corpus.jsonl": '{"_id": "d", "text": "t"}',
        "in/queries.jsonl": json.dumps(row),
        "in/qrels/test.tsv": "q\td\t1\n",
    }
    return import_source(str(folder_of(folder, files) / "in"), folder / "set")


def names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_later_import_keeps_what_it_did_not_write(tmp_path: Path) -> None:
    done = a_set(tmp_path)
    mine = {
        "my_questions.jsonl": '{"query_id": "m", "text": "mine", "evidence": []}\n',
        "notes/deep/note.txt": "years of work",
        "qrels/mine.tsv": "q\td\t2\n",
    }
    folder_of(done.folder, mine)
    (done.folder / "link").symlink_to("nowhere")
    before = names(done.folder)
    a_set(tmp_path, question="what now?")
    assert names(done.folder) == before
    for name, content in mine.items():
        assert (done.folder / name).read_text() == content
    assert (done.folder / "link").is_symlink()
    assert "what now?" in (done.folder / "queries.jsonl").read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "set"], "nothing is left beside"


def test_a_file_that_was_changed_since_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    done = a_set(tmp_path)
    for name in ("queries.jsonl", "qrels/test.tsv"):
        with (done.folder / name).open("a") as file:
            file.write("\n")
    kept = {name: (done.folder / name).read_bytes() for name in names(done.folder)}
    with pytest.raises(CorpusError) as fault:
        a_set(tmp_path, answer="an answer, so that no qrels are written")
    assert [problem.partition(": ")[0] for problem in fault.value.problems] == [
        str(done.folder / "qrels/test.tsv"),
        str(done.folder / "queries.jsonl"),
    ]
    assert {name: (done.folder / name).read_bytes() for name in names(done.folder)} == kept


def test_what_an_earlier_import_wrote_and_a_later_one_does_not_is_gone(tmp_path: Path) -> None:
    done = a_set(tmp_path)
    assert "qrels/test.tsv" in names(done.folder)
    (done.folder / "queries.jsonl").unlink()
    a_set(tmp_path, answer="yes")
    assert names(done.folder) == ["documents.jsonl", MANIFEST, REPORT, "queries.jsonl"]


def test_a_file_of_the_user_s_with_a_name_that_import_needs_is_not_overwritten(
    tmp_path: Path,
) -> None:
    done = a_set(tmp_path, answer="yes")
    folder_of(done.folder, {"qrels/test.tsv": "mine"})
    with pytest.raises(CorpusError, match=r"qrels/test\.tsv: import would write a file of this"):
        a_set(tmp_path)
    assert (done.folder / "qrels/test.tsv").read_text() == "mine"


@pytest.mark.parametrize("content", ["[]", "{", '{"files": []}', "", '{"files": {"a": 1}'])
def test_a_list_that_cannot_be_read_is_no_leave_to_remove(tmp_path: Path, content: str) -> None:
    done = a_set(tmp_path)
    (done.folder / MANIFEST).write_text(content)
    before = names(done.folder)
    with pytest.raises(CorpusError, match="cannot be read"):
        a_set(tmp_path)
    assert names(done.folder) == before


def test_places_that_cannot_be_written_are_told_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for to, problem in (
        (tmp_path / "file", "is not a folder"),
        (tmp_path / "file" / "below", "cannot be written"),
    ):
        with pytest.raises(CorpusError, match=problem):
            import_source("no such source", to)
    with pytest.raises(CorpusError, match="cannot be written"):
        import_source(str(folder_of(tmp_path / "in", {"a.md": "a"})), tmp_path / ("n" * 300))


def test_the_manifest_names_the_libraries_that_read(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", {"a.html": "<p>a"})
    done = import_source(str(source), tmp_path / "set")
    manifest = json.loads((done.folder / MANIFEST).read_text())
    assert [reader.partition(" ")[0] for reader in manifest["readers"]] == ["selectolax"]
    assert sorted(manifest["files"]) == ["documents.jsonl", REPORT]


@pytest.mark.parametrize(
    ("queries", "problem"),
    [
        ('{"_id": "", "text": "x"}', "has no id"),
        ('{"_id": "  ", "text": "x"}', "has no id"),
        ('{"_id": true, "text": "x"}', "expected text"),
        ('{"_id": null, "text": "x"}', "has no id"),
    ],
)
def test_ids_that_the_lab_refuses_are_not_written(
    tmp_path: Path, queries: str, problem: str
) -> None:
    files = {"corpus.jsonl": '{"_id": "d", "text": "t"}', "queries.jsonl": queries}
    with pytest.raises(CorpusError, match=problem):
        import_source(str(folder_of(tmp_path / "in", files)), tmp_path / "set")
    assert not (tmp_path / "set").exists()


def test_a_set_whose_answers_are_all_lost_is_refused(tmp_path: Path) -> None:
    answers = [{"text": "nowhere", "answer_start": 3}]
    question = {"id": "q", "question": "what?", "answers": answers}
    data = {"data": [{"title": "A", "paragraphs": [{"context": "text", "qas": [question]}]}]}
    source = folder_of(tmp_path / "in", {"dev.json": json.dumps(data)})
    with pytest.raises(CorpusError, match="none of the 1 judgements fits"):
        import_source(str(source), tmp_path / "set")
    assert not (tmp_path / "set").exists()


def test_answers_and_tags_are_kept_where_the_lab_s_form_can_hold_the_grades(
    tmp_path: Path,
) -> None:
    done = a_set(tmp_path, answer="PX-1")
    [query] = read_diagnostics(done.folder, read_corpus(done.folder))
    assert (query.answer, query.evidence[0].grade) == ("PX-1", 1)
    folder_of(tmp_path / "in", {"qrels/test.tsv": "q\td\t0\n"})
    again = import_source(str(tmp_path / "in"), tmp_path / "again")
    assert "answer or tags" in [finding.rule for finding in again.findings]


def test_a_run_names_the_readers_of_the_documents_it_was_made_from(tmp_path: Path) -> None:
    files = {"in/a.html": "<p>the pump leaks", "in/q.jsonl": '{"_id": "q", "text": "pump?"}'}
    files["in/q.qrels"] = "q 0 a.html 1\n"
    source = folder_of(tmp_path, files) / "in"
    done = import_source(
        str(source), tmp_path / "set", questions=["q.jsonl"], judgements=["q.qrels"]
    )
    readers = readers_of(str(done.folder))
    assert [reader.split()[0] for reader in readers] == ["selectolax"]
    corpus = read_corpus(done.folder)
    queries = read_diagnostics(done.folder, corpus)
    run = lab.sweep(corpus, queries, lab.Grid(mode="bm25"), progress=False)
    assert run.manifest["corpus"]["readers"] == readers
    # What was changed by hand is no longer what they read.
    with (done.folder / "documents.jsonl").open("a") as file:
        file.write("\n")
    assert readers_of(str(done.folder)) == []
    for folder in (tmp_path / "in", tmp_path / "absent", None):
        assert readers_of(folder and str(folder)) == []


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"files": 3}', '{"files": {}, "readers": 1}'])
def test_a_manifest_of_import_that_cannot_be_read_names_no_reader(
    content: str, tmp_path: Path
) -> None:
    (tmp_path / MANIFEST).write_text(content)
    (tmp_path / "documents.jsonl").write_text('{"doc_id": "a", "text": "x"}\n')
    assert readers_of(str(tmp_path)) == []
