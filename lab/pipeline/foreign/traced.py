"""Traces read as what a foreign retriever answered: retriever and reranker spans become stages."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import CorpusError
from lab.pipeline.foreign.hits import Hit, parse_hits
from lab.pipeline.foreign.reply import KINDS, Call, Reply, StageHits
from lab.pipeline.foreign.spans import EMBEDDING, RERANKER, RETRIEVER, Span, read_spans

# Words in the name of a retriever that say how it searches.
LEXICAL = re.compile(r"bm25|keyword|lexical|sparse|full.?text|fts|tf.?idf", re.IGNORECASE)
DENSE = re.compile(r"vector|dense|embed|semantic|faiss|chroma|qdrant|knn", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Traced:
    """What a trace says: a reply a question, by its text, with the number of calls that end in legs
    which nothing that is seen joins."""

    replies: Mapping[str, Reply]
    traces: int
    repeated: int
    unjoined: int


def read_trace(path: Path, kinds: Mapping[str, str], doc_id: str = "doc_id") -> Traced:
    """Read the retrievals of every trace of a file. `kinds` says of stages by name what they are;
    others are told by their names, by an embedding span within them, and by what is nested:
    a retriever around several others joins them. `doc_id` is the metadata's key that names a
    document; without it a hit has its own id and its text.

    Raises CorpusError for a file without retrievals and for retrievers whose kind nobody says.
    """
    by_trace: dict[str, list[Span]] = {}
    for span in read_spans(path):
        by_trace.setdefault(span.trace, []).append(span)
    unknown: dict[str, None] = {}
    replies: dict[str, Reply] = {}
    repeated = unjoined = 0
    for spans in by_trace.values():
        tree = _Tree(spans, kinds, doc_id, unknown)
        calls = tree.calls()
        if not calls:
            continue
        question = tree.question
        repeated += question in replies
        unjoined += sum(_unjoined(call) for call in calls)
        hits = tuple(dict.fromkeys(hit for call in calls for hit in _returned(call)))
        replies[question] = Reply(hits, tuple(calls))
    if unknown:
        raise CorpusError(
            f"{path}: how does '{name}' search? say --stage '{name}=lexical' or "
            f"'{name}=dense' (of {', '.join(KINDS)})"
            for name in unknown
        )
    if not replies:
        raise CorpusError(f"{path}: no retriever or reranker span with documents")
    return Traced(replies, len(by_trace), repeated, unjoined)


def _unjoined(call: Call) -> bool:
    legs = ("lexical", "dense")
    return len(call.stages) > 1 and all(stage.kind in legs for stage in call.stages)


def _returned(call: Call) -> Sequence[Hit]:
    """The last stage's hits; of legs that nothing joins, one leg's after the other's."""
    if _unjoined(call):
        return [hit for stage in call.stages for hit in stage.hits]
    return call.final


