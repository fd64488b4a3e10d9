"""Commands about use: `lab watch` looks for drift in a log, `lab clicks` makes judgements of
clicks, `lab online` compares two versions that users met."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.options import AsJson, CorpusPath, SystemName

# Exit code when the input is right and the finding is negative.
NEGATIVE_FINDING = 1

Logs = Annotated[
    list[Path],
    typer.Argument(
        help="Log of JSON lines: ts, query, hits, clicks, satisfaction; or ubi_queries and "
        "ubi_events of OpenSearch."
    ),
]
Action = Annotated[str, typer.Option(help="Which events of ubi_events are clicks.")]


def watch(
    log: Logs,
    run: Annotated[Path, typer.Option(help="Run folder whose questions the log is held against.")],
    system: SystemName = None,
    sample: Annotated[int, typer.Option(min=1, help="Lines of the log to look at.")] = 500,
    seed: Annotated[int, typer.Option(help="Which lines, and how labels are permuted.")] = 0,
    gaps: Annotated[
        Path | None, typer.Option(help="New file (.jsonl) for the questions that the set lacks.")
    ] = None,
    into: Annotated[
        bool, typer.Option("--into", help="Keep the finding in the run folder, for lab report.")
    ] = False,
    action: Action = "click",
    corpus: CorpusPath = None,
    as_json: AsJson = False,
) -> None:
    """Hold a log of questions against a run's set: wording, topics, what the retriever says of
    itself, and what the set does not ask. E-mail addresses and long numbers are masked first. Exit
    code 1 if log and set are told apart (5 % for all comparisons together)."""
    from lab.errors import UsageError
    from lab.report.screens.console import TextConsole, say, say_json
    from lab.report.screens.progress import TerminalProgress
    from lab.report.screens.watch import watch_screen
    from lab.runs.load import RECOMMENDED, load
    from lab.runs.run import read_run
    from lab.usage.log import read_log
    from lab.usage.watch import watch as compare
    from lab.usage.written import drift_record, write_drift, write_gaps

    if gaps is not None and gaps.exists():
        raise UsageError(f"{gaps}: exists; name a new file with --gaps")
    asked = read_log(log, action)
    opened = read_run(run, corpus)
    with TerminalProgress(TextConsole(stderr=True)) as progress:
        searcher = load(opened, system or RECOMMENDED, progress=progress)
        watched = compare(searcher, opened.queries, asked, sample, seed)
    if as_json:
        say_json(drift_record(watched))
    else:
        TextConsole().print(watch_screen(watched))
    if gaps is not None:
        written = write_gaps(gaps, watched)
        say(f"written: {gaps}, {written} questions to label", err=as_json)
    if into:
        write_drift(run, watched)
        say(f"kept in {run}; lab report {run} shows it", err=as_json)
    if watched.drifted:
        raise typer.Exit(NEGATIVE_FINDING)


def clicks(
    log: Logs,
    out: Annotated[
        Path, typer.Option(help="New folder: queries.jsonl, qrels/test.tsv, relevance.csv.")
    ],
    model: Annotated[
        str,
        typer.Option(
            help="pbm: examination by rank is learned; ctr: clicks over impressions; coec: clicks "
            "over those expected at their ranks."
        ),
    ] = "pbm",
    grades: Annotated[
        str | None,
        typer.Option(
            help="Relevance from which grades 1, 2 ... are given; 0.1,0.3,0.6 by default, with "
            "coec 0.5,1,2."
        ),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="Hits of a line that are counted.")] = 10,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Folder of an earlier lab clicks, which this log brings up to date."
        ),
    ] = None,
    rate: Annotated[
        float, typer.Option(help="With --from: new = old + RATE x (click - expected).")
    ] = 0.05,
    action: Action = "click",
    as_json: AsJson = False,
) -> None:
    """Make judgements of clicks: how relevant every document shown ten times is, with its interval,
    and grades by thresholds. Refused where a model cannot be told from such clicks."""
    from lab.report.screens.clicks import clicks_record, clicks_screen
    from lab.report.screens.console import TextConsole, say_json
    from lab.usage.clicks.asked import judge, settings_of
    from lab.usage.clicks.judged import read_judged, write_judged
    from lab.usage.log import read_log

    settings = settings_of(model, grades, depth, rate, out)
    earlier = None if start is None else read_judged(start)
    found = judge(read_log(log, action), settings, earlier)
    given = write_judged(out, found, settings.thresholds)
    if as_json:
        say_json(clicks_record(found, given, out))
    else:
        TextConsole().print(clicks_screen(found, given, settings.thresholds, out))


def online(
    a: Annotated[Path, typer.Argument(help="CSV of the version in force: a row a request.")],
    b: Annotated[Path, typer.Argument(help="CSV of the new version, with the same columns.")],
    share: Annotated[float, typer.Option(help="Share of users that were planned for B.")] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Compare two versions that users met: latency_ms or latency_seconds, score and satisfaction
    (by `user` where rows have one), with intervals that hold however often one looks. Exit code 1
    if B is worse, or users were not assigned as planned."""
    from lab.report.screens.console import TextConsole, say_json
    from lab.report.screens.online import online_record, online_screen
    from lab.usage.online import online as compare
    from lab.usage.online import read_arms

    found = compare(*read_arms(a, b), share)
    if as_json:
        say_json(online_record(found))
    else:
        TextConsole().print(online_screen(found))
    if found.negative:
        raise typer.Exit(NEGATIVE_FINDING)
