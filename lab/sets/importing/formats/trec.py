"""TREC files: documents in `<DOC>` elements, topics in `<top>` elements, qrels in columns."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

from lab.errors import CorpusError
from lab.relevance.qrels import parse_qrels
from lab.sets.importing.formats.collection import Collection, Judgement, Question, joined
from lab.sets.importing.formats.decode import decode, placed_lines

TAG = re.compile(r"<[^<>]{1,200}>")
TITLES = ("title", "headline", "head", "hl")
# Older topics leave their elements open and begin each with a label.
LABEL = re.compile(r"^\s*(Number|Topic|Description|Narrative)\s*:\s*", re.IGNORECASE)


def read_documents(path: Path, into: Collection) -> None:
    """Documents: DOCNO, a title element if there is one, and TEXT elements, or all that stands
    beside them."""
    for place, body in _elements(path, "doc", into):
        doc_id = _first(body, ("docno", "docid"))
        if doc_id is None:
            raise CorpusError(f"{place}: a <DOC> without <DOCNO>; every document needs its id")
        title = _first(body, TITLES) or ""
        texts = re.findall(r"<text>(.*?)</text>", body, re.IGNORECASE | re.DOTALL)
        rest = re.sub(
            r"<(docno|docid|" + "|".join(TITLES) + r")>.*?</\1>",
            "",
            body,
            flags=re.IGNORECASE | re.DOTALL,
        )
        text = "\n\n".join(_plain(part) for part in texts) if texts else _plain(rest)
        into.add_document(place, doc_id, joined(title, text), title)


def read_documents_as_questions(path: Path, into: Collection) -> None:
    """Questions in `<DOC>` elements, as Anserini keeps CACM's."""
    part = Collection()
    read_documents(path, part)
    for placed in part.documents:
        into.questions.append(
            Question(placed.place, placed.document.doc_id, " ".join(placed.document.text.split()))
        )


def read_topics(path: Path, into: Collection) -> None:
    """Questions: number and title of every topic, the description where there is no title."""
    for place, body in _elements(path, "top", into):
        number = _first(body, ("num",))
        if number is None:
            raise CorpusError(f"{place}: a <top> without <num>; every topic needs its number")
        text = _first(body, ("title",)) or _first(body, ("desc",)) or ""
        into.questions.append(Question(place, number, " ".join(text.split())))


def read_qrels(path: Path, into: Collection) -> None:
    """Judgements in columns, read as every command reads them. Raises every bad line."""
    problems: list[str] = []
    rows = list(parse_qrels(placed_lines(path, decode(path, into)), problems))
    if problems:
        raise CorpusError(problems)
    into.judgements.extend(
        Judgement(row.place, row.query_id, row.doc_id, row.grade) for row in rows
    )


def _elements(path: Path, name: str, into: Collection) -> Iterator[tuple[str, str]]:
    """Place and inside of every element; the file need not be well-formed XML, and none of these
    is."""
    text = decode(path, into)
    begin, end = (
        re.compile(rf"<{name}\b[^<>]*>", re.IGNORECASE),
        re.compile(rf"</{name}>", re.IGNORECASE),
    )
    line, seen = 1, 0
    while (opened := begin.search(text, seen)) and (closed := end.search(text, opened.end())):
        line += text.count("\n", seen, opened.start())
        yield f"{path}:{line}", text[opened.end() : closed.start()]
        line += text.count("\n", opened.start(), closed.end())
        seen = closed.end()


def _first(body: str, names: tuple[str, ...]) -> str | None:
    """Text of the first of the named elements, closed or open up to the next tag."""
    for name in names:
        match = re.search(rf"<{name}>(.*?)(?=<|\Z)", body, re.IGNORECASE | re.DOTALL)
        if match:
            return LABEL.sub("", html.unescape(match[1])).strip()
    return None


def _plain(markup: str) -> str:
    return html.unescape(TAG.sub("", markup)).strip()
