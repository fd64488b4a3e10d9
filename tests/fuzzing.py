"""Fuzzing: what people may hand in, damaged in every way that is cheap to think of. Each reader has
to read it or refuse it in words, quickly, in little memory, and time has to grow with size.

`python -m tests.fuzzing 50000` prints the table; the same number gives the same inputs.
"""

import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from lab.cli import main
from lab.config.experiment import read_experiment
from lab.config.grid import Grid
from lab.corpus.document import Corpus, Document
from lab.corpus.read import read_corpus
from lab.errors import DiagnosticsError, LabError
from lab.importing.formats.read import read_collection
from lab.pipeline.foreign.finished import RunFile
from lab.pipeline.foreign.retriever import ask
from lab.pipeline.foreign.sources import PythonSource
from lab.relevance.qrels import read_qrels
from lab.relevance.query import Evidence, Query
from lab.relevance.read import read_diagnostics
from lab.relevance.record import read_filter
from lab.report.screens.terminal import first_screen
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.synonyms import read_synonyms
from lab.retrieval.trec_run import read_run as read_trec_run
from lab.runs.gate_rules import read_rules
from lab.runs.run import read_run
from lab.sweeping.sweep import sweep

SECONDS, MEGABYTES = 10, 1000
# Command lines of one input that are run; more are only the same again.
COMMANDS = 8
SIZES = (500_000, 1_000_000, 2_000_000)
CORPUS = Corpus(
    (
        Document("d1", "The pump leaks at the seal.", metadata={"year": 2020, "lang": "en"}),
        Document("d2", "Fuse 4 A.", metadata={"year": 2024, "tags": ["a", "b"]}),
        Document("\xfcber", "x"),
    )
)

# What breaks readers: wrong types, limits of numbers, other encodings, brackets, odd white space.
NASTY: tuple[bytes, ...] = tuple(
    part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
    for part in (
        *("", " ", "\t", "\n", "\r", "\r\n", "\0", "\x1b]0;t\x07", "\u2028", "\u202e", "\ufeff"),
        *("\ud800", b"\xff", b"\xc3\x28", b"\x80", '"', "'", "\\", "\\u0000", "\\ud800", "{", "}"),
        *("[", "]", "[" * 40, "{" * 40, ",", ":", "=", "=>", "=> =>", "#", ".", "-", "--", "---\n"),
        *("+", "*", "%", "%00", "/", "../", "0", "-1", "1.0", "1e999", "-1e999", "NaN", "nan"),
        *("inf", "-inf", "Infinity", "true", "null", "9" * 25, "9" * 5000, "1e-400", "0x10"),
        *("1_000", "1970-01-01", "9999-12-31T23:59:60Z", "[[rule]]", '"doc_id": "d1"'),
        *('"start": -5', '"end": 99999999999', '"evidence": []', "Q0", "q1", "d1", "u\u0308ber"),
        *("a" * 300, "ab " * 200, "x = {a = 1}", "[chunk]\nsize = "),
        *("{start = 0, stop = 1, step = 1e-9}", ".a" * 200),
    )
)

