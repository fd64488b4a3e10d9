"""Judged: what clicks say of every document, as a folder of judgements that the lab reads, and what
further clicks change of it."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import isfinite, nan
from pathlib import Path

from lab.corpus.lines import read_text
from lab.corpus.values import number
from lab.errors import UsageError
from lab.storage.folder import replacing
from lab.usage.clicks.counts import question_key
from lab.usage.clicks.relevance import MODELS, Clicked
from lab.usage.log import Asked

RELEVANCE, EXPOSURE = "relevance.csv", "exposure.csv"
COLUMNS = ("query_id", "query", "doc_id", "shown", "clicks", "relevance", "low", "high", "grade")
ORIGIN = "clicks"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One document for one question. `low` and `high` are NaN after an update, which knows no
    interval."""

    query: str
    doc_id: str
    shown: int
    clicks: int
    relevance: float
    low: float = nan
    high: float = nan


@dataclass(frozen=True, slots=True)
class Judged:
    """All judgements of a model, by question and document, and the `exposure` of every rank from 1:
    how likely a relevant hit is clicked there."""

    model: str
    exposure: tuple[float, ...]
    judgements: tuple[Judgement, ...]


def judged(found: Clicked) -> Judged:
    """The plain values of what a model made of counts."""
    counts = found.counts
    columns = (
        counts.by_pair(counts.shown),
        counts.by_pair(counts.clicked),
        found.relevance,
        found.low,
        found.high,
    )
    rows = zip(counts.pairs, *(column.tolist() for column in columns), strict=True)
    judgements = (
        Judgement(query, doc_id, int(shown), int(clicks), value, low=low, high=high)
        for (query, doc_id), shown, clicks, value, low, high in rows
    )
    return Judged(found.model, tuple(found.exposure.tolist()), tuple(judgements))


def updated(earlier: Judged, log: Iterable[Asked], rate: float) -> Judged:
    """After every impression new = old + rate x (click - expected), where expected = exposure of
    the rank x old, and a click is 1; in the order of time (lines without one first); kept
    within 0 and 1 but for `coec`, which has no upper end. A document that is new begins at the
    mean of all. Ranks without exposure teach nothing."""
    known = {(question_key(each.query), each.doc_id): each for each in earlier.judgements}
    first = {question_key(each.query): each.query for each in earlier.judgements}
    mean = sum(each.relevance for each in known.values()) / max(len(known), 1)
    most = float("inf") if earlier.model == "coec" else 1.0
    for one in sorted(
        log, key=lambda one: (one.time is not None, one.time and one.time.timestamp())
    ):
        key = question_key(one.query)
        query = first.setdefault(key, one.query)
        for rank, doc_id in enumerate(one.hits[: len(earlier.exposure)], start=1):
            before = known.get((key, doc_id)) or Judgement(query, doc_id, 0, 0, mean)
            click = rank in one.clicks
            expected = earlier.exposure[rank - 1] * before.relevance
            after = min(max(before.relevance + rate * (click - expected), 0.0), most)
            counted = before.shown + 1, before.clicks + click
            known[key, doc_id] = Judgement(query, doc_id, *counted, after)
    return replace(earlier, judgements=tuple(known[pair] for pair in sorted(known)))


def _moment(one: Asked) -> float:
    return 0.0 if one.time is None else one.time.timestamp()


def grade(relevance: float, thresholds: Sequence[float]) -> int:
    """How many of the ascending thresholds the relevance reaches."""
    return sum(relevance >= threshold - 1e-12 for threshold in thresholds)


def query_id(query: str) -> str:
    """The id of a question, which its folded text gives."""
    return f"clicks-{sha256(question_key(query).encode()).hexdigest()[:10]}"


