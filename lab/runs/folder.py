"""The run folder: complete or absent, plain files, byte-identical for identical inputs but for
times.

manifest.json   what was run: settings, fingerprints, paths, versions, seeds, notes, timings
README.md       what every table and column holds (see `lab.runs.columns`)
*.parquet       the tables
report.html     the report
"""

import hashlib
import json
import os
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab.corpus.lines import read_json, read_text
from lab.errors import RunError
from lab.runs.columns import TABLES, schema, with_lists
from lab.runs.guide import readme
from lab.runs.lacking import lacking_parts
from lab.runs.tables import Tables
from lab.storage.folder import obstacle, replacing

README = "README.md"
MANIFEST = "manifest.json"
FORMAT = 5
# The manifest's own digest, and what differs between two runs of one experiment.
OWN = "manifest"
UNSIGNED = ("sha256", "finished", "seconds", "peak_mb", "profile", "counts", "environment")


def check_place(path: Path) -> None:
    """Raises RunError when a run cannot be written there: asked before the work, not after it."""
    reason = obstacle(path)
    if reason:
        raise RunError(f"{path}: cannot be written ({reason}); name another place with --out")
    if path.exists() and not (path / MANIFEST).is_file():
        raise RunError(f"{path}: exists and is not a run folder; name another with --out")


def free_place(folder: Path, name: str) -> Path:
    """Where the next run of an experiment goes: `name`, then `name-2`, `name-3`; no run is replaced
    unless its place is named."""
    numbered = (folder / (name if number == 1 else f"{name}-{number}") for number in count(1))
    return next(place for place in numbered if not place.exists())


def write_run(tables: Tables, path: Path, pages: Mapping[str, str] = MappingProxyType({})) -> Path:
    """Write beside the place, then rename: a reader finds the whole run or none. `pages` are
    further files by name, such as the report. An older run there is replaced; a folder that is not
    a run is left alone and is a RunError. What a killed writer of the place left beside it is
    removed."""
    check_place(path)
    try:
        with replacing(path) as fresh:
            for name in TABLES:
                frame = getattr(tables, name)
                frame.to_parquet(
                    fresh / f"{name}.parquet",
                    index=False,
                    compression="zstd",
                    schema=schema(name, frame),
                )
            digests = _digests(fresh) | {OWN: _digest(tables.manifest)}
            manifest = tables.manifest | {"sha256": digests}
            (fresh / MANIFEST).write_text(
                json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8"
            )
            (fresh / README).write_text(readme(str(tables.manifest["name"])), "utf-8")
            for name, text in pages.items():
                (fresh / name).write_text(text, "utf-8")
    except OSError as fault:
        raise RunError(f"{path}: cannot be written ({fault.strerror})") from None
    return path


def write_page(path: Path, name: str, text: str) -> Path:
    """Put a file such as the report into a finished run folder: the whole new one or the old one,
    never half of it."""
    place, fresh = path / name, path / f".{name}.new"
    try:
        fresh.write_text(text, "utf-8")
        os.replace(fresh, place)
    except OSError as fault:
        raise RunError(f"{place}: cannot be written ({fault.strerror})") from None
    return place


def read_tables(path: str | Path) -> Tables:
    """Read a run folder; raises RunError when it is absent, incomplete or of another format."""
    import pandas as pd

    path = Path(path)
    try:
        absent = not (path / MANIFEST).is_file()
    except (OSError, ValueError) as fault:  # a folder without leave to enter, a name with NUL
        reason = getattr(fault, "strerror", None) or fault
        raise RunError(f"{path}: cannot be read ({reason})") from None
    if absent:
        raise RunError(f"{path}: not a run folder (no {MANIFEST}); `lab run FILE` writes one")
    try:
        manifest = read_json(read_text(path / MANIFEST, RunError))
        if not isinstance(manifest, dict):
            raise ValueError(f"{MANIFEST} holds a {type(manifest).__name__}")
        if manifest.get("format") != FORMAT:
            raise RunError(
                f"{path}: run format {manifest.get('format')!r}, this version reads {FORMAT}; run "
                "the experiment again"
            )
        digests = manifest.get("sha256")
        if not isinstance(digests, dict) or digests.get(OWN) != _digest(manifest):
            raise RunError(
                f"{path}: {MANIFEST} is not what was written with the run; run the experiment again"
            )
        damaged = [name for name, digest in _digests(path).items() if digests.get(name) != digest]
        if damaged:
            raise RunError(
                f"{path}: {name}.parquet is not the table that was written with {MANIFEST}; run "
                "the experiment again"
                for name in damaged
            )
        frames = {name: pd.read_parquet(path / f"{name}.parquet") for name in TABLES}
        tables = Tables(manifest, **{name: with_lists(name, of) for name, of in frames.items()})
    except (OSError, ValueError, RecursionError, KeyError, TypeError, MemoryError) as fault:
        raise RunError(f"{path}: damaged run folder ({fault}); run the experiment again") from None
    lacking = lacking_parts(tables)
    if lacking:
        raise RunError(f"{path}: {line}; run the experiment again" for line in lacking)
    return tables


def manifests_in(folder: Path) -> dict[Path, dict[str, Any]]:
    """Run folder -> manifest of every run directly inside a folder; half-written and foreign
    folders are passed over."""
    manifests = {}
    for file in sorted(folder.glob(f"*/{MANIFEST}")):
        try:
            manifest = read_json(read_text(file, RunError))
        except (RunError, ValueError):
            continue
        if (
            isinstance(manifest, dict)
            and isinstance(manifest.get("conclusions"), dict)
            and not file.parent.name.startswith(".")
        ):
            manifests[file.parent] = manifest
    return manifests


def mark_sealed_use(manifest: dict[str, Any], place: Path) -> None:
    """Write into a manifest, before it goes to `place`, the how-manieth use of its sealed questions
    this is, by the manifests beside it and the one it replaces: only the first score of sealed
    questions is one that no choice has seen."""
    sealed = manifest["conclusions"]["sealed"]
    if not sealed:
        return
    others = (other["conclusions"].get("sealed") for other in manifests_in(place.parent).values())
    uses = [
        int(other.get("use", 1))
        for other in others
        if other and set(other["query_ids"]) & set(sealed["query_ids"])
    ]
    sealed["use"] = 1 + max(uses, default=0)


def _digest(manifest: dict[str, Any]) -> str:
    """SHA-256 of a manifest as JSON, but for times and digests."""
    plain = {key: value for key, value in manifest.items() if key not in UNSIGNED}
    as_read = json.loads(json.dumps(plain))
    return hashlib.sha256(json.dumps(as_read, sort_keys=True).encode()).hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    """Table -> SHA-256 of its file: a cut file, or one of another run, is found before a row of it
    is read."""
    return {
        name: hashlib.sha256((folder / f"{name}.parquet").read_bytes()).hexdigest()
        for name in TABLES
    }
