"""Fuzz of every reader: whatever the bytes, `lab import` reads them or refuses them by name, and
nothing else happens."""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.config.experiment import read_experiment
from lab.corpus.read import read_corpus
from lab.errors import CorpusError, LabError, RunError
from lab.importing.convert import import_source
from lab.pipeline.foreign.finished import RunFile
from lab.relevance.read import read_diagnostics
from lab.runs.folder import TABLES
from lab.runs.run import read_run

NAMES = (
    "a.jsonl a.csv a.tsv a.json queries.jsonl a.qrels a.trec a.all a.qry a.html a.docx a.pdf "
    "a.parquet a.txt a.md a.docs a.gz a.xlsx a.run "
    "questions.csv master_clauses.csv"
).split()
# Fragments of all formats, so that chance finds its way into every reader.
TEXT_SHARDS = (
    ".I 1\n",
    ".T\n",
    ".W\n",
    "<DOC>",
    "</DOC>",
    "<DOCNO>1</DOCNO>",
    "<top>",
    "</top>",
    "<num> 1",
    "<title>",
    "1 0 2 1\n",
    "q\tQ0\td\t1\t0.5\tt\n",
    "1\ttext\n",
    '{"_id": "1", "text": null}\n',
    '{"doc_id": 1, "text": "\\ud800"}\n',
    '"',
    "1,2,3\n",
    '{"query-id": 1, "corpus-id": [], "score": "x"}\n',
    '{"data": [',
    '{"paragraphs": [{"context": "a", "qas": 1}]}',
    "]}",
    '{"data": [{"paragraphs": [{"context": "a", "qas": [{"id": 1}]}]}]}',
    "question,references,corpus_id\na,[],b\n",
    "\r\n",
    "question,references,corpus_id\na,{},b\n",
    "Filename,Parties,Parties-Answer\nx,[1,y\n",
    "1 2 3\n",
    "[" * 2000,
    '{"question_id": 1, "question_text": 2, "contexts": 3}\n',
    '{"query": 1, "positive": 2, "negative": []}\n',
    "['a'\n 'b']",
    '{"question": "a", "contexts": "[x", "answer": ["b"]}\n',
    '{"document_id": 1, "tasks": []}',
    "<p>",
    "</main>",
    "<script>",
    "\u6f0f\u6c34",
    "%PDF-1.4",
    "PAR1",
    "doc_id,text\n",
    "question,answer,source,quote\n",
    "a,b,a.csv,c\n",
    '{"question": "a", "source": ["x"], "quote": "y"}\n',
    '{"_id": true, "text": ["a", "b"], "x": NaN}\n',
    '{"_id": "1", "_id": "2"}\n',
    "---\ntitle: x\n---\n",
    "<!--",
    "<div>",
    "<a ",
    "sep=;\n",
    "\t",
)
SHARDS = (
    *(text.encode() for text in TEXT_SHARDS),
    b"\xff\xfe",
    b"\x00",
    b"PK\x03\x04",
    b"\x1f\x8b",
)
CONTENTS = st.one_of(
    st.lists(st.one_of(st.sampled_from(SHARDS), st.binary(max_size=8)), max_size=12).map(b"".join),
    st.binary(max_size=60),
)
ROLES = st.sampled_from([None, "documents", "questions", "judgements"])


def read_or_refuse(name: str, content: bytes, role: str | None) -> None:
    """Only LabErrors are raised, and what import writes the lab reads back."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / name).write_bytes(content)
        try:
            done = import_source(str(folder), folder / "out", **({role: name} if role else {}))
        except CorpusError:
            return
        corpus = read_corpus(done.folder)
        if done.questions:
            read_diagnostics(done.folder, corpus)


def fuzz(examples: int) -> Callable[[], None]:
    return settings(max_examples=examples, deadline=None)(
        given(name=st.sampled_from(NAMES), content=CONTENTS, role=ROLES)(read_or_refuse)
    )


def test_any_bytes_are_read_or_refused_by_name() -> None:
    fuzz(400)()


@pytest.mark.slow
def test_any_bytes_are_read_or_refused_by_name_many_times() -> None:
    fuzz(20_000)()


@settings(max_examples=300, deadline=None)
@given(content=CONTENTS, name=st.sampled_from(["documents.jsonl", "corpus.jsonl", "a.txt"]))
def test_native_readers_take_any_bytes(content: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / name).write_bytes(content)
        (Path(place) / "queries.jsonl").write_bytes(content)
        with contextlib.suppress(LabError):
            read_diagnostics(place, read_corpus(place))


@settings(max_examples=300, deadline=None)
@given(content=CONTENTS, name=st.sampled_from(["a.run", "a.jsonl", "a.toml"]))
def test_run_files_and_experiments_take_any_bytes(content: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / name
        file.write_bytes(content)
        with contextlib.suppress(LabError):
            if name.endswith(".toml"):
                read_experiment(file)
            else:
                assert all(isinstance(hits, tuple) for hits in RunFile(file).rankings.values())


@settings(max_examples=60, deadline=None)
@given(
    content=CONTENTS,
    name=st.sampled_from(["manifest.json", *(f"{table}.parquet" for table in TABLES)]),
)
def test_run_folders_take_any_bytes(content: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        for table in TABLES:
            (Path(place) / f"{table}.parquet").write_bytes(b"")
        (Path(place) / "manifest.json").write_text("{}")
        (Path(place) / name).write_bytes(content)
        with pytest.raises(RunError):
            read_run(place)
