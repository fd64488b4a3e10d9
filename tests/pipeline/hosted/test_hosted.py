"""Models behind HTTP: what they compute is what the same model computes here, byte for byte; what
was answered before a server fails is kept; keys stay in the environment."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import lab
from lab.cli import app
from lab.config.hosted import HostedEncoderConfig, HostedRerankerConfig, key_variable
from lab.corpus.document import Corpus
from lab.errors import ConfigError, ModelError
from lab.pipeline.hosted import server as hosted_server
from lab.pipeline.hosted.encoder import HostedEncoder
from lab.pipeline.hosted.reranker import HostedReranker
from lab.pipeline.hosted.server import ATTEMPTS, ServerError
from lab.retrieval.config import DEFAULT_MODEL
from lab.retrieval.encoder import SentenceEncoder
from lab.runs.folder import write_run
from tests.conftest import ROOT
from tests.given import corpus_of, hashed
from tests.pipeline.hosted.model_server import Said, serving

CORPUS = corpus_of({f"d{n}": f"the pump number {n} leaks at valve {n % 3}" for n in range(12)})
QUERIES = [lab.Query(f"q{n}", f"pump {n}", evidence=(lab.Evidence(f"d{n}"),)) for n in range(12)]
BUSY: list[Said] = [(429, {"Retry-After": "0"}, b"slow down"), (503, {}, b""), None]


def quietly(_: int) -> None:
    """No progress."""


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted_server, "LONGEST_WAIT", 0.01)


def encoder(url: str, **settings: Any) -> HostedEncoderConfig:
    settings = {"name": "hosted", "model": "m", "batch": 5} | settings
    return HostedEncoderConfig(url=url if settings.get("api") == "tei" else f"{url}/v1", **settings)


def reranker(url: str, **settings: Any) -> HostedRerankerConfig:
    settings = {"name": "ranker", "model": "r"} | settings
    return HostedRerankerConfig(
        url=url if settings.get("api") == "tei" else f"{url}/v2", **settings
    )


def swept(cache: Path, config: HostedEncoderConfig, **more: Any) -> lab.Run:
    grid = lab.Grid(chunk_strategy="document", mode=("bm25", "dense"), model=config.name)
    models = {"encoders": {config.name: config}}
    return lab.sweep(CORPUS, QUERIES, grid, cache=cache, progress=False, **models, **more)


def tables(run: lab.Run, folder: Path) -> dict[str, bytes]:
    write_run(run.tables, folder)
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.parquet"))}


@pytest.mark.parametrize("api", ["openai", "tei"])
def test_a_served_model_is_the_local_one_byte_for_byte(tmp_path: Path, api: str) -> None:
    every = lab.read_corpus(ROOT / "corpora/devices")
    corpus = Corpus(list(every)[:2])
    known = {document.doc_id for document in corpus}
    queries = [
        query
        for query in lab.read_diagnostics(ROOT / "diagnostic_sets/devices", every)
        if query.evidence and {piece.doc_id for piece in query.evidence} <= known
    ]
    grid = lab.Grid(chunk_strategy="structure", chunk_size=800, alpha=0.5)
    local = lab.sweep(corpus, queries, grid, cache=tmp_path / "here.sqlite", progress=False)
    model = SentenceEncoder(DEFAULT_MODEL)

    def embed(text: str) -> list[float]:
        return list(map(float, model.encode([text], "passage", quietly)[0]))

    with serving(embed) as served:
        config = encoder(served.url, name=DEFAULT_MODEL, tokenizer=DEFAULT_MODEL, api=api, batch=32)
        hosted = lab.sweep(
            corpus,
            queries,
            grid,
            cache=tmp_path / "there.sqlite",
            progress=False,
            encoders={DEFAULT_MODEL: config},
        )
        assert 1 < len(served.requests) < 20
    assert len(local.table()) == 3
    here = tables(local, tmp_path / "here")
    assert len(here) > 5
    assert here == tables(hosted, tmp_path / "there")


def test_a_server_that_fails_half_way_loses_nothing(tmp_path: Path) -> None:
    asked: list[str] = []

    def embed(text: str) -> list[float]:
        asked.append(text)
        return hashed(text)

    cache = tmp_path / "cache.sqlite"
    with (
        serving(embed, instead=lambda n: "answer" if n < 3 else (500, {}, b"out of memory")) as one,
        pytest.raises(ServerError, match="HTTP 500") as fault,
    ):
        swept(cache, encoder(one.url))
    assert len(one.requests) == 2 + ATTEMPTS
    assert any("10 encoded texts are kept" in line for line in fault.value.problems)
    with serving(embed) as two:
        # The same model at another address would be another one; here it has come back.
        config = encoder(one.url)
        object.__setattr__(config, "url", f"{two.url}/v1")
        hosted = HostedEncoder(encoder(one.url))
        hosted.__dict__["server"] = HostedEncoder(config).server
        grid = lab.Grid(chunk_strategy="document", mode=("bm25", "dense"), model="hosted")
        lab.sweep(CORPUS, QUERIES, grid, cache=cache, progress=False, encoders={"hosted": hosted})
    assert len(asked) == len(set(asked)) == len(CORPUS) + len(QUERIES)


def test_a_busy_server_is_asked_again_and_no_longer_than_it_may(tmp_path: Path) -> None:
    busy = list(BUSY)
    with serving(hashed, instead=lambda n: busy.pop(0) if busy else "answer") as server:
        run = swept(tmp_path / "cache.sqlite", encoder(server.url))
        assert len(server.requests) == len(BUSY) + 3 + 3
        again = swept(tmp_path / "cache.sqlite", encoder(server.url))
        assert len(server.requests) == len(BUSY) + 3 + 3, "kept by text, never asked for twice"
    assert again.table().equals(run.table())
    with serving(instead=lambda n: (200, {}, b"x" * 16_500_000)) as large:
        with pytest.raises(ModelError, match="larger than 16 MB"):
            swept(tmp_path / "large.sqlite", encoder(large.url))
        assert len(large.requests) == 1


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        ({"data": [{"index": 0, "embedding": [1.0]}]}, "no list of 2 embeddings"),
        ({"data": [{"index": 0, "embedding": [1.0]}] * 2}, "no list of 2 embeddings"),
        ({"error": "no such model"}, "no list of 2 embeddings"),
        ([], "no list of 2 embeddings"),
        (
            {"data": [{"index": i, "embedding": [1.0] * (i + 1)} for i in range(2)]},
            "no 2 vectors of one length",
        ),
        (
            {"data": [{"index": i, "embedding": [1e300]} for i in range(2)]},
            "not finite",
        ),
        ({"data": [{"index": i, "embedding": ["a"]} for i in range(2)]}, "no 2 vectors"),
    ],
)
def test_what_is_no_answer_is_not_kept(answer: Any, match: str) -> None:
    content = json.dumps(answer).encode()
    with serving(instead=lambda n: (200, {}, content)) as server:
        model = HostedEncoder(encoder(server.url))
        with pytest.raises(ServerError, match=match):
            model.encode(["one", "two"], "query", quietly)
        assert len(server.requests) == ATTEMPTS


@pytest.mark.parametrize("api", ["cohere", "tei"])
def test_scores_are_put_where_they_belong(api: str) -> None:
    with serving(score=lambda question, text: len(question) - len(text)) as server:
        model = HostedReranker(reranker(server.url, api=api, batch=2))
        questions, texts = ["aaaa", "b", "aaaa", "aaaa"], ["x", "xx", "xxx", ""]
        scores = model.score(questions, texts, quietly)
        assert scores.tolist() == [3, -1, 1, 3], "an empty text is sent as a blank"
        assert [len(body.get("documents") or body["texts"]) for _, body in server.requests] == [
            2,
            1,
            1,
        ]
    bodies = [body for _, body in server.requests]
    if api == "tei":
        assert all(body["raw_scores"] and body["truncate"] for body in bodies)
        assert model.usage.searches is None
    else:
        assert [(body["model"], body["top_n"]) for body in bodies] == [("r", 2), ("r", 1), ("r", 1)]
        assert model.usage.searches == 3


@pytest.mark.parametrize("wrong", [None, "high"])
def test_a_score_that_is_missing_or_no_number_is_refused(wrong: Any) -> None:
    results = [{"index": 0, "relevance_score": wrong}, {"index": 1, "relevance_score": 1.0}]
    content = json.dumps({"results": results[wrong is None :]}).encode()
    with serving(instead=lambda n: (200, {}, content)) as server:
        model = HostedReranker(reranker(server.url))
        with pytest.raises(ServerError, match="no list of 2 finite scores"):
            model.score(["q", "q"], ["a", "b"], quietly)


def test_a_reranker_that_fails_takes_its_own_systems_out(tmp_path: Path) -> None:
    grid = lab.Grid(
        chunk_strategy="document", mode="bm25", rerank_model="ranker", rerank_depth=(0, 5)
    )
    cache = tmp_path / "cache.sqlite"
    with serving(
        score=lambda q, t: float(q.split()[1] in t.split()),
        instead=lambda n: "answer" if n < 4 else (400, {}, b'{"message": "too many texts"}'),
    ) as server:
        models = {"ranker": reranker(server.url)}
        run = lab.sweep(CORPUS, QUERIES, grid, cache=cache, progress=False, rerankers=models)
    assert len(run.table()) == 1
    assert any("HTTP 400" in note and "too many texts" in note for note in run.notes)
    assert len(server.requests) == 4, "what is refused is not asked again"


def test_what_was_asked_is_counted_and_priced(tmp_path: Path) -> None:
    with serving(hashed) as server:
        config = encoder(server.url, price_per_million_tokens=20)
        run = swept(tmp_path / "cache.sqlite", config)
        again = swept(tmp_path / "cache.sqlite", config)
    tokens = sum(len(document.text.split()) for document in CORPUS) + 2 * len(QUERIES)
    usage = run.manifest["hosted"]["usage"]["hosted"]
    assert (usage["requests"], usage["tokens"]) == (6, tokens)
    assert usage["price"] == pytest.approx(tokens * 20 / 1e6)
    note = f"6 requests, {tokens} tokens in this run, {tokens * 20 / 1e6:.6g} at the file's price"
    assert any(note in line for line in run.notes)
    assert again.manifest["hosted"]["usage"]["hosted"]["requests"] == 0
    assert not any("request" in line for line in again.notes)


def test_prompts_come_before_texts(tmp_path: Path) -> None:
    with serving(hashed) as server:
        config = encoder(server.url, query_prompt="query: ", passage_prompt="passage: ")
        swept(tmp_path / "cache.sqlite", config)
    sent = [text for _, body in server.requests for text in body["input"]]
    assert sum(text.startswith("passage: the pump") for text in sent) == len(CORPUS)
    assert sum(text.startswith("query: pump") for text in sent) == len(QUERIES)


def test_keys_stay_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY_127_0_0_1", "k-secret")
    with serving(hashed) as server:
        run = swept(tmp_path / "cache.sqlite", encoder(server.url))
        assert set(server.keys) == {"Bearer k-secret"}
    folder = run.write(tmp_path / "run")
    written = [*folder.rglob("*"), tmp_path / "cache.sqlite"]
    assert all(b"k-secret" not in file.read_bytes() for file in written if file.is_file())
    with serving(instead=lambda n: (401, {}, b"no k-secret here")) as server:
        with pytest.raises(ServerError, match=r"LAB_KEY_127_0_0_1 is not accepted") as fault:
            swept(tmp_path / "other.sqlite", encoder(server.url))
        assert "k-secret" not in str(fault.value)
    monkeypatch.delenv("LAB_KEY_127_0_0_1")
    with (
        serving(instead=lambda n: (401, {}, b"")) as server,
        pytest.raises(ServerError, match="LAB_KEY_127_0_0_1 is not set"),
    ):
        swept(tmp_path / "other.sqlite", encoder(server.url))


def test_a_key_goes_to_its_own_host_and_over_https_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert key_variable("https://api.openai.com/v1") == "LAB_KEY_API_OPENAI_COM"
    hosts = ("a.b.com", "a-b.com", "a_b.com")
    assert len({key_variable(f"https://{host}") for host in hosts}) == 3
    monkeypatch.setenv("LAB_KEY_EXAMPLE_ORG", "k-secret")
    with pytest.raises(ConfigError, match=r"LAB_KEY_EXAMPLE_ORG is set.*https alone"):
        swept(tmp_path / "cache.sqlite", encoder("http://example.org"))
    assert not HostedEncoder(encoder("https://example.net")).server.key


FILE = """
corpus = "documents.jsonl"
diagnostic_sets = ["set.jsonl"]
[chunk]
strategy = "document"
[retrieve]
mode = ["bm25", "dense"]
[dense]
model = "hosted"
[rerank]
model = "ranker"
depth = [0, 12]
[[encoder]]
name = "hosted"
url = "{url}/v1"
model = "m"
[[reranker]]
name = "ranker"
url = "{url}/v2"
model = "r"
"""


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    documents = "".join(json.dumps(document.record) + "\n" for document in CORPUS)
    (tmp_path / "documents.jsonl").write_text(documents, "utf-8")
    questions = [
        {"query_id": q.query_id, "text": q.text, "evidence": [{"doc_id": q.evidence[0].doc_id}]}
        for q in QUERIES
    ]
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    (tmp_path / "set.jsonl").write_text(lines, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache.sqlite"))

    def write(url: str, text: str = FILE) -> Path:
        (tmp_path / "experiment.toml").write_text(text.replace("{url}", url), "utf-8")
        return tmp_path / "experiment.toml"

    return write


def test_a_file_names_them_and_every_command_asks_them(experiment: Callable[..., Path]) -> None:
    commands = CliRunner()
    with serving(hashed, lambda q, t: float(q.split()[-1] in t.split())) as server:
        file = experiment(server.url)
        checked = commands.invoke(app, ["check", str(file)])
        assert checked.exit_code == 0, checked.output
        assert not server.requests, "a check asks nobody"
        ran = commands.invoke(app, ["run", str(file), "--out", "run"])
        assert ran.exit_code == 0, ran.output
        run = lab.read_run("run")
        system = next(name for name in run.systems if "dense" in name and "ranker" in name)
        asked = len(server.requests)
        searcher = lab.load("run", system)
        assert searcher.search("pump 3", 1)[0].doc_id == "d3"
        assert lab.load("run", system).search("valve 2", 3)
        assert len(server.requests) > asked
        indexed = commands.invoke(app, ["index", "run", "--to", "kept", "--system", system])
        assert indexed.exit_code == 0, indexed.output
        assert lab.load("kept").search("pump 3", 1)[0].doc_id == "d3"
        exported = commands.invoke(
            app, ["export", "run", "--to", "config", "--out", "one", "--system", system]
        )
        assert exported.exit_code == 0, exported.output
        again = lab.read_experiment("one/experiment.toml")
        assert again.models == lab.read_experiment(file).models


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            ('model = "hosted"', 'model = "hosetd"'),
            "encoder 'hosted' is named by no dense.model.*did you mean 'hosetd'",
        ),
        (
            ('model = "m"', 'modell = "m"'),
            "unknown key 'modell' in encoder 1; did you mean 'model'",
        ),
        (("{url}/v1", "http://user:word@host/v1"), "holds a user"),
        (("{url}/v1", "ftp://host"), "expected an address like"),
        (('model = "m"', "batch = 0"), "encoder 1.batch is 0"),
        (('model = "m"', 'api = "grpc"'), "encoder 1.api"),
        (('model = "m"', 'key = "k-secret"'), "unknown key 'key' in encoder 1"),
        (('name = "ranker"', 'name = "maxsim"'), "is a reranker of the lab"),
    ],
)
def test_what_is_wrong_in_a_table_is_told(
    experiment: Callable[..., Path], change: tuple[str, str], told: str
) -> None:
    file = experiment("http://127.0.0.1:9", FILE.replace(*change))
    with pytest.raises(ConfigError, match=told) as fault:
        lab.read_experiment(file)
    assert "word" not in str(fault.value)
    assert "k-secret" not in str(fault.value)


def test_vectors_are_float32_whatever_json_says() -> None:
    values = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    rows = {str(i): row.astype(float).tolist() for i, row in enumerate(values)}
    with serving(lambda text: rows[text]) as server:
        got = HostedEncoder(encoder(server.url)).encode(["0", "1", "2"], "query", quietly)
    assert got.dtype == np.float32
    assert got.tobytes() == values.tobytes()
