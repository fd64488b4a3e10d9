"""`lab compare`, `ablate`, `gate`, `history` from the front door: exit codes, files, and JSON that
says what the screen says."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import lab
from lab.relevance.query import Evidence, Query
from tests.conftest import Call
from tests.given import corpus_of


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    corpus = corpus_of(
        {f"d{i:02}": f"pump number{i} has a seal that lasts {i} weeks." for i in range(30)}
    )
    asked = [
        Query(f"q{i:02}", f"seal of number{i}", "keyword", evidence=(Evidence(f"d{i:02}", 0, 36),))
        for i in range(30)
    ]
    for name, sizes in (("1-good", (60, 90)), ("2-bad", (9, 10))):
        result = lab.sweep(
            corpus,
            asked,
            lab.Grid(mode="bm25", chunk_size=sizes),
            name="small",
            cache=Path(":memory:"),
        )
        result.write(folder / name)
    (folder / "gate.toml").write_text(
        '[[rule]]\nname = "holds"\nmetric = "recall@5"\nmax_drop = 0.05\n', "utf-8"
    )
    return folder


def test_compare(call: Call, runs: Path) -> None:
    code, screen, _ = call("compare", runs / "1-good", runs / "2-bad")
    assert code == 0
    assert "30 common questions" in screen
    assert "▼ worse" in screen
    assert max(map(len, screen.splitlines())) <= 80
    found = json.loads(call("compare", runs / "1-good", runs / "2-bad", "--json")[1])
    assert {line["verdict"] for line in found["lines"]} == {"worse"}
    assert len(found["drift"]["questions"]) == sum(
        found["lines"][-1][key] for key in ("wins", "losses")
    )


def test_ablate(call: Call, runs: Path) -> None:
    code, screen, _ = call("ablate", runs / "2-bad")
    assert code == 0
    assert "chunk_size" in screen
    assert (
        json.loads(call("ablate", runs / "2-bad", "--json")[1])["effects"][0]["setting"]
        == "chunk_size"
    )


def test_gate_ends_with_1_when_a_rule_does_not_hold_and_writes_for_machines(
    call: Call, runs: Path, tmp_path: Path
) -> None:
    given = ("--baseline", runs / "1-good", "--rules", runs / "gate.toml")
    assert call("gate", runs / "1-good", *given)[0] == 0
    junit, markdown = tmp_path / "ci" / "gate.xml", tmp_path / "gate.md"
    code, screen, _ = call("gate", runs / "2-bad", *given, "--junit", junit, "--markdown", markdown)
    assert code == 1
    assert "NOT passed" in screen
    assert ElementTree.parse(junit).getroot().get("failures") == "1"
    assert "NOT passed" in markdown.read_text("utf-8")
    assert json.loads(call("gate", runs / "2-bad", *given, "--json")[1])["passed"] is False


def test_history(call: Call, runs: Path) -> None:
    code, screen, _ = call("history", runs)
    assert code == 0
    assert "small: 2 runs" in screen
    assert [
        Path(point["path"]).name
        for point in json.loads(call("history", runs, "--json")[1])["points"]
    ] == ["1-good", "2-bad"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("compare", "nowhere", "nowhere"), "nowhere: neither a run folder"),
        (
            ("ablate", "{runs}/1-good", "--baseline", "fixed-6 bm25"),
            "did you mean 'fixed-60 bm25'?",
        ),
        (
            ("gate", "{runs}/1-good", "--baseline", "{runs}/1-good", "--rules", "nowhere.toml"),
            "nowhere.toml: cannot be read",
        ),
        (("history", "{runs}/1-good"), "holds no run folder"),
    ],
)
def test_wrong_input_ends_with_2(
    call: Call, runs: Path, arguments: tuple[str, ...], told: str
) -> None:
    code, _, message = call(*(argument.format(runs=runs) for argument in arguments))
    assert code == 2
    assert told in message
