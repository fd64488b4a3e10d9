"""The front door: what a command prints, and that wrong input ends with exit code 2, one message
and nothing half-written."""

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cli import COMMANDS, main
from tests.conftest import ROOT

Lab = Callable[..., tuple[int, str, str]]

EXPERIMENT = """
corpus = "documents"
diagnostic_sets = ["questions"]

[chunk]
size = [20, 60]

[retrieve]
mode = "bm25"
"""


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Lab:
    """Runs a command in an empty folder and returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lab", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return (int(end.value.code or 0), *capsys.readouterr())

    return call


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with two documents, two questions and an experiment that is right."""
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.md").write_text(
        "# Pump\n\nThe pump leaks when the seal is worn.\n", "utf-8"
    )
    (tmp_path / "documents" / "b.txt").write_text(
        "Error ERR-4042: pressure low. 水泵漏水。\r\n", "utf-8"
    )
    (tmp_path / "questions").mkdir()
    seal, pressure = (
        {"doc_id": "a.md", "quote": "seal is worn"},
        {"doc_id": "b.txt", "quote": "pressure low"},
    )
    questions = [
        {
            "query_id": "kw-1",
            "text": "why does the pump leak",
            "kind": "keyword",
            "evidence": [seal],
        },
        {"query_id": "id-1", "text": "ERR-4042", "kind": "exact_id", "evidence": [pressure]},
    ]
    (tmp_path / "questions" / "set.jsonl").write_text(
        "\n".join(map(json.dumps, questions)) + "\n", "utf-8"
    )
    (tmp_path / "exp.toml").write_text(EXPERIMENT, "utf-8")
    return tmp_path


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def test_run_writes_a_folder_that_explain_reads(lab: Lab, project: Path) -> None:
    code, out, err = lab("run", "exp.toml")
    assert code == 0
    assert "fixed-20" in out
    assert "fixed-60" in out
    assert "written: runs/exp" in out
    assert "Traceback" not in err
    assert (project / "runs" / "exp" / "manifest.json").is_file()
    code, out, _ = lab("explain", "runs/exp", "id-1", "--system", "fixed-60 bm25")
    assert code == 0
    assert "complete at rank 1" in out
    assert "b.txt:0-37" in out
    assert "ERR-4042" in out


def test_interfere_marks_what_it_injected_in_everything_it_writes(lab: Lab, project: Path) -> None:
    (project / "own").mkdir()
    (project / "own" / "copy.md").write_text("Error ERR-4042: pressure low.", "utf-8")
    lab("run", "exp.toml")
    kinds = "--kind", "twin", "--kind", "duplicate", "--dose", "1", "--dose", "3"
    code, out, err = lab("interfere", "exp.toml", *kinds, "--into", "runs/exp", "--out", "doses")
    assert code == 0, err
    assert "duplicate (6 injected documents at the largest dose)" in out
    assert {path.name for path in (project / "doses").iterdir()} == {
        "plain",
        "twin-1",
        "twin-3",
        "duplicate-1",
        "duplicate-3",
    }
    code, out, err = lab(
        "interfere",
        "exp.toml",
        "--folder",
        "own",
        "--dose",
        "1",
        "--into",
        "runs/exp",
        "--out",
        "doses",
    )
    assert "folder (1 injected documents at the largest dose)" in out
    kept = (project / "runs" / "exp" / "interference.csv").read_text("utf-8")
    assert {line.split(",")[0] for line in kept.splitlines()[1:]} == {"twin", "duplicate", "folder"}
    for name, injected in (("plain", 0), ("duplicate-3", 6), ("folder-1", 1)):
        run = project / "doses" / name
        manifest = json.loads((run / "manifest.json").read_text("utf-8"))
        assert (manifest["name"], manifest["corpus"]["injected"]) == (f"exp {name}", injected)
        assert (run / "documents.jsonl").read_text("utf-8").count('"injected": ') == injected
        assert any("injected distractors" in note for note in manifest["notes"]) == bool(injected)
    assert (
        "injected:folder:copy.md:0-"
        in lab("explain", "doses/folder-1", "id-1", "--system", "fixed-60 bm25")[1]
    )
    assert (
        "injected by `lab interfere` 0 -> 6"
        in lab("compare", "doses/plain", "doses/duplicate-3")[1]
    )
    assert lab("report", "doses/folder-1")[0] == 0


def test_run_as_json(lab: Lab, project: Path) -> None:
    code, out, _ = lab("run", "exp.toml", "--json", "--out", "elsewhere")
    found = json.loads(out)
    assert (code, found["run"], len(found["systems"])) == (0, "elsewhere", 2)
    assert {"recall@5", "precision@3", "ndcg@10"} <= set(found["systems"][0])


