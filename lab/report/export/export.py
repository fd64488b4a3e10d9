"""Exports: a run as files that other tools read, each format by its name."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.config.config import Config
from lab.config.rows import is_absent
from lab.errors import ConfigError, RunError, nearest
from lab.pipeline.hosted.connected import connect
from lab.pipeline.resources import Resources
from lab.report.export.elasticsearch import elasticsearch_files
from lab.report.export.engines import Vectors, legs
from lab.report.export.latex import latex_files
from lab.report.export.opensearch import opensearch_files
from lab.report.export.paper import markdown
from lab.report.export.trec import ranx_files, trec_files
from lab.runs.config_file import experiment_file
from lab.runs.load import config_of
from lab.runs.run import Run
from lab.storage.cache import Cache, default_cache_path

if TYPE_CHECKING:
    import pandas as pd

# What a spreadsheet takes for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
# The one format whose files are no text.
FIGURES = "figures"
# Name of a file inside the export -> its text.
Files = Iterator[tuple[str, str]]


def export(
    run: Run,
    to: str,
    folder: Path,
    systems: Sequence[str] = (),
    metrics: Sequence[str] = (),
) -> list[Path]:
    """Write a run in one format and name the files. `systems`, by full or short names, and
    `metrics` are the rows and columns of tables for papers, by default all; formats of one system
    take one, by default the recommended one. Raises ConfigError for an unknown format, names that
    it does not take, or a system that it cannot say; RunError for an unknown system or metric, and
    when the folder cannot be written."""
    _check(to, systems, metrics)
    one = run.tables.named(systems[0] if systems else run.recommended)
    written = []
    try:
        if to == FIGURES:
            return _figures(run, folder)
        if to in PAPER:
            files = PAPER[to](run, systems, metrics)
        else:
            files = FORMATS[to](run) if to in FORMATS else ONE_SYSTEM[to](run, one)
        for name, text in files:
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            # Spreadsheet programs take a file without a mark for their own encoding.
            encoding = "utf-8-sig" if place.suffix == ".csv" else "utf-8"
            place.write_text(text, encoding, newline="")
            written.append(place)
    except OSError as fault:
        raise RunError(f"{folder}: cannot be written ({fault.strerror})") from None
    return written


def _check(to: str, systems: Sequence[str], metrics: Sequence[str]) -> None:
    """Raises ConfigError for what `export` cannot do."""
    known = [*FORMATS, *PAPER, FIGURES, *ONE_SYSTEM]
    if to not in known:
        raise ConfigError(f"--to '{to}'{nearest(to, known)}")
    if systems and to not in (*PAPER, *ONE_SYSTEM):
        formats = ", ".join((*PAPER, *ONE_SYSTEM))
        raise ConfigError(f"--system goes with --to {formats}; '{to}' writes every system")
    if len(systems) > 1 and to in ONE_SYSTEM:
        raise ConfigError(f"--system is given {len(systems)} times; --to {to} writes one system")
    if metrics and to not in PAPER:
        raise ConfigError(f"--metric goes with --to {', '.join(PAPER)}; '{to}' writes every metric")


def _figures(run: Run, folder: Path) -> list[Path]:
    """Every plot of the report as SVG, PDF and PNG, with its data."""
    from lab.report.figures.doses import read_doses
    from lab.report.figures.every import all_plots
    from lab.report.figures.plot import FILES

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for plot in all_plots(run, read_doses(run.inputs.folder) if run.inputs.folder else None):
        paths = [folder / f"{plot.key}.{ending}" for ending in FILES]
        plot.save(*paths)
        data = folder / f"{plot.key}.csv"
        rows = plot.table.astype(object).itertuples(index=False, name=None)
        data.write_text(csv_text(plot.table.columns, rows), "utf-8-sig", newline="")
        written += [*paths, data]
    return written


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Comma separated, CRLF, quoted where needed; text that a spreadsheet would run gets a leading
    apostrophe."""
    lines: list[str] = []

    class Sink:
        write = lines.append

    writer = csv.writer(Sink)
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return "".join(lines)


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if is_absent(value) else value


