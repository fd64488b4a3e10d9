"""TREC files: documents in `<DOC>` elements, topics in `<top>` elements, qrels in columns."""

import re
from collections.abc import Iterator
from pathlib import Path

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Judgement, Question, joined
from lab.importing.formats.decode import decode, placed_lines
from lab.importing.formats.markup import Markup
from lab.relevance.qrels import parse_qrels

TITLES = ("title", "headline", "head", "hl")
IDS = ("docno", "docid")
DOCUMENT = frozenset((*IDS, *TITLES, "text", "doc"))
TOPIC = frozenset("num title desc narr top con smry fac def dom".split())
# Older topics leave their elements open and begin each with a label.
LABEL = re.compile(r"^\s*(Number|Topic|Description|Narrative)\s*:\s*", re.IGNORECASE)
Fields = dict[str, list[str]]


def read_documents(path: Path, into: Collection) -> None:
    """Documents: DOCNO, a title element if there is one, and TEXT elements, or all that stands
    beside them. Raises CorpusError with every element that lacks its id or its end."""
    problems: list[str] = []
    left = 0
    for place, fields in _elements(path, "doc", DOCUMENT, into, problems):
        doc_id = _first(fields, IDS)
        if not doc_id:
            problems.append(f"{place}: a <DOC> without <DOCNO>; every document needs its id")
            continue
        title = _first(fields, TITLES)
        texts, loose = fields.get("text", []), fields.get("", [])
        left += len(" ".join(loose).split()) if texts else 0
        text = "\n\n".join(filter(None, (part.strip() for part in texts or loose)))
        into.add_document(place, doc_id, joined(title, text), title)
    if problems:
        raise CorpusError(problems)
    if left:
        into.note(
            str(path), "dropped", "beside the text", f"{left} words stand beside <TEXT> elements"
        )


def read_documents_as_questions(path: Path, into: Collection) -> None:
    """Questions in `<DOC>` elements, as Anserini keeps CACM's."""
    part = Collection()
    read_documents(path, part)
    for placed in part.documents:
        into.questions.append(
            Question(placed.place, placed.document.doc_id, " ".join(placed.document.text.split()))
        )


def read_topics(path: Path, into: Collection) -> None:
    """Questions: number and title of every topic, the description where there is no title. Raises
    CorpusError with every topic that lacks its number or its end."""
    problems: list[str] = []
    for place, fields in _elements(path, "top", TOPIC, into, problems):
        number = _first(fields, ("num",))
        if not number:
            problems.append(f"{place}: a <top> without <num>; every topic needs its number")
            continue
        into.questions.append(Question(place, number, _first(fields, ("title", "desc"))))
    if problems:
        raise CorpusError(problems)


def read_qrels(path: Path, into: Collection) -> None:
    """Judgements in columns, read as every command reads them. Raises every bad line."""
    problems: list[str] = []
    rows = list(parse_qrels(placed_lines(path, decode(path, into)), problems))
    if problems:
        raise CorpusError(problems)
    into.judgements.extend(
        Judgement(row.place, row.query_id, row.doc_id, row.grade) for row in rows
    )


def _elements(
    path: Path, name: str, known: frozenset[str], into: Collection, problems: list[str]
) -> Iterator[tuple[str, Fields]]:
    """Place and fields of every element; the file need not be well-formed XML, and none of these
    is. One pass over the tags, whatever is left open."""
    markup = Markup(decode(path, into), known)
    line, counted = 1, 0
    begun: tuple[str, int] | None = None
    for tag in markup.tags():
        if tag.name != name:
            continue
        line, counted = line + markup.text.count("\n", counted, tag.start), tag.start
        if begun and not tag.ends:
            problems.append(f"{begun[0]}: a <{name.upper()}> that is not ended before the next")
        elif begun:
            yield begun[0], _fields(markup, *(begun[1], tag.start), known)
        begun = None if tag.ends else (f"{path}:{line}", tag.end)
    if begun:
        problems.append(f"{begun[0]}: a <{name.upper()}> that is not ended; is the file cut?")


def _fields(markup: Markup, start: int, end: int, known: frozenset[str]) -> Fields:
    """The texts of the known elements by name, and under no name what stands beside them. An
    element that is left open ends where the next known one begins; ids end at any tag."""
    fields: Fields = {}
    name = ""
    for tag in markup.tags(start, end):
        ends = tag.ends and tag.name == name
        if ends or (tag.name in known and not tag.ends) or name in IDS or name == "num":
            fields.setdefault(name, []).append(markup.plain(start, tag.start))
            name = tag.name if tag.name in known and not tag.ends else ""
            start = tag.end if tag.name in known else tag.start
    fields.setdefault(name, []).append(markup.plain(start, end))
    return fields


def _first(fields: Fields, names: tuple[str, ...]) -> str:
    """The first of the named fields that holds text, on one line and without its label."""
    texts = (LABEL.sub("", text) for name in names for text in fields.get(name, []))
    return next(filter(None, (" ".join(text.split()) for text in texts)), "")
