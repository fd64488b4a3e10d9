"""Rows that bring their own passages: HotpotQA in IRCoT's form, RGB and MTRAG."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Judgement, Question
from lab.importing.formats.decode import decode
from lab.importing.formats.json_rows import parse_json
from lab.importing.formats.names import plain
from lab.importing.formats.rows import records


def read_hotpot(path: Path, into: Collection) -> None:
    """question_id, question_text, contexts (title, paragraph_text, is_supporting): paragraphs are
    pooled by title and text."""
    pool, problems = Pool(into), list[str]()
    for place, row in records(path, into):
        query_id = plain(row["question_id"], f"{place}: question_id", problems)
        answers = [
            span
            for answer in row.get("answers_objects") or []
            for span in answer.get("spans") or []
        ]
        into.questions.append(
            Question(
                place,
                query_id,
                plain(row["question_text"], f"{place}: question_text", problems),
                "; ".join(map(str, answers)),
            )
        )
        for context in _objects(row.get("contexts"), place):
            title, text = str(context.get("title") or ""), str(context.get("paragraph_text") or "")
            doc_id = pool.add(place, title, f"{title} {text}".strip(), title)
            if context.get("is_supporting"):
                into.judgements.append(Judgement(place, query_id, doc_id, within=text))
    if problems:
        raise CorpusError(problems)


def read_rgb(path: Path, into: Collection) -> None:
    """query, positive, negative: passages are pooled; a list of lists of positives is one piece of
    information a list."""
    pool, problems = Pool(into), list[str]()
    for place, row in records(path, into):
        query_id = plain(row["id"], f"{place}: id", problems)
        text = plain(row["query"], f"{place}: query", problems)
        into.questions.append(Question(place, query_id, text, _answer(row.get("answer"))))
        if "asnwer1" in row:
            into.note(
                place,
                "suspicious",
                "misspelt key",
                "'asnwer1' stands for 'answer1'; 'answer' is read",
            )
        for number, piece in enumerate(_pieces(row["positive"]), start=1):
            grouped = isinstance(row["positive"][0], list)
            for passage in piece:
                doc_id = pool.add(place, "", passage)
                into.judgements.append(
                    Judgement(place, query_id, doc_id, group=f"piece {number}" if grouped else None)
                )
        for key in ("negative", "positive_wrong"):
            for passage in row.get(key) or []:
                pool.add(place, "", str(passage))
    if problems:
        raise CorpusError(problems)


def read_mtrag(path: Path, into: Collection) -> None:
    """MTRAG's reference set: documents, and tasks whose last turn is the question and whose
    contexts are relevant."""
    content = parse_json(path, decode(path, into), into)
    for number, document in enumerate(_objects(content["documents"], str(path)), start=1):
        into.add_document(
            f"{path}: document {number}",
            str(document["document_id"]),
            str(document.get("text") or ""),
            str(document.get("title") or ""),
        )
    for task in _objects(content["tasks"], str(path)):
        query_id = str(task["task_id"])
        place = f"{path}: task {query_id}"
        turns = _objects(task.get("input"), place)
        into.questions.append(
            Question(
                place,
                query_id,
                str(turns[-1].get("text") or "") if turns else "",
                tags={"turns": str(len(turns))},
            )
        )
        into.judgements.extend(
            Judgement(place, query_id, str(c["document_id"]))
            for c in _objects(task.get("contexts"), place)
        )


class Pool:
    """Passages of all rows as documents, each text once."""

    def __init__(self, into: Collection) -> None:
        self._into, self._names, self.texts = into, dict[tuple[str, str], str](), dict[str, str]()

    def add(self, place: str, name: str, text: str, title: str = "") -> str:
        """Id of the passage: its name, or a hash of its text where it has none or the name is
        another text's."""
        if (name, text) not in self._names:
            short = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
            doc_id = name if name and name not in self.texts else f"{name} {short}".strip()
            self._names[name, text] = doc_id
            self.texts[doc_id] = text
            self._into.add_document(place, doc_id, text, title)
        return self._names[name, text]


def _objects(value: Any, place: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    raise CorpusError(f"{place}: expected a list of objects, found {str(value)[:60]!r}")


def _pieces(value: Iterable[Any]) -> list[list[str]]:
    """Lists of alternatives: a flat list is one piece a passage."""
    return [[str(p) for p in item] if isinstance(item, list) else [str(item)] for item in value]


def _answer(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(_answer(item) for item in value)
    return "" if value is None else str(value)
