"""Exports: what other tools read gives the numbers of the run, and no cell is a formula or breaks
its table."""

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
import pytrec_eval

from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.errors import ConfigError, RunError
from lab.relevance.query import Evidence, Query
from lab.report.export.export import FORMATS, PAPER, csv_text, export
from lab.report.export.latex import PAGE, latex_text
from lab.report.export.paper import markdown_cell
from lab.report.export.trec import trec_id
from lab.runs.ablate import ablate
from lab.sweeping.sweep import sweep
from tests.given import GivenEncoder, corpus_of
from tests.report.given_run import large, small_corpus, small_queries

METRICS = (
    "recall@1",
    "recall@5",
    "precision@3",
    "ndcg@10",
    "ndcg@3",
    "mrr",
    "map",
    "map@5",
    "hit_rate@2",
)


def test_cells_that_a_spreadsheet_would_run_get_an_apostrophe():
    """Case B38."""
    texts = ["=1+2", "+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "ok", 'a"b,c\nd']
    rows = list(csv.reader(io.StringIO(csv_text(["text"], [[text] for text in texts]), newline="")))
    assert [row[0] for row in rows[1:]] == ["'" + text for text in texts[:6]] + texts[6:]
    numbers = list(csv.reader(io.StringIO(csv_text(["n"], [[-0.5], [1e-7]]))))
    assert [row[0] for row in numbers[1:]] == ["-0.5", "1e-07"]


def test_csv_holds_every_table_and_json_is_untouched(run, tmp_path):
    export(run, "csv", tmp_path)
    rows = list(csv.DictReader((tmp_path / "scores.csv").open(newline="", encoding="utf-8-sig")))
    assert len(rows) == len(run.systems) * 5
    assert {row["query_id"] for row in rows} == {"img", "valve", "e-4012", "'=1+2", "close"}
    means = {
        row["system"]: float(row["ndcg@10"])
        for row in csv.DictReader((tmp_path / "systems.csv").open(encoding="utf-8-sig", newline=""))
    }
    for name, mean in means.items():
        own = [float(row["ndcg@10"]) for row in rows if row["system"] == name]
        assert np.mean(own) == pytest.approx(mean, abs=1e-12)
    export(run, "jsonl", tmp_path)
    lines = [
        json.loads(line) for line in (tmp_path / "questions.jsonl").read_text("utf-8").splitlines()
    ]
    assert {line["query_id"] for line in lines} == {"img", "valve", "e-4012", "=1+2", "close"}
    assert all(
        [hit["rank"] for hit in line["hits"]] == sorted(hit["rank"] for hit in line["hits"])
        for line in lines
    )


def test_markdown_keeps_its_columns_whatever_the_text():
    assert markdown_cell("a | b\nc") == "a \\| b c"


def test_markdown_table_is_a_table(run, tmp_path):
    export(run, "markdown", tmp_path)
    lines = (tmp_path / "systems.md").read_text("utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == len(run.systems) + 2
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1


def test_latex_escapes_every_special_character():
    assert latex_text("50% of $x_1 & #2 {a} ~ ^ \\") == (
        r"50\% of \$x\_1 \& \#2 \{a\} \textasciitilde{} \textasciicircum{} \textbackslash{}"
    )


def compiled(folder: Path, *names: str) -> str:
    """What LaTeX says of a paper that holds these tables and refers to each."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is missing: apt-get install texlive-latex-recommended")
    body = "".join(rf"\input{{{name}.tex}} See \ref{{tab:{name}}}." for name in names)
    (folder / "paper.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,longtable}"
        rf"\begin{{document}}{body}\end{{document}}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(2):  # the second time references are known
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


def test_latex_tables_compile_with_caption_and_label(run, tmp_path):
    written = [file.stem for file in export(run, "latex", tmp_path)]
    assert written == ["systems", "kinds", "ablation"]
    assert "undefined" not in compiled(tmp_path, *written)


def test_a_long_latex_table_breaks_between_pages(tmp_path):
    export(large(PAGE + 30, 4), "latex", tmp_path)
    said = compiled(tmp_path, "systems")
    assert "longtable" in (tmp_path / "systems.tex").read_text("utf-8")
    pages = re.search(r"Output written on paper\.pdf \((\d+) pages?", said)
    assert pages
    assert int(pages[1]) >= 2


def test_a_paper_shows_chosen_systems_and_columns(run, tmp_path):
    best, other = run.tables.ranked["system"].iloc[[0, -1]]
    label = run.labels[other]
    for to, name in (("latex", "systems.tex"), ("markdown", "systems.md")):
        export(run, to, tmp_path, systems=(best, label), metrics=("precision@3",))
        text = (tmp_path / name).read_text("utf-8")
        assert "precision@3" in text
        assert "ndcg@10" not in text
    rows = [
        line for line in (tmp_path / "systems.md").read_text("utf-8").split("\n") if "|" in line
    ]
    assert len(rows) == 2 + 2
    kinds = (tmp_path / "kinds.tex").read_text("utf-8")
    assert "precision@3 by kind" in kinds
    assert kinds.count(r"\\") == 1 + 2
    for wrong in ({"systems": ("nobody",)}, {"metrics": ("recall@77",)}):
        with pytest.raises(RunError):
            export(run, "latex", tmp_path, **wrong)
    for wrong in (("csv", {"metrics": ("ndcg@10",)}), ("config", {"systems": (best, other)})):
        with pytest.raises(ConfigError, match=r"--metric goes|2 times"):
            export(run, wrong[0], tmp_path, **wrong[1])


def test_the_ablation_in_latex_is_that_of_the_screen(run, tmp_path):
    export(run, "latex", tmp_path)
    text = (tmp_path / "ablation.tex").read_text("utf-8")
    steps = ablate(run, run.recommended).steps
    assert text.count(r"\\") == 1 + len(steps)
    for step in steps.to_dict("records"):
        assert f"$[{step['low']:+.3f}, {step['high']:+.3f}]$" in text


def multi_piece_run(unit: str):
    """Questions with two graded pieces, chunks that complete both at once, and questions that find
    nothing."""
    corpus = small_corpus()
    apart = Evidence("valve.md", 0, 29, 3), Evidence("valve.md", 30, 60, 1)
    more = [
        Query("two pieces", "valve opens and closes", "multi", {}, apart),
        Query("lost", "zzz qqq", "multi", {}, (Evidence("prices | list", 60, 80, 2),)),
        Query(
            "both",
            "pump formula",
            "multi",
            {},
            (Evidence("prices | list", 0, 19, 2), Evidence("valve.md", 0, 29, 1)),
        ),
    ]
    grid = Grid(chunk_size=(30, 80), alpha=(0.3,), model="given", deliver=("chunk", "window(1)"))
    measure = Measure(metrics=METRICS, unit=unit)
    queries = (*small_queries(), *more)
    return sweep(corpus, queries, grid, measure, encoders={"given": GivenEncoder()})


@pytest.mark.parametrize("unit", ["evidence", "document"])
def test_trec_eval_gives_the_same_numbers(unit, tmp_path):
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec-eval-terrier is not installed")
    run = multi_piece_run(unit)
    export(run, "trec", tmp_path)
    index = json.loads((tmp_path / "index.json").read_text("utf-8"))
    assert set(index["measures"]) == set(METRICS)
    assert len(index["systems"]) == len(run.systems)
    for file, system in index["systems"].items():
        for metric, found in index["measures"].items():
            folder = tmp_path / found["folder"]
            qrels = pytrec_eval.parse_qrel((folder / "qrels.txt").open(encoding="utf-8"))
            lists = pytrec_eval.parse_run((folder / file).open(encoding="utf-8"))
            scored = pytrec_eval.RelevanceEvaluator(qrels, {found["trec_eval"]}).evaluate(lists)
            own = run.tables.scores[
                (run.tables.scores["system"] == system) & (run.tables.scores["metric"] == metric)
            ].set_index("query_id")["value"]
            assert {unquote(query) for query in scored} == set(own.index)
            for query, values in scored.items():
                assert values[found["trec_eval"].replace(".", "_")] == pytest.approx(
                    own[unquote(query)], abs=1e-4
                ), (
                    system,
                    metric,
                )


def test_trec_ids_without_blanks_stay_and_others_come_back():
    """Case B29: an id with a blank is written so that it can be read again."""
    for text in ("plain-id", "doc one", "100%", "水泵 一号", "a\tb"):
        assert not re.search(r"\s", trec_id(text))
        assert unquote(trec_id(text)) == text
    assert trec_id("水泵.md") == "水泵.md"


def test_ranx_scores_its_files_alike(run, tmp_path):
    """Read as JSON: ranx's own reader fills compiled dicts, which takes minutes to compile and
    reads the same."""
    from ranx.metrics import ndcg

    export(run, "ranx", tmp_path)
    index = json.loads((tmp_path / "index.json").read_text("utf-8"))
    assert len(index) == len(run.systems)
    file, system = next(iter(index.items()))
    judged = json.loads((tmp_path / "qrels.json").read_text("utf-8"))
    lists = json.loads((tmp_path / file).read_text("utf-8"))
    own = run.tables.scores[
        (run.tables.scores["system"] == system) & (run.tables.scores["metric"] == "ndcg@10")
    ].set_index("query_id")["value"]
    for query, scored in lists.items():
        items = {name: number for number, name in enumerate(scored, start=1)}
        grades = np.array(
            [[(items.get(name, 99), grade) for name, grade in judged[query].items()]], dtype=float
        )
        ranked = np.array([[(items[name], value) for name, value in scored.items()]], dtype=float)
        assert ndcg(grades, ranked, 10)[0] == pytest.approx(own[query], abs=1e-9)


def test_unknown_format_names_the_known_ones(run, tmp_path):
    with pytest.raises(ConfigError, match="did you mean 'csv'"):
        export(run, "cvs", tmp_path)


def test_every_format_is_written_twice_with_the_same_bytes(run, tmp_path):
    for to in (*FORMATS, *PAPER):
        first = [(file.name, file.read_bytes()) for file in export(run, to, tmp_path / "a")]
        assert first == [(file.name, file.read_bytes()) for file in export(run, to, tmp_path / "b")]


def test_ids_never_become_file_names(tmp_path):
    files: list[Path] = export(large(3, 4), "trec", tmp_path)
    assert all(re.fullmatch(r"[\w.-]+", file.name) for file in files)


@pytest.mark.parametrize("unit", ["evidence", "document"])
def test_made_up_ids_never_meet_documents_of_the_same_name(unit, tmp_path):
    """Documents `rank-11` and `nothing-found`: exported ndcg was another than the run's."""
    names = [f"rank-{n}" for n in range(1, 31)] + ["nothing-found", "-rank-4", "--nothing-found"]
    corpus = corpus_of({name: f"pump {n} of row {n % 5}" for n, name in enumerate(names)})
    span = (0, 4) if unit == "evidence" else (None, None)
    queries = [
        Query(f"q{n}", text, evidence=(Evidence(name, *span),))
        for n, (name, text) in enumerate(
            [
                ("rank-11", "pump"),
                ("nothing-found", "zzz"),
                ("-rank-4", "pump row"),
                ("rank-2", "of"),
            ]
        )
    ]
    measure = Measure(metrics=("ndcg@30", "mrr"), select_by="ndcg@30")
    run = sweep(corpus, queries, Grid(mode="bm25", chunk_strategy="document"), measure)
    export(run, "trec", tmp_path)
    judged, ranked = {}, {}
    for line in (tmp_path / "items/qrels.txt").read_text().splitlines():
        query, _, item, grade = line.split()
        judged.setdefault(query, {})[item] = int(grade)
    for line in (tmp_path / "items/0001.run").read_text().splitlines():
        query, _, item, _, score, _ = line.split()
        ranked.setdefault(query, {})[item] = float(score)
    measured = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.30", "recip_rank"}).evaluate(
        ranked
    )
    scores = run.scores(run.systems[0])
    for metric, theirs in (("ndcg@30", "ndcg_cut_30"), ("mrr", "recip_rank")):
        own = dict(zip(scores.query_ids, scores.column(metric), strict=True))
        for query, value in own.items():
            assert measured[query][theirs] == pytest.approx(value, abs=1e-9)
