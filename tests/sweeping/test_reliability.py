"""What goes wrong outside: killed processes, shared, read-only, full and damaged disks, broken
vectors, huge and odd input."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lab.arrays import Vectors
from lab.config.grid import Grid
from lab.corpus.read import read_corpus
from lab.errors import LabError, ModelError, RunError
from lab.relevance.query import Evidence, Query
from lab.relevance.read import read_diagnostics
from lab.runs.folder import TABLES, write_run
from lab.runs.run import Run, read_run
from lab.storage.cache import Cache, cache_key
from lab.sweeping.sweep import sweep
from tests.conftest import ROOT
from tests.given import GivenEncoder, corpus_of

CORPUS = corpus_of({f"d{n}": f"the pump number {n} leaks at valve {n % 3}" for n in range(12)})
QUERIES = [Query(f"q{n}", f"pump {n}", evidence=(Evidence(f"d{n}"),)) for n in range(12)]
GRID = Grid(chunk_strategy="document", mode=("bm25", "dense"), model="given")


class Notes:
    """Progress that keeps its notes."""

    def __init__(self) -> None:
        self.notes = list[str]()

    def stage(self, label: str, total: int) -> object:
        return lambda steps: None

    def note(self, message: str) -> None:
        self.notes.append(message)


def swept(cache: Path, encoder: GivenEncoder | None = None, progress: Notes | bool = False) -> Run:
    return sweep(
        CORPUS,
        QUERIES,
        GRID,
        cache=cache,
        encoders={"given": encoder or GivenEncoder()},
        progress=progress,
    )  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The undisturbed run."""
    return swept(tmp_path_factory.mktemp("calm") / "cache.sqlite")


def killed(folder: Path, deaths: int) -> dict[str, object]:
    script = [
        sys.executable,
        str(ROOT / "tests/sweeping/killed.py"),
        str(folder),
        str(deaths),
        "11",
    ]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def test_a_killed_sweep_resumes_and_no_figure_differs(tmp_path: Path) -> None:
    outcome = killed(tmp_path, 2)
    assert (outcome["killed"], outcome["differ"]) == (2, [])


@pytest.mark.slow
def test_a_hundred_kills_change_no_figure(tmp_path: Path) -> None:
    outcome = killed(tmp_path, 100)
    assert (outcome["killed"], outcome["differ"]) == (100, [])


