"""The command about what the lab keeps between runs: `lab cache`."""

from typing import Annotated

import typer

from lab.commands.options import AsJson


def cache(
    forget: Annotated[
        str | None, typer.Option(help="Remove all values of this model; all others stay.")
    ] = None,
    keep: Annotated[
        float | None,
        typer.Option(min=0, help="Remove what was used longest ago until so many GB are left."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say where the cache lies, what it holds of every model and how much it may take; or remove
    one model's vectors and scores, or what was used longest ago."""
    from lab.errors import ConfigError, LabError, counted, nearest
    from lab.report.screens.console import say, say_json
    from lab.storage.cache import Cache, default_cache_path
    from lab.storage.room import GIGABYTE, room

    if forget is not None and keep is not None:
        raise ConfigError("expected --forget or --keep, one at a time")
    path, most = default_cache_path(), room()
    kept = Cache(path if path.exists() else None)
    sizes = kept.sizes()
    if forget is not None and forget not in sizes:
        raise LabError(f"{path}: holds nothing of a model '{forget}'{nearest(forget, sizes)}")
    removed = 0
    if forget is not None:
        removed = kept.forget(forget)
    elif keep is not None:
        removed = kept.shrink(int(keep * GIGABYTE))
    taken = kept.size if path.exists() else 0
    kept.close()
    if as_json:
        models = {name: {"values": count, "bytes": size} for name, (count, size) in sizes.items()}
        record = {"path": str(path), "bytes": taken, "most_bytes": most, "models": models}
        say_json(record | {"forgotten": forget, "removed": removed})
        return
    room_said = f"{taken / GIGABYTE:,.2f} of at most {most / GIGABYTE:g} GB"
    if forget is not None:
        say(f"{path}: {counted(removed, 'value')} of '{forget}' removed; {room_said}")
    elif keep is not None:
        say(f"{path}: {counted(removed, 'value')} removed; {room_said}")
    else:
        say(f"{path}: {counted(sum(count for count, _ in sizes.values()), 'value')}, {room_said}")
        for name, (count, size) in sizes.items():
            values = f"{counted(count, 'value')}, {size / 1e6:,.1f} MB"
            say(f"  {name or '(of earlier versions)'}: {values}")
