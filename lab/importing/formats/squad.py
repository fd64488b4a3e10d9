"""SQuAD-style JSON (SQuAD, CMRC, DRCD, XQuAD, PolicyQA): an article is a document, answers are
spans of it."""

from pathlib import Path
from typing import Any

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Judgement, Question
from lab.importing.formats.decode import decode
from lab.importing.formats.json_rows import parse_json

BETWEEN = "\n\n"


def read(path: Path, into: Collection) -> None:
    """Articles, their paragraphs joined by an empty line; the answers of one question are
    alternatives of one piece.

    Answer offsets count in the paragraph and are moved to the document. Raises CorpusError with
    every part that is amiss.
    """
    problems: list[str] = []
    content = parse_json(path, decode(path, into), into)
    articles = content.get("data") if isinstance(content, dict) else None
    if not isinstance(articles, list):
        raise CorpusError(
            f"{path}: expected SQuAD's form, an object with a list 'data' of articles"
        )
    taken: dict[str, int] = {}
    for number, article in enumerate(articles, start=1):
        place = f"{path}: article {number}"
        paragraphs = article.get("paragraphs") if isinstance(article, dict) else None
        if not isinstance(paragraphs, list) or not all(
            isinstance(p, dict) and isinstance(p.get("context"), str) for p in paragraphs
        ):
            problems.append(
                f"{place}: expected a list 'paragraphs' of objects with a text 'context'"
            )
            continue
        title = str(article.get("title") or "")
        doc_id = _unused(title or str(article.get("id") or f"article {number}"), taken)
        into.add_document(place, doc_id, BETWEEN.join(p["context"] for p in paragraphs), title)
        offset = 0
        for paragraph in paragraphs:
            for qa in paragraph.get("qas") or []:
                _question(place, (doc_id, offset, paragraph["context"]), qa, into, problems)
            offset += len(paragraph["context"]) + len(BETWEEN)
    if problems:
        raise CorpusError(problems)


def _unused(name: str, taken: dict[str, int]) -> str:
    """The name, numbered from its second use on."""
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name} ({taken[name]})"


def _question(
    place: str, paragraph: tuple[str, int, str], qa: Any, into: Collection, problems: list[str]
) -> None:
    """One question of a paragraph, which is its document, its offset there and its text."""
    doc_id, offset, context = paragraph
    answers = qa.get("answers") or [] if isinstance(qa, dict) else None
    if (
        not isinstance(answers, list)
        or not isinstance(qa.get("id"), str | int)
        or isinstance(qa["id"], bool)
        or not isinstance(qa.get("question"), str)
    ):
        problems.append(f"{place}: a question without id, question or list of answers")
        return
    query_id = str(qa["id"])
    place = f"{place}, question {query_id}"
    texts = [
        answer
        for answer in answers
        if isinstance(answer, dict) and isinstance(answer.get("text"), str)
    ]
    into.questions.append(
        Question(place, query_id, qa["question"], texts[0]["text"] if texts else "")
    )
    for text, start in ((answer["text"], answer.get("answer_start")) for answer in texts):
        claimed = offset + start if isinstance(start, int) and start >= 0 else None
        if isinstance(start, int) and start < 0:
            into.note(
                place,
                "suspicious",
                "negative offset",
                f"answer {text[:60]!r} claims to stand at {start}",
            )
        into.judgements.append(
            Judgement(place, query_id, doc_id, 3, text, claimed, group="answer", within=context)
        )
