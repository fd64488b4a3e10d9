"""Bringing labels back: a new set folder with what was judged, by whom and why; the user's own
files stay as they are."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.corpus.document import Corpus
from lab.errors import DiagnosticsError, nearest
from lab.relevance.evidence import GRADES
from lab.relevance.locate import find_quote
from lab.relevance.query import Query
from lab.relevance.read import read_diagnostics
from lab.sets.pool.sheet import Label, labels_csv, read_labels
from lab.storage.folder import replacing

# Labels with annotator and reason, beside the set that they became part of.
LABELS = "labels.csv"


@dataclass(frozen=True, slots=True)
class Merged:
    """Where the new set lies, how many labels say relevant and how many do not, and the questions
    that have evidence now and had none."""

    folder: Path
    relevant: int
    irrelevant: int
    answered: tuple[str, ...]


def merge(
    labels: Sequence[Label],
    sets: Sequence[Path],
    queries: Sequence[Query],
    corpus: Corpus,
    unit: str,
    folder: Path,
) -> Merged:
    """Write the sets with the labels into a new `folder`: files of the same names, each line as it
    was but for its evidence; the judgements of a BEIR folder as `qrels/test.tsv`; all labels, those
    of earlier merges first, as `labels.csv`.

    A label of documents is a judgement, 0 among them. One of spans with a grade from 1 is evidence:
    the marked span, as an alternative of the piece where the question has one piece, else a piece
    of its own, or as `counts` says. Raises DiagnosticsError with everything that cannot be merged,
    pairs that two annotators judged differently among it, and when the folder exists.
    """
    if folder.exists():
        raise DiagnosticsError(f"{folder}: exists; name a new folder with --out")
    asked = {query.query_id: query for query in queries}
    problems = [*_contradictions(labels), *_misfits(labels, asked, corpus, unit)]
    if not labels:
        problems.append("no row has a grade, so there is nothing to merge")
    if problems:
        raise DiagnosticsError(problems)
    by_query: dict[str, list[Label]] = {}
    for label in {
        (each.query_id, each.item, _span(each, corpus)): each for each in labels
    }.values():
        by_query.setdefault(label.query_id, []).append(label)
    earlier: list[Label] = []
    with replacing(folder) as fresh:
        for number, path in enumerate(sets, start=1):
            place = fresh if len(sets) == 1 else fresh / f"{number}-{path.stem}"
            place.mkdir(exist_ok=True)
            _write_set(path, place, by_query, corpus, unit)
            read_diagnostics(place, corpus)  # what cannot be read again is not written
            earlier += _beside(path)
        (fresh / LABELS).write_text(labels_csv(dict.fromkeys([*earlier, *labels])), "utf-8")
    relevant = [label for label in labels if label.grade > 0]
    answered = {each.query_id for each in relevant if not asked[each.query_id].evidence}
    return Merged(folder, len(relevant), len(labels) - len(relevant), tuple(sorted(answered)))


def earlier_labels(sets: Iterable[Path]) -> dict[str, set[tuple[str, int | None, int | None]]]:
    """What the labels beside the sets judged, by question: things that need not be asked again."""
    labelled: dict[str, set[tuple[str, int | None, int | None]]] = {}
    for path in sets:
        for label in _beside(path):
            thing = label.doc_id, label.start, label.end
            labelled.setdefault(label.query_id, set()).add(thing)
    return labelled


def _beside(path: Path) -> tuple[Label, ...]:
    """Labels of earlier merges: they lie in the set's folder, or above where several sets are."""
    folder = path if path.is_dir() else path.parent
    file = next((f / LABELS for f in (folder, folder.parent) if (f / LABELS).is_file()), None)
    return read_labels(file) if file is not None else ()


def _contradictions(labels: Iterable[Label]) -> Iterable[str]:
    first: dict[tuple[str, str], Label] = {}
    for label in labels:
        other = first.setdefault((label.query_id, label.item), label)
        if other.grade != label.grade:
            yield (
                f"{label.place}: {label.query_id}, {label.item} has grade {label.grade} here and "
                f"{other.grade} at {other.place}; keep one (`lab agree` compares two sheets)"
            )


def _misfits(
    labels: Iterable[Label], asked: Mapping[str, Query], corpus: Corpus, unit: str
) -> Iterable[str]:
    for label in labels:
        query = asked.get(label.query_id)
        if query is None:
            yield f"{label.place}: no question '{label.query_id}'{nearest(label.query_id, asked)}"
        elif label.doc_id not in corpus:
            known = nearest(label.doc_id, corpus.position)
            yield f"{label.place}: no document '{label.doc_id}'{known}"
        elif unit == "document":
            before = {item.doc_id: item.grade for item in query.evidence}.get(label.doc_id)
            if before is not None and before != label.grade:
                yield (
                    f"{label.place}: {label.query_id}, {label.doc_id} has grade {label.grade} here "
                    f"and {before} in the set; mend the set, or leave the row out"
                )
        elif label.grade > 0:
            yield from _unmarked(label, corpus)
            if label.counts == "alternative" and len(query.pieces) > 1:
                yield (
                    f"{label.place}: counts is 'alternative', but {label.query_id} has "
                    f"{len(query.pieces)} pieces of evidence; to which? write 'needed', or add it "
                    "to the set by hand"
                )


