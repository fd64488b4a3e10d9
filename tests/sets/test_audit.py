"""The audit finds every planted fault, and nothing in a clean set."""

import json
import math
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.cli import app
from lab.corpus.document import Corpus, Document
from lab.corpus.read import read_corpus
from lab.diagnosis.scatter import scatter
from lab.errors import CorpusError
from lab.relevance.pieces import pieces
from lab.relevance.query import Evidence, Query
from lab.relevance.read import read_diagnostics
from lab.sets.audit.audit import Audit, audit
from lab.sets.audit.counts import questions_for
from lab.sets.audit.wording import shared_words
from lab.sweeping.preflight.check import Check, check
from tests.conftest import ROOT

PUMP = (
    "The pump stops when the pressure falls below three bar. Code E-4012 is "
    "shown on the display of the controller."
)
VALVE = (
    "The valve opens at nine bar and closes when the engineer turns the handle to the left side."
)
CORPUS = Corpus([Document("pump.md", PUMP), Document("valve.md", VALVE)])


def asked(
    query_id: str, text: str, doc_id: str = "pump.md", kind: str = "semantic", **tags: str
) -> Query:
    document = CORPUS[doc_id]
    return Query(query_id, text, kind, tags, (Evidence(doc_id, 0, document.text.index(".") + 1),))


def rules(found: Audit) -> dict[str, str]:
    return {finding.rule: finding.message for finding in found.findings}


def test_words_taken_from_the_evidence_are_counted_as_stems_without_stop_words() -> None:
    # content words: pump, stopping (stem stop), today; the evidence holds pump and stops
    assert shared_words(asked("a", "Why is the pump stopping today?"), CORPUS) == pytest.approx(
        2 / 3
    )
    assert shared_words(Query("b", "Why?"), CORPUS) is None


def test_leakage_names_semantic_questions_that_copy_and_verbatim_ones() -> None:
    found = rules(
        audit(
            CORPUS,
            [
                asked("a", "the pump stops when the pressure falls"),
                asked("b", "Machine halts, why?"),
            ],
        )
    )
    assert "1 semantic question" in found["leakage"]
    assert "a (100%)" in found["leakage"]
    assert found["verbatim questions"].endswith(": a")


def test_one_text_with_evidence_in_two_documents_is_unfit_and_shows_what_bm25_makes_of_it() -> None:
    torn = [
        asked("a", "When does it stop?"),
        asked("b", "When does  it STOP?", "valve.md"),
        asked("c", "Which handle?", "valve.md"),
    ]
    found = audit(CORPUS, torn)
    assert found.unfit
    message = rules(found)["ambiguous questions"]
    assert "1 of 2 distinct texts have evidence in several documents (2 of 3 questions)" in message
    assert "BM25 scores Recall@5" in message


def test_alternatives_of_one_question_are_no_ambiguity() -> None:
    evidence = (Evidence("pump.md", 0, 20, group="x"), Evidence("valve.md", 0, 20, group="x"))
    found = audit(CORPUS, [Query("a", "When does it stop?", evidence=evidence)])
    assert "ambiguous questions" not in rules(found)


def test_duplicates_of_documents_and_questions() -> None:
    words = " ".join(f"word{i}" for i in range(200))
    documents = [
        Document("a", words),
        Document("b", words),
        Document("c", words + " end"),
        Document("d", " "),
        Document("e", "other"),
    ]
    queries = [
        Query("q1", "How is the red pump stopped?", evidence=(Evidence("a"),)),
        Query("q2", "how is the red pump  stopped?", evidence=(Evidence("a"),)),
        Query("q3", "How is the red pump stopped now?", evidence=(Evidence("a"),)),
    ]
    found = rules(audit(Corpus(documents), queries))
    assert found["duplicate documents"].endswith(": a = b")
    assert "a ~ c" in found["near-duplicate documents"]
    assert "a ~ b" not in found["near-duplicate documents"]
    assert "e" not in found["near-duplicate documents"].split(": ")[1]
    assert found["blank documents"].endswith(": d")
    assert found["duplicate questions"].endswith(": q1 = q2")
    assert "q1 ~ q3" in found["near-duplicate questions"]


def test_near_misses_of_an_identifier_are_no_duplicates() -> None:
    queries = [asked("a", "What does E-4012 mean?"), asked("b", "What does E-4021 mean?")]
    assert "near-duplicate questions" not in rules(audit(CORPUS, queries))


def test_unknown_words_and_identifiers_with_the_nearest_spelling() -> None:
    queries = [
        asked("a", "E-4013 on the display", kind="exact_id"),
        asked("b", "Zahnrad Motor"),
        asked("c", "E-9999?", kind="exact_id"),
    ]
    unanswerable = Query("d", "E-7777 meaning", "unanswerable")
    found = audit(CORPUS, [*queries, unanswerable])
    named = next(finding for finding in found.findings if finding.rule == "unknown identifiers")
    assert named.cases[0] == "a: 'e-4013' (nearest: 'e-4012')"
    assert not any(case.startswith("d") for case in named.cases)
    nowhere = next(
        finding
        for finding in found.findings
        if finding.rule == "unknown words" and finding.grade == "warning"
    )
    assert "b" in nowhere.cases


