"""Where the sentences of an answer come from, and which evidence it uses."""

from lab.answers.context import Context
from lab.answers.support import evidence_use, sentence_supports
from lab.corpus.document import Corpus, Document
from lab.relevance.query import Evidence, Query

CORE = "The valve opens at nine bar pressure."
BACKGROUND = "Engineers test every valve in spring."
OTHER = "Paint the housing green before winter."
CORPUS = Corpus([Document("a", CORE), Document("b", BACKGROUND), Document("c", OTHER)])
QUERY = Query(
    "q",
    "?",
    evidence=(Evidence("a", 0, len(CORE)), Evidence("b", 0, len(BACKGROUND), role="background")),
)
CONTEXTS = [Context(t, d, 0, len(t)) for d, t in (("c", OTHER), ("b", BACKGROUND), ("a", CORE))]


def test_every_sentence_has_its_best_support() -> None:
    answer = (
        "The valve opens at nine bar. Engineers test valves in spring. Paint the housing green. "
        "Dragons fly over mountains."
    )
    supports = sentence_supports(QUERY, answer, CONTEXTS, CORPUS)
    assert [(each.source, each.rank) for each in supports] == [
        ("core", 3),
        ("background", 2),
        ("other context", 1),
        ("nowhere", None),
    ]
    assert answer[supports[0].start : supports[0].end].strip() == "The valve opens at nine bar."


def test_evidence_that_is_not_shown_supports_nothing() -> None:
    (support,) = sentence_supports(QUERY, CORE, CONTEXTS[:1], CORPUS)
    assert support.source == "nowhere"


def test_use_of_evidence_by_its_place_in_the_context() -> None:
    used = evidence_use(QUERY, "The valve opens at nine bar pressure.", CONTEXTS, CORPUS)
    assert [(each.rank, each.third, each.used) for each in used] == [
        (3, "end", True),
        (2, "middle", False),
    ]
