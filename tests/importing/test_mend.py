"""What import mends, drops and suspects; every change is a finding."""

import pytest

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Judgement, Question
from lab.importing.mend import mend, off_scale
from lab.importing.suspect import suspicious
from lab.relevance.query import Evidence


def collection(
    documents: dict[str, str], questions: dict[str, str], judgements: list[Judgement]
) -> Collection:
    read = Collection()
    for line, (doc_id, text) in enumerate(documents.items(), start=1):
        read.add_document(f"docs:{line}", doc_id, text)
    read.questions = [
        Question(f"asked:{line}", *pair) for line, pair in enumerate(questions.items(), start=1)
    ]
    read.judgements = judgements
    return read


def rules(findings: object) -> list[tuple[str, str, str]]:
    return [(f.place, f.action, f.rule) for f in findings]  # type: ignore[attr-defined]


def test_questions_are_numbered_by_place_when_only_that_explains_the_judgements() -> None:
    asked = {"001": "a", "002": "b", "004": "c", "009": "d"}
    judgements = [Judgement(f"rel:{n}", str(n), "1") for n in (1, 2, 3, 4)]
    mended = mend(collection({"1": "x"}, asked, judgements))
    assert [(q.query_id, q.text, len(q.evidence)) for q in mended.queries] == [
        ("1", "a", 1),
        ("2", "b", 1),
        ("3", "c", 1),
        ("4", "d", 1),
    ]
    assert rules(mended.findings) == [
        ("asked:3", "mended", "question ids are not the judged ones"),
        ("asked:4", "mended", "question ids are not the judged ones"),
    ]


@pytest.mark.parametrize("judged", [(1, 2, 4, 9), (1, 2, 4), (1, 2, 5), (1, 2)])
def test_questions_keep_their_ids_when_the_judgements_could_mean_them(
    judged: tuple[int, ...],
) -> None:
    asked = {"1": "a", "2": "b", "4": "c", "9": "d"}
    mended = mend(
        collection({"1": "x"}, asked, [Judgement(f"rel:{n}", str(n), "1") for n in judged])
    )
    assert [q.query_id for q in mended.queries] == ["1", "2", "4", "9"]


def test_padded_ids_meet_and_ids_that_could_be_two_do_not() -> None:
    documents = {"971": "x", "7": "y", "07": "z"}
    judgements = [
        Judgement("r:1", "01", "0971"),
        Judgement("r:2", "1", " 971"),
        Judgement("r:3", "1", "007"),
    ]
    mended = mend(collection(documents, {"1": "a"}, judgements))
    assert [item.doc_id for item in mended.queries[0].evidence] == ["971"]
    assert rules(mended.findings) == [
        ("r:1", "mended", "padded document id"),
        ("r:1", "mended", "padded question id"),
        ("r:2", "mended", "padded document id"),
        ("r:3", "dropped", "judged document is absent"),
        ("r:2", "dropped", "repeated judgement"),
    ]


def test_b30_a_judgement_twice_is_one_and_of_two_grades_the_higher_stays_and_is_said() -> None:
    judgements = [
        Judgement("r:1", "q", "d", 1),
        Judgement("r:2", "q", "d", 1),
        Judgement("r:3", "q", "d", 0),
        Judgement("r:4", "q", "d", 2),
    ]
    mended = mend(collection({"d": "x"}, {"q": "a"}, judgements))
    assert mended.queries[0].evidence == (Evidence("d", grade=2),)
    assert rules(mended.findings) == [
        ("r:2", "dropped", "repeated judgement"),
        ("r:3", "suspicious", "contradicting judgements"),
        ("r:4", "suspicious", "contradicting judgements"),
    ]
    assert "r:1" in mended.findings[1].message


def test_b30_two_texts_under_one_id_are_an_error_with_both_places() -> None:
    read = collection({"d": "x"}, {}, [])
    read.add_document("docs:3", "d", "other")
    with pytest.raises(CorpusError, match=r"docs:3: document id 'd' was used at docs:1"):
        mend(read)


@pytest.mark.parametrize(
    ("quote", "claimed", "spans", "rule"),
    [
        ("one", 0, [(0, 3)], None),
        ("two", 5, [(4, 7)], "wrong offset"),
        ("one", 9, [(8, 11)], "wrong offset"),
        ("two", None, [(4, 7)], None),
        ("one", None, [(0, 3), (8, 11)], "quote stands several times"),
        ("two  one", None, [(4, 11)], "white space differs"),
        ("three", 2, [], "quote is not in the text"),
        (" ", 3, [], "empty quote"),
    ],
)
def test_a_quote_is_looked_up_and_its_offset_believed_only_when_it_fits(
    quote: str, claimed: int | None, spans: list[tuple[int, int]], rule: str | None
) -> None:
    mended = mend(
        collection(
            {"d": "one two one"}, {"q": "a"}, [Judgement("r:1", "q", "d", 3, quote, claimed)]
        )
    )
    assert [(item.start, item.end) for item in mended.queries[0].evidence] == spans
    assert [finding.rule for finding in mended.findings] == ([] if rule is None else [rule])
    assert len(mended.queries[0].pieces) == min(len(spans), 1), (
        "several places are alternatives of one piece"
    )


def test_a_name_that_stands_everywhere_is_no_evidence() -> None:
    mended = mend(collection({"d": "MA " * 11}, {"q": "a"}, [Judgement("r:1", "q", "d", 3, "MA")]))
    assert not mended.queries[0].evidence
    assert mended.findings[0].rule == "quote stands too often"


def test_rare_labels_beyond_a_gap_are_off_the_scale() -> None:
    usual = [Judgement(f"r:{n}", "q", f"d{n}", n % 4) for n in range(400)]
    assert rules(
        off_scale([*usual, Judgement("r:x", "q", "e", 5), Judgement("r:y", "q", "f", 10)])
    ) == [
        ("r:x", "suspicious", "label off the scale"),
        ("r:y", "suspicious", "label off the scale"),
    ]
    assert not off_scale([*usual, Judgement("r:x", "q", "e", 4)]), "a next level is no gap"
    assert not off_scale([*usual, *(Judgement("r", "q", f"e{n}", 9) for n in range(40))]), (
        "a tenth is no slip"
    )
    assert not off_scale([])


def test_what_is_suspicious_is_left_and_said() -> None:
    documents = {"a b": "x", "caf\u00e9": " ", "cafe\u0301": "x", "e": "lost \ufffd"}
    asked = {"q1": "same  one", "q2": "same one", "q3": " "}
    mended = mend(
        collection(documents, asked, [Judgement("r:1", "q1", "a b"), Judgement("r:2", "q2", "e")])
    )
    found = [(f.place, f.rule) for f in suspicious(mended.documents, mended.queries)]
    assert found == [
        ("a b", "blank in id"),
        ("cafe\u0301", "twin ids"),
        ("caf\u00e9", "empty document"),
        ("cafe\u0301", "same text"),
        ("e", "lost characters"),
        ("q3", "empty question"),
        ("q3", "question without judgement"),
        ("q1", "same question"),
    ]
