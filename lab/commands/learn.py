"""Commands that learn from failures: `lab mine`, `lab train`."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.decide import NEGATIVE
from lab.commands.options import AsJson, CorpusPath

# Where a trained folder stands in a grid.
USED = {
    "encoder": "model ([dense] model)",
    "reranker": "rerank_model ([rerank] model)",
    "sparse": "no setting of this version, which has no learned sparse leg",
}


def mine(
    run: Annotated[Path, typer.Argument(help="Run folder of open questions.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write or replace; RUN/mined by default.")
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help="System; the recommended and every mode's best by default; repeats."),
    ] = None,
    found: Annotated[
        bool,
        typer.Option("--found", help="The other hits of evidence that was not missed as well."),
    ] = False,
    teacher: Annotated[
        str | None,
        typer.Option(help="Reranker that leaves out likely answers; maxsim by default."),
    ] = None,
    sealed: Annotated[
        list[Path] | None,
        typer.Option(help="Set of sealed questions beside those of the sets; may be repeated."),
    ] = None,
    corpus: CorpusPath = None,
    as_json: AsJson = False,
) -> None:
    """Mine hard negatives: hits above evidence that systems missed, without likely answers and
    without anything that is sealed."""
    from lab.learning.mine import Mine, mined_systems, teacher_of
    from lab.learning.mined import check_place, write_mined
    from lab.learning.sealed import sealed_of
    from lab.learning.teacher import teacher_scores
    from lab.report.screens.console import TextConsole, say, say_json
    from lab.report.screens.learning import mined_json, mined_screen
    from lab.report.screens.progress import TerminalProgress
    from lab.runs.load import resources_of
    from lab.runs.run import read_run

    place = out or run / "mined"
    check_place(place)
    opened = read_run(run, corpus)
    names = mined_systems(opened, system or ())
    with TerminalProgress(TextConsole(stderr=True)) as progress:
        resources = resources_of(None, progress, None, None)
        name = teacher or teacher_of(opened, names)
        score = teacher_scores(name, resources)
        mined = Mine(opened, names, sealed_of(opened, sealed or ()), found).examples(name, score)
    write_mined(mined, place)
    if as_json:
        say_json(mined_json(mined, place))
        return
    TextConsole().print(mined_screen(mined, opened.labels))
    say(f"written: {place}; lab train encoder --from {place} learns from it")


def train(
    kind: Annotated[str, typer.Argument(help="encoder, reranker or sparse.")],
    source: Annotated[
        list[Path], typer.Option("--from", help="Folder that lab mine wrote; may be repeated.")
    ],
    model: Annotated[
        str | None, typer.Option(help="Model to start from; the sweep's default model by default.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Model folder to write or replace; models/KIND by default.")
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(help="encoder: ranking, triplet; reranker: bce, lambda; sparse: splade."),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Times through the examples, at most.")] = 1,
    batch: Annotated[int, typer.Option(min=2, help="Examples a step.")] = 16,
    learning_rate: Annotated[float, typer.Option(help="Largest step of the optimizer.")] = 2e-5,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn.")] = 0,
    verdict: Annotated[
        bool, typer.Option("--verdict", help="Judge trained and untrained on sealed questions.")
    ] = False,
    second: Annotated[
        list[Path] | None,
        typer.Option(help="Run of another set, for what was forgotten; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on mined examples; the folder is a value of `model` or `rerank_model`. With
    --verdict exit code 1 where the trained one is worse."""
    from dataclasses import asdict

    from lab.errors import ConfigError, nearest
    from lab.learning.card import write_card
    from lab.learning.mined import read_mined
    from lab.learning.train import check_model_place
    from lab.learning.train import train as train_model
    from lab.learning.training import LOSSES, Training, check_together
    from lab.learning.verdict import asked_of, judge, lines_of
    from lab.report.screens.console import TextConsole, say, say_json
    from lab.report.screens.learning import trained_screen, verdict_json, verdict_screen
    from lab.report.screens.progress import TerminalProgress
    from lab.retrieval.config import DEFAULT_MODEL

    base = model or DEFAULT_MODEL
    if kind not in LOSSES:
        raise ConfigError(f"'{kind}' cannot be trained{nearest(kind, LOSSES)}")
    training = Training(
        kind, base, loss or LOSSES[kind][0], epochs, batch, learning_rate, seed=seed
    )
    place = out or Path("models", kind)
    check_model_place(place)
    sources = {path: read_mined(path) for path in dict.fromkeys(source)}
    check_together(sources)
    asked = asked_of(kind, base, place, sources, second or ()) if verdict else []
    with TerminalProgress(TextConsole(stderr=True)) as progress:
        record = train_model(training, sources, place, progress)
        judged = [judge(one, progress) for one in asked]
    lines = lines_of(judged) if judged else []
    if lines:
        record["verdict"] = [asdict(line) for line in lines]
        write_card(place, record)
    if as_json:
        say_json(verdict_json(record, judged, place))
    else:
        console = TextConsole()
        console.print(trained_screen(record))
        if judged:
            console.print(verdict_screen(judged, lines))
        say(f"written: {place}; a value of {USED[kind]}")
    raise typer.Exit(NEGATIVE if any(line.verdict == "worse" for line in lines) else 0)