def test_two_sweeps_share_one_cache_at_the_same_time(tmp_path: Path, calm: Run) -> None:
    found: list[Run] = []
    together = threading.Barrier(4)

    def work() -> None:
        together.wait()
        found.append(swept(tmp_path / "cache.sqlite"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.tables.values.tolist() for result in found] == [calm.tables.values.tolist()] * 4


def test_processes_write_one_cache_at_the_same_time(tmp_path: Path) -> None:
    write = (
        "import sys; from pathlib import Path; from lab.storage.cache import Cache, cache_key\n"
        "cache = Cache(Path(sys.argv[1]))\n"
        "for n in range(200): cache.put({cache_key(str(n), str(m)): b'%d' % (n * m) for m in "
        "range(20)})"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", write, str(tmp_path / "c.sqlite")],
            cwd=ROOT,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0], [
        process.communicate()[1] for process in processes
    ]
    keys = {cache_key(str(n), str(m)): b"%d" % (n * m) for n in range(200) for m in range(20)}
    assert Cache(tmp_path / "c.sqlite").get(keys) == keys


@pytest.mark.parametrize(
    "damage",
    ["UPDATE kept SET value = zeroblob(length(value))", "UPDATE kept SET checksum = 1 - checksum"],
)
def test_damaged_values_are_computed_again_and_said(tmp_path: Path, calm: Run, damage: str) -> None:
    path, notes, encoder = tmp_path / "cache.sqlite", Notes(), GivenEncoder()
    swept(path)
    with sqlite3.connect(path) as connection:
        connection.execute(damage)
    assert swept(path, encoder, notes).tables.values.tolist() == calm.tables.values.tolist()
    assert len(encoder.encoded) == 24
    assert sum("computed again" in note for note in notes.notes) == 1
    assert (
        swept(path, again := GivenEncoder()).tables.values.tolist() == calm.tables.values.tolist()
    )
    assert not again.encoded, "the damaged values were replaced"


def test_values_under_each_others_keys_are_damaged(tmp_path: Path) -> None:
    one, two = cache_key("one"), cache_key("two")
    cache = Cache(tmp_path / "c.sqlite")
    cache.put({one: b"1111", two: b"2222"})
    with sqlite3.connect(tmp_path / "c.sqlite") as connection:
        connection.execute(
            "UPDATE kept SET value = CASE value WHEN ? THEN ? ELSE ? END",
            (b"1111", b"2222", b"1111"),
        )
    assert Cache(tmp_path / "c.sqlite").get([one, two]) == {}


def test_a_cache_with_broken_pages_is_refused_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    cache = Cache(path)
    cache.put({cache_key(str(n)): bytes(200) for n in range(2000)})
    cache.close()
    content = bytearray(path.read_bytes())
    content[8192:] = os.urandom(len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(
        LabError,
        match=r"c\.sqlite: the cache cannot be .*; delete it or name another with LAB_CACHE",
    ):
        Cache(path).get([cache_key(str(n)) for n in range(2000)])


def read_without_write_access(path: Path) -> list[object]:
    """What a process that may not write finds in a cache: values, number of notes, the first note's
    gist.

    Root may write anywhere, so the forked child becomes another user.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        try:
            if os.geteuid() == 0:
                os.setresuid(65534, 65534, 65534)
            said = list[str]()
            cache = Cache(path, said.append)
            cache.put({cache_key("new"): b"new"})
            found = cache.get([cache_key("old"), cache_key("new")])
            answer = [
                sorted(value.decode() for value in found.values()),
                len(said),
                "cannot be written" in said[0],
            ]
            os.write(writing, json.dumps(answer).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(process, 0)
    with os.fdopen(reading) as answer:
        return list(json.load(answer))


def test_a_read_only_cache_is_read_and_what_is_new_stays_in_memory() -> None:
    # Not tmp_path: pytest's folders are closed to other users.
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        cache = Cache(folder / "c.sqlite")
        cache.put({cache_key("old"): b"old"})
        cache.close()
        (folder / "c.sqlite").chmod(0o444)
        folder.chmod(0o555)
        try:
            assert read_without_write_access(folder / "c.sqlite") == [["new", "old"], 1, True]
            assert read_without_write_access(folder / "absent.sqlite") == [["new"], 1, True]
        finally:
            folder.chmod(0o755)


@pytest.fixture
def full_disk() -> object:
    """No file may grow beyond 64 kB from here on: a write past it fails as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    kept = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, limits[1]))

    yield fill
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, kept)


def test_a_full_disk_costs_the_cache_and_no_figure(
    tmp_path: Path, calm: Run, full_disk: object
) -> None:
    class Wide(GivenEncoder):
        def encode(self, texts: Sequence[str], role: str, progress: object) -> Vectors:
            return np.pad(super().encode(texts, role, progress), ((0, 0), (0, 4000)))  # type: ignore[arg-type]

    notes = Notes()
    full_disk()  # type: ignore[operator]
    result = swept(tmp_path / "cache.sqlite", Wide(identity="wide"), notes)
    assert result.tables.values.tolist() == calm.tables.values.tolist()
    assert sum("the cache cannot be written" in note for note in notes.notes) == 1


