"""Trackers: what they log is what the run says, under names they take, and MLflow's own client
reads it back."""

import json
import re
import time

import pytest

from lab.errors import ConfigError
from lab.report.export.tracking import (
    NAMES_TAG,
    legal_name,
    logged_figures,
    original_names,
    tracker,
)


def test_names_are_legal_and_map_back(run):
    names = original_names(run)
    assert names["recall_at_5"] == "recall@5"
    assert names["ndcg_at_10_low"] == "ndcg@10_low"
    assert all(re.fullmatch(r"[\w./-]+", name) for name in names)
    assert len(set(names)) == len(names), "two columns would share a name"
    for figures in logged_figures(run).values():
        assert set(figures) <= set(names)


@pytest.mark.parametrize("target", ["mlfow", "tensorboard", ""])
def test_unknown_tracker_is_an_error_before_the_sweep(target):
    with pytest.raises(ConfigError, match=r"known: mlflow, wandb|did you mean 'mlflow'"):
        tracker(target)


def test_mlflow_client_reads_back_what_was_logged(run, tmp_path):
    pytest.importorskip("mlflow", reason="the extra 'mlflow' is not installed")
    pytest.importorskip("sqlalchemy", reason="the extra 'mlflow' is not installed")
    from mlflow import MlflowClient

    folder, uri = run.write(tmp_path / "run"), f"sqlite:///{tmp_path / 'mlflow.db'}"
    said = tracker(f"mlflow={uri}")(run, folder)
    client = MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name(run.manifest["name"])
    runs = client.search_runs([experiment.experiment_id], max_results=1000)
    parents = [r for r in runs if "mlflow.parentRunId" not in r.data.tags]
    children = {
        r.data.tags["mlflow.runName"]: r for r in runs if "mlflow.parentRunId" in r.data.tags
    }
    assert len(parents) == 1
    assert parents[0].info.run_id in said
    assert set(children) == set(run.systems)
    names = json.loads(parents[0].data.tags[NAMES_TAG])
    for row in run.tables.systems.to_dict("records"):
        child = children[row["system"]]
        assert child.data.tags["mlflow.parentRunId"] == parents[0].info.run_id
        for legal, value in child.data.metrics.items():
            assert value == pytest.approx(row[names[legal]], abs=1e-12)
        assert child.data.params["mode"] == row["mode"]
        assert child.info.status == "FINISHED"
    recommended = run.tables.systems.set_index("system").loc[run.manifest["recommended"]]
    assert parents[0].data.metrics[legal_name("ndcg@10")] == pytest.approx(recommended["ndcg@10"])
    assert {"report.html", "manifest.json"} <= {
        file.path for file in client.list_artifacts(parents[0].info.run_id)
    }


def test_wandb_writes_an_offline_run(run, tmp_path):
    pytest.importorskip("wandb", reason="the extra 'wandb' is not installed")
    folder = run.write(tmp_path / "run")
    tracker(f"wandb={tmp_path / 'logs'}")(run, folder)
    (written,) = (tmp_path / "logs").rglob("*.wandb")
    # A process of its own writes the file, and may be behind on a busy machine.
    deadline = time.monotonic() + 60
    while b"recall_at_5" not in written.read_bytes() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert b"recall_at_5" in written.read_bytes()
