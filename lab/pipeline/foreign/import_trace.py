"""`lab import TRACE`: a trace becomes a run file with stages, by the ids of a set's questions."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.corpus.lines import read_records
from lab.errors import ConfigError, CorpusError, counted, nearest
from lab.pipeline.foreign.reply import KINDS
from lab.pipeline.foreign.traced import Traced, read_trace

STAGES = "stages.jsonl"


@dataclass(frozen=True, eq=False)
class ImportedTrace:
    """The run file that was written, its questions, and what must be known to read it."""

    file: Path
    questions: int
    stages: Mapping[tuple[str, str], int]
    notes: tuple[str, ...]


def import_trace(
    source: Path,
    to: Path,
    questions: Sequence[Path] = (),
    kinds: Sequence[str] = (),
    doc_id: str = "doc_id",
) -> ImportedTrace:
    """Write `stages.jsonl` into a folder: a line a question of the sets `questions` whose text the
    trace asks, else a line a traced question under its own text. `kinds` are NAME=KIND pairs.

    Raises LabError for what is no trace, no kind, or asks no question of the sets; and where the
    file is there already.
    """
    file = to / STAGES
    if file.exists():
        raise ConfigError(f"{file}: exists; remove it or name another folder with --to")
    traced = read_trace(source, _kinds(kinds), doc_id)
    known = dict(_questions(questions))
    ids = {text: known.get(_alike(text)) if questions else text for text in traced.replies}
    matched = {text: query_id for text, query_id in ids.items() if query_id is not None}
    if not matched:
        first = next(iter(traced.replies))
        raise ConfigError(f"{source}: asks no question of these sets; the first asks {first!r}")
    to.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"query_id": query_id, **traced.replies[text].record}, ensure_ascii=False)
        for text, query_id in matched.items()
    ]
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    stages = Counter(
        (stage.name, stage.kind)
        for text in matched
        for call in traced.replies[text].calls
        for stage in call.stages
    )
    return ImportedTrace(file, len(matched), stages, tuple(_notes(traced, len(matched))))


def _kinds(pairs: Sequence[str]) -> dict[str, str]:
    """NAME=KIND pairs; the last `=` parts them."""
    parted = [pair.rpartition("=") for pair in pairs]
    wrong = [
        f"--stage {name}={kind}: kind {kind!r}{nearest(kind, KINDS)}"
        for name, _, kind in parted
        if not name or kind not in KINDS
    ]
    if wrong:
        raise ConfigError(wrong)
    return {name: kind for name, _, kind in parted}


def _questions(places: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """(text, id) of every question of some sets: JSONL files, or folders of them."""
    problems: list[str] = []
    for place in places:
        for file in sorted(place.glob("*.jsonl")) if place.is_dir() else [place]:
            for _, record in read_records(file, problems, CorpusError):
                text, query_id = record.get("text"), record.get("query_id", record.get("_id"))
                if isinstance(text, str) and query_id is not None:
                    yield _alike(text), str(query_id)
    if problems:
        raise CorpusError(problems)


def _alike(text: str) -> str:
    return " ".join(text.split()).casefold()


def _notes(traced: Traced, matched: int) -> Iterator[str]:
    lost = len(traced.replies) - matched
    if lost:
        yield f"{counted(lost, 'traced question')} left out: in none of the sets"
    if traced.repeated:
        yield f"{counted(traced.repeated, 'trace')} of a question that a later one asks again"
    if traced.unjoined:
        yield (
            f"searches whose legs no span joins: {traced.unjoined}; their hits are taken one leg "
            "after the other"
        )
