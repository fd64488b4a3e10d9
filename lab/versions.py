"""Versions of installed packages, the lab's own among them."""

LAB = "retrieval-diagnostics-lab"


def version_of(package: str) -> str | None:
    """The installed release; None where there is none, as in a source tree never installed."""
    # Imported here: `lab --help` and checking a set need no versions, and it takes a while.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
