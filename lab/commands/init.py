"""The command that begins: `lab init`."""

from pathlib import Path
from typing import Annotated

import typer


def init(
    corpus: Annotated[
        Path | None, typer.Argument(help="Documents; with --demo the folder to write into.")
    ] = None,
    sets: Annotated[
        list[Path] | None, typer.Argument(help="Questions: diagnostic sets, files or folders.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write; NAME.toml by default, after the documents.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Write documents, questions and an experiment to try.")
    ] = False,
) -> None:
    """Write an experiment file for documents at hand, with every table and its defaults; nothing is
    overwritten. Sizes fit the documents' paragraphs and the model, which reads their language."""
    from lab.config.begin import begin
    from lab.config.demo import EXPERIMENT, write_demo
    from lab.errors import ConfigError
    from lab.report.screens.console import say

    if demo:
        if sets or out:
            raise ConfigError(
                "--demo brings its own documents; expected `lab init --demo [FOLDER]`"
            )
        folder = corpus or Path()
        places = write_demo(folder)
        where = f"cd {folder} && " if corpus else ""
        say("\n".join([f"written: {place}" for place in places]))
        say(f"next: {where}lab run {EXPERIMENT}")
        return
    if corpus is None:
        raise ConfigError("expected `lab init DOCUMENTS [SETS]`, or `lab init --demo`")
    begun = begin(corpus, sets or [], out)
    say(f"written: {begun.file}")
    for note in begun.notes:
        say(note)
