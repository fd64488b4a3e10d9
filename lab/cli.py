"""The front door: `lab run`, `lab check`, `lab search`, `lab explain`. Heavy imports stay inside the commands."""

import json
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from lab.errors import LabError

app = typer.Typer(
    name="lab", help="Which retriever is best for these documents and questions, how sure is that, and why do questions fail?",
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
)  # fmt: skip

NEGATIVE_FINDING = 1
WRONG_INPUT = 2

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML).")],
    out: Annotated[Path | None, typer.Option(help="Run folder to write; runs/<name> by default.")] = None,
    allow_commands: Annotated[bool, typer.Option("--allow-commands", help="Run the commands that the file names.")] = False,
    track: Annotated[list[str] | None, typer.Option(help="Log to mlflow, mlflow=URI, wandb or wandb=FOLDER.")] = None,
    as_json: AsJson = False,
) -> None:
    """Sweep every system of an experiment, print the first screen and write the run folder with its report."""
    from rich.console import Console

    from lab.corpus.read import read_corpus
    from lab.experiment.experiment import read_experiment
    from lab.experiment.run_folder import check_place, run_of, write_run
    from lab.experiment.sweep import sweep
    from lab.report.page import NAME, page
    from lab.report.progress import TerminalProgress
    from lab.report.terminal import first_screen
    from lab.report.tracking import tracker
    from lab.retrieval.foreign import refuse_commands
    from lab.truth.read import read_diagnostics

    experiment = read_experiment(file)
    if not allow_commands:
        refuse_commands(experiment.retrievers)
    place = out or Path("runs") / experiment.name
    check_place(place)
    trackers = [tracker(target) for target in track or ()]
    retrievers = {retriever.name: retriever for retriever in experiment.retrievers}
    corpus = read_corpus(experiment.corpus)
    queries = read_diagnostics(experiment.diagnostic_sets, corpus)
    with TerminalProgress(Console(stderr=True)) as progress:
        settings = experiment.grid, experiment.measure
        result = sweep(corpus, queries, *settings, name=experiment.name, progress=progress, retrievers=retrievers)
    tables = run_of(result)
    tables.manifest["paths"] = {
        "corpus": str(experiment.corpus),
        "diagnostic_sets": [str(path) for path in experiment.diagnostic_sets],
    }
    folder = write_run(tables, place, {NAME: page(tables, corpus, queries)})
    logged = [log(tables, folder) for log in trackers]
    if as_json:
        typer.echo(
            json.dumps({"run": str(folder), "best": result.best, "systems": json.loads(tables.systems.to_json(orient="records"))})
        )
    else:
        Console(highlight=False).print(first_screen(tables))
        typer.echo("\n".join([*logged, f"written: {folder}; open {folder / NAME}"]))


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(help="Experiment file (TOML); or documents and then their sets.")],
    as_json: AsJson = False,
) -> None:
    """Audit sets against their documents before anything expensive runs; exit code 1 if a set is unfit."""
    from rich.console import Console

    from lab.experiment.check import check as check_paths
    from lab.report.audit import check_record, check_screen

    found = check_paths(paths)
    if as_json:
        typer.echo(json.dumps(check_record(found), ensure_ascii=False))
    else:
        Console(highlight=False).print(check_screen(found))
    if found.audit.unfit:
        raise typer.Exit(NEGATIVE_FINDING)


@app.command(name="import")
def import_(
    source: Annotated[str, typer.Argument(help="Folder, file or ir_datasets:ID; each file's format is told by its content.")],
    to: Annotated[Path, typer.Option(help="Folder to write: documents.jsonl, queries, judgements and import-report.txt.")],
    documents: Annotated[str | None, typer.Option(help="The file (or folder of texts) that holds the documents.")] = None,
    questions: Annotated[str | None, typer.Option(help="The file that holds the questions.")] = None,
    judgements: Annotated[str | None, typer.Option(help="The file that holds the judgements.")] = None,
    column: Annotated[list[str] | None, typer.Option(help="NOUN=NAME: where a table keeps doc_id, text, question ...")] = None,
    as_json: AsJson = False,
) -> None:
    """Turn a foreign corpus and its questions into the lab's own files; say what was mended, dropped or looks suspicious."""
    from lab.report.imported import import_json, import_screen
    from lab.truth.convert import import_source

    columns = {noun: name for noun, _, name in (pair.partition("=") for pair in column or [])}
    done = import_source(source, to, documents=documents, questions=questions, judgements=judgements, columns=columns)
    typer.echo(import_json(done) if as_json else import_screen(done))