def write_judged(folder: Path, found: Judged, thresholds: Sequence[float]) -> dict[int, int]:
    """Write a new folder: `queries.jsonl` and `qrels/test.tsv` as BEIR has them, every question
    tagged `origin: clicks`; `relevance.csv` with every figure; `exposure.csv`. Gives the number of
    judgements of each grade. Raises UsageError when the folder exists."""
    if folder.exists():
        raise UsageError(f"{folder}: exists; name a new folder with --out")
    grades = [grade(each.relevance, thresholds) for each in found.judgements]
    queries = sorted({each.query for each in found.judgements})
    lines = ({"_id": query_id(q), "text": q, "tags": {"origin": ORIGIN}} for q in queries)
    rows = [
        [query_id(each.query), each.query, each.doc_id, each.shown, each.clicks]
        + [_cell(value) for value in (each.relevance, each.low, each.high)]
        + [level]
        for each, level in zip(found.judgements, grades, strict=True)
    ]
    exposure = [[found.model, rank, _cell(e)] for rank, e in enumerate(found.exposure, start=1)]
    try:
        with replacing(folder) as fresh:
            (fresh / "qrels").mkdir()
            texts = {
                "queries.jsonl": "".join(json.dumps(x, ensure_ascii=False) + "\n" for x in lines),
                "qrels/test.tsv": "query-id\tcorpus-id\tscore\n"
                + "".join(f"{row[0]}\t{row[2]}\t{row[-1]}\n" for row in rows),
                RELEVANCE: _csv(COLUMNS, rows),
                EXPOSURE: _csv(("model", "rank", "exposure"), exposure),
            }
            for name, text in texts.items():
                (fresh / name).write_text(text, "utf-8")
    except OSError as fault:
        raise UsageError(f"{folder}: cannot be written ({fault.strerror})") from None
    return {level: grades.count(level) for level in range(len(thresholds) + 1)}


def _cell(value: float) -> str:
    return "" if value != value else repr(round(value, 9))


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def read_judged(folder: Path) -> Judged:
    """Read what `write_judged` wrote. Raises UsageError with every row that is wrong."""
    problems: list[str] = []
    exposure = list(_rows(folder / EXPOSURE, ("model", "rank", "exposure"), problems))
    judgements = []
    for place, row in _rows(folder / RELEVANCE, COLUMNS, problems):
        shown, clicks, relevance = (number(row[name]) for name in ("shown", "clicks", "relevance"))
        if shown is None or clicks is None or relevance is None or relevance < 0:
            problems.append(f"{place}: expected numbers from 0 as shown, clicks and relevance")
            continue
        ends = (number(row[name]) for name in ("low", "high"))
        low, high = (nan if end is None else float(end) for end in ends)
        judgements.append(
            Judgement(
                row["query"],
                row["doc_id"],
                int(shown),
                int(clicks),
                float(relevance),
                low=low,
                high=high,
            )
        )
    models = {row["model"] for _, row in exposure}
    values = [number(row["exposure"]) for _, row in exposure]
    if not problems and (len(models) != 1 or not models <= set(MODELS) or None in values):
        problems.append(f"{folder / EXPOSURE}: expected one of {', '.join(MODELS)} and numbers")
    if problems:
        raise UsageError(problems)
    chances = tuple(float(value) for value in values if value is not None and isfinite(value))
    return Judged(models.pop(), chances, tuple(judgements))


def _rows(
    file: Path, columns: Sequence[str], problems: list[str]
) -> Iterator[tuple[str, Mapping[str, str]]]:
    try:
        text = read_text(file, UsageError)
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        if tuple(reader.fieldnames or ()) != tuple(columns):
            problems.append(f"{file}: expected the columns {', '.join(columns)} of `lab clicks`")
            return
        for row in reader:
            if None in row.values() or None in row:
                problems.append(f"{file}:{reader.line_num}: expected {len(columns)} cells")
            else:
                yield f"{file}:{reader.line_num}", row
    except UsageError as fault:
        problems.extend(fault.problems)
    except csv.Error as fault:
        problems.append(f"{file}: not CSV ({fault})")
