"""Evidence that holds too much or too little."""

from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from lab.relevance.query import Evidence, Query
from lab.sets.audit.evidence import (
    answering_sentence,
    evidence_without_identifier,
    found_by_title,
    padded_across_cuts,
)

TEXT = "The valve opens at nine bar after repair. Paint it red. The crew went home early that day."
ANSWER = Query("q", "At how many bar does the valve open after repair?", answer="nine bar")


def test_the_answering_sentence_holds_every_shared_word() -> None:
    end = TEXT.index(" The crew")
    assert answering_sentence(ANSWER, TEXT, 0, end) == (0, TEXT.index("Paint"))
    # A single sentence, or a span that shares next to nothing, says nothing.
    assert answering_sentence(ANSWER, TEXT, 0, TEXT.index("Paint")) is None
    assert answering_sentence(Query("q", "Where did they go?"), TEXT, 0, len(TEXT)) is None


def test_padding_is_told_by_kind_and_only_where_the_answer_lies_whole() -> None:
    corpus = Corpus([Document("a", TEXT)])
    end = TEXT.index(" The crew")
    queries = [
        Query(
            f"q{n}",
            ANSWER.text,
            kind="boundary",
            answer="nine bar",
            evidence=(Evidence("a", 0, end),),
        )
        for n in range(3)
    ]
    # 45 characters: the cut lies in "Paint it red.", behind the answer.
    behind = chunk(corpus, ChunkConfig(strategy="fixed", size=45))
    (finding,) = padded_across_cuts(queries, {"fixed-45": behind})
    assert finding.cases == ("q0", "q1", "q2")
    through = chunk(corpus, ChunkConfig(strategy="fixed", size=20))
    assert not list(padded_across_cuts(queries, {"fixed-20": through}))


def test_evidence_has_to_hold_its_identifier_or_its_document_none() -> None:
    text = "## E-4012\n\nThe pressure fell below three bar.\n"
    corpus = Corpus([Document("a", text), Document("b", "The pressure fell.")])
    body = text.index("The"), len(text) - 1
    asked = "What does E-4012 mean?"
    lacking = Query("lacking", asked, kind="exact_id", evidence=(Evidence("a", *body),))
    holding = Query("holding", asked, kind="exact_id", evidence=(Evidence("a", 3, body[1]),))
    elsewhere = Query("elsewhere", asked, kind="exact_id", evidence=(Evidence("b", 0, 18),))
    other_kind = Query("other", asked, kind="semantic", evidence=(Evidence("a", *body),))
    (finding,) = evidence_without_identifier([lacking, holding, elsewhere, other_kind], corpus)
    assert finding.cases == ("lacking",)


def test_a_kind_whose_titles_say_it_all_is_noted() -> None:
    names = "anvil barrel cradle dynamo engine furnace gasket hammer injector jack".split()
    corpus = Corpus(Document(f"{name}-manual.md", "nothing of the kind") for name in names)
    named = [
        Query(
            f"q-{name}",
            f"How is the {name} cleaned?",
            kind="named",
            evidence=(Evidence(f"{name}-manual.md"),),
        )
        for name in names
    ]
    blind = [
        Query(
            f"b-{name}",
            "How is it cleaned?",
            kind="blind",
            evidence=(Evidence(f"{name}-manual.md"),),
        )
        for name in names
    ]
    (finding,) = found_by_title([*named, *blind], corpus)
    assert finding.cases == ("named",)
    assert "100%" in finding.message
