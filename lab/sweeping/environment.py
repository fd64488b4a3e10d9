"""Environment: on what a run was made, beside the versions of its packages."""

import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

SECONDS = 5  # what Git is given to answer
PROCESSORS = Path("/proc/cpuinfo")


def environment(seed: int) -> Mapping[str, str]:
    """Name -> text, without what is not known: Python, platform, processor, its cores, the seed of
    everything drawn, and the commit of the folder that the run was started in (`-dirty` where
    tracked files differ from it)."""
    known = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": str(os.cpu_count() or ""),
        "seed": str(seed),
        "git commit": _commit(),
    }
    return {name: text for name, text in known.items() if text}


def _processor() -> str:
    """The model where the system tells it, else the architecture."""
    try:
        lines = PROCESSORS.read_text("utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude", "*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError):  # no Git, or none that answers
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
