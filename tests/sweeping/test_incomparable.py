"""A system that fails on too many questions keeps its row and takes part in no choice."""

import http.server
import json
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lab
from lab.cli import main
from lab.config.retriever import RetrieverConfig
from lab.errors import ConfigError, RunError
from lab.report.export.latex import latex_files
from lab.report.export.paper import markdown
from lab.report.sentences import brief
from lab.runs.ablate import ablate
from lab.runs.pool import candidates
from tests.given import corpus_of

PLACES = range(20)
CORPUS = corpus_of({f"d{n:02d}": f"the pump number{n} leaks word{n % 7}" for n in PLACES})
# BM25 finds every second question's document first, a retriever that answers finds all of them.
QUERIES = [
    lab.Query(
        f"q{n:02d}",
        f"number{n}" if n % 2 else f"number{(n + 2) % 20}",
        evidence=(lab.Evidence(f"d{n:02d}"),),
    )
    for n in PLACES
]
GRID = lab.Grid(mode="bm25", chunk_strategy="document", k1=(0.9, 1.2))
MEASURE = lab.Measure(metrics=("recall@1", "ndcg@10"), select_by="ndcg@10")
NUMBER = {query.query_id: f"d{number:02d}" for number, query in enumerate(QUERIES)}


class Sometimes:
    """Right where it answers; asked by text, of which some raise."""

    def __init__(self, failing: int) -> None:
        self.failing = failing
        self.place = {query.text: number for number, query in enumerate(QUERIES)}

    def search(self, queries: Sequence[str], depth: int) -> list[list[str]]:
        places = [self.place[text] for text in queries]
        if any(place < self.failing for place in places):
            raise ValueError("no connection")
        return [[f"d{place:02d}"] for place in places]


def swept(retriever: Any, **more: Any) -> lab.Run:
    measure = MEASURE.model_copy(update=more)
    return lab.sweep(
        CORPUS, QUERIES, GRID, measure, retrievers={"theirs": retriever}, progress=False
    )


def distinct() -> None:
    assert len({query.text for query in QUERIES}) == len(QUERIES)


def check_left_out(run: lab.Run, reason: str) -> None:
    """The row is there; nothing that chooses or tests has seen it."""
    alone = lab.sweep(CORPUS, QUERIES, GRID, MEASURE, progress=False)
    assert run.systems == (*alone.systems, "theirs")
    assert run.compared == alone.systems
    assert (run.best, run.recommended) == (alone.best, alone.recommended)
    theirs = run.table().set_index("system").loc["theirs"]
    assert theirs["verdict"] == "not comparable"
    assert theirs[["p", "least_p", "p_best", "picked", "hurt", "helped", "georisk"]].isna().all()
    assert not theirs["pareto"]
    assert not theirs["recommended"]
    columns = ["p", "least_p", "p_best", "picked", "verdict", "cost_rank", "pareto", "recommended"]
    ours = run.table().iloc[:-1][[*columns, "hurt", "helped", "georisk"]]
    assert ours.astype(str).equals(
        alone.table()[ours.columns].astype(ours.dtypes.to_dict()).astype(str)
    )
    own, others = (one.manifest["conclusions"] for one in (run, alone))
    assert own["not_comparable"] == {"theirs": reason}
    assert own == others | {"not_comparable": {"theirs": reason}}
    assert f"theirs: not comparable, {reason}; left out of every choice and test" in run.notes


@pytest.mark.parametrize("failing", [3, 10, 19])
def test_it_keeps_its_row_and_is_left_out_of_every_choice(failing: int) -> None:
    distinct()
    run = swept(Sometimes(failing))
    check_left_out(run, f"{failing} of 20 questions failed, more than 10%")
    assert run.scores("theirs").column("ndcg@10").sum() == 20 - failing


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_tenth_may_fail(failing: int) -> None:
    run = swept(Sometimes(failing))
    assert run.tables.not_comparable == {}
    assert run.best == "theirs"
    assert run.compared == run.systems


def test_one_that_never_answers_is_an_error_with_its_first_reason() -> None:
    with pytest.raises(ConfigError, match=r"none of 20 questions.*'q00'.*no connection"):
        swept(Sometimes(20))


def test_answers_for_other_questions_than_were_asked_are_failures() -> None:
    class Three:
        def search(self, queries: Sequence[str], depth: int) -> list[list[str]]:
            return [["d00"]] * 3

    with pytest.raises(ConfigError, match="none of 20 questions"):
        swept(Three())


@pytest.mark.parametrize("bad", [1.5, [{"id": "d01"}], [["d01", "high"]], None, "d01"])
def test_answers_of_no_use_are_failures_like_any_other(bad: Any) -> None:
    class Mixed:
        def search(self, queries: Sequence[str], depth: int) -> list[Any]:
            return [bad if "number1" in text else ["d01"] for text in queries]

    # number1 and number10 to number19, by text.
    run = swept(Mixed())
    failed = sum("number1" in query.text for query in QUERIES)
    assert failed > 2
    check_left_out(run, f"{failed} of 20 questions failed, more than 10%")


def test_a_command_that_ends_early_is_left_out(tmp_path: Path) -> None:
    program = tmp_path / "theirs.py"
    program.write_text(
        "import json, sys\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    if number == 12: sys.exit(3)\n"
        "    asked = json.loads(line)\n"
        "    hits = ['d' + asked['query_id'][1:]]\n"
        "    print(json.dumps({'query_id': asked['query_id'], 'hits': hits}), flush=True)\n"
    )
    command = f"{sys.executable} {program}"
    settings = RetrieverConfig(name="theirs", command=command, retries=0, timeout_seconds=20)
    check_left_out(swept(settings), "8 of 20 questions failed, more than 10%")


