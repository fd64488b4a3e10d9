"""Ctrl-C, as a real SIGINT at several moments: it ends with 130, says what is kept, keeps it, and
leaves nothing half-written."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.pipeline.kept import Kept
from lab.storage.cache import Cache
from lab.storage.interrupt import Interrupted, undisturbed
from tests.conftest import ROOT

LAB = [sys.executable, "-c", "from lab.cli import main; main()"]
PATIENCE = 90.0
DENSE = """name = "slow"
corpus = "documents"
diagnostic_sets = ["questions"]
[chunk]
size = 200
[retrieve]
mode = "{mode}"
[rerank]
depth = {depth}
model = "maxsim:all-MiniLM-L6-v2"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Documents of some 700 chunks of different lengths, and a few questions."""
    documents = tmp_path / "documents"
    documents.mkdir()
    for number in range(60):
        words = [f"the pump number {number} leaks at seal {n}." for n in range(12 + number)]
        (documents / f"d{number}.md").write_text(" ".join(words))
    lines = [
        f'{{"query_id": "q{n}", "text": "pump number {n}?", '
        f'"evidence": [{{"doc_id": "d{n}.md", "quote": "the pump number {n} leaks at seal 3."}}]}}'
        for n in range(20)
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))
    (tmp_path / "e.toml").write_text(
        DENSE.format(mode="dense", depth=0).replace('"questions"', '"questions.jsonl"')
    )
    return tmp_path


def values(cache: Path) -> int:
    """How many vectors and scores a cache holds; none while it is being made."""
    try:
        with sqlite3.connect(f"file:{cache}?mode=ro", uri=True) as connection:
            # Vectors have 384 numbers of 4 bytes, pair scores one of 8; the rest counts tokens.
            query = "SELECT count(*) FROM kept WHERE length(value) IN (1536, 8)"
            return int(connection.execute(query).fetchone()[0])
    except sqlite3.Error:
        return 0


def interrupted(
    folder: Path, ready: Callable[[], bool], *arguments: str, times: int = 1
) -> tuple[int, str]:
    """Exit code and standard error of `lab`, which gets SIGINT once `ready`."""
    environment = os.environ | {"LAB_CACHE": str(folder / "c.sqlite"), "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen(
        [*LAB, *arguments],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + PATIENCE
    while not ready() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, said


def after(seconds: float) -> Callable[[], bool]:
    begin = time.monotonic()
    return lambda: time.monotonic() - begin > seconds


@pytest.fixture(autouse=True)
def _signals_are_heeded() -> Iterator[None]:
    """A shell starts what runs in its background with SIGINT ignored, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def kept_in(said: str) -> int:
    told = re.search(r"interrupted: (.*)", said)
    assert told, said
    numbers = re.findall(r"([\d,]+) (?:encoded text|scored pair)", told[1])
    return sum(int(number.replace(",", "")) for number in numbers)


def check_nothing_half_written(folder: Path) -> None:
    runs = list((folder / "runs").glob("*")) if (folder / "runs").exists() else []
    assert not runs


