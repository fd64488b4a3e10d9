"""One author's phrases across corpora: what unrelated texts do not share."""

import random
from pathlib import Path

import pytest

from lab.corpus.document import Corpus, Document
from lab.corpus.read import read_corpus
from lab.sets.audit.hands import one_hand

HABITS = (
    "as every fitter learns in the first winter",
    "which is cheaper than the second visit",
    "the clerk Achterwold signs it before noon",
)


def written(seed: int, words: int = 6_000, habits: tuple[str, ...] = ()) -> Corpus:
    """Words at random, and here and there a phrase that its author likes."""
    draw = random.Random(seed)
    vocabulary = ["".join(draw.choices("bcdfgklmnprst", k=6)) for _ in range(400)]
    documents = []
    for number in range(10):
        text = [draw.choice(vocabulary) for _ in range(words // 10)]
        for habit in habits:
            place = draw.randrange(len(text))
            text[place:place] = [*habit.split(), "."]
        documents.append(Document(f"{number}", " ".join(text)))
    return Corpus(documents)


def test_phrases_that_one_author_likes_are_told_with_the_names() -> None:
    (finding,) = one_hand({"pumps": written(1, habits=HABITS), "ships": written(2, habits=HABITS)})
    assert finding.rule == "one author's phrases across corpora"
    assert "every fitter learns in the" in finding.cases
    assert "Achterwold" in finding.message
    assert "pumps and ships" in finding.message
    assert "one replication" in finding.remedy


def test_other_hands_and_one_corpus_alone_say_nothing() -> None:
    assert not list(one_hand({"pumps": written(1, habits=HABITS), "ships": written(2)}))
    assert not list(one_hand({"pumps": written(1, habits=HABITS)}))
    assert not list(one_hand({}))


def test_function_words_and_dates_are_no_habit() -> None:
    common = ("it is that which they have not been", "and so it is that all of them were there")
    assert not list(one_hand({"a": written(1, habits=common[:1]), "b": written(2, habits=common)}))


def test_a_few_words_say_nothing() -> None:
    short = [written(seed, 1_000, HABITS) for seed in (1, 2)]
    assert not list(one_hand({"a": short[0], "b": short[1]}))


def test_chinese_phrases_are_longer_by_the_character() -> None:
    def chinese(seed: int, habit: str) -> Corpus:
        draw = random.Random(seed)
        signs = [chr(0x4E00 + draw.randrange(3_000)) for _ in range(500)]
        text = "".join(draw.choice(signs) for _ in range(4_000))
        return Corpus([Document("a", text[:2_000] + habit + "。" + text[2_000:])])

    habit = "老师傅常说先看油位再谈别的事情才不会出错这话没有例外"
    assert list(one_hand({"a": chinese(1, habit), "b": chinese(2, habit)}))
    assert not list(one_hand({"a": chinese(1, habit), "b": chinese(2, habit[:9])}))


def test_public_corpora_are_of_several_hands(shared: Path) -> None:
    spans = shared / "bench" / "spans"
    names = ("xquad-en", "policyqa", "xquad-zh", "cmrc2018")
    if not all((spans / name).exists() for name in names):
        pytest.skip("the ready public sets are not there")
    corpora = {name: read_corpus(spans / name / "documents.jsonl") for name in names}
    assert not list(one_hand(corpora))
