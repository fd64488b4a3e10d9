"""Commands that sweep: `lab run` an experiment, `lab interfere` with distractors added."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from lab.commands.options import AsJson
from lab.errors import ConfigError


def run(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML).")],
    out: Annotated[
        Path | None,
        typer.Option(help="Run folder to write or replace; by default runs/NAME, then NAME-2 ..."),
    ] = None,
    allow_commands: Annotated[
        bool,
        typer.Option("--allow-commands", help="Run the commands and Python that the file names."),
    ] = False,
    track: Annotated[
        list[str] | None, typer.Option(help="Log to mlflow, mlflow=URI, wandb or wandb=FOLDER.")
    ] = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Time every stage and each system's queries.")
    ] = False,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="[ADDRESS]",
            help="Work in Ray's processes, on this machine or on the cluster at ADDRESS.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Sweep every system of an experiment, print the first screen and write the run folder with its
    report."""
    from lab.cluster.cluster import Cluster
    from lab.config.experiment import read_experiment
    from lab.config.own_metrics import refuse_python
    from lab.config.retriever import refuse_commands
    from lab.corpus.read import read_corpus
    from lab.relevance.read import read_diagnostics
    from lab.report.export.tracking import tracker
    from lab.report.screens.console import TextConsole, say, say_json
    from lab.report.screens.profile import profile_screen
    from lab.report.screens.progress import TerminalProgress
    from lab.report.screens.terminal import short_screen
    from lab.runs.folder import check_place, free_place
    from lab.runs.run import REPORT
    from lab.sweeping.sweep import sweep

    if ray and profile:
        raise ConfigError(
            "--profile times one process by itself, which --ray is not; give one of them"
        )
    experiment = read_experiment(file)
    if experiment.shards > 1 and not ray:
        raise ConfigError(
            f"{file}: corpus.shards = {experiment.shards} needs Ray's processes to lie in; add "
            "--ray, or leave it out"
        )
    if not allow_commands:
        refuse_commands(experiment.retrievers)
        refuse_python(experiment.measure.python)
    place = out or free_place(Path("runs"), experiment.name)
    check_place(place)
    trackers = [tracker(target) for target in track or ()]
    retrievers = {retriever.name: retriever for retriever in experiment.retrievers}
    corpus = read_corpus(experiment.corpus)
    queries = read_diagnostics(experiment.diagnostic_sets, corpus)
    with (
        TerminalProgress(TextConsole(stderr=True)) as progress,
        Cluster(ray) if ray else nullcontext() as cluster,
    ):
        finished = sweep(
            corpus,
            queries,
            experiment.grid,
            experiment.measure,
            name=experiment.name,
            progress=progress,
            retrievers=retrievers,
            **experiment.models,
            profile=profile,
            cluster=cluster,
            shards=experiment.shards,
        )
    folder = finished.write(place)
    logged = [log(finished, folder) for log in trackers]
    if as_json:
        systems = json.loads(finished.table().to_json(orient="records"))
        record = {"run": str(folder), "best": finished.best, "systems": systems}
        say_json(record)
    else:
        console = TextConsole()
        console.print(short_screen(finished, str(folder)))
        if profile:
            console.print(profile_screen(finished))
        say("\n".join([*logged, f"written: {folder}; open {folder / REPORT}"]))


def interfere(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML).")],
    kind: Annotated[
        list[str] | None, typer.Option(help="topical, sibling, twin or duplicate; all by default.")
    ] = None,
    dose: Annotated[
        list[int] | None, typer.Option(help="Documents a question; 0 1 2 5 10 by default.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Documents of your own to inject instead.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Metric to show; the selecting one by default.")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(help="Run folder to keep the table in; `lab report` then draws it."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for a run of every dose, for `lab explain` and `compare`."),
    ] = None,
    allow_commands: Annotated[
        bool, typer.Option("--allow-commands", help="Run the Python that the file names.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add distractors to the corpus, dose by dose, and show which systems resist."""
    from lab.config.experiment import read_experiment
    from lab.config.own_metrics import refuse_python
    from lab.corpus.read import read_corpus
    from lab.relevance.read import read_diagnostics
    from lab.report.figures.doses import NAME, read_doses, with_earlier
    from lab.report.page.page import page
    from lab.report.screens.console import TextConsole, say, say_json
    from lab.report.screens.interference import interference_screen
    from lab.report.screens.progress import TerminalProgress
    from lab.runs.folder import check_place, write_page, write_run
    from lab.runs.run import REPORT, read_run
    from lab.sweeping.distractors import MAKERS, OWN
    from lab.sweeping.interfere import DOSES
    from lab.sweeping.interfere import interfere as inject

    if into:
        read_run(into)  # a wrong folder is told before the work
    experiment = read_experiment(file)
    if not allow_commands:
        refuse_python(experiment.measure.python)
    corpus = read_corpus(experiment.corpus)
    queries = read_diagnostics(experiment.diagnostic_sets, corpus)
    distractors = read_corpus(folder) if folder else None
    kinds, doses = [OWN] if distractors else kind or list(MAKERS), dose or DOSES
    # Without any distractor all kinds are the same run.
    asked = ((kind, dose) for kind in kinds for dose in sorted({0, *doses}))
    runs = (
        {out / (f"{key[0]}-{key[1]}" if key[1] else "plain"): key for key in asked} if out else {}
    )
    for place in runs:
        check_place(place)
    with TerminalProgress(TextConsole(stderr=True)) as progress:
        interference = inject(
            corpus,
            queries,
            experiment.grid,
            experiment.measure,
            kinds=kinds,
            doses=doses,
            folder=distractors,
            progress=progress,
            **experiment.models,
        )
    if into:
        write_page(
            into, NAME, with_earlier(read_doses(into), interference.table()).to_csv(index=False)
        )
    for place, key in runs.items():
        grown, documents = interference.runs[key], place / "documents.jsonl"
        grown.manifest["name"] = f"{experiment.name} {place.name}"
        grown.manifest["corpus"] |= {
            "path": str(documents),
            "absolute_path": str(documents.absolute()),
        }
        lines = "".join(
            json.dumps(document.record, ensure_ascii=False) + "\n" for document in grown.corpus
        )
        write_run(grown.tables, place, {documents.name: lines, REPORT: page(grown)})
    if as_json:
        say_json(interference.table().to_json(orient="records"))
    else:
        TextConsole().print(
            interference_screen(interference, metric or experiment.measure.select_by)
        )
        for place in runs:
            say(f"written: {place}")
