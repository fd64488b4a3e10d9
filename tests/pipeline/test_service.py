"""A served searcher: the protocol, its limits, and the page beside it."""

import json
import time
from collections.abc import Iterator

import pytest

from lab.config.grid import Grid
from lab.pipeline.searcher import Searcher
from lab.pipeline.service import LARGEST_BODY, service
from tests.pipeline.test_searcher import CORPUS, searcher_of

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
