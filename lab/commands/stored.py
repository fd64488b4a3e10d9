"""The command about what the lab keeps between runs: `lab cache`."""

from typing import Annotated

import typer

from lab.commands.options import AsJson


def cache(
    forget: Annotated[
        str | None, typer.Option(help="Remove all values of this model; all others stay.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what the cache holds of every model, or remove one model's vectors and scores."""
    from lab.errors import LabError, nearest
    from lab.report.screens.console import say, say_json
    from lab.storage.cache import Cache, default_cache_path

    path = default_cache_path()
    kept = Cache(path if path.exists() else None)
    sizes = kept.sizes()
    if forget is not None and forget not in sizes:
        raise LabError(f"{path}: holds nothing of a model '{forget}'{nearest(forget, sizes)}")
    removed = 0 if forget is None else kept.forget(forget)
    kept.close()
    if as_json:
        models = {name: {"values": count, "bytes": size} for name, (count, size) in sizes.items()}
        say_json({"path": str(path), "models": models, "forgotten": forget, "removed": removed})
    elif forget is not None:
        say(f"{path}: {removed:,} value(s) of '{forget}' removed")
    else:
        say(f"{path}: {sum(count for count, _ in sizes.values()):,} value(s)")
        for name, (count, size) in sizes.items():
            say(f"  {name or '(of earlier versions)'}: {count:,} value(s), {size / 1e6:,.1f} MB")