def _csv(run: Run) -> Files:
    """Every table of the run; scores with a column a metric."""
    names = ("systems", "questions", "evidence", "rankings")
    tables = {name: getattr(run.tables, name) for name in names}
    tables["scores"] = wide_scores(run)
    for name, table in tables.items():
        plain = table.astype(
            {column: object for column in table.columns if table[column].dtype.name == "category"}
        )
        yield f"{name}.csv", csv_text(plain.columns, plain.itertuples(index=False, name=None))


def wide_scores(run: Run) -> "pd.DataFrame":
    """A row a system and question, a column a metric."""
    plain = run.tables.scores.astype({"system": str, "query_id": str, "metric": str})
    metrics = list(dict.fromkeys(plain["metric"]))
    wide = plain.pivot_table(
        index=["system", "query_id"], columns="metric", values="value", sort=False, dropna=False
    )
    return wide.reindex(columns=metrics).reset_index().rename_axis(None, axis=1)


def _jsonl(run: Run) -> Files:
    """One line a system and question: scores, the rank at which each piece was complete, and the
    first hits with every stage."""
    kinds = run.tables.questions.set_index("query_id")["kind"].to_dict()
    pieces = _by_question(run.tables.evidence)
    rankings = run.tables.rankings
    hits = _by_question(rankings[rankings["rank"] > 0].sort_values("rank", kind="stable"))
    lines = []
    for row in wide_scores(run).to_dict("records"):
        key = row.pop("system"), row.pop("query_id")
        scores = {metric: None if is_absent(value) else value for metric, value in row.items()}
        found = {"evidence": pieces.get(key, []), "hits": hits.get(key, [])}
        line = {
            "system": key[0],
            "query_id": key[1],
            "kind": kinds[key[1]],
            "scores": scores,
            **found,
        }
        lines.append(json.dumps(line, ensure_ascii=False))
    yield "questions.jsonl", "\n".join(lines) + "\n"


def _by_question(table: "pd.DataFrame") -> dict[tuple[str, str], list[dict[str, Any]]]:
    """(system, question) -> rows as plain values, without what is absent."""
    names = [name for name in table.columns if name not in ("system", "query_id")]
    columns = [table[name].tolist() for name in names]
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for system, query_id, *values in zip(
        table["system"].tolist(), table["query_id"].tolist(), *columns, strict=True
    ):
        row = {
            name: value for name, value in zip(names, values, strict=True) if not is_absent(value)
        }
        found.setdefault((system, query_id), []).append(row)
    return found


def _config(run: Run, system: str) -> Files:
    yield "experiment.toml", experiment_file(run, system)


def _opensearch(run: Run, system: str) -> Files:
    config = config_of(run, system)
    return opensearch_files(config, _vectors(run, config))


def _elasticsearch(run: Run, system: str) -> Files:
    config = config_of(run, system)
    return elasticsearch_files(config, _vectors(run, config))


def _vectors(run: Run, config: Config) -> Vectors | None:
    """What the model's vectors are like, by one that it makes."""
    if config.dense is None or not legs(config)[1]:
        return None
    resources = Resources(Cache(default_cache_path()))
    connect(run.manifest.get("hosted", {}), resources)
    made = resources.embed(config.dense.encoder, "query", ["dimension"])
    return Vectors(made.shape[1], resources.similarity(config.dense))


def _markdown(run: Run, systems: Sequence[str], metrics: Sequence[str]) -> Files:
    yield "systems.md", markdown(run, systems, metrics)


FORMATS: dict[str, Callable[[Run], Files]] = {
    "csv": _csv,
    "trec": trec_files,
    "ranx": ranx_files,
    "jsonl": _jsonl,
}
# Tables of the systems and metrics that a paper shows.
PAPER: dict[str, Callable[[Run, Sequence[str], Sequence[str]], Files]] = {
    "markdown": _markdown,
    "latex": latex_files,
}
# Those that are about a single system.
ONE_SYSTEM: dict[str, Callable[[Run, str], Files]] = {
    "config": _config,
    "opensearch": _opensearch,
    "elasticsearch": _elasticsearch,
}