def test_while_texts_are_encoded_every_finished_one_is_kept(folder: Path) -> None:
    """A file says when the fourth part is done; a slab of 512 texts is not waited for."""
    log = folder / "log"
    marker = folder / "started"
    (folder / "run.py").write_text(
        "import lab.retrieval.encoder as e, pathlib\n"
        "from lab.cli import main\n"
        "plain = e.SentenceEncoder.parts\n"
        "def parts(self, texts, role, progress, **more):\n"
        "    for number, part in enumerate(plain(self, texts, role, progress, **more)):\n"
        "        yield part\n"
        f"        number == 3 and pathlib.Path({str(marker)!r}).touch()\n"
        "e.SentenceEncoder.parts = parts\n"
        "main()\n"
    )
    environment = os.environ | {
        "LAB_CACHE": str(folder / "c.sqlite"),
        "PYTHONPATH": f"{folder}:{ROOT}",
        "HF_HUB_OFFLINE": "1",
    }
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "run.py", "run", "e.toml"],
            cwd=folder,
            env=environment,
            stdout=stream,
            stderr=stream,
        )
        end = time.monotonic() + PATIENCE
        while not marker.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    said = log.read_text()
    assert "Traceback" not in said
    kept = kept_in(said)
    assert kept >= 4
    assert kept == values(folder / "c.sqlite")
    assert f"kept in {folder / 'c.sqlite'}; the same command goes on from there" in said
    check_nothing_half_written(folder)
    again = subprocess.run(
        [*LAB, "run", "e.toml"],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert re.search(rf"texts: \d+ computed, {kept} from the cache", again.stdout)


@pytest.mark.slow
def test_while_pairs_are_scored(folder: Path) -> None:
    (folder / "e.toml").write_text(
        DENSE.format(mode="bm25", depth="[0, 50]").replace('"questions"', '"questions.jsonl"')
    )
    cache = folder / "c.sqlite"
    code, said = interrupted(folder, after(6.0), "run", "e.toml")
    if code == 0:  # a quick machine has ended by then
        pytest.skip("the run ended before it could be interrupted")
    assert code == 130
    assert "Traceback" not in said
    assert kept_in(said) == values(cache)
    check_nothing_half_written(folder)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.6, 1.5, 3.0, 5.0])
def test_at_any_moment_of_a_run(folder: Path, seconds: float) -> None:
    code, said = interrupted(folder, after(seconds), "run", "e.toml")
    if code == 0:
        pytest.skip("the run ended before it could be interrupted")
    assert code == 130 or (seconds < 1 and code in (1, -2)), said
    if "interrupted: " in said:
        assert "Traceback" not in said
        assert kept_in(said) == values(folder / "c.sqlite")
    check_nothing_half_written(folder)


@pytest.mark.slow
def test_twice_in_a_row(folder: Path) -> None:
    code, said = interrupted(folder, after(4.0), "run", "e.toml", times=2)
    if code == 0:
        pytest.skip("the run ended before it could be interrupted")
    assert code == 130, said
    check_nothing_half_written(folder)


@pytest.mark.slow
def test_what_waits_for_input_ends_alike(folder: Path) -> None:
    """`lab serve` runs until Ctrl-C: that is no fault either."""
    (folder / "e.toml").write_text(
        DENSE.format(mode="bm25", depth=0).replace('"questions"', '"questions.jsonl"')
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT), "LAB_CACHE": str(folder / "c.sqlite")}
    done = subprocess.run(
        [*LAB, "run", "e.toml"], cwd=folder, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    code, said = interrupted(folder, after(8.0), "serve", "runs/slow", "--port", "0")
    assert code == 130, said
    assert "Traceback" not in said


UNDISTURBED = """
import signal
from lab.storage.interrupt import undisturbed
reached = []
try:
    with undisturbed():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        reached.append("end")
    reached.append("after")
except KeyboardInterrupt:
    reached.append("interrupted")
assert reached == ["end", "interrupted"], reached
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


def test_writing_is_not_disturbed() -> None:
    """SIGINT in the block takes effect after it, once however often it came. In a process of its
    own, whose signals no other test's library has touched."""
    done = subprocess.run([sys.executable, "-c", UNDISTURBED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_fault_in_the_block_is_raised_as_it_is() -> None:
    with pytest.raises(ValueError, match="full"), undisturbed():
        raise ValueError("full")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_are_never_disturbed() -> None:
    done = []

    def write() -> None:
        with undisturbed():
            done.append(1)

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert done == [1]


def test_values_are_kept_when_the_block_is_interrupted(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c.sqlite")
    kept = Kept(cache)

    def work() -> None:
        with kept.telling(), kept.part("encoded text", "m") as values:
            values[b"a"] = b"1"
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"1 encoded text is kept in .*goes on from there"):
        work()
    assert cache.get([b"a"]) == {b"a": b"1"}


def test_what_is_lost_is_said_to_be_lost(tmp_path: Path) -> None:
    kept = Kept(Cache(None))
    assert str(kept) == "no model had computed anything that could be kept"
    kept.put("encoded text", "m", {b"a": b"1", b"b": b"2"})
    kept.put("scored pair", "m", {b"c": b"1"})
    assert "2 encoded texts and 1 scored pair are lost" in str(kept)
