"""Perhaps evidence too: what most systems find above the evidence and holds the answer's words."""

import lab
from lab.config.measure import Measure
from lab.relevance.query import Evidence, Query
from lab.sweeping.measured import Measured
from lab.sweeping.perhaps import perhaps_evidence
from tests.given import measured

MARKED = "Long remarks about many other things. The valve opens at nine bar."
SAME = "Pump valve: opens at nine bar."
OTHER = "Pump valve: see the table of the pump valve."


def run(*texts: str, answer: str = "nine bar", alternatives: bool = False) -> Measured:
    corpus = lab.Corpus(
        [lab.Document("a", MARKED), *(lab.Document(f"b{i}", text) for i, text in enumerate(texts))]
    )
    evidence = [Evidence("a", 38, 66, group="g")]
    if alternatives:
        evidence.append(Evidence("b0", 0, len(SAME), group="g"))
    query = Query("q", "At which pressure does the pump valve open?", answer=answer,
                  evidence=tuple(evidence))  # fmt: skip
    grid = lab.Grid(mode="bm25", chunk_size=(80, 120), k1=(0.9, 1.2))
    return measured(corpus, [query], grid, Measure(metrics=("recall@1",), select_by="recall@1"))


def notes(result: Measured) -> list[str]:
    return [note for note in result.account.notes if note.startswith("perhaps evidence too")]


def test_unmarked_text_with_the_answer_is_named() -> None:
    (note,) = notes(run(SAME, OTHER))
    assert "for 1 question most of the 4 systems" in note
    assert f"q in b0:0-{len(SAME)};" in note


def test_the_table_says_how_many_systems_and_which_words() -> None:
    result = run(SAME, OTHER)
    (found,) = perhaps_evidence(result.plan.pieces, result.plan.corpus, result.rows)
    assert (found.query_id, found.doc_id, found.start, found.end) == ("q", "b0", 0, len(SAME))
    assert (found.systems, found.words) == (4, ("bar", "nine"))


def test_without_an_answer_the_words_of_the_evidence_count() -> None:
    assert len(notes(run(SAME, OTHER, answer=""))) == 1


def test_text_without_the_answer_and_marked_text_are_not_named() -> None:
    assert notes(run(OTHER)) == []
    assert notes(run(SAME, OTHER, alternatives=True)) == []
    assert notes(run(SAME, OTHER, answer="pump valve")) == []
