"""What to change next: the largest net rescue among systems one setting away, worked on paper."""

import pytest

import lab
from lab.evaluation.significance import sign_test
from lab.runs.next_step import next_step
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def run() -> "lab.Run":
    corpus = lab.read_corpus(ROOT / "corpora" / "devices")
    queries = lab.read_diagnostics(ROOT / "diagnostic_sets" / "devices", corpus)
    grid = lab.Grid(mode="bm25", chunk_size=(200, 400, 800), chunk_strategy=("fixed", "structure"))
    return lab.sweep(corpus, queries, grid, progress=False)


def failing(run: "lab.Run", system: str) -> set[str]:
    causes = run.causes()
    return set(causes.loc[causes["system"] == system, "query_id"].astype(str))


@pytest.mark.parametrize("system", ["fixed-200 bm25", "fixed-800 bm25", "structure-800 bm25"])
def test_it_is_the_best_of_all_neighbours(run: "lab.Run", system: str) -> None:
    step = next_step(run.tables, system)
    assert step is not None
    strategy, size = system.removesuffix(" bm25").split("-")
    neighbours = [f"{strategy}-{other} bm25" for other in (200, 400, 800) if str(other) != size] + [
        f"{'structure' if strategy == 'fixed' else 'fixed'}-{size} bm25"
    ]
    mine = failing(run, system)
    gains = {
        name: len(mine - failing(run, name)) - len(failing(run, name) - mine) for name in neighbours
    }
    assert step.looked_at == len(neighbours) == 3
    assert step.rescued - step.broken == max(gains.values()) == gains[step.other]
    assert step.rescued == len(mine - failing(run, step.other))
    assert step.p == pytest.approx(float(sign_test(step.rescued, step.broken)))
    assert {step.before, step.after} & {size, strategy}
    assert [count for _, count in step.returns] == sorted(
        (count for _, count in step.returns), reverse=True
    )


def test_a_lone_system_has_none() -> None:
    corpus = lab.Corpus([lab.Document("a", "the pump leaks")])
    queries = [lab.Query("q", "pump", evidence=(lab.Evidence("a"),))]
    run = lab.sweep(corpus, queries, lab.Grid(mode="bm25"), progress=False)
    assert next_step(run.tables, run.recommended) is None
