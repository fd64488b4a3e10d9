"""Figures: drawn from the run's own numbers, the same in the page, in files and in notebooks."""

import re
import warnings
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest

from lab.errors import LabWarning, RunError
from lab.evaluation.verdict import MARKS, NOT_TOLD
from lab.report.chosen import looks
from lab.report.export.export import export
from lab.report.figures.doses import NAME, doses, read_doses
from lab.report.figures.every import all_plots
from lab.report.figures.ink import INKS, SHADES, on_shade
from lab.report.figures.losses import distance
from lab.report.figures.panel import LONGEST, Panel, fonts, shortened
from lab.report.figures.plot import Plot
from lab.report.figures.svg import panel_svg
from lab.runs.losses import changes_of
from tests.report.given_run import IMAGE, large
from tests.report.test_browser import contrast


@pytest.fixture(scope="module")
def plots(run):
    return {plot.key: plot for plot in all_plots(run)}


@pytest.fixture(scope="module")
def drawings(plots):
    return {
        key: [panel_svg(panel, f"{key}-{place}") for place, panel in enumerate(plot.panels)]
        for key, plot in plots.items()
    }


def texts(svg):
    return [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def told(svg):
    return [unescape(words) for words in re.findall(r"<title>([^<]*)</title>", svg)]


def test_a_run_of_many_settings_has_every_plot(plots):
    assert list(plots) == [
        "heatmap",
        "forest",
        "effects",
        "rescue",
        "waterfall",
        "kinds-causes",
        "kinds",
        "alpha",
        "cost",
        "recall",
        "distance",
        "questions",
        "parallel",
    ]


def test_every_colour_is_the_pages_with_the_figures_own_behind_it(drawings):
    """Printed or saved, a figure has its own colours; in the page those of its theme."""
    for svgs in drawings.values():
        for svg in svgs:
            bare = re.sub(r"var\(--[\w-]+, #[0-9a-f]{6}\)", "", svg)
            assert not re.findall(r"(?<!&)#[0-9a-f]{6}\b", bare)


def test_ids_are_only_those_that_something_refers_to(drawings):
    every = [name for svgs in drawings.values() for svg in svgs for name in _ids(svg)]
    assert len(every) == len(set(every))
    for svgs in drawings.values():
        for svg in svgs:
            links = set(re.findall(r'<a class="mark" href="#([^"]*)"', svg))
            named = set(re.findall(r"(?:href=\"|url\()#([^\")]+)[\")]", svg))
            assert set(_ids(svg)) == named - links


def _ids(svg):
    return re.findall(r' id="([^"]+)"', svg)


def test_texts_of_documents_are_text(drawings):
    joined = "".join(svg for svgs in drawings.values() for svg in svgs)
    assert "<b>" not in joined
    assert IMAGE not in joined
    assert "&lt;b&gt;kind" in joined


def test_numbers_in_texts_are_whole(drawings, run):
    """Coordinates are cut to two decimals, texts never."""
    shown = texts(drawings["heatmap"][0])
    means = {f"{value:.3f}".removeprefix("0") for value in run.table()[run.metrics[0]]}
    assert {text.rstrip("".join(MARKS[verdict] for verdict in NOT_TOLD)) for text in shown} >= means


def test_heat_map_is_the_table_of_systems(plots, run):
    table = run.table().set_index("system")
    rows = plots["heatmap"].table
    for row in rows.to_dict("records"):
        assert row["value"] == table.loc[row["system"], row["metric"]]
    best = rows[rows["standard_errors_behind"] == 0].groupby("metric")["system"].first()
    assert set(best.index) == set(run.metrics)


def test_standard_errors_of_the_heat_map_are_the_textbooks(run):
    """Paired differences over single documents: their standard deviation by the root of their
    number."""
    from lab.evaluation.clusters import each_question
    from lab.report.figures.maps import _errors_behind

    tables = replace(run.tables)
    object.__setattr__(tables, "clusters", each_question(len(run.query_ids)))
    plain = replace(run, tables=tables)
    metric = run.tables.select_by
    behind = _errors_behind(plain, metric)
    scores = np.nan_to_num(run.tables.column(metric))
    best = run.tables.place(run.best_by(metric))
    for place, system in enumerate(run.systems):
        gaps = scores[:, best] - scores[:, place]
        error = gaps.std(ddof=1) / np.sqrt(len(gaps))
        if error > 0:
            assert behind[system] == pytest.approx(max(gaps.mean() / error, 0.0))


def test_waterfall_falls_to_the_recall_of_the_recommended_system(plots, run):
    table = plots["waterfall"].table
    every = table[table["kind"] == "all"]
    recall = run.scores(run.recommended).means()["recall@5"]
    assert 1 - every["lost"].sum() == pytest.approx(recall, abs=1e-9)


def test_recall_curve_passes_through_the_measured_recall(plots, run):
    table = plots["recall"].table
    at_five = table[table["k"] == 5].set_index("system")["recall"]
    for system in looks(run):
        assert at_five[system] == pytest.approx(run.scores(system).means()["recall@5"], abs=1e-9)


def test_rescues_are_seen_from_the_system(run):
    table = changes_of(run.rescues(), run.recommended)
    assert table["net"].is_monotonic_decreasing
    pairs = run.rescues()
    for row in table.itertuples():
        forth = pairs[(pairs["a"] == run.recommended) & (pairs["b"] == row.system)]
        back = pairs[(pairs["b"] == run.recommended) & (pairs["a"] == row.system)]
        (pair,) = [*forth.itertuples(), *back.itertuples()]
        ways = (pair.rescued, pair.broken) if len(forth) else (pair.broken, pair.rescued)
        assert (row.rescued, row.broken) == ways


def test_distances_rise_whatever_slices_a_system_has(run):
    """The first system may have no evidence in some slice; the axis keeps its order (H2)."""
    order = ["cut", "0-24", "25-99", "100+"]
    shown = list(dict.fromkeys(distance(run).table["distance"]))
    assert shown == [name for name in order if name in shown]


def test_marks_say_what_they_are_and_lead_there(drawings, run):
    words = told(drawings["forest"][0])
    assert len(words) == len(run.systems) - 1
    assert all(re.search(r"[+−-]\d\.\d{3} \[", text) for text in words)
    assert 'href="#s=' in drawings["forest"][0]
    assert 'href="#kind=semantic' in "".join(drawings["kinds-causes"])


def test_shades_carry_readable_text():
    for step, shade in enumerate(SHADES):
        assert contrast(on_shade(step), shade) >= 4.5
    for name in ("bm25", "dense", "hybrid", "foreign", "gain", "loss", "kind-1", "kind-6", "soft"):
        assert contrast(INKS[name], INKS["card"]) >= 4.5


def test_chosen_systems_differ_in_marker_and_dash(run):
    styles = list(looks(run).values())
    assert len({look.marker for look in styles}) == len(styles)
    assert len({str(look.dash) for look in styles}) == len(styles)


def test_files_are_the_same_bytes_and_of_every_format(plots, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        plots["heatmap"].save(*(folder / f"map.{ending}" for ending in ("svg", "pdf", "png")))
    for ending, begin in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        content = (first / f"map.{ending}").read_bytes()
        assert content.startswith(begin)
        assert content == (second / f"map.{ending}").read_bytes()
    with pytest.raises(RunError, match=r"map\.gif: no format of figures"):
        plots["heatmap"].save(tmp_path / "a.svg", tmp_path / "map.gif")
    assert not (tmp_path / "a.svg").exists()


def test_a_notebook_shows_the_figure(plots):
    svg = plots["alpha"]._repr_svg_()
    assert svg.startswith("<svg")
    assert "Alpha, exactly" in svg


def test_export_writes_every_figure_with_its_data(run, plots, tmp_path):
    written = export(run, "figures", tmp_path / "figures")
    assert {path.name for path in written} == {
        f"{key}.{ending}" for key in plots for ending in ("svg", "pdf", "png", "csv")
    }
    data = pd.read_csv(tmp_path / "figures" / "recall.csv")
    assert data["recall"].tolist() == pytest.approx(plots["recall"].table["recall"].tolist())


def test_chinese_in_files_is_drawn_or_told_once(monkeypatch, tmp_path, run):
    def draw(axes, marks):
        axes.set_xlabel("水泵 水 泵")

    plot = Plot("pump", "水泵", "", [Panel("", draw)], pd.DataFrame())
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        plot.save(tmp_path / "a.png", tmp_path / "a.pdf")
    if len(fonts()) > 1:
        assert not heard
    monkeypatch.setattr("lab.report.figures.panel.fonts", lambda: ["DejaVu Sans"])
    with pytest.warns(LabWarning, match="no font of this machine has 水 泵") as told_once:
        plot.save(tmp_path / "b.png", tmp_path / "b.pdf")
    assert len(told_once) == 1


def test_doses_are_the_means_of_the_table(run, tmp_path):
    same = {"injected": 1, "metric": "ndcg@10", "high": 0.0, "verdict": "undecided"}
    rows = [
        {
            **same,
            "kind": kind,
            "dose": dose,
            "system": system,
            "mean": 0.9 - dose / 20,
            "change": -dose / 20,
            "low": -dose / 10,
        }
        for kind in ("twin", "topical")
        for dose in (0, 2, 5)
        for system in (run.recommended, "a system of another run")
    ]
    assert read_doses(tmp_path) is None
    pd.DataFrame(rows).to_csv(tmp_path / NAME, index=False)
    plot = doses(run, read_doses(tmp_path))
    assert [panel.name for panel in plot.panels] == ["twin", "topical"]
    assert told(panel_svg(plot.panels[0], "dose")) == [run.labels[run.recommended]]
    assert len(plot.table) == len(rows)


def test_a_plot_that_cannot_be_drawn_says_why(run):
    none = replace(run, tables=replace(run.tables, alphas=run.tables.alphas.iloc[:0]))
    with pytest.raises(RunError, match="no hybrid system"):
        none.plot.alpha()
    assert run.plot.cost().key == "cost"
    assert [plot.key for plot in run.plot.all()] == [plot.key for plot in all_plots(run)]


def test_figures_of_a_large_run_stay_small():
    run = large(100, 2000)
    sizes = {
        plot.key: sum(len(panel_svg(panel, plot.key)) for panel in plot.panels)
        for plot in all_plots(run)
    }
    assert sum(sizes.values()) < 1_500_000


def test_a_name_of_any_length_leaves_room_for_the_axes(run):
    """Long or many-lined names of kinds and systems once took the whole figure."""
    assert shortened("pump") == "pump"
    assert shortened("a\nb\tc") == "a␊b␉c"
    assert len(shortened("x" * 500)) == LONGEST
    kinds = {kind: f"{kind} {'long ' * 60}" for kind in set(run.tables.questions["kind"])}
    questions = run.tables.questions.assign(kind=run.tables.questions["kind"].map(kinds))
    renamed = replace(run, tables=replace(run.tables, questions=questions))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for plot in all_plots(renamed):
            for panel in plot.panels:
                panel_svg(panel, plot.key)
