"""`make bench`: measure the lab against its peers and write results.json and growth.svg.

Usage: run.py DATA [--rounds N] [--only NAME ...] [--growth CHUNKS ...]. DATA is the folder of ready
public sets.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import legs
import numpy as np
from growth_plot import growth_plot
from timing import Timing, whole

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PEERS = ROOT / ".venv-bench"
PEER_PACKAGES = ("retrieval-lab==0.1.0", "context-grid==0.9.5")
PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "torch",
    "faiss-cpu",
    "ranx",
    "rank-bm25",
    "bm25s",
    "sentence-transformers",
)
RESULTS = HERE / "results.json"
CORPUS, SETS = ROOT / "corpora/devices", ROOT / "diagnostic_sets/devices"


def without_model(data: Path, rounds: int, work: Path) -> dict[str, Timing]:
    """33 hybrid systems on chroma with all vectors cached, as whole processes."""
    vectors = work / "vectors.npz"
    subprocess.run(
        [sys.executable, HERE / "ours.py", data, "hybrid"], check=True, stdout=subprocess.DEVNULL
    )  # fills the cache
    _save_vectors(data, vectors)
    ours, careful = (
        [sys.executable, str(HERE / "ours.py"), str(data)],
        [sys.executable, str(HERE / "careful.py"), str(data)],
    )
    return whole(
        {"lab": [*ours, "hybrid"], "careful script": [*careful, str(vectors)]}, rounds, work
    )


def first_run(data: Path, rounds: int, work: Path) -> dict[str, Timing]:
    """The same where numba has compiled nothing yet, as on a machine's first run."""
    _save_vectors(data, vectors := work / "vectors.npz")
    fresh = [
        "sh",
        "-c",
        'NUMBA_CACHE_DIR=$(mktemp -d "$0") exec "$@"',
        str(work / "numba-XXXXXX"),
        sys.executable,
    ]
    ours, careful = (
        [*fresh, str(HERE / "ours.py"), str(data), "hybrid"],
        [*fresh, str(HERE / "careful.py"), str(data), str(vectors)],
    )
    return whole({"lab": ours, "careful script": careful}, rounds, work)


def _save_vectors(data: Path, place: Path) -> None:
    import lab
    from lab.pipeline.resources import Resources
    from lab.retrieval.config import DEFAULT_MODEL
    from lab.storage.cache import Cache, default_cache_path

    corpus, resources = (
        lab.read_corpus(data / "spans/chroma"),
        Resources(Cache(default_cache_path())),
    )
    asked = [query.text for query in lab.read_diagnostics(data / "spans/chroma", corpus)]
    arrays = {"questions": resources.embed(DEFAULT_MODEL, "query", asked)}
    for size in (256, 512, 1024):
        texts = [
            d.text[s : s + size]
            for d in corpus
            for s in range(0, len(d.text), size)
            if d.text[s : s + size].strip()
        ]
        arrays[f"chunks-{size}"] = resources.embed(DEFAULT_MODEL, "passage", texts)
    np.savez(place, **arrays)


def three_bm25(data: Path, rounds: int, work: Path) -> dict[str, Timing]:
    """Three BM25 systems on chroma, 100 candidates, against two tools from PyPI in an environment
    of their own."""
    python = PEERS / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", PEERS], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER_PACKAGES], check=True)
    _write_for_peers(data, work)
    sizes = [f"fixed:{size}" for size in (256, 512, 1024)]
    retrieval_lab = [
        str(PEERS / "bin/retrieval-lab"),
        "run",
        "--corpus",
        str(work / "documents.jsonl"),
    ]
    retrieval_lab += [
        "--queries",
        str(work / "questions.jsonl"),
        "--chunkers",
        ",".join(sizes),
        "--retrieval",
        "sparse",
    ]
    retrieval_lab += [
        "--rerank",
        "none",
        "--embed-models",
        "det",
        "--candidate-n",
        "100",
        "--top-k",
        "10",
    ]
    commands = {
        "lab": [sys.executable, str(HERE / "ours.py"), str(data), "bm25"],
        "retrieval-lab": retrieval_lab,
        "context-grid": [
            str(python),
            str(HERE / "peer_grid.py"),
            str(work / "texts"),
            str(work / "grid.jsonl"),
        ],
    }
    return whole(commands, rounds, work)


def _write_for_peers(data: Path, work: Path) -> None:
    """The same documents and evidence in the peers' formats."""
    import lab

    corpus = lab.read_corpus(data / "spans/chroma")
    (work / "texts").mkdir(exist_ok=True)
    with (work / "documents.jsonl").open("w") as lines:
        for document in corpus:
            (work / "texts" / f"{document.doc_id}.md").write_text(document.text, "utf-8")
            lines.write(json.dumps({"id": document.doc_id, "text": document.text}) + "\n")
    with (work / "questions.jsonl").open("w") as lines, (work / "grid.jsonl").open("w") as grid:
        for query in lab.read_diagnostics(data / "spans/chroma", corpus):
            spans = [
                (i.doc_id, i.start, i.end, corpus[i.doc_id].text[i.start : i.end])
                for i in query.evidence
            ]
            required = [
                {"source_id": d, "start": s, "end": e, "quoted_text": q} for d, s, e, q in spans
            ]
            gold = {"alternatives": [{"required_spans": required}]}
            lines.write(json.dumps({"id": query.query_id, "text": query.text, "gold": gold}) + "\n")
            anchors = [{"source_id": f"{d}.md", "quote": q} for d, _, _, q in spans]
            grid.write(
                json.dumps({"id": query.query_id, "question": query.text, "anchors": anchors})
                + "\n"
            )