def test_identifiers_that_the_analyzer_parts() -> None:
    corpus = Corpus([Document("a", "Use std::vec11A or --force with E-4012.")])
    message = rules(audit(corpus, [Query("q", "E-4012", evidence=(Evidence("a"),))]))[
        "parted identifiers"
    ]
    assert "--force -> force" in message
    assert "E-4012" not in message


def test_few_questions_and_how_many_would_do() -> None:
    # 1.96^2 / (4 * 0.1^2) = 96.04, so 97
    assert (questions_for(0.1), questions_for(0.2)) == (97, 25)
    found = audit(CORPUS, [asked(f"q{i}", "Machine halts?") for i in range(12)])
    assert found.kinds[0].within == pytest.approx(1.959964 / (2 * math.sqrt(12)))
    assert "has 12 questions" in rules(found)["too few questions"]
    assert "97 give" in rules(found)["too few questions"]


def test_mix_of_written_and_mined() -> None:
    queries = [
        asked("a", "One?", origin="mined"),
        asked("b", "Two?", origin="mined"),
        asked("c", "Three?", origin="written"),
    ]
    assert "(written:mined 1:2)" in rules(audit(CORPUS, queries))["mined questions"]


def test_grades_off_the_scale_and_ids_with_blanks() -> None:
    corpus = Corpus([Document(f"Jane {i}", "text") for i in range(30)])
    judged = tuple(Evidence(f"Jane {i}", grade=i % 4) for i in range(29))
    found = rules(
        audit(corpus, [Query("q", "text?", evidence=(*judged, Evidence("Jane 29", grade=10)))])
    )
    assert "beyond 0..3, the scale of the others: 10 (1 time)" in found["label off the scale"]
    assert "30 of 30 document ids hold blanks" in found["ids with blanks"]


def test_clean_set_has_nothing_unfit() -> None:
    assert not audit(CORPUS, [asked("a", "Machine halts, why?")]).unfit


def test_scatter_counts_the_chunks_a_piece_needs() -> None:
    corpus = Corpus([Document("a", "x" * 400)])
    spans = [
        (0, 50),
        (60, 140),
        (50, 350),
    ]  # chunks of 100: one, two (40 + 40), four (50 + 100 + 100 + 50)
    found = scatter(
        pieces([Query("q", "x", evidence=tuple(Evidence("a", s, e) for s, e in spans))]),
        chunk(corpus, ChunkConfig(size=100)),
        "f",
    )
    assert (found.one, found.two, found.more, found.never) == (1, 1, 1, 0)


def test_check_of_an_experiment_and_of_plain_paths_agree() -> None:
    def run(*arguments: str) -> dict[str, object]:
        done = CliRunner().invoke(app, ["check", *arguments, "--json"])
        assert done.exit_code == 0, done.output
        return dict(json.loads(done.output))

    direct = run(str(ROOT / "corpora/devices"), str(ROOT / "diagnostic_sets/devices"))
    named = run(str(ROOT / "experiments/quickstart.toml"))
    assert direct["kinds"] == named["kinds"]
    assert direct["chunks"] is None
    facts = named["chunks"]["facts"]  # type: ignore[index]
    assert {fact["label"] for fact in facts} >= {"fixed-400", "structure-400"}


def test_policyqa_is_unfit_for_retrieval(shared: Path) -> None:
    folder = shared / "bench" / "spans" / "policyqa"
    corpus = read_corpus(folder)
    found = audit(corpus, read_diagnostics(folder / "queries.jsonl", corpus))
    assert found.unfit
    assert CliRunner().invoke(app, ["check", str(folder)]).exit_code == 1
    message = rules(found)["ambiguous questions"]
    assert message.startswith("263 of 440 distinct texts have evidence in several documents")
    assert "BM25 scores Recall@5 0.02" in message


@pytest.mark.parametrize(
    ("files", "rule", "cases"),
    [
        (["cranfield"], "question ids are not the judged ones", 223),
        (["cranfield-trec"], "question ids are not the judged ones", 223),
        (["cranfield-trec"], "label off the scale", 1),
        (["cacm/cacm.all", "cacm/query.text", "cacm/cacm.qrels"], "padded document id", 55),
        (["cmrc2018/cmrc2018_dev.json"], "negative offset", 193),
        (["cmrc2018/cmrc2018_dev.json"], "wrong offset", 7),
        (["cmrc2018/cmrc2018_trial.json"], "wrong offset", 5),
        (["limit-small"], "ids with blanks", 46),
    ],
)
def test_defects_of_public_sets_are_found_as_they_lie(
    files: list[str], rule: str, cases: int, shared: Path
) -> None:
    found = checked(tuple(shared / "data" / file for file in files))
    assert [len(finding.cases) for finding in found.audit.findings if finding.rule == rule] == [
        cases
    ]


@cache
def checked(paths: tuple[Path, ...]) -> Check:
    return check(paths)


def test_foreign_set_needs_one_source_or_three_files(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="three files"):
        check([tmp_path / "docs.txt", tmp_path / "topics.txt"])
    with pytest.raises(CorpusError, match=r"a.txt: no such file[\s\S]*c.txt: no such file"):
        check([tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "c.txt"])
