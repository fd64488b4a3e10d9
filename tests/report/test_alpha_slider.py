"""The slider over alpha: it orders the shown candidates as the lab does, and the evidence's rank is
the curve's."""

import numpy as np
import pytest

from lab.config.grid import Grid
from lab.report.chosen import chosen_systems
from lab.report.page.page import page
from lab.sweeping.sweep import sweep
from tests.report.given_run import small_corpus, small_queries
from tests.report.test_browser import texts


@pytest.fixture(scope="module")
def hybrids(run):
    systems = run.tables.systems
    return systems[(systems["mode"] == "hybrid") & systems["rerank_depth"].isna()]


def test_parts_add_up_to_the_fused_score_at_every_alpha(run, hybrids):
    """Two systems of a family differ in alpha alone, so that one's parts give the other's score."""
    rows = run.tables.rankings.astype({"system": str, "query_id": str})
    for _, family in hybrids.groupby("family"):
        for own in family.to_dict("records"):
            for other in family.to_dict("records"):
                keys = ["query_id", "doc_id", "start"]
                parts = rows[rows["system"] == own["system"]].set_index(keys)
                scores = rows[rows["system"] == other["system"]].set_index(keys)["fused_score"]
                both = parts.assign(other=scores).dropna(subset=["other"])
                assert len(both)
                alpha = other["alpha"]
                mixed = (1 - alpha) * both["bm25_part"] + alpha * both["dense_part"]
                assert np.allclose(mixed, both["other"], atol=1e-6)


def test_the_slider_orders_and_ranks_as_the_lab_does(open_page, run, hybrids):
    """At the alpha of another system of the family: its own order of the candidates that both
    show, and its own ranks of the evidence."""
    chosen = hybrids[hybrids["system"].isin(chosen_systems(run))]
    family = hybrids[hybrids["family"] == chosen["family"].iloc[0]]
    own = chosen.iloc[0]
    other = family[family["system"] != own["system"]].iloc[0]
    browser = open_page(page(run), f"#q=valve&s={own['system'].replace(' ', '%20')}")
    browser.execute_script(
        "document.querySelector('details.alpha').open = true;"
        "const s = document.querySelector('details.alpha input'); s.step = 'any';"
        "s.value = arguments[0];"
        "s.dispatchEvent(new Event('input'))",
        float(other["alpha"]),
    )
    (ranks,) = texts(browser, "details.alpha .piece-ranks")
    evidence = run.tables.rows("evidence", other["system"])
    (complete,) = evidence.loc[evidence["query_id"].astype(str) == "valve", "complete"]
    assert ranks == f"Evidence 1: rank {complete}"
    shown = texts(browser, "details.alpha .fused li")
    rows = run.tables.rows("rankings", other["system"])
    rows = rows[(rows["query_id"].astype(str) == "valve") & (rows["rank"] > 0)].sort_values("rank")
    order = [f"{row.doc_id}:{row.start}–{row.end}" for row in rows.itertuples()]
    common = [place for place in order if place in shown]
    assert len(common) > 1
    assert [place for place in shown if place in common] == common


def test_a_run_without_hybrids_has_no_slider(open_page):
    run = sweep(small_corpus(), small_queries(), Grid(mode="bm25", chunk_size=(30, 80)))
    assert not texts(open_page(page(run)), "details.alpha")
