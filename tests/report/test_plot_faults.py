"""Faults that people met in earlier plots and first screens, each as what a reader may now rely
on (M numbers: the review of the first report)."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

import lab
from lab.config.grid import Grid
from lab.report.advice import cautions, next_changes
from lab.report.chosen import looks
from lab.report.figures.every import all_plots
from lab.report.figures.ink import INKS, SHADES, looks_of_kinds
from lab.report.figures.maps import ERRORS
from lab.report.figures.plot import Plot
from lab.report.figures.svg import panel_svg
from lab.report.page.page import page
from lab.report.page.template import html_file
from lab.report.verdict import verdict_of
from lab.runs.run import Run
from tests.conftest import ROOT
from tests.report.test_browser import contrast
from tests.report.test_runs import RUNS, run_of


@pytest.fixture(scope="module")
def plots(run: Run) -> dict[str, Plot]:
    return {plot.key: plot for plot in all_plots(run)}


@pytest.fixture(scope="module")
def analyzers() -> Run:
    """Nothing but the analyzer and k1 varies: no alpha, one chunking."""
    grid = Grid(mode="bm25", analyzer=("auto", "english"), k1=(0.4, 1.2, 2.0), chunk_size=30)
    return run_of(grid=grid)


def drawn(plot: Plot) -> str:
    return "".join(panel_svg(panel, plot.key) for panel in plot.panels)


def themes() -> list[dict[str, str]]:
    """The page's colours: of its light theme, of its dark one by wish, by button, and in print."""
    style = html_file("style.css")
    blocks = re.findall(r"\{([^{}]*--shade-1:[^{}]*)\}", style)
    return [dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", block)) for block in blocks]


def test_what_is_recommended_lies_on_the_front_or_is_said_why(plots: dict[str, Plot]) -> None:
    """M1: the star lay off the front, and cost was another thing than had decided."""
    cost = plots["cost"]
    assert "the fewer stages decide" in cost.says
    for kind in RUNS:
        run = run_of(**RUNS[kind])
        told = [plot for plot in all_plots(run) if plot.key == "cost"]
        if told and run.recommended != run.best:
            assert f"{run.labels[run.recommended]} is recommended over the best" in told[0].says


def test_choosing_among_all_never_needs_less_than_one_pair() -> None:
    """M2: of 0.230 for a pair and 0.219 in the whole grid the second is impossible."""
    devices = ROOT / "diagnostic_sets" / "devices" / "exact_id.jsonl"
    grid = {"mode": "bm25", "chunk_size": (200, 400)}
    run = lab.sweep(ROOT / "corpora" / "devices", devices, grid, progress=False)
    found = run.manifest["conclusions"]["detectable_difference"]
    assert set(found) == set(run.metrics)
    for of_metric in found.values():
        assert of_metric["in_grid"] >= of_metric["planned"] > 0


def test_cells_and_texts_can_be_read_in_every_theme() -> None:
    """M7, M10: 41 of 108 cells were below 4.5, and in the dark the worst cells glowed."""
    assert len(themes()) >= 3
    for colours in themes():
        shades = [colours[f"shade-{step}"] for step in range(1, 6)]
        for step, shade in enumerate(shades):
            ink = colours["on-dark" if step > 2 else "on-light"]
            assert contrast(ink, shade) >= 4.5
        # The best stands out from the card most, the worst least, whatever the theme.
        steps = [contrast(shade, colours.get("card", "#ffffff")) for shade in shades]
        assert steps == sorted(steps)


def test_no_two_entities_share_a_look_and_no_look_is_colour_alone(run: Run) -> None:
    """M8, M9: green, pink and grey became one grey, and blue meant five things."""
    systems = looks(run)
    assert len({(look.marker, str(look.dash)) for look in systems.values()}) == len(systems)
    kinds = looks_of_kinds(["exact_id", "keyword", "semantic", "chunk_boundary"])
    assert len({look.marker for look in kinds.values()}) == len(kinds)
    assert len({str(look.dash) for look in kinds.values()}) == len(kinds)
    modes = {INKS[mode] for mode in ("bm25", "dense", "hybrid", "foreign")}
    of_kinds = {look.colour for look in kinds.values()}
    outcomes = {INKS["gain"], INKS["loss"]}
    assert not (modes & of_kinds)
    assert not (modes & outcomes)
    assert not (of_kinds & outcomes)
    assert not set(SHADES) & (modes | of_kinds | outcomes)


def test_rescued_and_broken_differ_without_colour(plots: dict[str, Plot]) -> None:
    """M8: a bar is hatched where questions break."""
    assert "<pattern" in drawn(plots["rescue"])


def test_every_varied_setting_has_its_effect_and_the_map_its_axes(analyzers: Run) -> None:
    """M11, M12: a matrix of 72 x 72 was nine tenths empty, and a sweep of k1 had one column."""
    plots = {plot.key: plot for plot in all_plots(analyzers)}
    effects = plots["effects"].table
    assert set(effects["setting"]) == {"analyzer", "k1"}
    assert effects[["low", "high"]].notna().all().all()
    assert {"analyzer", "k1"} <= set(plots["heatmap"].table.columns)
    assert len(set(plots["heatmap"].table["system"])) == 6
    assert "alpha" not in plots


def test_shades_are_differences_by_their_errors_not_a_stretched_range(
    plots: dict[str, Plot],
) -> None:
    """M13: 0.65 to 0.68, all undecided, went from white to navy."""
    heatmap = plots["heatmap"]
    for error in ERRORS:
        assert f"{error:g}" in heatmap.says
    table = heatmap.table
    level = table[table["standard_errors_behind"] < ERRORS[0]]
    cells = re.findall(r"fill: ?(#[0-9a-f]{6}|var\(--shade-\d[^)]*\))", drawn(heatmap))
    assert sum(SHADES[4] in cell or "--shade-5" in cell for cell in cells) == len(level)


def test_the_table_beneath_holds_what_is_drawn(plots: dict[str, Plot], run: Run) -> None:
    """M17: 5,522 points were drawn over 15 rows of summary."""
    alpha = plots["alpha"].table
    steps = {"low", "high"} <= set(alpha.columns)
    assert steps
    assert len(alpha) > len({*alpha["slice"]})
    rescue = plots["rescue"].table
    drawn_bars = len(re.findall(r"rescues \d+, breaks \d+", drawn(plots["rescue"])))
    assert drawn_bars <= 2 * len(rescue)
    assert set(rescue["system"]) <= set(run.systems)
    assert run.recommended not in set(rescue["system"])


def test_intervals_stand_where_they_matter(plots: dict[str, Plot], html: str) -> None:
    """M18: kinds, pairs and the alpha curve had none."""
    for key in ("kinds", "forest", "effects"):
        assert {"low", "high"} <= set(plots[key].table.columns)
    assert re.search(r"\[[+−-]\d\.\d{3}, [+−-]\d\.\d{3}\]", html)


def test_a_plot_is_a_file_without_a_browser(plots: dict[str, Plot], tmp_path: Path) -> None:
    """M20: there was no way to a figure file."""
    for plot in plots.values():
        plot.save(tmp_path / f"{plot.key}.svg")
        text = (tmp_path / f"{plot.key}.svg").read_text("utf-8")
        assert INKS["card"] in text  # opaque: it can be read on a dark slide
        assert len(text) > 1000


def test_the_first_screen_says_what_to_change(run: Run, html: str) -> None:
    """M22: "lost to outranked" names a stage, not a remedy."""
    first = unescape(unquote(html[: html.index('id="systems"')]))
    for change in next_changes(run).to_dict("records"):
        assert str(change["setting"]) in first
        assert f"vs={change['system']}&" in first


def test_what_concerns_other_chunkings_is_kept_apart() -> None:
    """M23: five of six warnings were about chunks that nobody had recommended."""
    run = run_of(grid=Grid(model="given", chunk_size=(30, 80)))
    first, others = cautions(run, verdict_of(run).warnings)
    chunkings = {str(fact["label"]) for fact in run.manifest["chunkings"]}
    recommended = run.recommended.split()[0]
    assert not [text for text in first if text.split(":")[0] in chunkings - {recommended}]
    assert len(first) + len(others) == len(verdict_of(run).warnings)
    assert page(run).count("Read this before") <= 1