def start(rounds: int, work: Path) -> dict[str, Timing]:
    """The command's own start."""
    command, file = Path(sys.executable).with_name("lab"), ROOT / "experiments/quickstart.toml"
    return whole(
        {"lab --help": [str(command), "--help"], "lab check": [str(command), "check", str(file)]},
        rounds,
        work,
    )


def repeat(rounds: int, work: Path) -> dict[str, Timing]:
    """The quickstart again, everything cached: the whole command, and what it imports alone."""
    command, file = Path(sys.executable).with_name("lab"), str(ROOT / "experiments/quickstart.toml")
    run = [str(command), "run", file, "--out", str(work / "again")]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    imports = (
        "import lab.sweeping.sweep, lab.report.page.page, pandas, pyarrow.parquet, "
        "numba, rich.console, tokenizers"
    )
    return whole({"lab run": run, "imports alone": [sys.executable, "-c", imports]}, rounds, work)


def growth(sizes: list[int]) -> list[dict[str, object]]:
    """Each size in a process of its own, exact search; HNSW and IVF up to 100,000 chunks."""
    found = []
    for size in sizes:
        for kind in ("exact", "hnsw", "ivf") if size <= 100_000 else ("exact",):
            line = subprocess.run(
                [sys.executable, HERE / "growth.py", str(size), "1000", kind],
                check=True,
                capture_output=True,
            )
            found.append(json.loads(line.stdout.splitlines()[-1]))
            print(found[-1], flush=True)
    return found


def alone(script: str, *arguments: object) -> dict[str, object]:
    """What a bench in a process of its own prints."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    line = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()[-1]
    found: dict[str, object] = json.loads(line)
    return found


def rows(name: str, timings: dict[str, Timing]) -> list[dict[str, object]]:
    """One row a contender, with how many times longer than ours it took in the same rounds."""
    ours = timings.get("lab", next(iter(timings.values())))
    return [
        {
            "bench": name,
            "who": who,
            **asdict(t),
            "wall_ratio": t.wall / ours.wall,
            "cpu_ratio": t.cpu / ours.cpu,
        }
        for who, t in timings.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--growth", nargs="*", type=int, default=[1000, 10_000, 100_000, 1_000_000])
    asked = parser.parse_args()
    data, rounds = asked.data.resolve(), asked.rounds
    os.environ.setdefault("LAB_CACHE", str(PEERS.parent / ".bench-cache.sqlite"))
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results |= {
        "machine": {
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "python": sys.version.split()[0],
        },
        "versions": {name: version(name) for name in PACKAGES},
    }
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        benches = {
            "bm25": lambda: [
                row
                for name, t in legs.bm25(data, rounds).items()
                for row in rows(f"bm25: {name}", t)
            ],
            "metrics": lambda: rows(
                "metrics of 1,000 systems x 300 questions x 3", legs.metrics(rounds)
            ),
            "without_model": lambda: rows(
                "33 systems without the model, whole processes", without_model(data, rounds, work)
            ),
            "first_run": lambda: rows(
                "33 systems, nothing compiled yet, whole processes", first_run(data, rounds, work)
            ),
            "three_bm25": lambda: rows(
                "three BM25 systems, whole processes", three_bm25(data, rounds, work)
            ),
            "start": lambda: rows("start", start(rounds, work)),
            "repeat": lambda: rows("quickstart again", repeat(rounds, work)),
            "extend": lambda: alone("extend.py", rounds),
            "grid": lambda: alone("grid.py"),
            "trials": lambda: alone("trials.py", data),
            "use": lambda: alone("use.py", rounds),
            "dtype": lambda: alone("dtype.py", data, rounds),
            "engines": lambda: alone("../engines.py", CORPUS, SETS, "--rounds", rounds, "--json"),
            "overhead": lambda: alone(
                "overhead.py", data
            ),  # many minutes of the models' own work: one round
            "shards": lambda: alone("shards.py"),
            "growth": lambda: growth(asked.growth),
        }
        for name in asked.only if asked.only is not None else benches:
            load = os.getloadavg()[0]
            results[name] = {"load_before": round(load, 1), "rows": benches[name]()}
            print(name, json.dumps(results[name]), flush=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            if name == "growth":
                growth_plot(results[name]["rows"], HERE / "growth.svg")


if __name__ == "__main__":
    main()