@app.command()
def search(
    corpus: Annotated[Path, typer.Argument(help="Documents.")],
    question: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, help="Hits to show.")] = 5,
    chunk_size: Annotated[int, typer.Option(min=1, help="Characters a chunk.")] = 400,
    strategy: Annotated[str, typer.Option(help="document, fixed, sentences or structure.")] = "fixed",
    alpha: Annotated[float, typer.Option(help="Weight of the dense leg: 0 is BM25 alone, 1 dense alone.")] = 0.5,
    model: Annotated[str, typer.Option(help="Dense model: package name, folder or hub id.")] = "all-MiniLM-L6-v2",
) -> None:
    """Search documents with both legs and show the ranked chunks with both scores."""
    from rich.console import Console

    from lab.corpus.read import read_corpus
    from lab.experiment.grid import Grid
    from lab.experiment.search import search as search_corpus
    from lab.report.progress import TerminalProgress
    from lab.report.search import hits_table

    grid = Grid(chunk_size=chunk_size, chunk_strategy=strategy, mode="hybrid", alpha=alpha, model=model)
    with TerminalProgress(Console(stderr=True)) as progress:
        hits = search_corpus(read_corpus(corpus), question, grid.systems()[0][0], k, progress)
    Console().print(hits_table(hits))


@app.command()
def probe(
    corpus: Annotated[Path, typer.Argument(help="Documents.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the sets; diagnostic_sets/<corpus>-mined by default.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Most questions of a kind (pairs of boundary probes).")] = 500,
    seed: Annotated[int, typer.Option(help="Which ones, where there are more.")] = 0,
    strategy: Annotated[str, typer.Option(help="fixed, sentences or structure: whose cuts are probed.")] = "fixed",
    chunk_size: Annotated[int, typer.Option(min=1, help="Characters a chunk.")] = 400,
    overlap: Annotated[int, typer.Option(min=0, help="Characters that neighbours share.")] = 0,
) -> None:
    """Mine diagnostic sets: identifiers among their near misses, rare words, and evidence that cuts part."""
    from lab.chunking.strategies import chunk
    from lab.corpus.read import read_corpus
    from lab.experiment.grid import Grid
    from lab.truth.probe.mine import mine
    from lab.truth.probe.mined import write_sets
    from lab.truth.read import read_diagnostics

    cuts = Grid(chunk_strategy=strategy, chunk_size=chunk_size, overlap=overlap, mode="bm25").systems()[0][0].chunk
    documents, name = read_corpus(corpus), corpus.resolve().name.split(".")[0]
    sets = mine(documents, chunk(documents, cuts), cuts.label, name, count, seed)
    files = write_sets(sets, documents, out or Path("diagnostic_sets") / f"{name}-mined")
    read_diagnostics(files, documents)
    for file in files:
        typer.echo(f"{file}: {len(sets[file.stem])} questions, evidence verified")


@app.command()
def slices(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    by: Annotated[str, typer.Option(help="kind, doctype, length, language, distance, siblings, or a tag.")] = "kind",
    system: Annotated[str | None, typer.Option(help="System by name; the best one by default.")] = None,
) -> None:
    """Show a run by slices of its questions; `distance` adds the boundary gap, `siblings` the confusion of near misses."""
    from rich.console import Console

    from lab.diagnosis.slices import sliced
    from lab.experiment.reopen import reopen
    from lab.report.slices import sliced_screen

    opened = reopen(run)
    found = sliced(opened.run, opened.corpus, opened.queries, by, system or opened.run.best)
    Console(highlight=False).print(sliced_screen(found))


