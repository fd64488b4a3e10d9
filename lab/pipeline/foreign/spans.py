"""Spans of a trace by the conventions of OpenInference, however they were exported: as
OpenTelemetry writes them (OTLP as JSON, or the console exporter's JSON), and as Phoenix does (JSON
of its API, or the Parquet file of its dataframe)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.corpus.lines import read_text
from lab.errors import CorpusError

KIND = "openinference.span.kind"
RETRIEVER, RERANKER, EMBEDDING = "RETRIEVER", "RERANKER", "EMBEDDING"
# How a span's own names are written by each exporter, the first that is there counts.
TRACE = ("traceId", "context.trace_id", "trace_id")
SPAN = ("spanId", "context.span_id", "span_id")
PARENT = ("parentSpanId", "parent_id", "parent_span_id")
START = ("startTimeUnixNano", "start_time")
# A method of a framework's component, which says nothing of the component.
METHODS = ("retrieve", "_retrieve", "aretrieve", "_aretrieve", "run", "run_async", "invoke")


@dataclass(frozen=True, eq=False)
class Span:
    """One step of a trace; `attributes` are flat, as `retrieval.documents.0.document.id`."""

    trace: str
    span: str
    parent: str
    start: str
    name: str
    kind: str
    attributes: Mapping[str, Any]

    def text(self, key: str) -> str:
        value = self.attributes.get(key)
        return value if isinstance(value, str) else ""

    def documents(self, prefix: str) -> list[dict[str, Any]]:
        """The documents `prefix.N.document.*`, in their order."""
        numbered: dict[int, dict[str, Any]] = {}
        for key, value in self.attributes.items():
            number, _, name = key.removeprefix(f"{prefix}.").partition(".document.")
            if key.startswith(f"{prefix}.") and number.isdecimal():
                numbered.setdefault(int(number), {})[name] = value
        return [numbered[number] for number in sorted(numbered)]


def is_trace(path: Path) -> bool:
    """Whether a file holds spans."""
    if not path.is_file() or path.suffix.lower() not in (".json", ".jsonl", ".ndjson", ".parquet"):
        return False
    try:
        return next(_spans(path), None) is not None
    except (CorpusError, ValueError):
        return False


def read_spans(path: Path) -> list[Span]:
    """Every span of a file, by trace and start. Raises CorpusError where there is none."""
    try:
        spans = list(_spans(path))
    except ValueError as fault:
        raise CorpusError(f"{path}: not JSON ({fault})") from None
    if not spans:
        raise CorpusError(f"{path}: no spans; expected OTLP JSON, console JSON or Phoenix's export")
    return sorted(spans, key=lambda span: (span.trace, len(span.start), span.start, span.span))


def _spans(path: Path) -> Iterator[Span]:
    for record in _records(path):
        flat = dict(_flat(record))
        identity = [_first(flat, names) for names in (TRACE, SPAN)]
        if not all(identity):
            continue
        attributes = {
            key.removeprefix("attributes."): value
            for key, value in flat.items()
            if key.startswith("attributes.")
        }
        yield Span(
            trace=identity[0],
            span=identity[1],
            parent=_first(flat, PARENT),
            start=_first(flat, START),
            name=_component(str(flat.get("name", ""))),
            kind=str(attributes.get(KIND) or flat.get("span_kind") or "").upper(),
            attributes=attributes,
        )


def _first(flat: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(flat[name]) for name in names if flat.get(name)), "")


def _component(name: str) -> str:
    """What ran, without the method that was called."""
    component, _, method = name.rpartition(".")
    return component if component and method in METHODS else name


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    """Records of spans, one of OTLP's envelopes or lists opened."""
    if path.suffix.lower() == ".parquet":
        import pandas as pd

        frame = pd.read_parquet(path)
        yield from ({str(k): v for k, v in row.items()} for row in frame.to_dict("records"))
        return
    for value in _values(read_text(path, CorpusError)):
        yield from _opened(value)


def _opened(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from _opened(item)
    elif isinstance(value, dict):
        inside = [key for key in ("resourceSpans", "scopeSpans", "spans", "data") if key in value]
        if not inside:
            yield value | {"attributes": _plain(value.get("attributes"))}
        for key in inside:
            yield from _opened(value[key])


def _plain(attributes: Any) -> Any:
    """OTLP's lists of keys and typed values as a mapping."""
    if not isinstance(attributes, list):
        return attributes
    return {item["key"]: _value(item.get("value")) for item in attributes if "key" in item}


def _value(typed: Any) -> Any:
    if not isinstance(typed, dict):
        return typed
    value: Any
    kind, value = next(iter(typed.items()), ("", None))
    if kind == "arrayValue":
        return [_value(item) for item in value.get("values", [])]
    if kind == "kvlistValue":
        return _plain(value.get("values", []))
    return int(value) if kind == "intValue" else value


def _values(text: str) -> Iterator[Any]:
    """JSON values one after the other, a line each or over several."""
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        if text[place].isspace() or text[place] == ",":
            place += 1
            continue
        value, place = decoder.raw_decode(text, place)
        yield value


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves of nested mappings and lists, by their path."""
    if hasattr(value, "tolist") and not isinstance(value, str):
        value = value.tolist()
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _flat(item, f"{name}.{number}")
    elif value is not None and value == value:
        yield name, value
