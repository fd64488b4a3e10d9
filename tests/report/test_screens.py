"""The first screen in the terminal and the notebook: narrow, colourless, and only settings that
vary."""

import io

import pandas as pd
import pytest
from rich.console import Console

from lab.config.grid import Grid
from lab.config.settings import SETTINGS
from lab.report.screens.terminal import first_screen
from lab.runs.labels import labels, shown_settings


def systems_of(grid: Grid) -> pd.DataFrame:
    """The table of settings of a grid's systems."""
    rows = [{"system": config.name, **config.settings()} for config in grid.systems()[0]]
    return pd.DataFrame(rows, columns=["system", *SETTINGS])


def printed(run, width: int, **options) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, **options).print(first_screen(run))
    return out.getvalue()


def test_labels_show_only_what_varies():
    table = systems_of(Grid(chunk_size=(200, 400), alpha=(0.2, 0.6), rerank_depth=(0, 20)))
    assert list(shown_settings(table).columns) == ["chunks", "search", "rerank"]
    assert "fixed-400 hybrid 0.6 rerank 20" in labels(table).values()
    assert "fixed-200 bm25" in labels(table).values()


@pytest.mark.parametrize(
    "grid",
    [
        Grid(),
        Grid(mode="bm25"),
        Grid(mode="bm25", k1=(0.9, 1.2), b=(0.4, 0.75), analyzer=("auto", "english")),
        Grid(chunk_size=(200, 400), overlap=(0, 50), chunk_strategy=("fixed", "sentences")),
        Grid(
            alpha=(0.2, 0.6),
            normalization=("min-max", "rrf"),
            depth=(50, 100),
            deliver=("chunk", "window(1)"),
        ),
        Grid(rerank_depth=(0, 10, 20), blend=(0.3, 1.0)),
    ],
    ids=lambda grid: str(len(grid.systems()[0])),
)
def test_labels_tell_all_systems_apart(grid):
    table = systems_of(grid)
    assert len(set(labels(table).values())) == len(table)


def test_a_single_system_is_called_by_its_name():
    table = systems_of(Grid(mode="bm25"))
    assert labels(table) == {table["system"][0]: table["system"][0]}


def test_screen_fits_80_columns(run):
    assert max(len(line.rstrip()) for line in printed(run, 80).splitlines()) <= 80


def test_no_colour_means_no_escape_codes(run, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(run, 80, force_terminal=True)
    assert "\x1b[3" not in text
    assert "\x1b[9" not in text


def test_screen_says_choice_interval_and_baseline(run):
    text = " ".join(printed(run, 200).split())
    row = run.tables.systems.set_index("system").loc[run.manifest["recommended"]]
    assert f"{row['ndcg@10']:.3f} {row['ndcg@10_low']:.3f}-{row['ndcg@10_high']:.3f}" in text
    assert "baseline: " in text
    assert "Which of 8 systems" in text


def test_text_of_the_run_is_not_read_as_rich_markup(run):
    assert "<b>kind</b>" in printed(run, 120)


def test_notebook_shows_a_run_escaped(run):
    html = run._repr_html_()
    assert "<img" not in html
    assert "&lt;img src=x" in html
    assert "Nothing can be concluded" in html
    assert "Cheapest of those not told apart" in html
