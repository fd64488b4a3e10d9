"""Versions of installed packages, the lab's own among them."""

from importlib.metadata import PackageNotFoundError, version

LAB = "retrieval-diagnostics-lab"


def version_of(package: str) -> str | None:
    """The installed release; None where there is none, as in a source tree never installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
