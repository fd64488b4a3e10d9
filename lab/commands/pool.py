"""`lab pool`: asking people where their labels decide, and bringing the labels back."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.options import AsJson


def pool(
    run: Annotated[
        Path | None, typer.Argument(help="Run folder; a sheet to merge names its own.")
    ] = None,
    budget: Annotated[int, typer.Option(min=1, help="Pairs to label.")] = 50,
    merge: Annotated[
        list[Path] | None,
        typer.Option(help="Labelled sheet (CSV) to bring back into the set; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for sheet and page, RUN/pool by default; with --merge the set."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Pick the pairs whose label could most change the choice among the systems that are not told
    apart, as a sheet and a labelling page; or merge labels into a copy of the set."""
    from lab.errors import RunError

    if merge:
        _merge(run, merge, out, as_json)
    elif run is None:
        raise RunError("no run is named; expected `lab pool RUN` or `lab pool --merge FILE`")
    else:
        _pick(run, budget, out or run / "pool", as_json)


def _pick(run: Path, budget: int, out: Path, as_json: bool) -> None:
    from lab.report.screens.console import say, say_json
    from lab.runs.pool import Source, candidates, pick
    from lab.runs.run import read_run
    from lab.sets.pool.merge import earlier_labels
    from lab.sets.pool.page import labelling_page
    from lab.sets.pool.sheet import sheet, write_sheet

    opened = read_run(run)
    manifest, sets = opened.manifest, opened.sets
    unit = manifest["unit"]
    source = Source(
        opened.tables.rankings, opened.queries, opened.corpus, unit, earlier_labels(sets)
    )
    systems = candidates(opened.tables)
    picked = pick(source, systems, manifest["conclusions"]["select_by"], budget)
    grades = [item.grade for query in opened.queries for item in query.evidence]
    most = max(1, min(max(grades, default=1), 9)) if unit == "document" else 3
    place = str(run.resolve())
    page = labelling_page(picked.pairs, place, most, spans=unit == "evidence")
    write_sheet(out, sheet(picked.pairs, place), page)
    if as_json:
        pairs = [[p.query_id, p.doc_id, p.start, p.end] for p in picked.pairs]
        record = {"systems": picked.systems, "metric": picked.metric, "pairs": pairs}
        say_json(record | {"folder": str(out)})
        return
    say(
        f"{len(picked.pairs)} of {picked.unjudged} unjudged pairs among the first hits of "
        f"{len(picked.systems)} systems that {picked.metric} does not tell apart; the label of "
        f"{picked.telling} could"
    )
    say(f"written: {out / 'sheet.csv'}, and {out / 'label.html'} to label by keyboard")


def _merge(run: Path | None, files: list[Path], out: Path | None, as_json: bool) -> None:
    from lab.errors import RunError
    from lab.report.screens.console import say, say_json
    from lab.runs.run import read_run
    from lab.sets.pool.merge import merge
    from lab.sets.pool.sheet import read_labels

    labels = [label for file in files for label in read_labels(file)]
    if not labels:
        raise RunError(f"{file}: no row has a grade: nothing to merge" for file in files)
    named = sorted({label.run for label in labels if label.run})
    if run is None and len(named) != 1:
        raise RunError(
            f"the sheets name {len(named)} runs; name the run: `lab pool RUN --merge FILE`"
        )
    place = run or Path(named[0])
    opened = read_run(place)
    manifest, sets = opened.manifest, opened.sets
    folder = out or place / "pool" / "set"
    merged = merge(labels, sets, opened.queries, opened.corpus, manifest["unit"], folder)
    if as_json:
        record = {
            "folder": str(folder),
            "relevant": merged.relevant,
            "irrelevant": merged.irrelevant,
        }
        say_json(record)
        return
    say(f"labels: {merged.relevant} relevant, {merged.irrelevant} not relevant")
    if merged.answered:
        say(f"questions that have evidence now: {', '.join(merged.answered)}")
    say(
        f"written: {folder}, a new set; name it in the experiment file instead of "
        f"{', '.join(map(str, sets))}, which is as it was"
    )
