"""What `lab import` prints: counts, then every rule with its number of cases and an example."""

import json
from collections import Counter
from typing import Any

from lab.errors import counted
from lab.importing.convert import REPORT, Imported, by_rule
from lab.pipeline.foreign.import_trace import ImportedTrace

WIDTH = 200
SHOWN = 5


def import_screen(done: Imported) -> str:
    """The counts, and for every rule how often it applied and its first case, of what is dropped
    the first few; all cases are in the report file."""
    unit = "spans of evidence" if done.spans else "judged documents"
    lines = [
        f"{counted(done.documents, 'document')}, {counted(done.questions, 'question')}, "
        f"{done.judgements:,} {unit}"
    ]
    for (action, rule), cases in by_rule(done.findings).items():
        lines.append(f"{action}: {rule}, {counted(len(cases), 'case')}")
        for case in cases[: SHOWN if action == "dropped" else 1]:
            example = " ".join(f"{case.place}: {case.message}".split())
            lines.append(f"  {example if len(example) <= WIDTH else example[: WIDTH - 3] + '...'}")
    if all(finding.action == "read" for finding in done.findings):
        lines.append("nothing mended, dropped or suspicious")
    lines.append(f"written: {done.folder} (every case: {done.folder / REPORT})")
    return "\n".join(lines)


def import_json(done: Imported) -> str:
    """The same for machines: counts, counts by action, and every finding."""
    findings = [
        {"place": f.place, "action": f.action, "rule": f.rule, "message": f.message}
        for f in done.findings
    ]
    return json.dumps(
        {
            "folder": str(done.folder),
            "documents": done.documents,
            "questions": done.questions,
            "judgements": done.judgements,
            "unit": "evidence" if done.spans else "document",
            "counts": dict(Counter(f.action for f in done.findings)),
            "findings": findings,
        },
        ensure_ascii=False,
    )


def trace_screen(traced: ImportedTrace) -> str:
    """What was made of a trace, and how it is used."""
    lines = [f"{traced.file}: {counted(traced.questions, 'question')} with the stages"]
    lines += [
        f"  {kind:<8} {name}: {number} times" for (name, kind), number in traced.stages.items()
    ]
    lines += [f"  {note}" for note in traced.notes]
    return "\n".join([*lines, f'use it: [[retriever]] name = "traced", run = "{traced.file}"'])


def trace_json(traced: ImportedTrace) -> dict[str, Any]:
    """The same for machines."""
    stages = [{"name": n, "kind": k, "times": times} for (n, k), times in traced.stages.items()]
    record = {"file": str(traced.file), "questions": traced.questions, "stages": stages}
    return record | {"notes": list(traced.notes)}
