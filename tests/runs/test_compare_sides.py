"""Two runs: ids in any normal form, what the unjudged decide, costs, and Python metrics."""

import unicodedata
from pathlib import Path

import pytest

import lab
from lab.errors import RunError
from lab.report.export.paper import markdown
from lab.report.screens.compare import compare_screen
from lab.report.screens.console import TextConsole
from lab.runs.compare import compare_sides
from lab.runs.side import METRICS, run_side, sides
from tests.given import corpus_of

NFC, NFD = (unicodedata.normalize(form, "Ölpumpe") for form in ("NFC", "NFD"))


def run_file(path: Path, rankings: dict[str, list[str]]) -> Path:
    lines = [
        f"{query} Q0 {doc} {rank} {10 - rank} t\n"
        for query, docs in rankings.items()
        for rank, doc in enumerate(docs, start=1)
    ]
    path.write_text("".join(lines), "utf-8")
    return path


def test_what_nobody_judged_decides_between_two_trec_runs(tmp_path: Path) -> None:
    """A finds the judged document first; B shows what nobody judged before it. Were that relevant,
    B would be ahead by every metric that looks at it."""
    (tmp_path / "q.qrels").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    a = run_file(tmp_path / "a.run", {"q1": ["d1", "x"], "q2": ["d1", "x"]})
    b = run_file(tmp_path / "b.run", {"q1": ["u", "d1"], "q2": ["v", "d1"]})
    found = compare_sides(*sides((a, b), (None, None), tmp_path / "q.qrels", METRICS))
    assert found.unjudged == METRICS
    metrics = ("mrr", "ndcg@10", "map", "bpref", "recall@1")
    found = compare_sides(*sides((a, b), (None, None), tmp_path / "q.qrels", metrics))
    # ndcg: as judged 1 and 0.631. Were u relevant: A 1 / (1 + 0.631) = 0.613, B 1.
    # By mrr and recall@1 both would be equal: nothing could put B ahead.
    assert found.unjudged == ("ndcg@10", "map")
    lines = "\n".join(str(line) for line in shown(found))
    assert "unjudged decides: ndcg@10, map" in lines


def shown(found: object) -> list[str]:
    import io

    console = TextConsole(file=io.StringIO(), width=100)
    console.print(compare_screen(found))  # type: ignore[arg-type]  # a comparison
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]  # a StringIO


def test_what_is_judged_irrelevant_decides_nothing(tmp_path: Path) -> None:
    (tmp_path / "q.qrels").write_text("q1 0 d1 1\nq1 0 u 0\n")
    a = run_file(tmp_path / "a.run", {"q1": ["d1", "u"]})
    b = run_file(tmp_path / "b.run", {"q1": ["u", "d1"]})
    found = compare_sides(*sides((a, b), (None, None), tmp_path / "q.qrels", ("mrr", "ndcg@10")))
    assert found.unjudged == ()


DOCUMENTS = {f"d{n}": f"the pump number{n} leaks oil{n % 3}" for n in range(8)}


def folder(path: Path, ids: list[str], **grid: object) -> Path:
    queries = [
        lab.Query(name, f"number{n} oil{n % 3}", evidence=(lab.Evidence(f"d{n}"),))
        for n, name in enumerate(ids)
    ]
    grid_of = lab.Grid(**{"mode": "bm25", "chunk_strategy": "document"} | grid)  # type: ignore[arg-type]  # settings by name
    measure = lab.Measure(metrics=("recall@1", "ndcg@5", "map", "context_tokens@3"))
    run = lab.sweep(corpus_of(DOCUMENTS), queries, grid_of, measure, progress=False)
    return run.write(path)


def test_what_nobody_judged_decides_between_two_run_folders(tmp_path: Path) -> None:
    """Of the first ten hits, which a folder keeps; map reads all and is not told."""
    ids = [f"q{n}" for n in range(6)]
    a = run_side(folder(tmp_path / "a", ids))
    backwards = {f"q{n}": [f"d{(n + 1) % 8}", f"d{n}", f"d{(n + 2) % 8}"] for n in range(6)}
    queries = [
        lab.Query(f"q{n}", f"number{n}", evidence=(lab.Evidence(f"d{n}"),)) for n in range(6)
    ]
    run = lab.sweep(
        corpus_of(DOCUMENTS),
        queries,
        lab.Grid(mode="bm25", chunk_strategy="document"),
        lab.Measure(metrics=("recall@1", "ndcg@5", "map", "context_tokens@3")),
        retrievers={"theirs": backwards},
        progress=False,
    )
    b = run_side(run.write(tmp_path / "b"), "theirs")
    # recall@1: were the other document relevant too, each would have one of two.
    assert compare_sides(a, b).unjudged == ("ndcg@5", "ndcg@10")
    assert compare_sides(a, a).unjudged == ()


@pytest.mark.parametrize("forms", [(NFC, NFD), (NFD, NFC), (NFC, NFC)])
def test_question_ids_meet_in_any_normal_form(forms: tuple[str, str], tmp_path: Path) -> None:
    """As macOS writes names, and everybody else."""
    paths = [
        folder(tmp_path / side, [f"{form} {n}" for n in range(6)])
        for side, form in zip("ab", forms, strict=True)
    ]
    found = compare_sides(*map(run_side, paths))
    assert found.common == 6
    assert not any("question" in line for line in found.changed)
    assert all(line.difference == 0 for line in found.lines)


def test_ids_that_could_be_either_stay_apart(tmp_path: Path) -> None:
    """One side tells the two forms apart: each meets itself alone."""
    a = folder(tmp_path / "a", [NFC, NFD, "q"])
    b = folder(tmp_path / "b", [NFD, "q"])
    found = compare_sides(*map(run_side, (a, b)))
    assert found.common == 2


def test_a_metric_in_python_is_refused_for_a_trec_run_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "q.qrels").write_text("q1 0 d1 1\n")
    a = run_file(tmp_path / "a.run", {"q1": ["d1"]})
    with pytest.raises(RunError, match=r"a TREC run has none; sweep it with \[\[retriever\]\]"):
        sides((a, a), (None, None), tmp_path / "q.qrels", ("python:mine",))


def test_the_best_of_a_cost_is_its_lowest(tmp_path: Path) -> None:
    """Chunks of 30 characters hand over less than whole documents, and are bold for it."""
    queries = [
        lab.Query(f"q{n}", f"number{n}", evidence=(lab.Evidence(f"d{n}", 0, 8),)) for n in range(4)
    ]
    cost = "context_tokens@3"
    grid = lab.Grid(mode="bm25", chunk_strategy=("fixed", "document"), chunk_size=12)
    measure = lab.Measure(metrics=("recall@1", "ndcg@10", cost))
    run = lab.sweep(corpus_of(DOCUMENTS), queries, grid, measure, progress=False)
    means = run.table().set_index("system")[cost]
    least = str(means.idxmin())
    assert means.nunique() == 2
    assert run.best_by(cost) == least
    rows = [line for line in markdown(run).splitlines() if line.startswith("| ")][2:]
    assert [row.rstrip(" |").endswith("**") for row in rows].count(True) == 1
    bold = next(row for row in rows if row.rstrip(" |").endswith("**"))
    assert f"**{means[least]:.3f}**" in bold
    told = run.verdicts(cost)
    assert told[least] == "same"
    assert set(told.values()) <= {"same", "worse", "undecided", "cannot be settled"}
