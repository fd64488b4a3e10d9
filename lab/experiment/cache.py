"""What models have computed, kept on disk: vectors, pair scores and token starts by the hash of everything they depend on."""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

from lab.errors import LabError

KEYS_AT_ONCE = 900


def cache_key(*parts: str) -> bytes:
    """SHA-256 of the parts as JSON, which keeps their borders: ("ab", "c") and ("a", "bc") differ."""
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def default_cache_path() -> Path:
    """`$LAB_CACHE`, else `retrieval-diagnostics-lab/cache.sqlite` in the user's cache folder."""
    chosen = os.environ.get("LAB_CACHE")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else folder / "retrieval-diagnostics-lab" / "cache.sqlite"


class Cache:
    """A key-value file in SQLite: safe under kill, shared by runs at the same time, no pickle. `None` keeps it in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path or ":memory:", timeout=60)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            with self._connection:
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
                )
        except (sqlite3.Error, OSError) as fault:
            raise LabError(f"{path}: the cache cannot be opened ({fault}); delete it or name another with LAB_CACHE") from None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are known."""
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, bytes] = {}
        for first in range(0, len(wanted), KEYS_AT_ONCE):
            some = wanted[first : first + KEYS_AT_ONCE]
            marks = ",".join("?" * len(some))
            found.update(self._connection.execute(f"SELECT key, value FROM entries WHERE key IN ({marks})", some))
        return found

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values; all of them or, when the process dies, none."""
        try:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", values.items())
        except sqlite3.Error as fault:
            raise LabError(
                f"{self._path}: the cache cannot be written ({fault}); make room or name another with LAB_CACHE"
            ) from None

    def close(self) -> None:
        self._connection.close()
