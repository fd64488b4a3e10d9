"""Lines of `id<tab>text` without a header, for documents (NFCorpus) or questions (MS MARCO,
Anserini's topics)."""

from pathlib import Path

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Question
from lab.importing.formats.decode import decode, placed_lines


def read_documents(path: Path, into: Collection) -> None:
    """Documents, one a line."""
    for place, name, text in _pairs(path, into):
        into.add_document(place, name, text)


def read_questions(path: Path, into: Collection) -> None:
    """Questions, one a line; a blank may part id and text where not every line has a tab (CACM's
    `title.query`)."""
    for place, name, text in _pairs(path, into):
        into.questions.append(Question(place, name, text))


def _pairs(path: Path, into: Collection) -> list[tuple[str, str, str]]:
    lines = list(placed_lines(path, decode(path, into)))
    separator = "\t" if all("\t" in line for _, line in lines) else " "
    problems, pairs = [], []
    for place, line in lines:
        name, _, text = line.partition(separator)
        if not name.strip() or not text.strip():
            problems.append(
                f"{place}: expected an id and a text, parted by a "
                f"{'tab' if separator != ' ' else 'blank'}"
            )
        pairs.append((place, name.strip(), text.strip()))
    if problems:
        raise CorpusError(problems)
    return pairs
