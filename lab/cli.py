"""The front door: one command, `lab`, with its subcommands. Heavy imports stay inside the
commands."""

import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

import lab
from lab.commands import decide, finished, run, sets
from lab.errors import LabError

app = typer.Typer(
    name="lab",
    help="Which retriever is best for these documents and questions, how sure is "
    "that, and why do questions fail?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

# In the order of `lab --help`: before a run, running, reading a run, deciding.
COMMANDS: dict[str, Callable[..., None]] = {
    "import": sets.import_,
    "check": sets.check,
    "probe": sets.probe,
    "agree": sets.agree,
    "run": run.run,
    "interfere": run.interfere,
    "search": run.search,
    "show": finished.show,
    "slices": finished.slices,
    "explain": finished.explain,
    "report": finished.report,
    "export": finished.export,
    "compare": decide.compare,
    "ablate": decide.ablate,
    "gate": decide.gate,
    "history": decide.history,
}
for name, command in COMMANDS.items():
    app.command(name)(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"retrieval-diagnostics-lab {lab.__version__}")
        raise typer.Exit


@app.callback()
def front_door(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Say which release this is."
        ),
    ] = False,
) -> None:
    """Which retriever is best, how sure is that, and why do questions fail?"""


WRONG_INPUT = 2


def main() -> None:
    """Run the command; wrong input ends with exit code 2 and one message that lists every
    problem."""
    warnings.showwarning = _show
    try:
        app()
    except LabError as fault:
        noun = "problem" if len(fault.problems) == 1 else "problems"
        typer.echo(f"{len(fault.problems)} {noun}:", err=True)
        for problem in fault.problems:
            typer.echo(f"  {problem}", err=True)
        sys.exit(WRONG_INPUT)


def _show(message: Warning | str, category: type[Warning], *place: Any, **stream: Any) -> None:
    """A warning as one line; the place in our code says nothing to a user."""
    typer.echo(f"warning: {message}", err=True)
