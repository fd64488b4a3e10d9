"""One system of a run as an experiment file, to run it again or to go on from it."""

import json
from typing import Any

from lab.config.axis import plain
from lab.config.rows import is_absent
from lab.config.settings import SETTINGS, TABLES
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
        f"name = {_toml(run.manifest['name'])}",
        f"corpus = {_toml(corpus)}",
        f"diagnostic_sets = {_toml(list(sets))}",
    ]
    for table, keys in TABLES.items():
        values = {key: settings[name] for key, name in keys.items() if _is_said(name, settings)}
        if values:
            lines += ["", f"[{table}]", *(f"{key} = {_axis(v)}" for key, v in values.items())]
    features = settings["features"]
    if features is not None and features.root:
        lines += ["", "[features]", *(f"{_toml(name)} = {w:.12g}" for name, w in features.root)]
    lines += ["", "[measure]"]
    lines += [f"{key} = {_toml(value)}" for key, value in measure.items() if value not in ({}, [])]
    return "\n".join(lines) + "\n"


def _is_said(name: str, settings: dict[str, Any]) -> bool:
    """Whether a setting has to stand in the file: a grid sweeps several modes by default."""
    value = settings[name]
    setting = SETTINGS[name]
    return not is_absent(value) and (len(setting.defaults) > 1 or value != setting.default)


def _axis(value: Any) -> str:
    """One value of a setting; several sizes or views together are a list in the list."""
    value = plain(value)
    return _toml([list(value)] if isinstance(value, list | tuple) else value)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_toml(key)} = {_toml(each)}" for key, each in value.items())
        return f"{{ {inside} }}"
    if hasattr(value, "model_dump"):
        return _toml(value.model_dump(mode="json"))
    # JSON's strings, numbers, booleans and lists are TOML's, but that TOML wants DEL escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