EXPERIMENT = """name = "handbook"
corpus = "CORPUS"
diagnostic_sets = ["SETS"]
[chunk]
strategy = ["fixed", "structure"]
size = [200, 400, [256, 768]]
overlap = 10
[retrieve]
mode = ["bm25", "dense", "hybrid"]
depth = 100
[bm25]
k1 = [0.9, 1.2]
[fusion]
alpha = { start = 0.0, stop = 1.0, step = 0.25 }
[rerank]
depth = [0, 20]
[features]
year = 0.1
[measure]
metrics = ["recall@5", "ndcg@10"]
select_by = "ndcg@10"
weights = { "recall@5" = 1.0 }
[[retriever]]
name = "theirs"
url = "http://localhost:1/search"
timeout_seconds = 5
"""
SET = """{"query_id": "q1", "text": "what leaks?", "kind": "keyword", "tags": {"a": "b"}, \
"answer": "it", "evidence": [{"doc_id": "d1", "quote": "pump leaks", "grade": 3, "role": "core", \
"group": "g"}]}
{"query_id": "q2", "text": "?", "evidence": [{"doc_id": "d2", "start": 0, "end": 4}], \
"variants": ["which"]}
{"query_id": "q3", "text": "?", "filter": {"year": {"gte": 2020}}, "claims": [{"text": "t"}]}
"""
DOCUMENTS = """{"doc_id": "a", "text": "the pump", "title": "T", "year": 2020, "tags": ["x"]}
{"doc_id": "b", "text": "the seal", "date": "2024-05"}
"""
MARKDOWN = """---
title: "Pump"
tags: [a, b]
list:
  - one
---
# The pump

```
# no
```
It leaks.
"""
RULES = """min_questions = 20
[[rule]]
name = "r"
metric = "ndcg@10"
max_drop = 0.02
[[rule]]
cause = "split"
max_share = 0.1
[[rule]]
figure = "context tokens"
at_most = 900
[[waiver]]
rule = "r"
reason = "because of a reason"
until = 2030-01-01
"""
SYNONYMS = "# rules\ncar, automobile\nERR-4042 => error 4042, fault\na\\,b, c\n"
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2.0\n# c\nq3\td1\t0\n"
TREC = "q1 Q0 d1 1 3.5 t\nq1 Q0 d2 2 1e-3 t\n# c\nq2\tQ0\td 1\t1\t0.5\tt\n"
HITS = """{"query_id": "q1", "hits": ["d1", {"doc_id": "d2", "start": 0, "end": 4}]}
{"query_id": "q2", "hits": {"d1": 1.5}}
"""
ANSWER = """[["d1", ["d2", 1.5], {"doc_id": "d1", "start": 0, "end": 3}], {"d1": 2.0},
{"hits": [{"text": "pump"}]}]"""
PARQUET = """[{"_id": "d1", "title": "T", "text": "the pump leaks", "year": 2020},
{"_id": "d2", "title": "", "text": "the seal", "year": null}]"""
# Commands that only read, for the folder of a run.
ARGUMENTS = """show\n.\n
ablate\n.\n--metric\nndcg@10\n--json\n
history\n..\n--name\nsweep\n
compare\n.\n.\n--metric\nndcg@10\n
metrics\n.\n--baseline\ndocument bm25""".replace("\n\n\n", "\n\n")
FILTER = '{"year": {"gte": 2020, "lt": 2024}, "lang": "en", "tags": {"in": ["a", "c"]}}'


@dataclass(frozen=True)
class Target:
    """A reader, an input that it reads, and the file that it lies in."""

    name: str
    seed: str
    file: str
    read: Callable[[Path], Any]


def _qrels(path: Path) -> None:
    problems: list[str] = []
    list(read_qrels(path, problems))
    if problems:
        raise DiagnosticsError(problems)


def _synonyms(path: Path) -> None:
    read_synonyms(path).under(ANALYZERS["auto"])


def _filter(path: Path) -> None:
    read_filter(path.read_text("utf-8", "surrogateescape"), CORPUS)


def _parquet(path: Path, file: Path) -> None:
    """Rows of JSON as a Parquet file. What makes no table is refused here: it never was a file."""
    try:
        pd.DataFrame(json.loads(path.read_bytes())).to_parquet(file, index=False)
    except Exception as fault:
        raise DiagnosticsError(f"no table: {type(fault).__name__}") from None


def _table_content(path: Path) -> None:
    """A table of a run made anew, signed as if the run had written it."""
    folder = path.parent
    table, manifest = folder / "systems.parquet", folder / "manifest.json"
    kept = table.read_bytes(), manifest.read_bytes()
    try:
        _parquet(path, table)
        signed = json.loads(kept[1])
        signed["sha256"]["systems"] = hashlib.sha256(table.read_bytes()).hexdigest()
        manifest.write_text(json.dumps(signed))
        first_screen(read_run(folder))
    finally:
        table.write_bytes(kept[0])
        manifest.write_bytes(kept[1])


def _parquet_documents(path: Path) -> None:
    """Documents as a Parquet file, through import's reader."""
    made = path.with_suffix(".parquet")
    _parquet(path, made)
    read_collection(made)