class _Tree:
    """One trace: its retrieval spans, each under the nearest of them around it."""

    def __init__(
        self, spans: list[Span], kinds: Mapping[str, str], doc_id: str, unknown: dict[str, None]
    ) -> None:
        self.spans = {span.span: span for span in spans}
        self.kinds = kinds
        self.doc_id = doc_id
        self.unknown = unknown
        self.inside: dict[str, list[Span]] = {}
        for span in spans:
            if span.kind in (RETRIEVER, RERANKER) and not self._repeats(span):
                self.inside.setdefault(self._around(span), []).append(span)
        self.embeds = {self._around(span) for span in spans if span.kind == EMBEDDING}

    def _around(self, span: Span) -> str:
        """The nearest retrieval around a span; empty where none is."""
        parent = self.spans.get(span.parent)
        while parent is not None:
            if parent.kind in (RETRIEVER, RERANKER) and not self._repeats(parent):
                return parent.span
            parent = self.spans.get(parent.parent)
        return ""

    def _repeats(self, span: Span) -> bool:
        """Whether a span is a method of the component that its parent is a method of."""
        parent = self.spans.get(span.parent)
        return parent is not None and (parent.name, parent.kind) == (span.name, span.kind)

    @property
    def question(self) -> str:
        """What was asked: the first retrieval's question, or that of a span around it where it is a
        plain text."""
        retrievals = self.inside[""]
        question = next(filter(None, map(_query, retrievals)), "")
        parent = self.spans.get(retrievals[0].parent)
        while parent is not None:
            text = parent.text("input.value").strip()
            question = text if text and text[0] not in "{[" else question
            parent = self.spans.get(parent.parent)
        return question

    def calls(self) -> list[Call]:
        """Searches one after the other: another begins with other words, or when a stage runs
        again."""
        calls: list[tuple[str, list[StageHits]]] = []
        for span in self.inside.get("", []):
            stages, query = list(self._stages(span)), _query(span)
            before, own = calls[-1] if calls else ("", list[StageHits]())
            names = {stage.name for stage in own}
            again = any(stage.name in names for stage in stages)
            # A retriever that is given a vector does not say in what words.
            if not calls or again or (query and before and query != before):
                calls.append((query, stages))
            else:
                calls[-1] = (before or query, [*own, *stages])
        return [Call(tuple(stages), query) for query, stages in calls if stages]

    def _stages(self, span: Span) -> Iterator[StageHits]:
        inner = self.inside.get(span.span, [])
        seen: dict[str, int] = {}
        for stage in (stage for child in inner for stage in self._stages(child)):
            seen[stage.name] = seen.get(stage.name, 0) + 1
            number = seen[stage.name]
            name = stage.name if number == 1 else f"{stage.name} {number}"
            yield StageHits(name, stage.kind, stage.hits)
        yield StageHits(span.name, self._kind(span, inner), tuple(self._hits(span)))

    def _kind(self, span: Span, inner: Sequence[Span]) -> str:
        said = self.kinds.get(span.name)
        if said is not None:
            return said
        if span.kind == RERANKER:
            return "rerank"
        retrievers = [child for child in inner if child.kind == RETRIEVER]
        if inner:
            return "fused" if len(retrievers) > 1 else "final"
        if LEXICAL.search(span.name):
            return "lexical"
        if DENSE.search(span.name) or span.span in self.embeds:
            return "dense"
        self.unknown[span.name] = None
        return "dense"

    def _hits(self, span: Span) -> Iterator[Hit]:
        prefix = "reranker.output_documents" if span.kind == RERANKER else "retrieval.documents"
        for document in span.documents(prefix):
            hits = parse_hits([self._plain(document)])
            if isinstance(hits, tuple):
                yield from hits

    def _plain(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """A document as a hit: its metadata may name the lab's document and offsets."""
        metadata = _metadata(document)
        name = metadata.get(self.doc_id, document.get("id"))
        places = {key: metadata.get(key) for key in ("start", "end")}
        whole = all(type(place) is int for place in places.values())
        return {
            "doc_id": None if name is None else str(name),
            "text": document.get("content"),
            "score": document.get("score", metadata.get("score")),
            **(places if whole else {}),
        }


def _metadata(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a document says of itself: JSON in one attribute, or an attribute a key."""
    plain = document.get("metadata")
    try:
        read = json.loads(plain) if isinstance(plain, str) else {}
    except ValueError:
        read = {}
    nested = {k.removeprefix("metadata."): v for k, v in document.items() if "metadata." in k}
    return nested | (read if isinstance(read, dict) else {})


def _query(span: Span) -> str:
    """A retrieval's question: a text, or what a component was given as its `query`; empty where it
    was given no text."""
    text = span.text("reranker.query") or span.text("input.value")
    try:
        given = json.loads(text) if text[:1] in "{[" and text else None
    except ValueError:
        given = None
    if isinstance(given, dict):
        named = (given.get(key) for key in ("query", "query_str", "question", "text", "input"))
        return next((value for value in named if isinstance(value, str)), "")
    return text
