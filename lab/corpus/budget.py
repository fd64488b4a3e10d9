"""Budget: how much text is read at most, so that a corpus larger than memory is refused by name,
not killed by the system."""

import os
import re
import resource
from dataclasses import dataclass, field
from pathlib import Path

from lab.errors import ConfigError, TooMuchTextError

VARIABLE = "LAB_TEXT_BUDGET"
# The share of memory that text may take as read: chunks, their terms, an index and vectors have to
# fit beside it.
SHARE = 8
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)b?", re.IGNORECASE)
# What a container may use, where it is less than the machine has (cgroup 2 and 1).
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


@dataclass
class Budget:
    """Bytes of text that one source may still be read for, UTF-8 and unpacked; every reader takes
    what it is about to keep."""

    limit: int = field(default_factory=lambda: allowed())
    used: int = 0

    @property
    def left(self) -> int:
        return self.limit - self.used

    def take(self, size: int, place: object) -> None:
        """Count `size` bytes more; raises TooMuchTextError at `place` when they do not fit."""
        self.used += size
        if self.used > self.limit:
            why = (
                f"{VARIABLE} says so"
                if os.environ.get(VARIABLE)
                else f"an eighth of the memory here; {VARIABLE} sets another"
            )
            raise TooMuchTextError(
                f"{place}: more than {told(self.limit)} of text with what was read before, which "
                f"is all that is read ({why}); "
                "take fewer or smaller files"
            )


def allowed() -> int:
    """Bytes of text that are read: what LAB_TEXT_BUDGET says (`500MB`, `2GB`), else an eighth of
    the memory that this process may use. Raises ConfigError when the variable is no size."""
    wish = os.environ.get(VARIABLE, "").strip()
    if not wish:
        return memory() // SHARE
    size = SIZE.fullmatch(wish)
    if size is None or float(size[1]) == 0:
        raise ConfigError(f"{VARIABLE} is {wish!r}; expected a size such as 500MB or 2GB")
    return int(float(size[1]) * UNITS[size[2].lower()])


def memory() -> int:
    """Bytes of memory that this process may use: the machine's, the container's or the process's
    own limit."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for file in LIMITS:
        try:
            text = file.read_text("ascii").strip()
        except OSError:
            continue
        if text.isdecimal():  # `max` is none
            limits.append(int(text))
    of_process, _ = resource.getrlimit(resource.RLIMIT_AS)
    return min([*limits, *([of_process] if of_process != resource.RLIM_INFINITY else [])])


def told(size: int) -> str:
    """A size in words, with three digits."""
    unit = next((name for name in "tgmk" if size >= UNITS[name]), "")
    return f"{size / UNITS[unit]:.3g} {unit.upper()}B"
