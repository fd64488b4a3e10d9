"""The examples of frameworks run with the real packages: their stages are seen, and their traces by
OpenInference say the same."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import lab
from lab.cli import app
from lab.config.retriever import RetrieverConfig
from lab.pipeline.foreign.spans import is_trace, read_spans
from lab.runs.run import Run
from tests.given import GivenEncoder
from tests.test_retrievers import CORPUS, PARTS, QUERIES, VECTORS, example

GRID = lab.Grid(mode="bm25", chunk_strategy="document")
FRAMEWORKS = {
    "langchain": ("langchain_stages", "LangChain", "langchain_core"),
    "llamaindex": ("llamaindex_stages", "LlamaIndex", "llama_index.core"),
    "haystack": ("haystack_stages", "Haystack", "haystack"),
}
# Questions of another part's words: the legs disagree, and pieces are missed.
CROSSED = [
    lab.Query(f"q{n}", f"page {n} leaks {part}", evidence=(lab.Evidence(f"d{(n + 3) % 8}", 0, 20),))
    for n, part in enumerate(PARTS)
]


def framework(name: str) -> Any:
    file, kind, package = FRAMEWORKS[name]
    vectors = VECTORS | {query.text: VECTORS[QUERIES[n].text] for n, query in enumerate(CROSSED)}
    return getattr(example(file, package, "rank_bm25"), kind)(CORPUS, GivenEncoder(vectors))


def run_of(name: str, retriever: Any, queries: list[lab.Query]) -> Run:
    measure = lab.Measure(metrics=("recall@2", "ndcg@10"), select_by="ndcg@10")
    return lab.sweep(CORPUS, queries, GRID, measure, retrievers={name: retriever}, progress=False)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_framework_s_pipeline_shows_its_stages(name: str) -> None:
    run = run_of(name, framework(name), QUERIES)
    assert run.scores(name).column("ndcg@10").tolist() == [1.0] * len(QUERIES)
    assert not [note for note in run.notes if note.startswith(name)]
    crossed = run_of(name, framework(name), CROSSED)
    causes = crossed.causes().query("system == @name")
    assert set(causes["cause"]) <= {"outranked", "lexical_gap", "semantic_gap", "both"}
    assert len(causes)
    assert name in set(crossed.alphas()["family"])
    rows = crossed.tables.rows("rankings", name)
    assert rows[["bm25_rank", "dense_rank", "fused_rank"]].notna().any().all()


def langchain() -> tuple[Any, Callable[[str], object]]:
    from openinference.instrumentation.langchain import LangChainInstrumentor

    pipeline = framework("langchain")
    return LangChainInstrumentor(), pipeline.joined.invoke


def llamaindex() -> tuple[Any, Callable[[str], object]]:
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    pipeline = framework("llamaindex")
    return LlamaIndexInstrumentor(), pipeline.joined.retrieve


def haystack() -> tuple[Any, Callable[[str], object]]:
    from openinference.instrumentation.haystack import HaystackInstrumentor

    pipeline = framework("haystack")
    return HaystackInstrumentor(), lambda text: pipeline.search([text], 10)


@pytest.fixture
def exporter() -> Any:
    pytest.importorskip("openinference.instrumentation")
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    return InMemorySpanExporter()


def traced(framework_of: Callable[[], Any], exporter: Any) -> list[Any]:
    """Spans of asking a framework every crossed question."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor, ask = framework_of()
    instrumentor.instrument(tracer_provider=provider)
    try:
        for query in CROSSED:
            ask(query.text)
    finally:
        instrumentor.uninstrument()
    return list(exporter.get_finished_spans())


def console(spans: list[Any], folder: Path) -> Path:
    """As OpenTelemetry's console exporter writes them."""
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    out = StringIO()
    ConsoleSpanExporter(out=out).export(spans)
    (folder / "console.json").write_text(out.getvalue())
    return folder / "console.json"


