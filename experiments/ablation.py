"""What does each setting do? One system, and each named change of it alone, against it.

python experiments/ablation.py [CORPUS SETS] [--settings FILE.yaml] [--change k1=0.8,2.0 ...]
FILE.yaml holds settings of lab.Grid, one value each; pip install 'retrieval-diagnostics-lab[yaml]'
"""

from pathlib import Path
from typing import Annotated, Any

import typer

import lab
from lab.cli import run_script
from lab.errors import ConfigError

DEFAULTS: dict[str, Any] = {"mode": "bm25", "chunk_size": 400, "k1": 1.2, "b": 0.75}
CHANGES = ("k1=0.8,2.0", "b=0.4,1.0", "chunk_size=200,800", "analyzer=english")


def main(
    corpus: Annotated[Path, typer.Argument()] = Path("corpora/devices"),
    sets: Annotated[Path, typer.Argument()] = Path("diagnostic_sets/devices"),
    settings: Annotated[Path | None, typer.Option(help="YAML: the system to change")] = None,
    change: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE[,VALUE...]; may be repeated")
    ] = None,
    metric: str = "ndcg@10",
    out: Path = Path("runs/ablation"),
) -> None:
    """What does each setting do?"""
    base = DEFAULTS if settings is None else _read(settings)
    changes = [_parsed(text) for text in change or CHANGES]
    session = lab.Session(corpus, sets, [metric])
    run = session.sweep(base, name="ablation")
    (plain,) = run.systems
    for name, values in changes:
        run = session.sweep(base | {name: values}, extend=run)
    table = run.against(plain)[["system", "difference", "low", "high", "p", "verdict"]]
    print(f"{plain}: {metric} {run.scores(plain).means()[metric]:.3f}")
    print(table.to_string(index=False, float_format="%.3f"))
    print(f"written: {run.write(out)}")


def _read(file: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        needed = "pip install 'retrieval-diagnostics-lab[yaml]'"
        raise ConfigError(f"{file}: YAML needs the package PyYAML; {needed}") from None
    try:
        read = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as fault:
        raise ConfigError(f"{file}: cannot be read as YAML ({fault})") from None
    if not isinstance(read, dict):
        raise ConfigError(f"{file}: expected settings by name, like mode: bm25")
    return read


def _parsed(text: str) -> tuple[str, tuple[Any, ...]]:
    name, equals, values = text.partition("=")
    if not (name and equals and values):
        raise ConfigError(f"--change {text}: expected NAME=VALUE[,VALUE...], like k1=0.8,2.0")
    return name, tuple(_value(value) for value in values.split(","))


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


run_script(main)
