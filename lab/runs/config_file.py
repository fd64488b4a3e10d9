"""One system of a run as an experiment file, to run it again or to go on from it."""

from typing import Any

from lab.config.rows import is_absent
from lab.config.settings import SETTINGS, TABLES
from lab.config.toml import toml_axis, toml_value
from lab.errors import RunError
from lab.runs.load import config_of
from lab.runs.run import Run


def experiment_file(run: Run, system: str) -> str:
    """An experiment whose only system is this one, over the same documents, sets and measures; what
    is at its default is left out. Raises RunError for a run made from documents given in Python,
    ConfigError for a foreign retriever."""
    corpus = run.manifest["corpus"]["path"]
    sets = run.manifest["questions"].get("paths")
    if corpus is None or not sets:
        raise RunError(
            "this run was made from documents or questions given in Python: an experiment file "
            "has to name their paths"
        )
    settings = config_of(run, system).settings()
    measure = run.manifest["measure"]
    lines = [
        f"# {system}",
        f"name = {toml_value(run.manifest['name'])}",
        f"corpus = {toml_value(corpus)}",
        f"diagnostic_sets = {toml_value(list(sets))}",
    ]
    for table, keys in TABLES.items():
        values = {key: settings[name] for key, name in keys.items() if _is_said(name, settings)}
        if values:
            lines += ["", f"[{table}]", *(f"{key} = {toml_axis(v)}" for key, v in values.items())]
    features = settings["features"]
    if features is not None and features.root:
        lines += [
            "",
            "[features]",
            *(f"{toml_value(name)} = {w:.12g}" for name, w in features.root),
        ]
    lines += ["", "[measure]"]
    lines += [
        f"{key} = {toml_value(value)}" for key, value in measure.items() if value not in ({}, [])
    ]
    lines += _hosted(run.manifest.get("hosted", {}), settings)
    return "\n".join(lines) + "\n"


def _hosted(record: dict[str, Any], settings: dict[str, Any]) -> list[str]:
    """The models behind HTTP that a system asks, a table each."""
    lines: list[str] = []
    for part, table, setting in (
        ("encoders", "encoder", "model"),
        ("rerankers", "reranker", "rerank_model"),
    ):
        for model in record.get(part, ()):
            if model["name"] == settings[setting]:
                said = {key: value for key, value in model.items() if value not in (None, "")}
                lines += ["", f"[[{table}]]"]
                lines += [f"{key} = {toml_value(value)}" for key, value in said.items()]
    return lines


def _is_said(name: str, settings: dict[str, Any]) -> bool:
    """Whether a setting has to stand in the file: a grid sweeps several modes by default."""
    value = settings[name]
    setting = SETTINGS[name]
    return not is_absent(value) and (len(setting.defaults) > 1 or value != setting.default)