def _unmarked(label: Label, corpus: Corpus) -> Iterable[str]:
    """What is wrong with the evidence that a label marks."""
    if label.grade not in GRADES:
        yield f"{label.place}: grade is {label.grade}; expected 0, or 1 to 3 for evidence"
    text = corpus[label.doc_id].text
    span = _span(label, corpus)
    if span is None:
        yield (
            f"{label.place}: {label.item} has grade {label.grade}, but no evidence is "
            "marked in it; fill 'quote' with the words that answer; they must stand there once"
        )
    elif not (0 <= span[0] < span[1] <= len(text) and text[slice(*span)].strip()):
        yield f"{label.place}: evidence {span[0]}-{span[1]} is no text of '{label.doc_id}'"
    elif label.quote and label.evidence and text[slice(*span)] != label.quote:
        yield f"{label.place}: the text at {span[0]}-{span[1]} is not the quote {label.quote!r}"


def _span(label: Label, corpus: Corpus) -> tuple[int, int] | None:
    """The marked evidence: its offsets, or where its quote stands once, in what was judged."""
    if label.evidence is not None or not label.quote.strip() or label.doc_id not in corpus:
        return label.evidence
    text = corpus[label.doc_id].text
    low, high = label.start or 0, len(text) if label.end is None else label.end
    inside = [span for span in find_quote(text, label.quote) if low <= span[0] and span[1] <= high]
    return inside[0] if len(inside) == 1 else None


def _write_set(
    path: Path, fresh: Path, by_query: Mapping[str, list[Label]], corpus: Corpus, unit: str
) -> None:
    """Write one set with its labels."""
    if (path / "qrels").is_dir():
        (fresh / "queries.jsonl").write_bytes((path / "queries.jsonl").read_bytes())
        (fresh / "qrels").mkdir()
        qrels = (path / "qrels" / "test.tsv").read_text("utf-8")
        known = {tuple(line.split("\t")[:2]) for line in qrels.splitlines()}
        rows = [
            f"{query_id}\t{label.doc_id}\t{label.grade}\n"
            for query_id, labels in by_query.items()
            for label in labels
            if (query_id, label.doc_id) not in known
        ]
        end = "" if not qrels or qrels.endswith("\n") else "\n"
        (fresh / "qrels" / "test.tsv").write_text(qrels + end + "".join(rows), "utf-8")
    else:
        for file in [path] if path.is_file() else sorted(path.glob("*.jsonl")):
            lines = file.read_text("utf-8-sig").splitlines(keepends=True)
            written = "".join(_line(line, by_query, corpus, unit) for line in lines)
            (fresh / file.name).write_text(written, "utf-8")


def _line(line: str, by_query: Mapping[str, list[Label]], corpus: Corpus, unit: str) -> str:
    """A line of a set, with its question's labels among the evidence."""
    record = json.loads(line) if line.strip() else {}
    labels = by_query.get(record.get("query_id", ""), [])
    if not labels:
        return line
    record["evidence"] = (
        _documents(record.get("evidence", []), labels)
        if unit == "document"
        else _spans(record.get("evidence", []), labels, corpus)
    )
    return json.dumps(record, ensure_ascii=False) + "\n"


def _documents(evidence: Sequence[dict[str, Any]], labels: Iterable[Label]) -> list[dict[str, Any]]:
    known = {item["doc_id"] for item in evidence}
    fresh = [label for label in labels if label.doc_id not in known]
    return [*evidence, *({"doc_id": label.doc_id, "grade": label.grade} for label in fresh)]


def _spans(
    evidence: Sequence[dict[str, Any]], labels: Sequence[Label], corpus: Corpus
) -> list[dict[str, Any]]:
    items = [dict(item) for item in evidence]
    groups = {item.get("group", f" {place}") for place, item in enumerate(items)}
    for label in labels:
        span = _span(label, corpus) if label.grade > 0 else None
        if span is None:
            continue
        start, end = span
        quote = corpus[label.doc_id].text[start:end]
        fresh = {"doc_id": label.doc_id, "start": start, "end": end, "quote": quote}
        fresh["grade"] = label.grade
        if label.counts != "needed" and len(groups) == 1:
            name = items[0].get("group", "labelled")
            items = [item | {"group": name} for item in items]
            fresh["group"] = name
        items.append(fresh)
    return items