def otlp(spans: list[Any], folder: Path) -> Path:
    """As OTLP has them in JSON, which the collector's file exporter writes."""
    from google.protobuf.json_format import MessageToJson
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    (folder / "otlp.json").write_text(MessageToJson(encode_spans(spans)))
    return folder / "otlp.json"


def phoenix(spans: list[Any], folder: Path) -> Path:
    """As Phoenix's dataframe has them: a column an attribute, documents as a list of mappings."""
    rows = []
    for span in spans:
        plain = json.loads(span.to_json())
        attributes, documents = {}, {}
        for key, value in plain["attributes"].items():
            _, dot, rest = key.partition("retrieval.documents.")
            if dot:
                number, _, name = rest.partition(".")
                documents.setdefault(int(number), {})[name] = value
            else:
                attributes[f"attributes.{key}"] = value
        if documents:
            listed = [documents[number] for number in sorted(documents)]
            attributes["attributes.retrieval.documents"] = listed
        context = {f"context.{key}": value for key, value in plain["context"].items()}
        kind = plain["attributes"].get("openinference.span.kind")
        own = {"name": plain["name"], "span_kind": kind, "start_time": plain["start_time"]}
        rows.append({**own, "parent_id": plain["parent_id"], **context, **attributes})
    pd.DataFrame(rows).to_parquet(folder / "phoenix.parquet")
    return folder / "phoenix.parquet"


@pytest.mark.parametrize("written", [console, otlp, phoenix])
@pytest.mark.parametrize("framework_of", [langchain, llamaindex])
def test_a_trace_says_what_the_pipeline_shows(
    framework_of: Callable[[], Any],
    written: Callable[[list[Any], Path], Path],
    exporter: Any,
    tmp_path: Path,
) -> None:
    name = framework_of.__name__
    trace = written(traced(framework_of, exporter), tmp_path)
    assert is_trace(trace)
    assert len({span.trace for span in read_spans(trace)}) == len(CROSSED)
    (tmp_path / "set.jsonl").write_text(
        "".join(json.dumps({"query_id": q.query_id, "text": q.text}) + "\n" for q in CROSSED)
    )
    command = ["import", str(trace), "--to", str(tmp_path / "in")]
    done = CliRunner().invoke(app, [*command, "--questions", str(tmp_path / "set.jsonl")])
    assert not done.exit_code, done.output
    lines = [line.split(":")[0].split() for line in done.output.splitlines()[1:4]]
    assert [kind for kind, _ in lines] == ["lexical", "dense", "fused"]
    assert done.output.count(": 8 times") == 3
    imported = run_of(
        name, RetrieverConfig(name=name, run=tmp_path / "in" / "stages.jsonl"), CROSSED
    )
    shown = run_of(name, framework(name), CROSSED)
    for table, columns in {
        "causes": [
            "query_id",
            "cause",
            "bm25_rank",
            "dense_rank",
            "first_stage_rank",
            "final_rank",
        ],
        "rankings": [
            "query_id",
            "doc_id",
            "start",
            "rank",
            "bm25_rank",
            "dense_rank",
            "fused_rank",
        ],
    }.items():
        ours, theirs = (getattr(run.tables, table) for run in (shown, imported))
        ours, theirs = (
            of[of["system"] == name][columns].reset_index(drop=True) for of in (ours, theirs)
        )
        assert ours.astype(str).equals(theirs.astype(str)), table


def test_a_haystack_trace_has_the_legs_and_no_span_that_joins_them(
    exporter: Any, tmp_path: Path
) -> None:
    trace = console(traced(haystack, exporter), tmp_path)
    done = CliRunner().invoke(app, ["import", str(trace), "--to", str(tmp_path / "in")])
    assert not done.exit_code, done.output
    assert "lexical  InMemoryBM25Retriever: 8 times" in done.output
    assert "dense    InMemoryEmbeddingRetriever: 8 times" in done.output
    assert "searches whose legs no span joins: 8" in done.output
    lines = (tmp_path / "in" / "stages.jsonl").read_text().splitlines()
    asked = {json.loads(line)["query_id"] for line in lines}
    assert asked == {query.text for query in CROSSED}
