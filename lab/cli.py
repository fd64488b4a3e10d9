"""The front door: one command, `lab`, with its subcommands. Heavy imports stay inside the
commands."""

import functools
import io
import os
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer

import lab
from lab.commands import (
    answers,
    ask,
    decide,
    finished,
    init,
    judge,
    learn,
    metrics,
    pool,
    run,
    sets,
    stored,
    usage,
)
from lab.errors import ConfigError, LabError, encodable, visible

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
    "init": init.init,
    "import": sets.import_,
    "check": sets.check,
    "probe": sets.probe,
    "agree": sets.agree,
    "run": run.run,
    "interfere": run.interfere,
    "index": ask.index,
    "search": ask.search,
    "serve": ask.serve,
    "show": finished.show,
    "slices": finished.slices,
    "explain": finished.explain,
    "report": finished.report,
    "export": finished.export,
    "metrics": metrics.metrics,
    "contexts": answers.contexts,
    "answers": answers.answers,
    "judge": judge.judge,
    "judge-check": answers.judge_check,
    "pool": pool.pool,
    "mine": learn.mine,
    "train": learn.train,
    "watch": usage.watch,
    "clicks": usage.clicks,
    "online": usage.online,
    "compare": decide.compare,
    "ablate": decide.ablate,
    "gate": decide.gate,
    "history": decide.history,
    "cache": stored.cache,
}
# As shells count a command that Ctrl-C has ended: 128 and the signal's number.
INTERRUPTED = 130


def _interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which Ctrl-C ends with a sentence on what is kept and exit code 130."""

    @functools.wraps(command)
    def until_interrupted(*values: Any, **named: Any) -> None:
        try:
            command(*values, **named)
        except KeyboardInterrupt as stop:
            _stop(str(stop))

    return until_interrupted


def _stop(kept: str) -> NoReturn:
    told = kept or "nothing was left half-written"
    print(f"\ninterrupted: {visible(told)}", file=sys.stderr, flush=True)
    sys.exit(INTERRUPTED)


for name, command in COMMANDS.items():
    app.command(name)(_interruptible(command))


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
    """Run the command `lab`."""
    _run(app)


def run_script(function: Callable[..., None]) -> None:
    """Run a script as a command of its own: the function's parameters are its arguments, checked
    and explained like those of `lab`, and wrong input is told in the same way."""
    script = typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
    )
    script.command()(_interruptible(function))
    _run(script)


def _run(command: typer.Typer) -> None:
    """Wrong input ends with exit code 2 and one message that lists every problem."""
    _speak_utf8()
    warnings.showwarning = _show
    try:
        _check_arguments()
        command(_with_address(sys.argv[1:]))
    except KeyboardInterrupt:
        _stop("")
    except LabError as fault:
        _refuse(fault)
    except OSError as fault:
        # What no reader foresaw, such as a disk that went away: still a message, not a traceback.
        name = f"{fault.filename}: " if fault.filename else ""
        _refuse(LabError(f"{name}{fault.strerror or fault}"))


def _speak_utf8() -> None:
    """Files, names and terminals are UTF-8 whatever the locale says, and what a terminal cannot
    show is escaped: begins again in Python's UTF-8 mode where this is another."""
    if sys.getfilesystemencoding().lower() not in ("utf-8", "utf8"):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _check_arguments() -> None:
    """Raises ConfigError for arguments that are no UTF-8: ids and paths are kept in files that
    are."""
    strange = [word for word in sys.argv[1:] if not word.isascii() and not encodable(word)]
    if strange:
        raise ConfigError(
            f"argument {os.fsencode(word)!r} is not UTF-8; rename the file or type it again"
            for word in strange
        )


def _with_address(words: list[str]) -> list[str]:
    """`--ray` without an address means this machine: Typer knows no option whose value may be left
    out."""
    following = [*words[1:], ""]
    return [
        "--ray=local"
        if word == "--ray" and (not after or after.startswith("-") or after.endswith(".toml"))
        else word
        for word, after in zip(words, following, strict=False)
    ]


def _refuse(fault: LabError) -> None:
    noun = "problem" if len(fault.problems) == 1 else "problems"
    print(f"{len(fault.problems)} {noun}:", file=sys.stderr)
    for problem in fault.problems:
        print(f"  {problem}", file=sys.stderr)
    sys.exit(WRONG_INPUT)


def _show(message: Warning | str, category: type[Warning], *place: Any, **stream: Any) -> None:
    """A warning as one line; the place in our code says nothing to a user."""
    print(f"warning: {visible(str(message))}", file=sys.stderr)