def _arguments(path: Path) -> None:
    """Command lines, an argument a line, an empty line between two; they only read, in the folder
    of a run."""
    before, place = sys.argv, Path.cwd()
    refused = False
    try:
        os.chdir(path.parent)
        for line in path.read_bytes().split(b"\n\n")[:COMMANDS]:
            sys.argv = ["lab", *map(os.fsdecode, line.split(b"\n"))]
            with open(os.devnull, "w") as away, redirect_stdout(away), redirect_stderr(away):
                refused |= _ended() == 2
    finally:
        sys.argv = before
        os.chdir(place)
    if refused:
        raise DiagnosticsError("a command was refused")


def _ended() -> int:
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
        if code not in (0, 1, 2):
            raise ValueError(f"exit code {code!r}") from None
        return int(code)
    return 0


def _answers(path: Path) -> None:
    class Given:
        def search(self, queries: Any, depth: int) -> Any:
            return json.loads(path.read_bytes())

    ask(PythonSource(Given(), SECONDS), {"q1": "a", "q2": "b", "q3": "c"}, 100, 0)


TARGETS = (
    Target("experiment", EXPERIMENT, "e.toml", read_experiment),
    Target("set", SET, "q.jsonl", lambda path: read_diagnostics(path, CORPUS)),
    Target("documents.jsonl", DOCUMENTS, "documents.jsonl", read_corpus),
    Target("Markdown", MARKDOWN, "a.md", read_corpus),
    Target("gate rules", RULES, "rules.toml", read_rules),
    Target("synonyms", SYNONYMS, "s.txt", _synonyms),
    Target("qrels", QRELS, "q.tsv", _qrels),
    Target("TREC run", TREC, "r.run", read_trec_run),
    Target("JSONL run", HITS, "r.jsonl", lambda path: RunFile(path).rankings),
    Target("answers", ANSWER, "answer.json", _answers),
    Target("filter", FILTER, "filter.json", _filter),
    Target(
        "run manifest", "", "run/manifest.json", lambda path: first_screen(read_run(path.parent))
    ),
    Target(
        "run table", "", "run/systems.parquet", lambda path: first_screen(read_run(path.parent))
    ),
    Target("run table's content", "", "run/systems.json", _table_content),
    Target("Parquet documents", PARQUET, "documents.json", _parquet_documents),
    Target("arguments", "", "run/arguments", _arguments),
)


class HangError(BaseException):
    """Reading took too long; no reader may catch it."""


def damaged(seed: bytes, chance: random.Random) -> bytes:
    """The input with a few parts cut, doubled, swapped, or replaced; now and then made large."""
    content = bytearray(seed)
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        begin = chance.randrange(len(content) + 1)
        end = min(len(content), begin + chance.choice((0, 1, 2, 5, 20, 100)))
        kind = chance.randrange(6)
        if kind == 0:
            del content[begin:end]
        elif kind == 1:
            content[begin:end] = chance.choice(NASTY)
        elif kind == 2:
            content[begin:begin] = content[begin:end] * chance.choice((1, 2, 50))
        elif kind == 3:
            content[begin:end] = bytes(chance.randrange(256) for _ in range(end - begin))
        elif kind == 4:
            other = chance.randrange(len(content) + 1)
            content[begin:end] = content[other : other + 30]
        else:
            del content[end:]
        if not content:
            content = bytearray(chance.choice(NASTY))
    if chance.random() < 0.02:
        content = content * chance.choice((2, 16, 128))
    return bytes(content[:2_000_000])


def doubled(seed: bytes, size: int) -> bytes:
    """The input again and again up to `size` bytes, ids numbered so that most of it is right."""
    copies = size // len(seed) + 1
    return b"".join(
        seed.replace(b"q1", b"q1-%d" % n).replace(b'"a"', b'"a-%d"' % n) for n in range(copies)
    )[:size]


@dataclass
class Tally:
    """What became of the inputs of one reader: `faults` are those that ended in anything but words,
    `seconds` the slowest, `growth` the seconds at three doubled sizes."""

    inputs: int = 0
    refused: int = 0
    read: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)
    growth: list[float] = field(default_factory=list)
    megabytes: float = 0.0


