"""Synonyms: the format's rules, which terms a question is searched for, and what a document scores
by them."""

import hashlib
import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.config.experiment import read_experiment
from lab.config.grid import Grid
from lab.errors import ConfigError
from lab.pipeline.indexes import Indexes
from lab.pipeline.resources import Resources
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.bm25 import BM25, build
from lab.retrieval.config import BM25Config
from lab.retrieval.synonyms import Expansion, Rule, read_synonyms
from lab.storage.cache import Cache
from tests.given import corpus_of


def expansion(tmp_path: Path, *lines: str, analyzer: str = "auto") -> Expansion:
    file = tmp_path / "synonyms.txt"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return read_synonyms(file).under(ANALYZERS[analyzer])


def searched(tmp_path: Path, question: str, *lines: str, analyzer: str = "auto") -> list[str]:
    return expansion(tmp_path, *lines, analyzer=analyzer)(ANALYZERS[analyzer](question))


def test_the_rules_of_the_format(tmp_path: Path) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_bytes(
        "\ufeff# made by hand\n\ncar , automobile,motor car\r\ni-pod, i pod => ipod\na\\,b, "
        "x\\=>y, back\\\\slash\n".encode()
    )
    read = read_synonyms(file)
    cars = ("car", "automobile", "motor car")
    assert read.rules == (
        Rule(cars, cars),
        Rule(("i-pod", "i pod"), ("ipod",)),
        Rule(("a,b", "x=>y", "back\\slash"), ("a,b", "x=>y", "back\\slash")),
    )
    assert read.identity == f"3 rules, {hashlib.sha256(file.read_bytes()).hexdigest()}"


def test_equivalent_terms_bring_each_other(tmp_path: Path) -> None:
    rule = "car, automobile, motor car"
    assert searched(tmp_path, "red car", rule) == ["red", "car", "automobile", "motor"]
    assert searched(tmp_path, "motor car parts", rule) == ["motor", "car", "parts", "automobile"]


def test_an_arrow_replaces_and_goes_one_way(tmp_path: Path) -> None:
    assert searched(tmp_path, "i pod case", "i pod => ipod") == ["case", "ipod"]
    assert searched(tmp_path, "ipod case", "i pod => ipod") == ["ipod", "case"]
    assert searched(tmp_path, "car", "car => car, vehicle") == ["car", "vehicle"]


def test_rules_with_one_left_side_add_up_and_the_longest_wins(tmp_path: Path) -> None:
    assert searched(tmp_path, "car", "car => a", "car => b") == ["a", "b"]
    rules = "car, automobile", "car park, garage"
    assert searched(tmp_path, "car park", *rules) == ["car", "park", "garage"]
    assert searched(tmp_path, "park car", *rules) == ["park", "car", "automobile"]


def test_what_a_rule_brings_counts_once_and_what_the_question_repeats_counts_as_often_as_it_stands(
    tmp_path: Path,
) -> None:
    found = searched(tmp_path, "car car auto", "car, automobile", "auto, automobile")
    assert found == ["car", "car", "auto", "automobile"]
    assert searched(tmp_path, "automobile car", "car, automobile") == ["automobile", "car"]


def test_identifiers_and_chinese_are_matched_as_the_analyzer_parts_them(tmp_path: Path) -> None:
    assert searched(tmp_path, "报错ERR-4042怎么办", "ERR-4042 => 低压报警") == [
        "报错",
        "怎么",
        "么办",
        "低压",
        "压报",
        "报警",
    ]
    assert searched(tmp_path, "错误码是什么", "错误码, 故障代码")[-3:] == ["故障", "障代", "代码"]
    assert searched(tmp_path, "the fitting leaks", "leaking, dripping", analyzer="english") == [
        "fit",
        "leak",
        "drip",
    ]