@app.command()
def show(run: Annotated[Path, typer.Argument(help="Run folder.")]) -> None:
    """Show the first screen of a finished run again."""
    from rich.console import Console

    from lab.experiment.run_folder import read_run
    from lab.report.terminal import first_screen

    Console(highlight=False).print(first_screen(read_run(run)))


@app.command()
def report(run: Annotated[Path, typer.Argument(help="Run folder.")]) -> None:
    """Write the report of a finished run anew: one file that opens from disk and fetches nothing."""
    from lab.experiment.reopen import reopen
    from lab.experiment.run_folder import write_page
    from lab.report.page import NAME, page

    opened = reopen(run)
    typer.echo(f"written: {write_page(run, NAME, page(opened.run, opened.corpus, opened.queries))}")


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    to: Annotated[str, typer.Option(help="csv, markdown, latex, trec, ranx or jsonl.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write; RUN/export/FORMAT by default.")] = None,
) -> None:
    """Write a run as files for spreadsheets, papers, trec_eval, ranx or scripts."""
    from lab.experiment.run_folder import read_run
    from lab.report.export import export as export_run

    folder = out or run / "export" / to
    written = export_run(read_run(run), to, folder)
    typer.echo(f"written: {len(written)} file{'s' if len(written) > 1 else ''} in {folder}")


@app.command()
def explain(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    query: Annotated[str, typer.Argument(help="Question id.")],
    system: Annotated[str | None, typer.Option(help="System by name; the best one by default.")] = None,
) -> None:
    """Show every stage's rank of a question's evidence."""
    from lab.diagnosis.explain import explain as explain_question
    from lab.experiment.reopen import reopen

    opened = reopen(run)
    typer.echo(str(explain_question(opened.run, opened.corpus, opened.queries, query, system or opened.run.best)))


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="Run folder or TREC run: the older or the reference.")],
    b: Annotated[Path, typer.Argument(help="Run folder or TREC run: the newer.")],
    system_a: Annotated[str | None, typer.Option(help="System of A by name; the recommended one by default.")] = None,
    system_b: Annotated[str | None, typer.Option(help="System of B by name; the recommended one by default.")] = None,
    qrels: Annotated[Path | None, typer.Option(help="Judgements for TREC runs (TREC or BEIR columns).")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Metrics for TREC runs; may be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs on their common questions: per metric and kind, by cause, question by question, and what changed."""
    from rich.console import Console

    from lab.experiment.compare import compare_sides
    from lab.experiment.side import METRICS, sides
    from lab.report.compare import compare_json, compare_screen

    found = compare_sides(*sides((a, b), (system_a, system_b), qrels, metric or METRICS))
    if as_json:
        typer.echo(compare_json(found))
    else:
        Console(highlight=False).print(compare_screen(found))


def _show(message: Warning | str, category: type[Warning], *place: object) -> None:
    """A warning as one line; the place in our code says nothing to a user."""
    typer.echo(f"warning: {message}", err=True)


@app.command()
def ablate(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    baseline: Annotated[str | None, typer.Option(help="System by name; the recommended one by default.")] = None,
    metric: Annotated[str | None, typer.Option(help="Metric; the selecting one by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show which setting matters and by how much: steps from a baseline, and main effects over the whole grid."""
    from rich.console import Console

    from lab.experiment.ablate import ablate as ablate_run
    from lab.experiment.run_folder import read_run
    from lab.report.ablate import ablation_json, ablation_screen

    finished = read_run(run)
    found = ablate_run(finished, baseline or finished.manifest["recommended"], metric)
    if as_json:
        typer.echo(ablation_json(found))
    else:
        Console(highlight=False).print(ablation_screen(found))


def main() -> None:
    """Run the command; wrong input ends with exit code 2 and one message that lists every problem."""
    warnings.showwarning = _show
    try:
        app()
    except LabError as fault:
        noun = "problem" if len(fault.problems) == 1 else "problems"
        typer.echo(f"{len(fault.problems)} {noun}:", err=True)
        for problem in fault.problems:
            typer.echo(f"  {problem}", err=True)
        sys.exit(WRONG_INPUT)
