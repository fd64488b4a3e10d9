"""A served searcher: the protocol, its limits, and the page beside it."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import lab
from lab.config.grid import Grid
from lab.config.retriever import RetrieverConfig
from lab.pipeline.searcher import Searcher
from lab.pipeline.service import LARGEST_BODY, service
from tests.given import GivenEncoder
from tests.pipeline.test_searcher import CORPUS, QUERIES, RERANKER, TEXTS, searcher_of

testclient = pytest.importorskip("starlette.testclient", reason="the extra 'serve' is missing")


@pytest.fixture
def client() -> Iterator["testclient.TestClient"]:
    grid = Grid(mode=("hybrid", "bm25"), model="given", chunk_size=40)
    hybrid, lexical = (searcher_of(config) for config in grid.systems()[0])
    with testclient.TestClient(service({"a": hybrid, "b": lexical})) as client:
        yield client


def hits_of(searcher: Searcher, text: str, k: int) -> list[tuple[str, int, int, float]]:
    return [(hit.doc_id, hit.start, hit.end, hit.score) for hit in searcher.search(text, k)]


def test_the_protocol_answers_as_the_searcher_does(client: "testclient.TestClient") -> None:
    asked = {"query_id": "q1", "query": "oil leaks", "depth": 3}
    answer = client.post("/", json=asked).json()
    assert answer["query_id"] == "q1"
    searcher = searcher_of(Grid(mode="hybrid", model="given", chunk_size=40).systems()[0][0])
    got = [(hit["doc_id"], hit["start"], hit["end"], hit["score"]) for hit in answer["hits"]]
    assert got == hits_of(searcher, "oil leaks", 3)
    assert answer["hits"][0]["text"] in CORPUS[answer["hits"][0]["doc_id"]].text


def test_systems_by_name_and_at_another_alpha(client: "testclient.TestClient") -> None:
    served = client.get("/health").json()
    assert served["documents"] == 3
    assert [(each["name"], each["alpha"]) for each in served["systems"]] == [
        ("a", 0.5),
        ("b", None),
    ]
    moved = client.post("/search", json={"query": "oil leaks", "alpha": 0.9}).json()
    assert "alpha=0.9" in moved["system"]
    # A hit that shares no word with the question has no place in the lexical leg.
    assert {stage for hit in moved["hits"] for stage in hit["stages"]} == {"bm25", "dense", "fused"}
    lexical = client.post("/search", json={"query": "oil", "system": "b", "k": 2}).json()
    assert "bm25" in lexical["system"]
    assert len(lexical["hits"]) == 2


@pytest.mark.parametrize(
    ("path", "asked", "problem"),
    [
        ("/", {"query": " "}, "query is ' '"),
        ("/", {"query": "x", "depth": 0}, "depth is 0"),
        ("/", {"query": "x", "depth": True}, "depth is True"),
        ("/", ["x"], "no JSON object"),
        ("/search", {"query": "x", "system": "c"}, "no system 'c'"),
        ("/search", {"query": "x", "alpha": 2}, "alpha is 2"),
        ("/search", {"query": "x", "alpha": "1"}, "alpha is '1'"),
        ("/search", {"query": "x", "system": "b", "alpha": 0.5}, "one leg"),
        ("/search", {"query": "x", "filter": {"year": {"above": 1}}}, "filter"),
    ],
)
def test_a_wrong_request_is_told(
    client: "testclient.TestClient", path: str, asked: object, problem: str
) -> None:
    answer = client.post(path, content=json.dumps(asked))
    assert answer.status_code == 400
    assert problem in " ".join(answer.json()["problems"])


def test_a_request_has_an_end(client: "testclient.TestClient") -> None:
    large = client.post("/", content=b"x" * (LARGEST_BODY + 1))
    assert large.status_code == 413
    assert client.post("/", content=b"{").status_code == 400

    class Slow(Searcher):
        def search(self, *arguments: object, **options: object) -> tuple[()]:
            time.sleep(0.5)
            return ()

    config = Grid(mode="bm25", chunk_size=40).systems()[0][0]
    slow = Slow(CORPUS, config, searcher_of(config).resources)
    with testclient.TestClient(service({"slow": slow}, timeout_seconds=0.05)) as hurried:
        assert hurried.post("/", json={"query": "x"}).status_code == 504


def test_the_page_asks_nobody_but_its_server(client: "testclient.TestClient") -> None:
    page = client.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "http" not in page.text.replace("http-equiv", "")


def test_a_sweep_that_asks_the_served_system_gives_the_native_figures(tmp_path: Path) -> None:
    uvicorn = pytest.importorskip("uvicorn", reason="the extra 'serve' is missing")
    grid = Grid(
        mode="hybrid",
        model="given",
        chunk_size=40,
        alpha=0.3,
        deliver="window(1)",
        rerank_model="given-reranker",
        rerank_depth=4,
        depth=8,
    )
    (config,) = grid.systems()[0]
    listening = socket.create_server(("127.0.0.1", 0))
    application = service({"a": searcher_of(config)})
    server = uvicorn.Server(uvicorn.Config(application, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        run = lab.sweep(
            CORPUS,
            QUERIES,
            grid,
            ["recall@1", "precision@3", "mrr", "ndcg@10"],
            cache=tmp_path / "cache.sqlite",
            progress=False,
            encoders={"given": GivenEncoder()},
            rerankers={"given-reranker": RERANKER},
            retrievers={"served": RetrieverConfig(name="served", url=url, depth=8)},
        )
    finally:
        server.should_exit = True
        thread.join(20)
    scores = run.tables.scores.astype({"system": str, "metric": str, "query_id": str})
    by_system = {
        name: rows.set_index(["query_id", "metric"])["value"].sort_index()
        for name, rows in scores.groupby("system")
    }
    assert set(by_system) == {"served", config.name}
    assert len(by_system["served"]) == 12
    assert by_system["served"].to_dict() == by_system[config.name].to_dict()
    assert 0 < by_system["served"].mean() < 1


def test_the_command_serves_a_run_and_its_index_and_stops_cleanly(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="the extra 'serve' is missing")
    corpus = tmp_path / "documents"
    corpus.mkdir()
    for doc_id, text in TEXTS.items():
        (corpus / doc_id).write_text(text)
    questions = [lab.Query(q.query_id, q.text, evidence=q.evidence) for q in QUERIES]
    run = lab.sweep(lab.read_corpus(corpus), questions, Grid(mode="bm25"), progress=False)
    folder = run.write(tmp_path / "run")
    lab.index(folder, tmp_path / "index")
    for place in (folder, tmp_path / "index"):
        command = ["-c", "from lab.cli import main; main()", "serve", str(place), "--port", "0"]
        served = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert served.stdout is not None
        said = served.stdout.readline()
        address = said.strip().rpartition(" at ")[2]
        body = json.dumps({"query_id": "q", "query": "oil", "depth": 2}).encode()
        with urllib.request.urlopen(address, body, timeout=30) as answer:
            hits = json.load(answer)["hits"]
        assert hits[0]["doc_id"] == "pump.md"
        served.send_signal(signal.SIGINT)
        _, told = served.communicate(timeout=30)
        assert "Traceback" not in told
