"""The audit of a set on the terminal."""

import math
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.errors import counted
from lab.report.screens.fitted import Column, FittedTable
from lab.sets.audit.audit import Audit
from lab.sweeping.preflight.check import Check, ChunkCheck

STYLES = {"unfit": "bold red", "warning": "yellow", "note": "dim"}


def check_screen(found: Check) -> RenderableType:
    """What was read, the counts by kind, the chunks of an experiment, and the findings."""
    answered = sum(bool(query.evidence) for query in found.queries)
    pieces = sum(len(query.pieces) for query in found.queries)
    kinds, corpus = found.audit.kinds, found.corpus
    head = (
        f"{found.name}: {len(corpus)} documents, {corpus.characters} characters\nfingerprint "
        f"{corpus.fingerprint[:16]}\n"
        f"{counted(len(found.queries), 'question')}, {answered} with evidence, "
        f"{counted(pieces, 'piece')}; "
        f"written:mined {sum(k.written for k in kinds)}:{sum(k.mined for k in kinds)}"
    )
    parts: list[RenderableType] = [
        Text(head + (f"\n{counted(found.systems, 'system')}" if found.systems else ""))
    ]
    parts += [Text(f"note: {line}") for line in found.impossible]
    parts += [Text(), _kinds(found.audit)]
    if found.chunks is not None:
        parts += [Text(), *_chunks(found.chunks)]
    return Group(*parts, *_findings(found.audit))


def check_record(found: Check) -> dict[str, Any]:
    """The same for machines."""
    kinds = [
        asdict(row)
        | {"within": row.within, "shared": None if math.isnan(row.shared) else row.shared}
        for row in found.audit.kinds
    ]
    return {
        "corpus": {
            "documents": len(found.corpus),
            "characters": found.corpus.characters,
            "fingerprint": found.corpus.fingerprint,
        },
        "questions": len(found.queries),
        "systems": found.systems,
        "kinds": kinds,
        "chunks": None if found.chunks is None else _chunk_record(found.chunks),
        "findings": [asdict(finding) for finding in found.audit.findings],
    }


def _chunk_record(chunks: ChunkCheck) -> dict[str, Any]:
    """Without the findings, which stand among those of the audit."""
    return {key: value for key, value in asdict(chunks).items() if key != "findings"}


# How many chunks hold a piece of evidence.
HELD_IN = ("in one", "two", "more")


def _chunks(found: ChunkCheck) -> list[RenderableType]:
    """Chunks and pieces of evidence under every chunk config."""
    figures = ("n", "characters", "too long", *(HELD_IN if found.scatter else ()))
    table = FittedTable([Column("chunks", "name"), *map(Column, figures)])
    for number, fact in enumerate(found.facts):
        over = max((chunks for _, chunks, _ in fact.truncated), default=0)
        cells = [str(fact.chunks), f"{fact.mean_characters:.0f}", str(over)]
        if found.scatter:
            test = found.scatter[number]
            cells += [
                f"{count / test.pieces:.0%}"
                for count in (test.one, test.two, test.more + test.never)
            ]
        table.add(fact.label, *cells)
    lines = [
        "too long: for the encoder"
        + ("; in one, two, more: chunks that hold a piece of evidence" if found.scatter else "")
    ]
    lines += [
        f"warning: {fact.label}: {model} does not read the ends of {chunks} of {fact.chunks} "
        f"chunks ({tokens} tokens)"
        for fact in found.facts
        for model, chunks, tokens in fact.truncated
        if chunks
    ]
    return [
        table,
        *(Text(line) for line in (*lines, *(f"warning: {problem}" for problem in found.notes))),
    ]


def _kinds(found: Audit) -> FittedTable:
    figures = ("n", "several pieces", "alternatives", "mean within", "words in evidence")
    table = FittedTable([Column("kind", "name"), *map(Column, figures)])
    for row in found.kinds:
        shared = "-" if math.isnan(row.shared) else f"{row.shared:.2f}"
        table.add(
            row.kind,
            str(row.questions),
            str(row.several),
            str(row.alternatives),
            f"±{row.within:.2f}",
            shared,
        )
    return table


def _findings(found: Audit) -> list[RenderableType]:
    if not found.findings:
        return [Text("\nnothing to mend")]
    lines: list[RenderableType] = [Text()]
    for finding in found.findings:
        line = Text(f"{finding.grade}: ", STYLES[finding.grade]).append(
            f"{finding.rule}: {finding.message}", "not bold"
        )
        if finding.remedy:
            line.append(f"\n  -> {finding.remedy}", "not bold")
        lines.append(line)
    return lines
