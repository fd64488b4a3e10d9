"""What models have computed, kept on disk: vectors, pair scores and token starts by the hash of
everything they depend on."""

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lab.errors import LabError, counted
from lab.storage.interrupt import undisturbed
from lab.storage.room import GIGABYTE, LEFT, make_room, room, taken, today

KEYS_AT_ONCE = 900
# Seconds that one run waits while another writes.
PATIENCE = 60


def cache_key(*parts: str) -> bytes:
    """SHA-256 of the parts as JSON, which keeps their borders: ("ab", "c") and ("a", "bc")
    differ."""
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def default_cache_path() -> Path:
    """`$LAB_CACHE`, else `retrieval-diagnostics-lab/cache.sqlite` in the user's cache folder."""
    chosen = os.environ.get("LAB_CACHE")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else folder / "retrieval-diagnostics-lab" / "cache.sqlite"


class Cache:
    """A key-value file in SQLite: safe under kill, shared by runs at the same time, no pickle.
    `None` keeps it in memory.

    Every value has a checksum; one that does not fit counts as absent and is computed again. A
    cache that cannot be written (read-only, disk full, locked for a minute) costs time, never a
    run: what is new stays in memory. `note` is told of both, once each. A file takes at most so
    much room as `lab.storage.room` says; then the values used longest ago leave. Raises LabError
    when the file is no cache or is damaged beyond reading.
    """

    def __init__(
        self, path: Path | None, note: Callable[[str], None] = lambda message: None
    ) -> None:
        self.path, self._note = path, note
        self._unsaved: dict[bytes, bytes] = {}
        self._told: set[str] = set()
        self._most = room()
        try:
            self._connection = self._open()
        except (sqlite3.Error, FileExistsError, NotADirectoryError) as fault:
            raise LabError(
                f"{path}: the cache cannot be opened ({fault}); delete it or name another with "
                "LAB_CACHE"
            ) from None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are known and whole."""
        wanted = list(dict.fromkeys(keys))
        kept: dict[bytes, bytes] = {}
        damaged, day = 0, today()
        stale: list[bytes] = []
        used = "used" if self.lasting else "NULL"
        for key, value, checksum, last in self._rows(f"key, value, checksum, {used}", wanted):
            if checksum == _checksum(key, value):
                kept[key] = value
            else:
                damaged += 1
            if last is not None and last < day:
                stale.append(key)
        self._mark_used(stale, day)
        if damaged:
            self._tell(
                "damaged", f"{self.path}: {counted(damaged, 'damaged value')}, computed again"
            )
        return kept | {key: self._unsaved[key] for key in wanted if key in self._unsaved}

    def _mark_used(self, keys: Sequence[bytes], day: int) -> None:
        """Remember that values were used; another run that writes just now takes precedence."""
        if keys:
            with suppress(sqlite3.OperationalError), undisturbed(), self._connection:
                self._connection.executemany(
                    "UPDATE kept SET used = ? WHERE key = ?", ((day, key) for key in keys)
                )

    def holding(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those keys that have a value, whole or not."""
        wanted = list(dict.fromkeys(keys))
        return {key for (key,) in self._rows("key", wanted)} | (self._unsaved.keys() & wanted)

    def _rows(self, columns: str, keys: Sequence[bytes]) -> Iterator[Any]:
        try:
            for first in range(0, len(keys), KEYS_AT_ONCE):
                some = keys[first : first + KEYS_AT_ONCE]
                marks = ",".join("?" * len(some))
                yield from self._connection.execute(
                    f"SELECT {columns} FROM kept WHERE key IN ({marks})", some
                )
        except sqlite3.Error as fault:
            raise self._unusable(fault) from None

    def put(self, values: Mapping[bytes, bytes], model: str = "") -> None:
        """Keep values that a model has computed; all of them or, when the process dies, none.
        Ctrl-C waits until they are kept."""
        if not values:
            return
        try:
            with undisturbed(), self._connection:
                number = self._number(model)
                day = today()
                rows = (
                    (key, value, _checksum(key, value), number, day)
                    for key, value in values.items()
                )
                self._connection.executemany(
                    "INSERT OR REPLACE INTO kept (key, value, checksum, model, used) "
                    "VALUES (?, ?, ?, ?, ?)",
                    rows,
                )
            if self.path is not None and taken(self._connection) > self._most:
                left = make_room(self._connection, int(LEFT * self._most))
                self._tell(
                    "full",
                    f"{self.path}: more than {self._most / GIGABYTE:g} GB (LAB_CACHE_GB); values "
                    f"used longest ago leave, {left:,} for a start",
                )
        except sqlite3.OperationalError as fault:
            self._unsaved.update(values)
            self._tell(
                "unsaved",
                f"{self.path}: the cache cannot be written ({fault}); what is new is computed "
                "again next time",
            )
        except sqlite3.Error as fault:
            raise self._unusable(fault) from None

    @property
    def lasting(self) -> bool:
        """Whether what is put into it will still be there tomorrow."""
        return self.path is not None and "unsaved" not in self._told

    def sizes(self) -> dict[str, tuple[int, int]]:
        """Values and their bytes of every model, by its name; "" for what no model is known of."""
        rows = self._ask(
            "SELECT coalesce(name, ''), count(*), sum(length(value)) FROM kept "
            "LEFT JOIN models ON kept.model = models.number GROUP BY 1 ORDER BY 1"
        )
        return {name: (count, size) for name, count, size in rows}

    def forget(self, model: str) -> int:
        """Remove all values of a model, whatever its state was, and return how many there were."""
        if model not in self.sizes():
            return 0
        try:
            with self._connection:
                found = self._connection.execute(
                    "DELETE FROM kept WHERE model IS (SELECT number FROM models WHERE name = ?)",
                    (model,),
                )
            self._connection.execute("VACUUM")
        except sqlite3.Error as fault:
            raise LabError(f"{self.path}: nothing can be removed ({fault})") from None
        return found.rowcount

    @property
    def size(self) -> int:
        """Bytes that are taken."""
        return taken(self._connection)

    def shrink(self, most: int) -> int:
        """Remove the values used longest ago until at most so many bytes are taken, and return how
        many there were."""
        try:
            removed = make_room(self._connection, most)
            self._connection.execute("VACUUM")
        except sqlite3.Error as fault:
            raise LabError(f"{self.path}: nothing can be removed ({fault})") from None
        return removed

    def _number(self, model: str) -> int | None:
        if not model:
            return None
        self._connection.execute("INSERT OR IGNORE INTO models (name) VALUES (?)", (model,))
        rows = self._connection.execute("SELECT number FROM models WHERE name = ?", (model,))
        return int(rows.fetchone()[0])

    def _ask(self, query: str) -> list[Any]:
        try:
            return self._connection.execute(query).fetchall()
        except sqlite3.Error as fault:
            raise self._unusable(fault) from None

    def close(self) -> None:
        self._connection.close()

    def _open(self) -> sqlite3.Connection:
        if self.path is None:
            return _prepared(_connect(":memory:"))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return _prepared(_connect(self.path, timeout=PATIENCE))
        except (FileExistsError, NotADirectoryError):
            raise
        except (OSError, sqlite3.OperationalError) as fault:
            self._tell(
                "unsaved",
                f"{self.path}: the cache cannot be written ({fault}); what is new is computed "
                "again next time",
            )
        for mode in ("mode=ro", "immutable=1"):
            # Without write access SQLite cannot share a file with writers; as immutable it is read
            # as it stands.
            try:
                connection = _connect(
                    f"{self.path.absolute().as_uri()}?{mode}", uri=True, timeout=PATIENCE
                )
                connection.execute("SELECT count(*) FROM (SELECT 1 FROM kept LIMIT 1)")
            except sqlite3.OperationalError:
                continue
            return connection
        return _prepared(_connect(":memory:"))

    def _tell(self, what: str, message: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._note(message)

    def _unusable(self, fault: sqlite3.Error) -> LabError:
        return LabError(
            f"{self.path}: the cache cannot be read ({fault}); delete it or name another with "
            "LAB_CACHE"
        )


def _connect(place: str | Path, **options: Any) -> sqlite3.Connection:
    """A connection that a server may build in one thread and use in another, one at a time."""
    connection: sqlite3.Connection = sqlite3.connect(place, check_same_thread=False, **options)
    return connection


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    with connection:
        connection.execute(
            # With rowids: a vector inside the key's tree would overflow its page, which costs a
            # fourfold time of reading.
            "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum "
            "INTEGER NOT NULL, model INTEGER, used INTEGER NOT NULL DEFAULT 0)"
        )
        connection.execute(
            "CREATE TABLE IF NOT EXISTS models (number INTEGER PRIMARY KEY, name TEXT UNIQUE)"
        )
        held = {row[1] for row in connection.execute("PRAGMA table_info(kept)")}
        # What earlier versions kept stays usable, but nobody knows of which model it is, or when it
        # was used.
        for column in ("model INTEGER", "used INTEGER NOT NULL DEFAULT 0"):
            if column.partition(" ")[0] not in held:
                with suppress(sqlite3.OperationalError):  # another run was quicker
                    connection.execute(f"ALTER TABLE kept ADD COLUMN {column}")
    return connection


def _checksum(key: bytes, value: bytes) -> int:
    """CRC-32 over key and value, so that a value under another's key is found too."""
    return zlib.crc32(value, zlib.crc32(key))