@contextmanager
def server(refused: int) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number = int(asked["query_id"][1:])
            body = json.dumps({"query_id": asked["query_id"], "hits": [f"d{number:02d}"]}).encode()
            self.send_response(500 if number < refused else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}/"
    finally:
        listening.shutdown()
        listening.server_close()


def test_an_address_that_refuses_some_questions_is_left_out() -> None:
    with server(5) as url:
        run = swept(RetrieverConfig(name="theirs", url=url, retries=0))
    check_left_out(run, "5 of 20 questions failed, more than 10%")


@pytest.mark.parametrize("form", ["mapping", "trec", "jsonl"])
def test_what_a_finished_run_does_not_list_was_returned_as_nothing(
    form: str, tmp_path: Path
) -> None:
    """Half of the topics are missing: trec_eval -c counts them as 0, and so does the lab."""
    listed = dict(list(NUMBER.items())[10:])
    file = tmp_path / f"theirs.{form}"
    given: Any = {query_id: {doc_id: 1.0} for query_id, doc_id in listed.items()}
    if form == "trec":
        file.write_text("".join(f"{q} Q0 {d} 1 1.0 t\n" for q, d in listed.items()))
    elif form == "jsonl":
        lines = [json.dumps({"query_id": q, "hits": [d]}) for q, d in listed.items()]
        file.write_text("\n".join(lines))
    run = swept(given if form == "mapping" else file)
    assert run.tables.not_comparable == {}
    assert run.scores("theirs").column("ndcg@10").tolist() == [0.0] * 10 + [1.0] * 10
    assert any("10 question(s) without an answer count as nothing found" in n for n in run.notes)
    assert np.isfinite(run.table().set_index("system").loc["theirs", "p"])


def test_a_finished_run_of_other_topics_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no line for it"):
        swept({"other": {"d01": 1.0}})


def test_nothing_that_compares_takes_it(tmp_path: Path) -> None:
    run = lab.read_run(swept(Sometimes(8)).write(tmp_path / "run"), CORPUS)
    assert run.tables.ranked["system"].iloc[-1] == "theirs"
    assert run.best_by("recall@1") != "theirs"
    assert run.verdicts("recall@1")["theirs"] == "not comparable"
    assert run.verdicts("ndcg@10")["theirs"] == "not comparable"
    assert "theirs" not in set(run.against(run.best)["system"])
    assert "theirs" not in {risk.system for risk in run.metric_study().risks}
    assert not {"theirs"} & {*run.rescues()["a"], *run.rescues()["b"]}
    assert "theirs" not in set(ablate(run, run.baseline).steps["system"])
    assert "theirs" not in candidates(run.tables)
    cases = run.cases(run.best, run.baseline)
    assert max((systems for _, systems in cases.by_some), default=0) <= 2
    reason = "'theirs' is not comparable: 8 of 20 questions failed"
    for compared in (
        lambda: run.paired("theirs", run.best),
        lambda: run.against("theirs"),
        lambda: run.verdicts("recall@1", "theirs"),
        lambda: run.metric_study("theirs"),
    ):
        with pytest.raises(RunError, match=reason):
            compared()
    # It can still be looked at, question by question.
    assert run.scores("theirs").column("ndcg@10").sum() == 12
    assert run.explain("q19", "theirs").system == "theirs"


def brief_of(run: lab.Run) -> list[str]:
    """The sentences of the half page that `lab run` prints."""
    return brief(run.manifest["conclusions"], run.labels)


def called(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Exit code and output of a command, white space folded."""
    monkeypatch.setattr(sys, "argv", ["lab", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0), " ".join("".join(capsys.readouterr()).split())


def test_screens_and_papers_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = swept(Sometimes(8))
    folder = str(run.write(tmp_path / "run"))
    code, shown = called(["show", folder], monkeypatch, capsys)
    assert code == 0
    assert "theirs is not comparable (8 of 20 questions failed, more than 10%)" in shown
    assert "x not comparable" in shown
    assert "theirs is not comparable (8 of 20" in " ".join(brief_of(run))
    row = next(line for line in markdown(run).splitlines() if "theirs" in line)
    assert row.count("0.600×") == 2
    assert "× not comparable, for it failed on too many questions" in markdown(run)
    assert r"0.600$^\times$" in dict(latex_files(run))["systems.tex"]
    report = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "theirs is not comparable (8 of 20 questions failed" in report
    assert "nan%" not in report
    pair = ["compare", folder, folder, "--system-a", "theirs", "--system-b", run.best]
    code, told = called(pair, monkeypatch, capsys)
    assert code == 2
    assert "'theirs' is not comparable: 8 of 20 questions failed" in told


def test_screens_of_runs_that_all_answered_know_no_such_mark() -> None:
    run = swept(Sometimes(0))
    assert "comparable" not in markdown(run) + "".join(dict(latex_files(run)).values())


def test_failing_on_the_sealed_questions_alone_is_told() -> None:
    """The one that is recommended fails where nobody looked before."""
    open_run = swept(Sometimes(0), sealed=0.3)
    sealed: Mapping[str, Any] = open_run.manifest["conclusions"]["sealed"]
    hidden = {query.text for query in QUERIES if query.query_id in set(sealed["query_ids"])}

    class Hiding(Sometimes):
        def search(self, queries: Sequence[str], depth: int) -> list[list[str]]:
            if set(queries) & set(sorted(hidden)[1:]):
                raise ValueError("gone")
            return super().search(queries, depth)

    run = swept(Hiding(0), sealed=0.3)
    assert run.recommended == "theirs"
    told = [note for note in run.notes if note.startswith("sealed questions: theirs")]
    assert len(told) == 1
    assert f"{len(hidden) - 1} of {len(hidden)} questions failed" in told[0]
