"""`lab metrics`: which metrics of a run say the same, and the risk of its systems."""

import json
import sys
from pathlib import Path

import pytest

import lab
from lab.cli import main
from lab.config.measure import Measure
from lab.relevance.query import Evidence, Query
from lab.runs.run import read_run
from tests.given import corpus_of


def test_the_command_says_what_its_json_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = corpus_of({f"d{i:02}": f"pump number{i} seal {'oil ' * (i % 4)}" for i in range(30)})
    asked = [
        Query(
            f"q{i:02}", f"seal number{i if i % 3 else i + 1} oil", evidence=(Evidence(f"d{i:02}"),)
        )
        for i in range(25)
    ]
    grid = lab.Grid(mode="bm25", chunk_strategy="document", k1=(0.5, 1.2), b=(0.0, 0.75))
    measure = Measure(metrics=("recall@1", "mrr", "ndcg@10", "ndcg_jk@10"))
    lab.sweep(corpus, asked, grid, measure).write(tmp_path / "run")
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["lab", "metrics", str(tmp_path / "run"), *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        return capsys.readouterr().out

    record, screen = json.loads(call("--json")), call()
    assert [row["metric"] for row in record["metrics"]] == [
        "recall@1", "mrr", "ndcg@10", "ndcg_jk@10"]  # fmt: skip
    assert len(record["pairs"]) == 6
    assert len(record["systems"]) == 4
    assert record["baseline"] in {row["system"] for row in record["systems"]}
    for row in record["metrics"]:
        assert f"{row['metric']}" in screen
        assert f"{row['power']:.1%}" in screen
    assert "hurt, helped: questions that lose or win 0.2 or more" in screen
    table = read_run(tmp_path / "run").table().set_index("system")
    for row in record["systems"]:
        found = table.loc[row["system"]]
        assert (row["hurt"], row["helped"]) == (found["hurt"], found["helped"])
        assert row["georisk"] == pytest.approx(found["georisk"])
        assert row["mean"] == pytest.approx(found["ndcg@10"])
    assert table.loc[record["baseline"], ["hurt", "helped"]].tolist() == [0, 0]
