"""Trackers: a finished run logged to MLflow or, offline, to Weights & Biases."""

import json
import os
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lab.config.rows import is_absent, settings_of
from lab.config.settings import SETTINGS, text_of
from lab.errors import ConfigError, nearest
from lab.runs.run import Run

# Logs a run and its folder to a place, and says in a line where it went.
Log = Callable[[Run, Path, str], str]
NAMES_TAG = "lab.metric_names"
# What of a row of the table of systems is logged beside the metrics.
FIGURES = ("context_tokens", "p_best", "p")


def tracker(target: str) -> Callable[[Run, Path], str]:
    """What `--track` names: `mlflow`, `mlflow=sqlite:///runs.db`, `mlflow=http://...`, `wandb` or
    `wandb=FOLDER`.

    Raises ConfigError for an unknown tracker or one whose package is not installed: before the
    sweep, not after it.
    """
    name, _, place = target.partition("=")
    if name not in TRACKERS:
        raise ConfigError(f"--track '{target}'{nearest(name, TRACKERS)}")
    log, package, default = TRACKERS[name]
    if find_spec(package) is None:
        raise ConfigError(
            f"--track {name} needs the package '{package}'; install "
            f"retrieval-diagnostics-lab[{name}]"
        )
    return lambda run, folder: log(run, folder, place or default)


def legal_name(metric: str) -> str:
    """A name that every tracker takes: `ndcg@10` is `ndcg_at_10`, `ndcg@10 low` is
    `ndcg_at_10_low`."""
    return re.sub(r"[^\w./-]", "_", metric.replace("@", "_at_"))


def logged_figures(run: Run) -> dict[str, dict[str, float]]:
    """System -> legal name -> value, for every metric with the ends of its interval, and the
    costs."""
    metrics = list(dict.fromkeys(run.tables.scores["metric"].astype(str)))
    columns = [c for metric in metrics for c in (metric, f"{metric}_low", f"{metric}_high")] + [
        *FIGURES
    ]
    return {
        str(row["system"]): {
            legal_name(c): float(row[c]) for c in columns if c in row and not is_absent(row[c])
        }
        for row in run.tables.systems.to_dict("records")
    }


def original_names(run: Run) -> dict[str, str]:
    """Legal name -> the table's own: logged with the run, so that what a tracker holds can be
    mapped back."""
    return {
        legal_name(str(column)): str(column)
        for column in run.tables.systems.columns
        if column not in ("system", *SETTINGS)
    }


def _settings(row: dict[str, Any]) -> dict[str, str]:
    values = settings_of(row)
    return {name: text_of(value) for name, value in values.items() if value is not None}


def _parameters(run: Run) -> dict[str, str]:
    grid = {
        f"grid.{key}": json.dumps(value, ensure_ascii=False)
        for key, value in run.manifest["grid"].items()
    }
    measure = {
        f"measure.{key}": json.dumps(value, ensure_ascii=False)
        for key, value in run.manifest["measure"].items()
    }
    inputs = {
        "corpus": run.manifest["corpus"]["fingerprint"],
        "questions": run.manifest["questions"]["fingerprint"],
    }
    return {**grid, **measure, **inputs}


def log_mlflow(run: Run, folder: Path, uri: str) -> str:
    """One parent run an experiment, with parameters, the recommended system's figures and the run
    folder as artifacts, and one child run a system."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    client, name = MlflowClient(tracking_uri=uri), run.manifest["name"]
    known = client.get_experiment_by_name(name)
    # A server keeps artifacts where it likes; those of a local database lie beside it.
    beside = (
        (Path(uri.removeprefix("sqlite:///")).absolute().parent / "mlartifacts").as_uri()
        if uri.startswith("sqlite:")
        else None
    )
    experiment = (
        known.experiment_id if known else client.create_experiment(name, artifact_location=beside)
    )
    figures = logged_figures(run)

    def log(system: str, parameters: dict[str, str], tags: dict[str, str]) -> str:
        logged = client.create_run(experiment, tags=tags)
        metrics = [
            Metric(key, value, logged.info.start_time, 0) for key, value in figures[system].items()
        ]
        client.log_batch(
            logged.info.run_id, metrics, [Param(key, value) for key, value in parameters.items()]
        )
        return str(logged.info.run_id)

    recommended = run.manifest["conclusions"]["recommended"]["system"]
    tags = {
        "mlflow.runName": name,
        NAMES_TAG: json.dumps(original_names(run)),
        "lab.best": run.best,
        "lab.recommended": recommended,
    }
    parent = log(recommended, _parameters(run), tags)
    for row in run.tables.systems.to_dict("records"):
        system = str(row["system"])
        child = log(
            system, _settings(row), {"mlflow.runName": system, "mlflow.parentRunId": parent}
        )
        client.set_terminated(child)
    client.log_artifacts(parent, str(folder))
    client.set_terminated(parent)
    return f"mlflow: experiment '{name}', run {parent} in {uri}"


def log_wandb(run: Run, folder: Path, place: str) -> str:
    """One offline run: settings as config, the recommended system's figures as summary, all systems
    as a table, the run folder as an artifact. `wandb sync` sends it."""
    os.environ["WANDB_MODE"] = "offline"
    os.environ.setdefault("WANDB_SILENT", "true")
    import wandb

    Path(place).mkdir(parents=True, exist_ok=True)
    name, figures = run.manifest["name"], logged_figures(run)
    recommended = run.manifest["conclusions"]["recommended"]["system"]
    config = {
        **_parameters(run),
        "metric_names": original_names(run),
        "best": run.best,
        "recommended": recommended,
    }
    with wandb.init(
        project="retrieval-diagnostics-lab", name=name, config=config, dir=place, mode="offline"
    ) as logged:
        logged.summary.update(figures[recommended])
        keys = list(next(iter(figures.values())))
        columns: list[str | int] = ["system", *keys]
        rows = [[system, *(values.get(key) for key in keys)] for system, values in figures.items()]
        logged.log({"systems": wandb.Table(columns=columns, data=rows)})
        artifact = wandb.Artifact(re.sub(r"[^\w.-]", "-", name), type="run")
        artifact.add_dir(str(folder))
        logged.log_artifact(artifact)
    return f"wandb: offline run in {place}"


# Name -> how to log, the package it needs, and where it logs by default.
TRACKERS: dict[str, tuple[Log, str, str]] = {
    "mlflow": (log_mlflow, "mlflow", "sqlite:///mlflow.db"),
    "wandb": (log_wandb, "wandb", "wandb"),
}
