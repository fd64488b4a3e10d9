"""What `lab import` prints: counts, then every rule with its number of cases and an example."""

import json
from collections import Counter

from lab.errors import counted
from lab.importing.convert import REPORT, Imported, by_rule

WIDTH = 200


def import_screen(done: Imported) -> str:
    """The counts, and for every rule how often it applied and its first case; all cases are in the
    report file."""
    unit = "spans of evidence" if done.spans else "judged documents"
    lines = [
        f"{counted(done.documents, 'document')}, {counted(done.questions, 'question')}, "
        f"{done.judgements:,} {unit}"
    ]
    for (action, rule), cases in by_rule(done.findings).items():
        example = " ".join(f"{cases[0].place}: {cases[0].message}".split())
        example = example if len(example) <= WIDTH else example[: WIDTH - 3] + "..."
        lines += [
            f"{action}: {rule}, {len(cases)} {'case' if len(cases) == 1 else 'cases'}",
            f"  {example}",
        ]
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
