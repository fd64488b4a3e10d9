"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
SystemName = Annotated[
    str | None,
    typer.Option(help="System by its full or short name; the recommended one by default."),
]
CorpusPath = Annotated[
    Path | None, typer.Option(help="Where the documents of the run lie, if they have moved.")
]
SetPaths = Annotated[
    list[Path] | None,
    typer.Option(help="Where the questions of the run lie, if they have moved; may be repeated."),
]
