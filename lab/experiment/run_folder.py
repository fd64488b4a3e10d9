"""The run folder: complete or absent, plain files, byte-identical for identical inputs but for times.

manifest.json      what was run: settings, fingerprints, versions, seeds, notes, timings
systems.parquet    a row a system
scores.parquet     system x query x metric
rankings.parquet   every stage's rank and score of the first hits and the evidence
evidence.parquet   the rank at which every piece was complete, per system
questions.parquet  a row a question: text, variants, filter, kind, tags, main document, evidence as a fingerprint, why not scored
causes.parquet     a row a system and missed piece: cause, proof, remedy, ranks at every stage (see `lab.diagnosis.misses.Miss`)
curves.parquet     a row a step of a piece's exact alpha curve (see `lab.experiment.findings.Findings.curves`)
alphas.parquet     a row a hybrid family, metric and slice: what alpha does to it (see `lab.experiment.findings.Findings.alphas`)
means.parquet      a row a step of the mean of such a row over alpha
separation.parquet how well best scores tell unanswerable questions, a row a system and stage (see `lab.diagnosis.separation`)
thresholds.parquet what thresholds on the reranker do to both kinds of question, a row a system and threshold
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.diagnosis.distractors import injected
from lab.diagnosis.run import Run
from lab.errors import RunError
from lab.evaluation.clusters import main_documents
from lab.experiment.conclusions import conclusions
from lab.experiment.replace import replacing
from lab.experiment.rows import StageRows
from lab.truth.judge import NEVER
from lab.truth.query import Query

if TYPE_CHECKING:
    import pandas as pd

    from lab.experiment.result import Result

TABLES = tuple(field.name for field in fields(Run) if field.name != "manifest")
MANIFEST = "manifest.json"
FORMAT = 4
PACKAGES = (
    "retrieval-diagnostics-lab",
    "rank-bm25",
    "sentence-transformers",
    "torch",
    "faiss-cpu",
    "ranx",
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
)


def run_of(result: "Result") -> Run:
    """The result as tables."""
    systems = result.table()
    # Parquet has no column of both numbers and tuples or texts.
    by_length = ("threshold",) if any(isinstance(cut, str) for cut in systems["threshold"]) else ()
    for key in ("chunk_size", "views", *by_length):
        systems[key] = [_text(value) for value in systems[key]]
    return Run(
        _manifest(result),
        systems,
        _scores(result),
        _rankings(result),
        _evidence(result),
        _questions(result),
        result.findings.causes(result.systems),
        result.findings.curves(result.pieces),
        *result.findings.alphas(result.pieces, result.metrics),
        result.findings.separation(),
        result.findings.thresholds(),
    )


def _text(value: Any) -> str | None:
    if value is None or value != value:
        return None
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def check_place(path: Path) -> None:
    """Raises RunError when a run cannot be written there: asked before the work, not after it."""
    if path.exists() and not (path / MANIFEST).is_file():
        raise RunError(f"{path}: exists and is not a run folder; name another with --out")


def write_run(run: Run, path: Path, pages: Mapping[str, str] = MappingProxyType({})) -> Path:
    """Write beside the place, then rename: a reader finds the whole run or none. `pages` are further files by name, such as
    the report. An older run there is replaced; a folder that is not a run is left alone and is a RunError. What a killed
    writer of the place left beside it is removed."""
    check_place(path)
    try:
        with replacing(path) as fresh:
            for name in TABLES:
                getattr(run, name).to_parquet(fresh / f"{name}.parquet", index=False, compression="zstd")
            manifest = run.manifest | {"sha256": _digests(fresh)}
            (fresh / MANIFEST).write_text(json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
            for name, text in pages.items():
                (fresh / name).write_text(text, "utf-8")
    except OSError as fault:
        raise RunError(f"{path}: cannot be written ({fault.strerror})") from None
    return path


def write_page(path: Path, name: str, text: str) -> Path:
    """Put a file such as the report into a finished run folder: the whole new one or the old one, never half of it."""
    place, fresh = path / name, path / f".{name}.new"
    try:
        fresh.write_text(text, "utf-8")
        os.replace(fresh, place)
    except OSError as fault:
        raise RunError(f"{place}: cannot be written ({fault.strerror})") from None
    return place


def read_run(path: str | Path) -> Run:
    """Read a run folder; raises RunError when it is absent, incomplete or of another format."""
    import pandas as pd

    path = Path(path)
    if not (path / MANIFEST).is_file():
        raise RunError(f"{path}: not a run folder (no {MANIFEST}); `lab run FILE` writes one")
    try:
        manifest = json.loads((path / MANIFEST).read_text("utf-8"))
        if manifest.get("format") != FORMAT:
            raise RunError(
                f"{path}: run format {manifest.get('format')!r}, this version reads {FORMAT}; run the experiment again"
            )
        damaged = [name for name, digest in _digests(path).items() if manifest.get("sha256", {}).get(name) != digest]
        if damaged:
            raise RunError(
                f"{path}: {name}.parquet is not the table that was written with {MANIFEST}; run the experiment again"
                for name in damaged
            )
        return Run(manifest, *(pd.read_parquet(path / f"{name}.parquet") for name in TABLES))
    except (OSError, ValueError, RecursionError) as fault:
        raise RunError(f"{path}: damaged run folder ({fault}); run the experiment again") from None


def _digests(folder: Path) -> dict[str, str]:
    """Table -> SHA-256 of its file: a cut file, or one of another run, is found before a row of it is read."""
    return {name: hashlib.sha256((folder / f"{name}.parquet").read_bytes()).hexdigest() for name in TABLES}


def _manifest(result: "Result") -> dict[str, Any]:
    return {
        "format": FORMAT,
        "name": result.name,
        "grid": result.grid.model_dump(mode="json"),
        "measure": result.measure.model_dump(mode="json"),
        "unit": result.pieces.unit,
        "causes": asdict(result.findings.cutoff),
        "best": result.best,
        "recommended": result.recommended,
        "as_good_as_best": [result.systems[i] for i in result.selection.undecided],
        "conclusions": conclusions(result),
        "corpus": {
            "documents": len(result.corpus),
            "characters": result.corpus.characters,
            "injected": injected(result.corpus),
            "fingerprint": result.corpus.fingerprint,
        },
        "questions": {
            "scored": len(result.pieces.queries),
            "pieces": len(result.pieces),
            "unscored": [list(pair) for pair in result.pieces.unscored],
            "fingerprint": _questions_fingerprint(result),
        },
        "chunkings": [asdict(fact) for fact in result.facts],
        "identities": dict(sorted(result.identities.items())),
        "versions": {name: _version(name) for name in PACKAGES},
        "notes": list(result.notes),
        "counts": dict(sorted(result.counts.items())),
        "seconds": dict(sorted(result.seconds.items())),
        **({"profile": {"peak_mb": dict(result.peak_mb), "index_bytes": result.profile.indexes}} if result.profile else {}),
    }


def _questions_fingerprint(result: "Result") -> str:
    rows = [
        [q.query_id, q.text, q.kind, dict(q.tags), q.answer, [asdict(item) for item in q.evidence], *_used_if_set(q)]
        for q in sorted(result.queries, key=lambda query: query.query_id)
    ]
    return _fingerprint(rows)


def _used_if_set(query: Query) -> list[Any]:
    """Variants and filter; nothing where a question has neither, so that older fingerprints of its set hold."""
    if not query.variants and query.filter is None:
        return []
    return [list(query.variants), query.filter and query.filter.plain]


def _fingerprint(plain: Any) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _scores(result: "Result") -> "pd.DataFrame":
    import pandas as pd

    systems, questions, metrics = result.values.shape
    ids = [query.query_id for query in result.pieces.queries]
    return pd.DataFrame(
        {
            "system": _labels(result.systems, np.repeat(np.arange(systems), questions * metrics)),
            "query_id": _labels(ids, np.tile(np.repeat(np.arange(questions), metrics), systems)),
            "metric": _labels(result.metrics, np.tile(np.arange(metrics), systems * questions)),
            "value": result.values.reshape(-1),
        }
    )


def _rankings(result: "Result") -> "pd.DataFrame":
    import pandas as pd

    lengths = [len(rows.query) for rows in result.rows]
    columns = {name: np.concatenate([getattr(rows, name) for rows in result.rows]) for name in StageRows.columns()}
    query, document = columns.pop("query"), columns.pop("document")
    labels = {
        "system": _labels(result.systems, np.repeat(np.arange(len(lengths)), lengths)),
        "query_id": _labels([q.query_id for q in result.pieces.queries], query),
        "doc_id": _labels([d.doc_id for d in result.corpus], document),
    }
    return pd.DataFrame(labels | {name: c.astype(np.int32) if c.dtype == np.int64 else c for name, c in columns.items()})


def _evidence(result: "Result") -> "pd.DataFrame":
    """Of alternatives the first is named; start and end are -1 for a whole document."""
    import pandas as pd

    asked, systems = result.pieces, len(result.systems)
    first = [piece[0] for piece in asked.items]
    numbers = np.arange(len(asked)) - np.searchsorted(asked.query, asked.query) + 1
    return pd.DataFrame(
        {
            "system": _labels(result.systems, np.repeat(np.arange(systems), len(asked))),
            "query_id": _labels([q.query_id for q in asked.queries], np.tile(asked.query, systems)),
            "piece": np.tile(numbers, systems).astype(np.int32),
            "doc_id": np.tile([item.doc_id for item in first], systems),
            "start": np.tile([-1 if item.start is None else item.start for item in first], systems).astype(np.int32),
            "end": np.tile([-1 if item.end is None else item.end for item in first], systems).astype(np.int32),
            "grade": np.tile(asked.grade, systems).astype(np.int32),
            "complete": np.where(result.complete == NEVER, 0, result.complete).reshape(-1).astype(np.int32),
        }
    )


def _questions(result: "Result") -> "pd.DataFrame":
    import pandas as pd

    unscored = dict(result.pieces.unscored) | dict.fromkeys(result.sealed.query_ids if result.sealed else (), "sealed")
    ids = [query.query_id for query in result.pieces.queries]
    documents = dict(zip(ids, main_documents(result.pieces).tolist(), strict=True))
    rows = [
        {
            "query_id": query.query_id,
            "text": query.text,
            "kind": query.kind,
            "variants": json.dumps(query.variants, ensure_ascii=False) if query.variants else "",
            "filter": json.dumps(query.filter.plain, ensure_ascii=False) if query.filter else "",
            "tags": json.dumps(dict(query.tags), ensure_ascii=False, sort_keys=True),
            "doc_id": documents.get(query.query_id, ""),
            "evidence": _fingerprint([asdict(item) for item in query.evidence])[:16],
            "unscored": unscored.get(query.query_id, ""),
        }
        for query in result.queries
    ]
    return pd.DataFrame(rows).astype("str")


def _labels(names: "tuple[str, ...] | list[str]", codes: "np.ndarray[Any, Any]") -> "pd.Categorical":
    import pandas as pd

    return pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype="str"))
