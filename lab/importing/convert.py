"""`lab import`: a foreign source becomes the lab's own files, with a report of every change."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.errors import CorpusError, counted
from lab.importing.formats.collection import Collection, Finding
from lab.importing.formats.read import read_collection
from lab.importing.mend import Mended, mend, off_scale
from lab.importing.suspect import suspicious
from lab.importing.written import REPORT, check_place, write
from lab.relevance.query import has_spans

__all__ = ["REPORT", "Imported", "by_rule", "import_source", "report"]

# Lost judgements that a message shows.
SHOWN = 20
Named = str | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Imported:
    """What was written where, and what was noticed; `judgements` counts what is left of them."""

    folder: Path
    documents: int
    questions: int
    judgements: int
    spans: bool
    findings: tuple[Finding, ...]


def import_source(
    source: str,
    folder: Path,
    *,
    documents: Named = None,
    questions: Named = None,
    judgements: Named = None,
    columns: Mapping[str, str] | None = None,
) -> Imported:
    """Read `source` (see `read_collection`), mend and check it, and write `folder`:

    `documents.jsonl`; questions with spans, groups, answers or tags as `queries.jsonl` of the lab's
    form, else as BEIR's `queries.jsonl` and `qrels/test.tsv`; `import-report.txt`; and
    `import-manifest.json`, the digests of all of it. An earlier import at the place is replaced,
    files that it did not write are kept, and one of its files that was changed since is a problem.
    What is written is read back by the lab's own readers first. Raises CorpusError with every
    problem; nothing is written then.
    """
    try:
        check_place(folder)
    except OSError as fault:
        raise CorpusError(f"{folder}: cannot be written ({fault.strerror})") from None
    read = read_collection(
        source, documents=documents, questions=questions, judgements=judgements, columns=columns
    )
    if not read.documents:
        raise CorpusError(
            [
                f"{source}: no documents there, nothing is written",
                *map(str, off_scale(read.judgements)),
            ]
        )
    mended = mend(read)
    evidence = sum(len(query.evidence) for query in mended.queries)
    if read.judgements and not evidence:
        raise CorpusError(_all_lost(source, read, mended))
    findings = [*mended.findings, *suspicious(mended.documents, mended.queries)]

    def imported() -> Imported:
        return Imported(
            folder,
            len(mended.documents),
            len(mended.queries),
            evidence,
            has_spans(mended.queries),
            tuple(findings),
        )

    write(folder, mended, findings, read.readers, lambda: report(imported(), source))
    return imported()


def _all_lost(source: str, read: Collection, mended: Mended) -> list[str]:
    """What is said where judgements were given and none of them fits the documents."""
    lost = [str(finding) for finding in mended.findings if finding.action == "dropped"]
    more = [f"and {len(lost) - SHOWN} more"] if len(lost) > SHOWN else []
    return [
        f"{source}: none of the {len(read.judgements)} judgements fits the {len(read.documents)} "
        "documents and the questions, nothing is written; are these another corpus's?",
        *lost[:SHOWN],
        *more,
    ]


def report(imported: Imported, source: str) -> str:
    """The report's text: counts, then every finding on a line of its own."""
    counts = (
        f"{counted(imported.documents, 'document')}, {counted(imported.questions, 'question')}, "
        f"{counted(imported.judgements, 'judgement')}"
    )
    lines = [f"imported from {source}: {counts}"]
    lines += [
        f"{action} ({rule}): {len(cases)}"
        for (action, rule), cases in by_rule(imported.findings).items()
    ]
    # Ids and quotes can hold line breaks; a finding stays on its line.
    lines += ["", *(" ".join(str(finding).splitlines()) for finding in imported.findings)]
    return "\n".join(lines).rstrip() + "\n"


def by_rule(findings: Iterable[Finding]) -> dict[tuple[str, str], list[Finding]]:
    """Findings by what was done and why, in order of first mention."""
    by_key: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        by_key.setdefault((finding.action, finding.rule), []).append(finding)
    return by_key