def prepared(folder: Path) -> None:
    (folder / "SETS").write_text(SET)
    (folder / "CORPUS").mkdir()
    (folder / "CORPUS" / "a.md").write_text("text")


def finished(folder: Path) -> None:
    """A run folder to damage."""
    query = Query("q", "pump", evidence=(Evidence("d1", 4, 8),))
    grid = Grid(mode="bm25", chunk_strategy="document")
    run = sweep(CORPUS, [query], grid, progress=False)
    run.write(folder / "run")
    (folder / "run" / "systems.json").write_text(run.table().to_json(orient="records"))
    (folder / "run" / "arguments").write_text(ARGUMENTS)


def attempt(target: Target, content: bytes, folder: Path, tally: Tally, label: str) -> float:
    """Read one input; count what came of it. Seconds."""
    path = folder / target.file
    path.write_bytes(content)
    begin = time.perf_counter()
    signal.alarm(SECONDS)
    tally.inputs += 1
    try:
        target.read(path)
        tally.read += 1
    except LabError as fault:
        tally.refused += 1
        if not fault.problems or any("\n" in line for line in fault.problems):
            tally.faults.append(f"{label}: no message of whole lines")
    except HangError:
        tally.faults.append(f"{label}: longer than {SECONDS} s")
    except Exception as fault:
        tally.faults.append(f"{label}: {type(fault).__name__}: {str(fault)[:100]}")
    finally:
        signal.alarm(0)
    seconds = time.perf_counter() - begin
    tally.seconds = max(tally.seconds, seconds)
    return seconds


def _hang(*_: object) -> None:
    raise HangError


def fuzz(target: Target, inputs: int, sizes: tuple[int, ...] = (), whole: bool = False) -> Tally:
    """The input as it is if asked for, so many damaged inputs, then the input at growing sizes."""
    tally = Tally()
    signal.signal(signal.SIGALRM, _hang)
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(place)
        prepared(folder)
        places = target.seed.replace("CORPUS", f"{folder}/CORPUS").replace("SETS", f"{folder}/SETS")
        seed = places.encode()
        if not seed:
            finished(folder)
            seed = (folder / target.file).read_bytes()
        if whole:
            attempt(target, seed, folder, tally, target.name)
        for number in range(inputs):
            label = f"{target.name} {number}"
            content = damaged(seed, random.Random(label))
            attempt(target, content, folder, tally, label)
        for size in sizes:
            content = doubled(seed, size)
            taken = [attempt(target, content, folder, tally, f"{size} bytes") for _ in range(2)]
            tally.growth.append(min(taken))
    tally.megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return tally


def in_a_process(target: Target, inputs: int) -> Tally:
    """`fuzz` in a process of its own, whose memory is that of this reader."""
    command = [sys.executable, "-m", "tests.fuzzing", target.name, str(inputs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Tally(**json.loads(done.stdout.splitlines()[-1]))


def table_or_tally() -> None:
    """The tally of one reader as JSON, or the table of all."""
    if len(sys.argv) == 3:
        target = next(target for target in TARGETS if target.name == sys.argv[1])
        print(json.dumps(vars(fuzz(target, int(sys.argv[2]), SIZES))))
        return
    each = int(sys.argv[1]) // len(TARGETS) + 1
    print("| reader | inputs | refused | read | other | slowest s | peak MB | s at 0.5, 1, 2 MB |")
    print("|---|---|---|---|---|---|---|---|")
    for target in TARGETS:
        tally = in_a_process(target, each)
        growth = ", ".join(f"{seconds:.2f}" for seconds in tally.growth)
        print(
            f"| {target.name} | {tally.inputs} | {tally.refused} | {tally.read} | "
            f"{len(tally.faults)} | {tally.seconds:.2f} | {tally.megabytes:.0f} | {growth} |",
            flush=True,
        )
        for fault in tally.faults[:20]:
            print(f"  {fault}", flush=True)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        table_or_tally()
