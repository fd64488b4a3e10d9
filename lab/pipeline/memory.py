"""The memory of this process."""

import resource
import sys


def peak_megabytes() -> float:
    """The most memory that this process has held (getrusage counts kilobytes, bytes on a Mac)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)