def test_a_second_run_says_what_came_from_the_cache(
    lab: Lab, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(project / "cache.sqlite"))
    (project / "exp.toml").write_text(
        EXPERIMENT.replace('"bm25"', '["dense", "hybrid"]') + "[rerank]\ndepth = 3\n", "utf-8"
    )
    first, second = (lab("run", "exp.toml")[1].splitlines() for _ in range(2))
    told = next(line for line in first if line.startswith("texts: "))
    texts, pairs = re.findall(r"(\d+) computed, 0 from the cache", told)
    again = next(line for line in second if line.startswith("texts: "))
    assert (
        f"texts: 0 computed, {texts} from the cache; pairs: 0 computed, {pairs} from the cache"
        in again
    )


def test_search_shows_both_legs_scores(lab: Lab, project: Path) -> None:
    code, out, _ = lab("search", "documents", "ERR-4042", "-k", "9")
    first = next(line for line in out.splitlines() if "b.txt:0-" in line)
    assert code == 0
    assert first.split()[0] == "1"
    assert "-" not in first.split()[1:4]
    other = next(line for line in out.splitlines() if "a.md:0-" in line)
    assert other.split()[2] == "-"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["documents", " "], "the question is blank"),
        (["absent", "pump"], "absent: no such folder or file"),
        (
            ["documents", "pump", "--alpha", "1.2"],
            "fusion.alpha is 1.2; expected a number from 0 to 1",
        ),
        (["documents", "pump", "--strategy", "fixd"], "chunk.strategy is 'fixd'"),
        (["documents", "pump", "--model", "./absent"], "model './absent': no such folder"),
        (["documents", "pump", "-k", "0"], "'-k'"),
    ],
)
def test_search_with_wrong_input(
    lab: Lab, project: Path, arguments: list[str], expected: str
) -> None:
    code, out, err = lab("search", *arguments)
    assert (code, out) == (2, "")
    assert expected in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda text: text + "colour = 3\n", "unknown key 'retrieve.colour'"),
        (lambda text: "corpse = 3\n" + text, "unknown key 'corpse'; did you mean 'corpus'?"),
        (
            lambda text: text + "[fusion]\nalpha = 1.2\n",
            "fusion.alpha is 1.2; expected a number from 0 to 1",
        ),
        (
            lambda text: text.replace("[20, 60]", "20\noverlap = 20"),
            "overlap 20 must be smaller than size 20",
        ),
        (lambda text: text.replace('"documents"', '"docs"'), "corpus 'docs' does not exist"),
        (
            lambda text: text.replace('["questions"]', '["asked"]'),
            "diagnostic_sets 'asked' does not exist",
        ),
        (lambda text: text.replace('corpus = "documents"', ""), "key 'corpus' is missing"),
        (
            lambda text: text.replace('"bm25"', '"bm52"'),
            "retrieve.mode is 'bm52'; expected 'bm25', 'dense' or 'hybrid'",
        ),
        (
            lambda text: text + '[measure]\nmetrics = ["recal@5"]\n',
            "metric 'recal@5' is unknown; did you mean 'recall'?",
        ),
        (lambda text: text + "[measure]\nhold = 2\n", "measure.hold is 2"),
        (
            lambda text: text + "[measure]\nholt = 1\n",
            "unknown key 'measure.holt'; did you mean 'hold'?",
        ),
        (lambda text: text.replace("[chunk]", "[chunk"), "not TOML"),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_wrong_experiment(
    lab: Lab, project: Path, command: str, change: Callable[[str], str], expected: str
) -> None:
    (project / "exp.toml").write_text(change(EXPERIMENT), "utf-8")
    before = files(project)
    code, out, err = lab(command, "exp.toml")
    assert (code, out) == (2, "")
    assert "exp.toml" in err
    assert expected in err
    assert "Traceback" not in err
    assert files(project) == before


def append(path: str, text: str) -> Callable[[Path], object]:
    def change(project: Path) -> None:
        with (project / path).open("a", encoding="utf-8") as file:
            file.write(text)

    return change


def replace(path: str, old: str, new: str) -> Callable[[Path], object]:
    return lambda project: (project / path).write_text(
        (project / path).read_text("utf-8").replace(old, new), "utf-8"
    )


def no_text(project: Path) -> None:
    for file in (project / "documents").iterdir():
        file.write_text(" \n", "utf-8")
    (project / "questions" / "set.jsonl").write_text(
        '{"query_id": "q", "text": "?", "evidence": [{"doc_id": "a.md"}]}\n', "utf-8"
    )


