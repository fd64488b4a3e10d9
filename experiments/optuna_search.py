"""Search chunk size, BM25 and fusion with Optuna, and judge the winner on questions that the search
has not seen.

python experiments/optuna_search.py [CORPUS SETS] [--mode bm25|hybrid] [--trials 40] [--seed 0]
pip install 'retrieval-diagnostics-lab[optuna]'
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import lab
from lab.cli import run_script
from lab.errors import ConfigError


class Mode(StrEnum):
    """Which legs are searched over."""

    BM25 = "bm25"
    HYBRID = "hybrid"


def main(
    corpus: Annotated[Path, typer.Argument()] = Path("corpora/devices"),
    sets: Annotated[Path, typer.Argument()] = Path("diagnostic_sets/devices"),
    mode: Mode = Mode.BM25,
    metric: str = "ndcg@10",
    trials: Annotated[int, typer.Option(min=1)] = 40,
    batches: Annotated[int, typer.Option(min=1, help="after each a weak trial may stop")] = 4,
    unseen: Annotated[float, typer.Option(min=0.1, max=0.9, help="share of documents")] = 0.4,
    seed: int = 0,
    out: Path = Path("runs/optuna"),
) -> None:
    """Search with Optuna; judge the winner on questions that the search has not seen."""
    try:
        import optuna
    except ImportError:
        needed = "pip install 'retrieval-diagnostics-lab[optuna]'"
        raise ConfigError(f"the search needs the package optuna; {needed}") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    session = lab.Session(corpus, sets, [metric])
    searched, held_back = _parted(session, unseen, seed)
    # A batch holds every so-many-th question, so that each looks like the whole.
    parts = [session.asking(searched[start::batches]) for start in range(batches)]

    def objective(trial: optuna.Trial) -> float:
        settings = _settings(trial, mode)
        scores: list[float] = []
        for step, part in enumerate(parts):
            scores.extend(part.evaluate(**settings).column(metric))
            trial.report(float(np.mean(scores)), step)
            if step < len(parts) - 1 and trial.should_prune():
                raise optuna.TrialPruned
        return float(np.mean(scores))

    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=seed),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
    )
    plain = {"mode": mode.value}
    study.enqueue_trial(_defaults(mode))
    study.optimize(objective, n_trials=trials)
    winner = plain | study.best_params
    pruned = sum(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials)
    values = ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in winner.items()
    )
    print(f"{len(study.trials)} trials, {pruned} stopped early")
    print(f"best {metric} of the search: {study.best_value:.3f} with {values}")

    # The verdict: two systems named in advance, on questions that neither was chosen by.
    judge = session.asking(held_back)
    run = judge.sweep(winner, extend=judge.sweep(plain | _defaults(mode), name="optuna"))
    first, last = run.systems[0], run.systems[-1]
    for system in dict.fromkeys((first, last)):
        mean = run.scores(system).means()[metric]
        print(f"{metric} on {len(held_back)} unseen questions: {mean:.3f}  {system}")
    if first != last:
        row = run.against(first).set_index("system").loc[last]
        print(
            f"difference {row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}], "
            f"p {row['p']:.3f}: {row['verdict']}"
        )
    print(f"written: {run.write(out)}")


def _settings(trial: Any, mode: Mode) -> dict[str, Any]:
    settings = {
        "mode": mode.value,
        "chunk_size": trial.suggest_int("chunk_size", 200, 1000, step=200),
        "k1": trial.suggest_float("k1", 0.2, 3.0, step=0.1),
        "b": trial.suggest_float("b", 0.0, 1.0, step=0.05),
    }
    if mode is Mode.HYBRID:
        settings["alpha"] = trial.suggest_float("alpha", 0.05, 0.95, step=0.05)
    return settings


def _defaults(mode: Mode) -> dict[str, Any]:
    """What is compared with: the system that one would take without a search."""
    return {"chunk_size": 400, "k1": 1.2, "b": 0.75} | (
        {"alpha": 0.5} if mode is Mode.HYBRID else {}
    )


def _parted(session: lab.Session, share: float, seed: int) -> tuple[list[str], list[str]]:
    """Ids of the questions to search with, and of those held back: whole documents, for questions
    about one succeed and fail together."""
    by_document: dict[str, list[str]] = {}
    for query in session.queries:
        if query.evidence:
            by_document.setdefault(query.evidence[0].doc_id, []).append(query.query_id)
    documents = np.random.default_rng(seed).permutation(sorted(by_document)).tolist()
    border = round(share * len(documents))
    if not 0 < border < len(documents):
        raise ConfigError(
            f"{len(documents)} document(s) with questions cannot be parted; a search and its "
            "verdict need different ones"
        )
    back, front = (
        sorted(name for document in part for name in by_document[document])
        for part in (documents[:border], documents[border:])
    )
    return front, back


run_script(main)