def test_every_bad_line_is_told(tmp_path: Path) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_text("good, fine\nalone\na => b => c\na,,b\n=> b\n&, and\n", "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_synonyms(file)
    assert [problem.removeprefix(f"{file}:") for problem in caught.value.problems] == [
        "2: 'alone' is alone; expected 'a, b' or 'a => b'",
        "3: 2 arrows; expected one '=>' a line, or commas alone",
        "4: an empty term; expected words on both sides of every comma and arrow",
        "5: an empty term; expected words on both sides of every comma and arrow",
        "6: '&' has no letter and no digit, so that nothing can be searched for",
    ]
    file.write_text("# nothing\n", "utf-8")
    with pytest.raises(ConfigError, match="holds no rule"):
        read_synonyms(file)


def test_a_line_of_many_terms_takes_linear_time(tmp_path: Path) -> None:
    begin = time.perf_counter()
    for line in (", ".join(f"t{n}" for n in range(20_000)), "a b => " + "c d, " * 20_000 + "e"):
        (tmp_path / "s.txt").write_text(f"{line}\n{line}\n")
        expand = read_synonyms(tmp_path / "s.txt").under(ANALYZERS["auto"])
        expand(["t1", "t2", "a", "b", "x"] * 20)
    assert len(Expansion(expand.mapping)(["a", "b"])) == 3
    assert time.perf_counter() - begin < 10


words = st.lists(st.sampled_from("a b c d e".split()), min_size=1, max_size=6)


@given(words, st.lists(st.tuples(words, words), max_size=4))
def test_a_rule_to_itself_changes_nothing_and_no_term_is_brought_twice(
    question: list[str], rules: list
) -> None:
    itself = Expansion({tuple(left): ((tuple(left),),) for left, _ in rules})
    assert itself(question) == question
    kept = Expansion({tuple(left): (tuple(map(tuple, (left, right))),) for left, right in rules})(
        question
    )
    assert kept[: len(question)] == question
    brought = kept[len(question) :]
    assert len(set(brought)) == len(brought)
    assert not set(brought) & set(question)


TEXTS = {"d0": "car", "d1": "automobile", "d2": "pump seal"}


def index(tmp_path: Path, variant: str = "lucene") -> tuple[Chunking, BM25]:
    chunking = chunk(corpus_of(TEXTS), ChunkConfig(strategy="document"), None)
    plain = build(chunking, BM25Config(variant=variant))
    return chunking, replace(
        plain, terms=replace(plain.terms, synonyms=expansion(tmp_path, "car, automobile"))
    )


def test_the_score_is_the_sum_over_the_searched_terms(tmp_path: Path) -> None:
    _, bm25 = index(tmp_path)
    # N 3, df 1 each: idf ln(1 + 2.5 / 1.5); lengths 1, 1, 2, average 4/3; one occurrence in one
    # term: 2.2 / (1 + 1.2 * (0.25 + 0.75 * 0.75)) = 2.2 / 1.975.
    one = math.log(1 + 2.5 / 1.5) * 2.2 / 1.975
    found = bm25.search(["car"], 10)
    assert found.hits(0).tolist() == [0, 1]
    assert found.scores[0, :2] == pytest.approx([one, one], abs=1e-12)
    # The question's own term counts as often as it stands, the synonym once.
    assert bm25.search(["car car"], 10).scores[0, :2] == pytest.approx([2 * one, one], abs=1e-12)


@pytest.mark.parametrize("variant", ["lucene", "okapi", "l", "plus"])
def test_a_new_chunk_scores_as_an_indexed_one(tmp_path: Path, variant: str) -> None:
    _, bm25 = index(tmp_path, variant)
    questions = ["car seal"] * 3
    old = bm25.scores(questions[:1], np.array([[0, 1, 2]]))[0]
    assert bm25.scores_of_new(questions, list(TEXTS.values())) == pytest.approx(old, abs=1e-12)


def test_a_file_is_looked_for_beside_the_experiment_and_its_lines_are_checked_with_the_rest(
    tmp_path: Path,
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("car", "utf-8")
    (tmp_path / "set.jsonl").write_text(
        '{"query_id": "q", "text": "auto", "evidence": [{"doc_id": "a.txt"}]}\n', "utf-8"
    )
    (tmp_path / "words.txt").write_text("car, auto\n", "utf-8")
    file = tmp_path / "e.toml"
    head = (
        'corpus = "docs"\ndiagnostic_sets = ["set.jsonl"]\n[retrieve]\nmode = ["bm25", "dense"]\n'
    )
    file.write_text(head + '[bm25]\nsynonyms = ["", "words.txt"]\n', "utf-8")
    grid = read_experiment(file).grid
    assert grid.synonyms == ("", str(tmp_path / "words.txt"))
    assert [config.name for config in grid.systems()[0]] == [
        "fixed-400 bm25",
        "fixed-400 dense",
        "fixed-400 bm25 words.txt",
    ]
    (tmp_path / "words.txt").write_text("car\n", "utf-8")
    file.write_text(head + '[bm25]\nsynonyms = ["words.txt", "none.txt", 3]\nk1 = -1\n', "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_experiment(file)
    told = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 4
    for part in (
        "words.txt:1: 'car' is alone",
        "'none.txt' does not exist",
        "bm25.synonyms is 3",
        "bm25.k1 is -1",
    ):
        assert part in told


def test_files_of_one_name_are_told_apart_or_refused() -> None:
    with pytest.raises(ConfigError, match="files of synonyms"):
        Grid(mode="bm25", synonyms=("a/s.txt", "b/s.txt")).systems()


def test_the_postings_are_shared(tmp_path: Path) -> None:
    file = tmp_path / "s.txt"
    file.write_text("car, automobile\n", "utf-8")
    indexes = Indexes(corpus_of(TEXTS), ChunkConfig(strategy="document"), Resources(Cache(None)))
    plain, with_rules = (
        indexes.bm25_index(BM25Config()),
        indexes.bm25_index(BM25Config(synonyms=str(file))),
    )
    assert with_rules.own.postings is plain.own.postings
    assert plain.own.terms("car") == ["car"]
    assert with_rules.own.terms("car") == ["car", "automobile"]
