"""A run folder keeps its questions in full."""

from pathlib import Path

import lab
from lab.relevance.query import Claim, Turn
from lab.runs.inputs import questions_fingerprint
from lab.runs.questions import questions_of
from tests.given import corpus_of

CORPUS = corpus_of({"a": "The DP46 stops by itself.", "b": "Nothing."})
QUERIES = (
    lab.Query("q1", "Which pump?", evidence=(lab.Evidence("a", 4, 8),)),
    lab.Query(
        "q2",
        "And how is it stopped?",
        "semantic",
        {"lang": "en"},
        (lab.Evidence("a", grade=2),),
        "by itself",
        ("how does it end",),
        claims=(Claim("it stops", (0,)),),
        answer_type="operation",
        date="2024-05",
        history=(Turn("user", "Which pump?"), Turn("assistant", "The DP46.")),
    ),
    lab.Query("q3", "Who?", history=(Turn("user", "Nobody?"),)),
)


def test_questions_come_back_from_a_run_folder_as_they_were_asked(tmp_path: Path) -> None:
    grid = lab.Grid(mode="bm25", chunk_strategy="document")
    run = lab.sweep(CORPUS, QUERIES, grid, progress=False)
    run.write(tmp_path / "run")
    again = lab.read_run(tmp_path / "run", corpus=CORPUS)
    for tables in (run.tables, again.tables):
        assert questions_of(tables.questions) == QUERIES
    assert again.explain("q2").asked()[-1] == (
        "history: user: Which pump?; assistant: The DP46. (not used by this system)"
    )


def test_another_history_is_another_question() -> None:
    bare = lab.Query("q", "And then?")
    said = lab.Query("q", "And then?", history=(Turn("user", "First?"),))
    other = lab.Query("q", "And then?", history=(Turn("assistant", "First?"),))
    assert len({questions_fingerprint([query]) for query in (bare, said, other)}) == 3