def test_a_full_disk_leaves_the_old_run_whole(tmp_path: Path, calm: Run, full_disk: object) -> None:
    tables = replace(calm.tables, manifest=dict(calm.manifest))
    write_run(tables, tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    tables.manifest["name"] = "x" * 100_000
    full_disk()  # type: ignore[operator]
    with pytest.raises(RunError, match="run: cannot be written"):
        write_run(tables, tmp_path / "run")
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"], (
        "nothing half-written is left beside"
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_that_are_no_numbers_name_their_chunk_and_are_not_kept_as_good(
    tmp_path: Path, value: float, calm: Run
) -> None:
    text = CORPUS["d3"].text
    with pytest.raises(
        ModelError, match=r"chunk 'd3:0-\d+': the model gave a vector with NaN or infinity"
    ):
        swept(tmp_path / "cache.sqlite", GivenEncoder({text: [value] + [0.0] * 15}))


def test_a_ten_megabyte_line_is_a_document_like_any_other(tmp_path: Path) -> None:
    words = "leak " * 2_000_000
    text = words[:5_000_000] + "the ERR-4042 stands here " + words[5_000_000:]
    (tmp_path / "documents.jsonl").write_text(
        json.dumps({"doc_id": "long", "text": text}) + '\n{"doc_id": "b", "text": "leak"}\n'
    )
    evidence = [{"doc_id": "long", "quote": "the ERR-4042 stands here"}]
    (tmp_path / "queries.jsonl").write_text(
        json.dumps({"query_id": "q", "text": "ERR-4042", "evidence": evidence}) + "\n"
    )
    corpus = read_corpus(tmp_path)
    queries = read_diagnostics(tmp_path / "queries.jsonl", corpus)
    result = sweep(corpus, queries, Grid(mode="bm25", chunk_size=1000), cache=tmp_path / "c.sqlite")
    assert result.tables.values[0, 0, result.metrics.index("recall@5")] == 1.0


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_many_questions_are_read_and_scored(tmp_path: Path, count: int) -> None:
    with (tmp_path / "queries.jsonl").open("w") as file:
        for n in range(count):
            evidence = [{"doc_id": f"d{n % 12}", "quote": f"number {n % 12} leaks"}]
            file.write(
                json.dumps({"query_id": f"q{n}", "text": f"pump {n % 12}", "evidence": evidence})
                + "\n"
            )
    queries = read_diagnostics(tmp_path, CORPUS)
    assert len(queries) == count
    result = sweep(
        CORPUS, queries, Grid(mode="bm25", chunk_strategy="document"), cache=tmp_path / "c.sqlite"
    )
    assert result.tables.values.shape[1] == count


ODD_IDS = [
    "../../up",
    "/etc/passwd",
    "<img src=x onerror=alert(1)>",
    "=1+2",
    "@SUM(1)",
    "a b",
    "caf\u00e9",
    "cafe\u0301",
    "d:0-3",
    "x\ty",
    "q'\"",
    " ",
]


def test_odd_ids_stay_data_from_file_to_run_folder(tmp_path: Path) -> None:
    ids = ODD_IDS[:-1]
    rows = [
        json.dumps({"doc_id": doc_id, "text": f"document {n} speaks of w{n}"})
        for n, doc_id in enumerate(ids)
    ]
    (tmp_path / "documents.jsonl").write_text("\n".join(rows))
    asked = [
        json.dumps(
            {
                "query_id": doc_id,
                "text": f"w{n}",
                "evidence": [{"doc_id": doc_id, "quote": f"w{n}"}],
            }
        )
        for n, doc_id in enumerate(ids)
    ]
    (tmp_path / "set.jsonl").write_text("\n".join(asked))
    corpus = read_corpus(tmp_path)
    result = sweep(
        corpus,
        read_diagnostics(tmp_path / "set.jsonl", corpus),
        Grid(mode="bm25"),
        cache=tmp_path / "c.sqlite",
    )
    recall = result.tables.column("recall@5")[:, 0]
    assert recall.tolist() == [1.0] * len(ids), "twins are two documents"
    folder = write_run(result.tables, tmp_path / "run")
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*(f"{name}.parquet" for name in TABLES), "README.md", "manifest.json"]
    )
    assert sorted(read_run(folder).tables.rankings["doc_id"].astype(str).unique()) == sorted(ids)


@pytest.mark.parametrize("place", ["doc_id", "query_id"])
def test_blank_ids_are_refused_with_their_line(tmp_path: Path, place: str) -> None:
    (tmp_path / "documents.jsonl").write_text(
        json.dumps({"doc_id": " " if place == "doc_id" else "d", "text": "w"})
    )
    (tmp_path / "set.jsonl").write_text(
        json.dumps({"query_id": " " if place == "query_id" else "q", "text": "w"})
    )
    with pytest.raises(LabError, match=rf"jsonl:1: '{place}' is ' '; expected a non-empty string"):
        read_diagnostics(tmp_path / "set.jsonl", read_corpus(tmp_path))
