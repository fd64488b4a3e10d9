"""Commands that ask: `lab search` one question, `lab serve` many over HTTP; `lab index` keeps what
they search."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab.commands.options import CorpusPath, SystemName

if TYPE_CHECKING:
    from lab.pipeline.searcher import Searcher
    from lab.storage.progress import Progress

LOOPBACK, PORT = "127.0.0.1", 8765
HIGHEST_PORT = 65535


def search(
    place: Annotated[str, typer.Argument(help="Documents; with --run the question alone.")],
    question: Annotated[str | None, typer.Argument(help="What to look for.")] = None,
    run: Annotated[
        Path | None, typer.Option(help="Search with a system of this run, or with this index.")
    ] = None,
    system: SystemName = None,
    corpus: CorpusPath = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Hits to show.")] = 5,
    chunk_size: Annotated[int, typer.Option(min=1, help="Characters a chunk.")] = 400,
    strategy: Annotated[
        str, typer.Option(help="fixed, sentences, structure, semantic, langchain:recursive ...")
    ] = "fixed",
    alpha: Annotated[
        float, typer.Option(help="Weight of the dense leg: 0 is BM25 alone, 1 dense alone.")
    ] = 0.5,
    model: Annotated[
        str, typer.Option(help="Dense model: package name, folder or hub id.")
    ] = "all-MiniLM-L6-v2",
    variant: Annotated[
        list[str] | None, typer.Option(help="Another wording of the question; several are allowed.")
    ] = None,
    where: Annotated[
        str, typer.Option("--filter", help='Documents to search, as {"year": {"gte": 2020}}.')
    ] = "",
    synonyms: Annotated[str, typer.Option(help="File of synonyms: a, b or a => b a line.")] = "",
) -> None:
    """Search documents with both legs, or with the winner of a run (--run), and show the ranked
    passages with the scores of every stage."""
    from lab.errors import ConfigError
    from lab.relevance.record import read_filter
    from lab.report.screens.console import TextConsole
    from lab.report.screens.progress import TerminalProgress
    from lab.report.screens.search import hits_table

    if (run is None) == (question is None):
        raise ConfigError(
            "expected `lab search DOCUMENTS QUESTION`, or `lab search --run RUN QUESTION`"
        )
    words = place if question is None else question
    if not words.strip():
        raise ConfigError("the question is blank; expected words to look for")
    settings = {
        "chunk_size": chunk_size,
        "chunk_strategy": strategy,
        "alpha": alpha,
        "model": model,
        "synonyms": synonyms,
    }
    with TerminalProgress(TextConsole(stderr=True)) as progress:
        if run is not None:
            searcher = _of_run(run, system, corpus, progress)
        else:
            searcher = _of_settings(place, settings, progress)
        wanted = read_filter(where, searcher.corpus)
        hits = searcher.search(words, k, wanted, tuple(variant or ()))
    TextConsole().print(hits_table(hits))


def _of_run(run: Path, system: str | None, corpus: Path | None, progress: "Progress") -> "Searcher":
    from lab.runs.load import RECOMMENDED, load

    return load(run, system or RECOMMENDED, corpus, progress=progress)


def _of_settings(place: str, settings: dict[str, object], progress: "Progress") -> "Searcher":
    from lab.config.grid import Grid
    from lab.corpus.read import read_corpus
    from lab.pipeline.resources import Resources
    from lab.pipeline.searcher import Searcher
    from lab.storage.cache import Cache, default_cache_path

    grid = Grid(**settings, mode="hybrid", variants=True, filter=True)
    resources = Resources(Cache(default_cache_path(), progress.note), progress)
    return Searcher(read_corpus(place), grid.systems()[0][0], resources)


def index(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    to: Annotated[Path, typer.Option(help="Folder to write, or to bring up to date.")],
    system: SystemName = None,
    corpus: CorpusPath = None,
) -> None:
    """Keep the index of a system in a folder that `lab search --run`, `lab serve` and `lab.load`
    open at once. Run again, it indexes what has changed in the documents and nothing else."""
    from lab.report.screens.console import TextConsole, say
    from lab.report.screens.progress import TerminalProgress
    from lab.runs.index import index as write
    from lab.runs.load import RECOMMENDED

    with TerminalProgress(TextConsole(stderr=True)) as progress:
        done = write(run, to, system or RECOMMENDED, corpus, progress=progress)
    say(
        f"written: {to}: {done.system} over {done.documents:,} documents, {done.chunks:,} chunks "
        f"({done.added:,} added, {done.changed:,} changed, {done.removed:,} removed, "
        f"{done.kept:,} as they were)"
    )


def serve(
    run: Annotated[Path, typer.Argument(help="Run folder, or folder of lab index.")],
    system: SystemName = None,
    beside: Annotated[
        str | None, typer.Option(help="A second system, to see both side by side on the page.")
    ] = None,
    corpus: CorpusPath = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = LOOPBACK,
    port: Annotated[int, typer.Option(min=0, max=HIGHEST_PORT, help="0 for a free one.")] = PORT,
) -> None:
    """Serve a system of a run over HTTP: the retriever protocol, and a page to try it. It listens
    on this machine alone unless --host says otherwise; Ctrl-C stops it."""
    from lab.pipeline.service import serve as serve_searchers
    from lab.report.screens.console import TextConsole, say
    from lab.report.screens.progress import TerminalProgress

    with TerminalProgress(TextConsole(stderr=True)) as progress:
        searchers = {"a": _of_run(run, system, corpus, progress)}
        if beside is not None:
            searchers["b"] = _of_run(run, beside, corpus, progress)
        for searcher in searchers.values():
            searcher.search("ready?", 1)
    serve_searchers(searchers, host, port, say)