SET = "questions/set.jsonl"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (append(SET, "{broken\n"), ["set.jsonl:3: not JSON"]),
        (
            append(SET, '{"query_id": "kw-1", "text": "again"}\n'),
            ["set.jsonl:3: query_id 'kw-1' was already used at"],
        ),
        (
            replace(SET, "seal is worn", "seal was worn"),
            ["evidence 1: quote 'seal was worn' is not in", "nearest text: "],
        ),
        (
            replace(SET, "a.md", "A.md"),
            ["document 'A.md' is not in the corpus; did you mean 'a.md'?"],
        ),
        (lambda project: (project / SET).write_text("", "utf-8"), ["holds no question"]),
        (
            lambda project: [file.unlink() for file in (project / "documents").iterdir()],
            ["no .txt or .md file"],
        ),
        (no_text, ["no text but white space"]),
        (
            lambda project: (project / "documents" / "c.txt").write_bytes(b"\xff"),
            ["c.txt: byte 0 is not UTF-8"],
        ),
        (
            append(
                SET,
                '{"query_id": "x", "text": "t", "evidence": [{"doc_id": "z"}]}\n[]\n{"text": 3}\n',
            ),
            [
                "set.jsonl:3: evidence 1: document 'z'",
                "set.jsonl:4: found a list",
                "set.jsonl:5: 'query_id' is missing",
            ],
        ),
    ],
    ids=[
        "line",
        "id",
        "quote",
        "document",
        "no question",
        "no document",
        "no text",
        "encoding",
        "several",
    ],
)
def test_wrong_documents_or_questions(
    lab: Lab, project: Path, change: Callable[[Path], object], expected: list[str]
) -> None:
    change(project)
    before = files(project)
    code, out, err = lab("run", "exp.toml")
    assert (code, out) == (2, "")
    for part in expected:
        assert part in err
    assert "Traceback" not in err
    assert files(project) == before


def test_several_problems_are_told_at_once(lab: Lab, project: Path) -> None:
    wrong = (
        EXPERIMENT.replace('"documents"', '"docs"').replace("size", "sise")
        + "[fusion]\nalpha = 1.2\n[measure]\nhold = 0\n"
    )
    (project / "exp.toml").write_text("nmae = 1\n" + wrong, "utf-8")
    code, _, err = lab("run", "exp.toml")
    assert code == 2
    lines = err.splitlines()
    assert lines[0] == "5 problems:"
    assert len(lines) == 6
    for key in ("nmae", "docs", "chunk.sise", "fusion.alpha", "measure.hold"):
        assert sum(key in line for line in lines) == 1


def test_the_place_is_checked_before_the_work(lab: Lab, project: Path) -> None:
    (project / "mine").mkdir()
    (project / "mine" / "thesis.txt").write_text("years", "utf-8")
    code, out, err = lab("run", "exp.toml", "--out", "mine")
    assert (code, out) == (2, "")
    assert "mine: exists and is not a run folder; name another with --out" in err
    assert files(project / "mine") == {"thesis.txt"}


def test_explain_with_wrong_input(lab: Lab, project: Path) -> None:
    assert "not a run folder" in lab("explain", "absent", "kw-1")[2]
    lab("run", "exp.toml")
    code, _, err = lab("explain", "runs/exp", "kw-9")
    assert code == 2
    assert "no question 'kw-9' in this run; did you mean 'kw-1'?" in err
    assert "no system 'x' in this run" in lab("explain", "runs/exp", "kw-1", "--system", "x")[2]
    (project / "documents" / "a.md").write_text("changed", "utf-8")
    code, _, err = lab("explain", "runs/exp", "kw-1")
    assert code == 2
    assert "have changed since" in err


def test_a_warning_is_one_line_without_a_place_in_our_code(lab: Lab, project: Path) -> None:
    (project / "beir" / "qrels").mkdir(parents=True)
    (project / "beir" / "queries.jsonl").write_text('{"_id": "q1", "text": "pump"}\n', "utf-8")
    (project / "beir" / "qrels" / "test.tsv").write_text("q1\ta.md\t1\nq1\ta.md\t1\n", "utf-8")
    (project / "exp.toml").write_text(EXPERIMENT.replace("questions", "beir"), "utf-8")
    code, _, err = lab("run", "exp.toml")
    assert code == 0
    assert [line for line in err.splitlines() if line.startswith("warning:")] == [
        "warning: beir/qrels/test.tsv:2: 'q1' and 'a.md' were judged alike at "
        "beir/qrels/test.tsv:1; counted once"
    ]


def test_help_loads_nothing_heavy() -> None:
    heavy = [
        "torch",
        "sentence_transformers",
        "ranx",
        "pandas",
        "matplotlib",
        "faiss",
        "numba",
        "sklearn",
    ]
    code = (
        "import sys, lab.cli; lab.cli.app(['--help'], standalone_mode=False); print([m "
        f"for m in {heavy} if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines()[-1] == "[]"
    assert all(f" {name} " in found.stdout for name in COMMANDS)
