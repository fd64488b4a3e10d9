"""One pair has one verdict wherever it is shown, and the words say where a planned pair is
meant."""

import io
import re

import pytest
from rich.console import Console

import lab
from lab.evaluation.verdict import MARKS, NOT_TOLD
from lab.report.export.latex import latex_files
from lab.report.export.paper import markdown
from lab.report.figures.maps import heatmap
from lab.report.page.page import page
from lab.report.screens.ablate import ablation_screen
from lab.report.screens.terminal import first_screen
from lab.report.verdict import verdict_of
from lab.runs.ablate import ablate
from lab.runs.run import Run
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def swept() -> Run:
    """Eight BM25 systems over the project's own devices: no model, and every sort of verdict."""
    corpus = lab.read_corpus(ROOT / "corpora/devices")
    queries = lab.read_diagnostics(ROOT / "diagnostic_sets/devices", corpus)
    sizes = (60, 200, 400, 800)
    return lab.sweep(corpus, queries, lab.Grid(mode="bm25", chunk_size=sizes, k1=(0.6, 2.4)))


def printed(what: object, width: int = 200) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(what)
    return console.export_text()


def test_every_place_shows_the_verdict_of_the_run(swept: Run) -> None:
    metric = swept.tables.select_by
    told = swept.verdicts(metric)
    assert {"worse"} < set(told.values()), "the run must show more than one verdict"
    screen, paper, html = printed(first_screen(swept)), markdown(swept), page(swept)
    rows = heatmap(swept).table
    cells = dict(rows.loc[rows["metric"] == metric, ["system", "against_best"]].to_numpy().tolist())
    assert len(cells) == 8, "every size and k1"
    for system, cell in cells.items():
        assert cell == told[system]
    for name, verdict in told.items():
        row = swept.tables.systems.set_index("system").loc[name]
        low, high = row[f"{metric}_low"], row[f"{metric}_high"]
        line = [text for text in screen.splitlines() if f"{low:.3f}-{high:.3f}" in text][-1]
        mark = f"{MARKS[verdict]} {low:.3f}"
        assert (mark in line) == (verdict in NOT_TOLD)
        dagger = "†" if verdict == "worse" else "‡" if verdict == "cannot be settled" else ""
        assert re.search(rf"{row[metric]:.3f}(\*\*)?{dagger} \|", paper)
        start = html.index(f'<tr data-system="{name}"')
        row_of_table = html[start : html.index("</tr>", start)]
        assert (f"{MARKS[verdict]} {verdict}" in row_of_table) == (name != swept.best)


def test_the_tile_and_the_table_agree_on_the_baseline(swept: Run) -> None:
    """H3: a green "better" stood over a row marked as not told apart."""
    first = verdict_of(swept)
    for figure in first.figures:
        other = swept.verdicts(figure.metric, swept.recommended)[swept.baseline]
        assert (figure.verdict, other) in {
            ("better", "worse"),
            ("worse", "better"),
            *((verdict, verdict) for verdict in NOT_TOLD),
        }
    if swept.recommended == swept.best:
        chosen = next(f for f in first.figures if f.metric == swept.tables.select_by)
        marked = swept.verdicts(swept.tables.select_by)[swept.baseline]
        assert (chosen.verdict == "better") == (marked == "worse")


def test_a_pair_reads_the_same_from_both_sides(swept: Run) -> None:
    opposite = {"better": "worse", "worse": "better"}
    for one in swept.systems[:3]:
        for other in swept.systems[:3]:
            seen = swept.verdicts("recall@5", one)[other]
            back = swept.verdicts("recall@5", other)[one]
            # How large a loss may be is read from each one's own contenders, so that one side may
            # be undecided where the other cannot be settled; never told apart from one side alone.
            assert opposite.get(seen, "open") == (back if back in opposite else "open")


def test_words_say_which_question_is_asked(swept: Run) -> None:
    screen = printed(first_screen(swept))
    assert "after choosing among 8" in screen
    ablation = printed(ablation_screen(ablate(swept, swept.baseline)))
    assert "as a planned pair" in ablation
    assert "after choosing among 8" in dict(latex_files(swept))["systems.tex"]


def test_the_first_lines_say_what_may_be_concluded(swept: Run) -> None:
    screen = printed(first_screen(swept))
    headline, choice = screen.index("beyond chance"), screen.index("recommended: ")
    assert headline < choice


def test_fourteen_questions_open_with_what_may_be_concluded() -> None:
    corpus = lab.read_corpus(ROOT / "corpora/devices")
    queries = lab.read_diagnostics(ROOT / "diagnostic_sets/devices", corpus)[:14]
    few = lab.sweep(corpus, queries, lab.Grid(mode="bm25", chunk_size=(200, 400)))
    screen = printed(first_screen(few))
    said = re.search("Nothing can be concluded|No choice can be made|beyond chance", screen)
    assert said is not None
    assert said.start() < screen.index(few.labels[few.recommended])
    if "beyond chance" not in screen:
        assert "recommended: " not in screen
