"""How much room the cache may take, and what leaves when it takes more: values that were used
longest ago."""

import os
import sqlite3
import time

from lab.errors import LabError

GIGABYTE = 10**9
# What the cache may take unless LAB_CACHE_GB says otherwise.
MOST_GIGABYTES = 10.0
# Once it is full it is emptied to this share, so that not every new value makes another leave.
LEFT = 0.9
# Bytes that a value takes beside its own: key, checksum, its place in two trees.
BESIDE = 100
DAY = 86_400


def room() -> int:
    """Bytes that the cache may take. Raises LabError when LAB_CACHE_GB is no number."""
    said = os.environ.get("LAB_CACHE_GB", "").strip()
    try:
        gigabytes = float(said) if said else MOST_GIGABYTES
    except ValueError:
        gigabytes = -1.0
    if not 0 <= gigabytes < float("inf"):
        raise LabError(f"LAB_CACHE_GB is {said!r}; expected gigabytes, like 10 or 0.5")
    return int(gigabytes * GIGABYTE)


def today() -> int:
    """Days since 1970: use is told by days, so that a value is marked once a day."""
    return int(time.time() // DAY)


def taken(connection: sqlite3.Connection) -> int:
    """Bytes of the file that hold something; what was removed is written over before it grows."""
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def make_room(connection: sqlite3.Connection, most: int) -> int:
    """Remove the values used longest ago, of one day those kept first, until at most so many bytes
    are taken; returns how many left. Linear in the number of values."""
    removed = 0
    while (over := taken(connection) - most) > 0:
        gone = connection.execute(
            "DELETE FROM kept WHERE rowid IN (SELECT rowid FROM (SELECT rowid, "
            "sum(length(value) + ?) OVER (ORDER BY used, rowid) - length(value) - ? AS before "
            "FROM kept) WHERE before < ?)",
            (BESIDE, BESIDE, over),
        )
        connection.commit()
        if not gone.rowcount:
            break  # what is left is the tables themselves
        removed += gone.rowcount
    return removed
