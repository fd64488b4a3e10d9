"""From text to terms: identifiers, scripts without blanks, full width, and one function for both
sides."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.bm25 import build
from lab.retrieval.config import BM25Config
from tests.given import corpus_of

AUTO = ANALYZERS["auto"]


def hits(texts: dict[str, str], question: str, analyzer: str = "auto") -> list[tuple[str, float]]:
    """Documents and scores for a question, best first."""
    chunking: Chunking = chunk(corpus_of(texts), ChunkConfig(strategy="document"))
    found = build(chunking, BM25Config(analyzer=analyzer, k1=1.5)).search([question], 10)
    return [
        (chunking[int(i)].doc_id, float(s))
        for i, s in zip(found.hits(0), found.scores[0], strict=False)
    ]


def alone_on_top(found: list[tuple[str, float]]) -> str:
    """The first document, if it stands strictly above the second."""
    assert len(found) == 1 or found[0][1] > found[1][1] + 1e-6
    return found[0][0]


def test_b04_documents_and_questions_go_through_one_analyzer() -> None:
    assert [doc for doc, _ in hits({"d0": "a cat", "d1": "c dog", "d2": "e f"}, "cat")] == ["d0"]
    texts = {"e0": "PumpController started", "e1": "pump started"}
    assert hits(texts, "PumpController") == hits(texts, "pumpcontroller")
    assert alone_on_top(hits(texts, "PumpController")) == "e0"
    index = build(chunk(corpus_of(texts), ChunkConfig()), BM25Config(analyzer="stem"))
    assert index.analyzer is ANALYZERS["stem"]


CHINESE = {
    "d1": "水泵漏水，请检查密封圈",
    "d2": "阀门噪声过大",
    "d3": "电机过热停机",
    "d4": "压力记录正常",
    "d5": "水泵ERR-4042报警",
}


@pytest.mark.parametrize(
    ("texts", "question", "expected"),
    [
        (CHINESE, "漏水", "d1"),
        (CHINESE, "电机过热", "d3"),
        (CHINESE, "ERR-4042", "d5"),
        ({"j1": "ポンプの水漏れ", "j2": "弁の騒音"}, "ポンプ", "j1"),
    ],
)
@pytest.mark.parametrize("analyzer", ["auto", "jieba"])
def test_b05_chinese_and_japanese_are_found(
    texts: dict[str, str], question: str, expected: str, analyzer: str
) -> None:
    found = hits(texts, question, analyzer)
    assert alone_on_top(found) == expected
    assert all(set(texts[doc]) & set(question) for doc, _ in found)


@pytest.mark.parametrize("name", sorted(ANALYZERS))
@given(
    text=st.text(max_size=40) | st.text(alphabet="水泵・ ー。，-_'.#+a1\u3000\u0301नि", max_size=20)
)
def test_b05_no_term_is_blank_or_punctuation_only(name: str, text: str) -> None:
    terms = ANALYZERS[name](text)
    assert all(any(unicodedata.category(c)[0] not in "PZ" for c in term) for term in terms)
    assert not any(c.isspace() for term in terms for c in term)


def test_b05_jieba_in_search_mode_holds_the_short_words() -> None:
    assert "长江" in ANALYZERS["jieba"]("南京市长江大桥")


IDS = {
    "a": "Restart the pump after code ERR-4042.",
    "b": "Restart the pump after code ERR-4024.",
    "c": "Restart the pump after code ERR-404, then ERR-42.",
    "d": "Order part SKU_12/B (not SKU_12/A).",
    "e": "Firmware v2.3.1 fixes the leak.",
    "f": "Firmware v2.3.10 fixes the noise.",
}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("ERR-4042", "a"),
        ("err-4042", "a"),
        ("(ERR-4042)", "a"),
        ("SKU_12/B", "d"),
        ("v2.3.1", "e"),
        ("v2.3.10", "f"),
    ],
)
@pytest.mark.parametrize("analyzer", ["auto", "english"])
def test_b06_exact_ids_stand_alone_on_top(question: str, expected: str, analyzer: str) -> None:
    assert alone_on_top(hits(IDS, question, analyzer)) == expected


def test_b06_a_part_of_an_id_finds_it_too() -> None:
    assert [doc for doc, _ in hits(IDS, "4042")] == ["a"]


@pytest.mark.parametrize(
    ("question", "expected"), [("C", "x"), ("C++", "y"), ("C#", "z"), ("R", "r")]
)
def test_b07_one_letter_and_symbol_names(question: str, expected: str) -> None:
    texts = {
        "x": "C compiler manual",
        "y": "C++ compiler manual",
        "z": "C# compiler manual",
        "r": "R language manual",
    }
    assert alone_on_top(hits(texts, question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"), [("ERR-4042", "d1"), ("ＥＲＲ－４０４３", "d2"), ("5kg", "d4")]
)
def test_b08_full_width_matches_half_width_and_text_stays(question: str, expected: str) -> None:
    texts = {
        "d1": "错误代码ＥＲＲ－４０４２ 已记录",
        "d2": "half-width ERR-4043 logged",
        "d3": "unrelated",
        "d4": "5㎏ pump",
    }
    assert alone_on_top(hits(texts, question)) == expected
    corpus = corpus_of(texts)
    assert "ＥＲＲ－４０４２" in corpus["d1"].text
    assert corpus["d4"].text[1:2] == "㎏"
    assert chunk(corpus, ChunkConfig(size=2)).texts[-4:] == ["5㎏", " p", "um", "p"]


def test_minus_and_unicode_hyphens_and_zero_width_characters_match_a_hyphen() -> None:
    for written in ("ERR\u22124042", "ERR\u20114042", "ERR\u200b-4042", "\ufeffERR-4042"):
        assert AUTO(written) == ["err-4042", "err", "4042"]


def test_words_keep_their_vowel_signs_and_accents() -> None:
    assert AUTO("हिन्दी ภาษาไทย q\u0301x") == ["हिन्दी", "ภาษาไทย", "q\u0301x"]


def test_katakana_middle_dot_parts_words() -> None:
    assert AUTO("ポンプ・弁") == ["ポン", "ンプ", "弁"]


def test_full_width_colon_of_chinese_parts_identifiers() -> None:
    assert ANALYZERS["auto"]("备件SKU_31/C：VP-65") == [
        "备件",
        "sku_31/c",
        "sku",
        "31",
        "c",
        "vp-65",
        "vp",
        "65",
    ]


def test_stop_words_and_stems() -> None:
    assert ANALYZERS["stop"]("the pumps of ERR-4042") == ["pumps", "err-4042", "err", "4042"]
    assert ANALYZERS["english"]("The pumps were running") == ["pump", "run"]
    assert AUTO("don't, the user's") == ["don't", "the", "user"]


def test_identity_names_analyzer_and_version() -> None:
    assert len({analyzer.identity for analyzer in ANALYZERS.values()}) == len(ANALYZERS)


@pytest.mark.parametrize("apostrophe", "'\u2019\u2018\u02bc\u00b4`")
def test_elided_words_are_found_whole_and_in_parts(apostrophe: str) -> None:
    texts = {
        "fr": f"la pompe de l{apostrophe}eau",
        "ci": f"port en Côte d{apostrophe}Ivoire",
        "it": f"cade nell{apostrophe}acqua",
        "en": f"asked O{apostrophe}Brien",
        "id": f"voir l{apostrophe}ERR-4042",
    }
    for question, expected in (
        ("eau", "fr"),
        ("EAU", "fr"),
        ("Ivoire", "ci"),
        ("acqua", "it"),
        ("O'Brien", "en"),
        ("Brien", "en"),
        ("ERR-4042", "id"),
    ):
        assert alone_on_top(hits(texts, question)) == expected
    assert AUTO(f"l{apostrophe}arc-en-ciel") == [
        "l'arc-en-ciel",
        "l",
        "arc-en-ciel",
        "arc",
        "en",
        "ciel",
    ]


def test_what_english_leaves_behind_an_apostrophe_is_no_word() -> None:
    assert AUTO("don't we've I'm she'll") == ["don't", "we've", "i'm", "she'll"]
    assert AUTO("don't-care driver's-side") == [
        "don't-care",
        "don't",
        "care",
        "driver's-side",
        "driver",
        "side",
    ]


@pytest.mark.parametrize(
    "written", ["ERR\u200e-4042", "E\u2063RR-4042", "ERR-40\ufe0f42", "ERR-4042\U000e0041"]
)
def test_invisible_characters_part_no_identifier(written: str) -> None:
    texts = {"a": f"code {written} seen", "b": "code ERR-404 seen, 4042 err err"}
    plain = {**texts, "a": "code ERR-4042 seen"}
    assert hits(texts, "ERR-4042") == hits(plain, "ERR-4042")
    assert alone_on_top(hits(texts, "ERR-4042")) == "a"
    assert alone_on_top(hits({"a": "serial AB\u2063CD77", "b": "serial AB CD77"}, "ABCD77")) == "a"


@pytest.mark.parametrize(
    ("one", "other"),
    [("🔴", "🟢"), ("✅", "❌"), ("≤", "≥"), ("€", "£"), ("↑", "↓"), ("★", "☆"), ("🇩🇪", "🇪🇩")],
)
def test_symbols_that_carry_the_meaning_are_terms(one: str, other: str) -> None:
    texts = {"one": f"status {one} pump", "other": f"status {other} pump"}
    assert alone_on_top(hits(texts, f"status {one}")) == "one"
    assert [doc for doc, _ in hits(texts, other)] == ["other"]
    assert [doc for doc, _ in hits(texts, f"{other}\ufe0f")] == ["other"]


def test_lines_of_tables_and_replacement_characters_are_no_terms() -> None:
    assert AUTO("│ a ├──┤ \ufffd\ufffc █") == ["a"]


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("1000", "1,000"),
        ("1,000", "1000"),
        ("1000", "1'000"),
        ("1000000", "1,000,000"),
        ("1200000", "12,00,000"),
        ("1234.56", "1,234.56"),
        ("1000", "1,000-hour"),
        ("1000", "١٠٠٠"),
        ("1000", "١٬٠٠٠"),
        ("۴۲", "42"),
        ("४२", "42"),
        ("1000", "１，０００"),
    ],
)
def test_numbers_are_found_however_they_are_written(asked: str, written: str) -> None:
    texts = {"number": f"it costs {written}, or so", "none": "it costs 10, or 100, or 1"}
    assert alone_on_top(hits(texts, asked)) == "number"


def test_a_decimal_comma_is_no_list_and_a_list_keeps_its_numbers() -> None:
    texts = {"decimal": "take 3,5 of it", "list": "take 5 bolts, 3 nuts"}
    assert alone_on_top(hits(texts, "3,5")) == "decimal"
    assert AUTO("1,2 (3), 4,") == ["1,2", "1", "2", "3", "4"]
    assert AUTO("001,002") == ["001,002", "001", "002"]
    assert {"100", "200", "300"} <= set(AUTO("100,200,300"))


def test_arabic_is_found_with_or_without_tatweel_and_harakat() -> None:
    texts = {"ar": "مـضـخَّة المـاء", "other": "صمام الهواء"}
    assert alone_on_top(hits(texts, "مضخة")) == "ar"


@given(text=st.text(max_size=30), mark=st.sampled_from("\u200e\u2063\u00ad\ufe0f\u0640\u064e"))
def test_marks_that_are_ignored_change_no_term(text: str, mark: str) -> None:
    sown = "".join(f"{character}{mark}" for character in text)
    # A mark that parts `\r` from `\n` or a letter from its accent still parts nothing.
    assert AUTO(sown) == AUTO(text)


def test_traditional_chinese_is_found_by_simplified_only_if_asked_for() -> None:
    texts = {"t": "提高產率的開發", "o": "閥門噪聲"}
    assert hits(texts, "产率") == []
    assert alone_on_top(hits(texts, "产率", "simplified")) == "t"
    assert alone_on_top(hits({"s": "提高产率", "o": "阀门"}, "產率", "simplified")) == "s"


def test_identity_changes_with_the_rules_and_what_they_depend_on() -> None:
    assert f"Unicode {unicodedata.unidata_version}" in AUTO.identity
    assert "jieba 0." in ANALYZERS["jieba"].identity
    assert "PyStemmer 3" in ANALYZERS["english"].identity
    assert "OpenCC 1" in ANALYZERS["simplified"].identity


def test_ascii_terms_are_those_of_the_whole_rule() -> None:
    """The quick way for ASCII finds what the full pattern finds."""
    run = "ERR-4042,1,000 it's c++ l'eau 3,5mm a,1 1,a x--y f#"
    assert AUTO(run) == [term for part in run.split() for term in AUTO(f"{part}\u200b")]
