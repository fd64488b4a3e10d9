"""Tables on narrow screens: nothing is cut inside a word or a number, and what is left out is
named."""

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import lab
from lab.report.screens.ablate import ablation_screen
from lab.report.screens.agreement import agreement_screen
from lab.report.screens.compare import compare_screen
from lab.report.screens.console import TextConsole
from lab.report.screens.fitted import Column, FittedTable, number
from lab.report.screens.metrics import metrics_screen
from lab.report.screens.slices import sliced_screen
from lab.report.screens.terminal import first_screen
from lab.runs.ablate import ablate
from lab.runs.compare import compare_sides
from lab.runs.side import run_side
from lab.sets.agreement import agreement
from lab.sets.annotators import read_annotators
from tests.report.given_run import small_corpus, small_queries

METRICS = (
    *("recall@5", "precision@3", "ndcg@10", "mrr@10", "map@10", "hit_rate@5", "coverage@5"),
    *("recall@500tok", "pieces_needed", "context_tokens@5", "front_hit@3"),
)


def shown(renderable: object, width: int) -> list[str]:
    console = TextConsole(file=io.StringIO(), width=width)
    console.print(renderable)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]  # a StringIO


def table_of(rows: list[list[str]]) -> FittedTable:
    names = [Column("chunks", "name"), Column("normalization", "name")]
    figures = [Column("ndcg@10"), Column("recall@5", "spare"), Column("map@10", "spare")]
    table = FittedTable((*names, *figures, Column("95% interval")), "in systems.parquet")
    for row in rows:
        table.add(*row)
    return table


ROW = ["structure-1000", "theoretical", "0.783", "0.812", "0.766", "= 0.685-0.867"]


def test_everything_stands_in_one_row_where_there_is_room() -> None:
    assert shown(table_of([ROW]), 80) == [
        "chunks          normalization  ndcg@10  recall@5  map@10   95% interval",
        "structure-1000  theoretical      0.783     0.812   0.766  = 0.685-0.867",
    ]


def test_spare_columns_go_first_and_are_named() -> None:
    assert shown(table_of([ROW]), 62) == [
        "chunks          normalization  ndcg@10  map@10   95% interval",
        "structure-1000  theoretical      0.783   0.766  = 0.685-0.867",
        "not shown for want of width: recall@5 (in systems.parquet)",
    ]


def test_then_names_stand_on_lines_of_their_own() -> None:
    assert shown(table_of([ROW, ROW]), 40)[:6] == [
        "chunks, normalization",
        "  ndcg@10  recall@5   95% interval",
        "structure-1000  theoretical",
        "    0.783     0.812  = 0.685-0.867",
        "structure-1000  theoretical",
        "    0.783     0.812  = 0.685-0.867",
    ]


def test_at_last_every_figure_stands_behind_its_title() -> None:
    assert shown(table_of([ROW]), 20)[:5] == [
        "structure-1000  ",
        "theoretical",
        "  ndcg@10 0.783, 95%",
        "interval = ",
        "0.685-0.867",
    ]


WORD = st.text("abcdefgh-/@.0123456789\u6f22\u5b57", min_size=1, max_size=18)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(*[WORD] * 6).map(list), min_size=1, max_size=4),
    st.integers(min_value=40, max_value=130),
)
def test_no_word_is_cut_and_no_line_too_long(rows: list[list[str]], width: int) -> None:
    lines = shown(table_of(rows), width)
    assert all(cell_len(line) <= width for line in lines)
    text = "\n".join(lines)
    for row in rows:
        for cell in (*row[:3], row[5]):
            assert cell in text


def test_numbers_that_are_none_are_dashes() -> None:
    assert [number(value) for value in (0.5, float("nan"), 1234.4, 9.9996)] == [
        *("0.500", "-", "1,234", "10.000")
    ]


@pytest.fixture(scope="module")
def many() -> lab.Run:
    """Two long settings vary and eleven metrics are measured."""
    grid = lab.Grid(
        mode="bm25",
        chunk_strategy=("structure", "fixed"),
        chunk_size=(30, 1000),
        analyzer=("auto", "english"),
        variant=("lucene", "okapi"),
    )
    measure = lab.Measure(metrics=METRICS, select_by="ndcg@10")
    return lab.sweep(small_corpus(), small_queries(), grid, measure, progress=False)


WHOLE = re.compile(r"(?:structure|fixed)-(?:30|1000)(?!\d)")


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_screens_of_a_run_with_many_metrics_can_be_read(many: lab.Run, width: int) -> None:
    systems = many.systems
    screens = {
        "first": first_screen(many),
        "slices": sliced_screen(many.sliced("kind")),
        "distance": sliced_screen(many.sliced("distance")),
        "ablate": ablation_screen(ablate(many, many.baseline)),
        "metrics": metrics_screen(many.metric_study(), many.labels),
    }
    for name, screen in screens.items():
        lines = shown(screen, width)
        assert all(cell_len(line) <= width for line in lines), name
        words = set(" ".join(lines).replace(",", " ").split())
        assert not any("\u2026" in word for word in words), name
        assert "ndcg@10" in words, name
    first = "\n".join(shown(screens["first"], width))
    for word in ("structure-30", "structure-1000", "english", "analyzer", "variant", "okapi"):
        assert word in first
    for metric in METRICS:
        assert re.search(rf"(?<![\w@]){re.escape(metric)}(?![\w@])", first), metric
    assert len(systems) == 16


def test_two_runs_beside_each_other_can_be_read(many: lab.Run, tmp_path: object) -> None:
    folder = many.write(str(tmp_path) + "/run")
    sides = [run_side(folder, many.systems[place]) for place in (0, -1)]
    lines = shown(compare_screen(compare_sides(*sides)), 80)
    assert all(cell_len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    assert not re.search("\u2026", text)
    for metric in METRICS:
        assert metric in text


def test_one_disagreement_is_one(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("agree")
    first, second = folder / "a.qrels", folder / "b.qrels"
    first.write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n")
    second.write_text("q1 0 d1 1\nq1 0 d2 1\nq2 0 d1 1\n")
    read = read_annotators(first, second, None)
    text = "\n".join(shown(agreement_screen(agreement(read.a, read.b), read), 80))
    assert "1 disagreement, the widest first" in text
    assert "of 2 questions judged by both" in text
    same = read_annotators(first, first, None)
    text = "\n".join(shown(agreement_screen(agreement(same.a, same.b), same), 80))
    assert text.rstrip().endswith("0 disagreements")


def test_a_table_without_rows_is_its_titles() -> None:
    """As two annotators who agree on everything."""
    assert shown(table_of([]), 80) == [
        "chunks  normalization  ndcg@10  recall@5  map@10  95% interval"
    ]
