"""What an imported set makes one wonder about: left as it is, but said."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from lab.corpus.document import Document
from lab.errors import counted
from lab.importing.formats.collection import Finding
from lab.relevance.query import Query


def suspicious(documents: Sequence[Document], queries: Sequence[Query]) -> list[Finding]:
    """Findings about ids, texts and questions of one set."""
    return [
        *_ids("document", [document.doc_id for document in documents]),
        *_ids("question", [query.query_id for query in queries]),
        *_texts(documents),
        *_questions(queries),
    ]


def _ids(what: str, ids: Iterable[str]) -> Iterator[Finding]:
    """Ids that other tools cut, and ids that look the same and are not."""
    seen: dict[str, str] = {}
    for name in ids:
        if any(character.isspace() for character in name):
            message = (
                f"{what} id {name!r} holds a blank; a TREC run or qrels file "
                "parted by blanks cannot carry it"
            )
            yield Finding(name, "suspicious", "blank in id", message)
        twin = seen.setdefault(unicodedata.normalize("NFC", name), name)
        if twin != name:
            message = (
                f"{what} ids {twin!r} and {name!r} look the same; they differ in Unicode "
                "normalisation and are kept apart"
            )
            yield Finding(name, "suspicious", "twin ids", message)


def _texts(documents: Sequence[Document]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for document in documents:
        if not document.text.strip():
            yield Finding(
                document.doc_id,
                "suspicious",
                "empty document",
                "the document has no text and cannot be found",
            )
            continue
        if "\ufffd" in document.text:
            message = (
                f"{document.text.count(chr(0xFFFD))} replacement characters (U+FFFD): "
                "an earlier conversion lost text"
            )
            yield Finding(document.doc_id, "suspicious", "lost characters", message)
        twin = first.setdefault(document.text, document.doc_id)
        if twin != document.doc_id:
            yield Finding(
                document.doc_id,
                "suspicious",
                "same text",
                f"the text is that of '{twin}'; only one of them can come first",
            )


def _questions(queries: Sequence[Query]) -> Iterator[Finding]:
    asked: dict[str, list[Query]] = {}
    for query in queries:
        if not query.text.strip():
            yield Finding(
                query.query_id,
                "suspicious",
                "empty question",
                "the question has no text and finds nothing",
            )
        else:
            asked.setdefault(" ".join(query.text.split()), []).append(query)
        if not query.evidence:
            yield Finding(
                query.query_id, "suspicious", "question without judgement", "it cannot be scored"
            )
    for text, same in asked.items():
        documents = {item.doc_id for query in same for item in query.evidence}
        if len(same) > 1:
            message = (
                f"{len(same)} questions ask {text[:60]!r}, with evidence in "
                f"{counted(len(documents), 'document')}"
            )
            if len(documents) > 1:
                message += "; the question does not say which is meant"
            yield Finding(same[0].query_id, "suspicious", "same question", message)
