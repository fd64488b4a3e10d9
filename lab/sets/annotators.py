"""Reading what two annotators judged: TREC qrels files, or diagnostic sets over one corpus."""

from dataclasses import dataclass
from pathlib import Path

from lab.corpus.names import normal
from lab.corpus.read import read_corpus
from lab.errors import DiagnosticsError
from lab.importing.formats.collection import Judgement
from lab.importing.mend import off_scale
from lab.relevance.qrels import read_qrels
from lab.relevance.query import has_spans
from lab.relevance.read import read_diagnostics
from lab.sets.agreement import Grades, document_grades, sentence_grades
from lab.sets.pool.sheet import is_sheet, read_labels


@dataclass(frozen=True, slots=True)
class Annotators:
    """Grades of both, what was judged (`document`, `sentence` or `span`), and the labels that were
    left out with file and line."""

    a: Grades
    b: Grades
    unit: str
    left_out: tuple[str, ...] = ()


def read_annotators(a: Path, b: Path, corpus: Path | None) -> Annotators:
    """Two diagnostic sets (.jsonl or folders), whose evidence is compared sentence by sentence over
    `corpus`, two qrels files, or two sheets of `lab pool`. Labels off the scale of their file are
    left out and told.

    Raises DiagnosticsError when a set comes without a corpus, LabError with everything that cannot
    be read.
    """
    absent = [path for path in (a, b) if not path.exists()]
    if absent:
        raise DiagnosticsError(f"{path}: no such file or folder" for path in absent)
    if is_sheet(a) and is_sheet(b):
        labels = [read_labels(path) for path in (a, b)]
        unit = "document" if all(label.start is None for of in labels for label in of) else "span"
        first, second = (
            {(label.query_id, label.item): label.grade for label in of} for of in labels
        )
        return Annotators(first, second, unit)
    if all(path.is_file() and path.suffix != ".jsonl" for path in (a, b)):
        (grades_a, strange_a), (grades_b, strange_b) = _qrels(a), _qrels(b)
        return Annotators(grades_a, grades_b, "document", (*strange_a, *strange_b))
    if corpus is None:
        raise DiagnosticsError(
            "evidence is compared sentence by sentence, which needs the documents; name them with "
            "--corpus"
        )
    documents = read_corpus(corpus)
    sets = [read_diagnostics(path, documents) for path in (a, b)]
    if not any(map(has_spans, sets)):
        return Annotators(document_grades(sets[0]), document_grades(sets[1]), "document")
    return Annotators(*sentence_grades(sets[0], sets[1], documents), "sentence")


def _qrels(path: Path) -> tuple[Grades, list[str]]:
    problems: list[str] = []
    rows = list(read_qrels(path, problems))
    if problems:
        raise DiagnosticsError(problems)
    strange = off_scale([Judgement(row.place, row.query_id, row.doc_id, row.grade) for row in rows])
    places = {finding.place for finding in strange}
    grades = {
        (normal(row.query_id), normal(row.doc_id)): row.grade
        for row in rows
        if row.place not in places
    }
    return grades, [
        f"{finding.place}: {finding.message}; left out, ask its annotator" for finding in strange
    ]
