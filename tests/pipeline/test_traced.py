"""Traces on paper: what spans say, and what they leave open."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.errors import ConfigError, CorpusError
from lab.pipeline.foreign.import_trace import import_trace
from lab.pipeline.foreign.spans import is_trace
from lab.pipeline.foreign.traced import read_trace


def span(
    number: int, name: str, kind: str, query: str, ids: list[str], parent: int = 0, **said: Any
) -> dict[str, Any]:
    prefix = "reranker.output_documents" if kind == "RERANKER" else "retrieval.documents"
    documents = {
        f"{prefix}.{place}.document.{key}": value
        for place, name in enumerate(ids)
        for key, value in {"id": name, "content": f"text of {name}", "score": 1 - place / 8}.items()
    }
    asked = {"reranker.query" if kind == "RERANKER" else "input.value": query}
    return {
        "name": name,
        "context": {"trace_id": said.pop("trace", "t1"), "span_id": f"s{number}"},
        "parent_id": f"s{parent}" if parent else None,
        "start_time": f"2026-01-01T00:00:{number:02}Z",
        "attributes": {"openinference.span.kind": kind, **asked, **documents, **said},
    }


def written(folder: Path, *spans: Mapping[str, Any]) -> Path:
    file = folder / "trace.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in spans))
    return file


def shown(file: Path, **kinds: str) -> dict[str, list[list[tuple[str, str, list[str | None]]]]]:
    replies = read_trace(file, kinds).replies
    return {
        question: [
            [(stage.name, stage.kind, [hit.doc_id for hit in stage.hits]) for stage in call.stages]
            for call in reply.calls
        ]
        for question, reply in replies.items()
    }


def test_legs_a_reranker_and_what_the_user_asked(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        span(1, "agent", "AGENT", "What leaks?", []),
        span(2, "BM25Retriever", "RETRIEVER", "leak", ["a", "b"], 1),
        span(3, "VectorRetriever", "RETRIEVER", "leak", ["b", "c"], 1),
        span(4, "CrossEncoder", "RERANKER", "leak", ["c", "a"], 1),
    )
    assert is_trace(file)
    assert shown(file) == {
        "What leaks?": [
            [
                ("BM25Retriever", "lexical", ["a", "b"]),
                ("VectorRetriever", "dense", ["b", "c"]),
                ("CrossEncoder", "rerank", ["c", "a"]),
            ]
        ]
    }
    (reply,) = read_trace(file, {}).replies.values()
    assert [(hit.doc_id, hit.text) for hit in reply.hits] == [
        ("c", "text of c"),
        ("a", "text of a"),
    ]


def test_other_words_or_the_same_stage_again_are_another_search(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        span(1, "agent", "AGENT", "Who made it?", []),
        span(2, "dense", "RETRIEVER", "maker", ["a"], 1),
        span(3, "dense", "RETRIEVER", "maker", ["a"], 1),
        span(4, "dense", "RETRIEVER", "factory", ["b"], 1),
    )
    (calls,) = shown(file).values()
    assert [[hits for _, _, hits in call] for call in calls] == [[["a"]], [["a"]], [["b"]]]
    (reply,) = read_trace(file, {}).replies.values()
    assert [call.query for call in reply.calls] == ["maker", "maker", "factory"]
    assert [hit.doc_id for hit in reply.hits] == ["a", "b"]


def test_a_retriever_around_others_joins_them(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        span(1, "Ensemble.retrieve", "RETRIEVER", "q", ["b", "a"]),
        span(2, "Ensemble._retrieve", "RETRIEVER", "q", [], 1),
        span(3, "Index.retrieve", "RETRIEVER", "q", ["a"], 2),
        span(4, "embed", "EMBEDDING", "q", [], 3),
        span(5, "Index.retrieve", "RETRIEVER", "q", ["b"], 2),
        span(6, "embed", "EMBEDDING", "q", [], 5),
    )
    assert shown(file) == {
        "q": [
            [
                ("Index", "dense", ["a"]),
                ("Index 2", "dense", ["b"]),
                ("Ensemble", "fused", ["b", "a"]),
            ]
        ]
    }


def test_what_a_retriever_is_is_asked_not_guessed(tmp_path: Path) -> None:
    file = written(tmp_path, span(1, "MyRetriever", "RETRIEVER", "q", ["a"]))
    with pytest.raises(CorpusError, match="how does 'MyRetriever' search"):
        read_trace(file, {})
    assert shown(file, MyRetriever="lexical") == {"q": [[("MyRetriever", "lexical", ["a"])]]}
    with pytest.raises(ConfigError, match="did you mean 'dense'"):
        import_trace(file, tmp_path / "in", kinds=["MyRetriever=dens"])
    assert not (tmp_path / "in").exists()


def test_metadata_names_documents_of_the_corpus(tmp_path: Path) -> None:
    key = "retrieval.documents.0.document.metadata"
    said = {key: json.dumps({"source": "pump.md", "start": 4, "end": 9})}
    file = written(tmp_path, span(1, "dense", "RETRIEVER", "q", ["uuid"], **said))
    (reply,) = read_trace(file, {}, "source").replies.values()
    assert (reply.hits[0].doc_id, reply.hits[0].start, reply.hits[0].end) == ("pump.md", 4, 9)


def test_the_import_says_what_it_left_out(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        span(1, "bm25", "RETRIEVER", "Known  Question", ["a"]),
        span(2, "vectors", "RETRIEVER", "Known  Question", ["b"]),
        span(3, "bm25", "RETRIEVER", "another", ["a"], trace="t2"),
        span(4, "bm25", "RETRIEVER", "another", ["a"], trace="t3"),
    )
    sets = tmp_path / "sets"
    sets.mkdir()
    (sets / "set.jsonl").write_text('{"query_id": "q7", "text": "known question"}\n')
    done = import_trace(file, tmp_path / "in", [sets])
    assert (done.questions, dict(done.stages)) == (
        1,
        {("bm25", "lexical"): 1, ("vectors", "dense"): 1},
    )
    assert done.notes == (
        "1 traced question left out: in none of the sets",
        "1 trace of a question that a later one asks again",
        "searches whose legs no span joins: 1; their hits are taken one leg after the other",
    )
    record = json.loads(done.file.read_text())
    assert (record["query_id"], [hit["doc_id"] for hit in record["hits"]]) == ("q7", ["a", "b"])
    with pytest.raises(ConfigError, match="exists; remove it"):
        import_trace(file, tmp_path / "in", [sets])
    (sets / "set.jsonl").write_text('{"query_id": "q7", "text": "something else"}\n')
    with pytest.raises(ConfigError, match="asks no question of these sets; the first asks"):
        import_trace(file, tmp_path / "other", [sets])


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"query_id": "q"}', '{"resourceSpans": []}'])
def test_what_is_no_trace(text: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(text)
    assert not is_trace(file)
    with pytest.raises(CorpusError):
        read_trace(file, {})


def test_a_trace_without_retrievals(tmp_path: Path) -> None:
    file = written(tmp_path, span(1, "llm", "LLM", "q", []))
    with pytest.raises(CorpusError, match="no retriever or reranker span"):
        read_trace(file, {})
