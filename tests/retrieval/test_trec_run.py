"""TREC runs: read by one reader, and ordered as trec_eval orders them wherever they are used."""

import json
from pathlib import Path

import pytest
import pytrec_eval
from typer.testing import CliRunner

from lab.cli import app
from lab.errors import CorpusError
from lab.pipeline.foreign.finished import RunFile
from lab.pipeline.foreign.reply import Reply
from lab.retrieval.trec_run import rankings_of, read_run
from lab.runs.side import trec_side


def written(folder: Path, run: str, qrels: str) -> tuple[Path, Path]:
    (folder / "r.run").write_text(run)
    (folder / "q.txt").write_text(qrels)
    return folder / "r.run", folder / "q.txt"


def test_scores_of_a_millionth_decide_the_order_in_a_comparison(tmp_path: Path) -> None:
    # Rounded to six decimals all three are equal, and `a` would stand first.
    run = "q1 Q0 a 1 0.0000001 t\nq1 Q0 b 2 0.0000002 t\nq1 Q0 c 3 0.0000003 t\n"
    side = trec_side(*written(tmp_path, run, "q1 0 c 1\n"), ["mrr"])
    assert side.scores["mrr"].tolist() == [1.0]


@pytest.mark.parametrize(
    "scores",
    [
        {"a": 0.5, "c": 0.5, "b": 0.5, "z": 0.1},
        {"a": 3e-7, "b": 2e-7, "c": 1e-7},
        {"x": 0.7, "y": 0.7000000001, "a": 1e30, "b": 1e31},
        {"\u00e9": 1.0, "z": 1.0, "\U0001f527": 1.0},
    ],
)
def test_comparisons_equal_trec_eval(tmp_path: Path, scores: dict[str, float]) -> None:
    lines = "".join(f"q Q0 {doc} 1 {score!r} t\n" for doc, score in scores.items())
    for relevant in scores:
        side = trec_side(*written(tmp_path, lines, f"q 0 {relevant} 1\n"), ["mrr", "ndcg@2"])
        measured = pytrec_eval.RelevanceEvaluator(
            {"q": {relevant: 1}}, {"recip_rank", "ndcg_cut.2"}
        )
        theirs = measured.evaluate({"q": scores})["q"]
        assert side.scores.loc["q"].tolist() == pytest.approx(
            [theirs["recip_rank"], theirs["ndcg_cut_2"]], abs=1e-9
        )


def test_a_run_as_a_retriever_and_in_a_comparison_has_one_order(tmp_path: Path) -> None:
    run = tmp_path / "r.run"
    run.write_text("q Q0 a 1 0.5 t\nq Q0 c 9 0.5 t\nq Q0 b 2 0.5 t\nq Q0 c 9 0.1 t\n")
    order = rankings_of(read_run(run))["q"]
    assert order == ("c", "b", "a")
    reply = dict(RunFile(run).answers({"q": "?"}, 9))["q"]
    assert isinstance(reply, Reply)
    assert [hit.doc_id for hit in reply.hits] == list(order)


@pytest.mark.parametrize("score", ["nan", "high", "", "1_0", "0x1p-3", "1" * 400])
def test_what_is_no_score_is_told_with_its_line(tmp_path: Path, score: str) -> None:
    (tmp_path / "r").write_text(f"q Q0 a 1 0.5 t\nq\tQ0\tb\t2\t{score}\tt\n")
    with pytest.raises(CorpusError, match=r"r:2: ") as error:
        read_run(tmp_path / "r")
    assert len(str(error.value)) < 300


def test_documents_and_questions_in_another_normal_form_meet(tmp_path: Path) -> None:
    run, qrels = written(tmp_path, "", "")
    run.write_text("fra\u0301ge Q0 u\u0308ber.txt 1 2.0 t\nfra\u0301ge Q0 b 2 1.0 t\n", "utf-8")
    qrels.write_text("fr\xe1ge 0 \xfcber.txt 1\n", "utf-8")
    told = CliRunner().invoke(
        app, ["compare", str(run), str(run), "--qrels", str(qrels), "--metric", "mrr", "--json"]
    )
    assert json.loads(told.output)["lines"][0]["a"] == 1.0
