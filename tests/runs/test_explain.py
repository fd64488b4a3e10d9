"""`lab explain` on one screen: the evidence, the cut, the cause and the proof are there."""

from rich.console import Console

from lab.report.screens.explanation import explanation_screen
from lab.sweeping.tables import run_of
from tests.diagnosis.planted import evidence, run


def test_the_screen_tells_cut_cause_and_remedy() -> None:
    quote = "the pump leaks because the gasket of its inlet side hardened over the winter"
    documents = {
        "a": ("x " * 100)[: 100 - len(quote) // 2] + quote + " and so on" * 10,
        "b": "[bold]weather[/bold] " * 3,
    }
    questions = {"q": ("pump leaks", evidence(documents, "a", quote))}
    result = run_of(run(documents, questions, 3, chunk_strategy="fixed", chunk_size=100))
    console = Console(width=80, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(explanation_screen(result.explain("q")))
    text = captured.get()
    assert "missed within 3 (never complete)" in text
    assert "✂" in text
    assert "split (verified)" in text
    assert "a chunk that holds it whole" in text
    assert "split (verified)" in str(result.explain("q"))
    assert [miss.cause for miss in result.explain("q").misses] == ["split"]
