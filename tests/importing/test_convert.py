"""`lab import`: files come out as the lab reads them, and the known defects of the public sets are
named."""

import json
from collections import Counter
from pathlib import Path

import pytest

from lab.corpus.read import read_corpus
from lab.errors import CorpusError
from lab.importing.convert import REPORT, import_source
from lab.importing.written import MANIFEST
from lab.relevance.read import read_diagnostics

# Files of a set that import does not read are named; how many depends on what lies there.
UNREAD = ("about the set", "file not used")
# Set, the files named, documents, questions, judgements, and how often each other rule applied: the
# README files beside the sets tell of these defects, save those marked found, which import brought
# to light.
SETS = [
    (
        "cranfield",
        {},
        1400,
        225,
        1837,
        {
            "reversed codes": 1,
            "question ids are not the judged ones": 223,
            "empty document": 2,
            "unknown format": 1,
        },
    ),
    (
        "cranfield-trec",
        {},
        1400,
        225,
        1837,
        {
            "question ids are not the judged ones": 223,
            "empty document": 2,
            "label off the scale": 1,  # found: line 316, a 3
            "beside the text": 1,  # authors and sources
        },
    ),
    (
        "cacm",
        {"documents": "cacm.all", "questions": "query.text", "judgements": "cacm.qrels"},
        3204,
        64,
        796,
        {
            "unknown format": 3,
            "padded document id": 55,
            "question without judgement": 12,
            "same text": 190,
        },
    ),
    (
        "cacm",
        {"documents": "cacm.all", "questions": "title.query", "judgements": "qrels.text"},
        3204,
        64,
        796,
        {
            "unknown format": 2,
            "padded document id": 55,
            "question without judgement": 12,
            "same text": 190,
        },
    ),
    (
        "cmrc2018/cmrc2018_dev.json",
        {},
        848,
        3219,
        4011,
        {
            "negative offset": 193,
            "quote is not in the text": 193,
            "wrong offset": 7,
            "blank in id": 63,
            "same question": 1,
        },
    ),
    (
        "cmrc2018/cmrc2018_trial.json",
        {},
        256,
        1002,
        1002,
        {"wrong offset": 5, "blank in id": 27, "empty question": 2},
    ),
    (
        "scifact",
        {"questions": "topics.beir-v1.0.0-scifact.test.tsv.gz"},
        5183,
        300,
        339,
        {"array text": 5183, "lost characters": 6},
    ),
    ("limit-small", {}, 46, 1000, 2000, {"blank in id": 46}),
    ("policyqa/dev.json", {}, 20, 3809, 6044, {"same question": 455}),
    ("policyqa/test.json", {}, 20, 4152, 6354, {"same question": 468}),
    ("chroma-chunking", {}, 5, 472, 790, {}),
    (
        "cuad-sample",
        {},
        51,
        747,
        1747,
        {
            "omitted text": 75,
            "file name": 2,
            "absent document": 1,
            "quote stands too often": 87,
            "quote stands several times": 121,
            "blank in id": 798,
            "question without judgement": 5,
        },
    ),
    ("hotpotqa-dev500", {}, 4858, 500, 1000, {"blank in id": 4467}),
    (
        "rgb/zh_int.json",
        {},
        5177,
        100,
        1548,
        {"misspelt key": 100, "repeated judgement": 30, "lost characters": 19},
    ),
    ("rgb/zh_refine.json", {}, 7337, 300, 2494, {"repeated judgement": 77, "lost characters": 46}),
    ("rgb/zh_fact.json", {}, 1360, 100, 417, {"repeated judgement": 1}),
    ("rgb/en_fact.json", {}, 1361, 100, 394, {"repeated judgement": 1}),
    (
        "nfcorpus",
        {"questions": "topics.beir-v1.0.0-nfcorpus.test.tsv.gz", "judgements": "test.2-1-0.qrel"},
        3162,
        323,
        12334,
        {"same text": 33},
    ),
    ("vaswani", {}, 11429, 93, 2083, {"same text": 16}),
    (
        "mtrag-human-eval",
        {},
        350,
        159,
        395,
        {"same text": 13, "question without judgement": 9, "same question": 1},
    ),
    ("xquad/xquad.en.json", {}, 48, 1190, 1190, {"same question": 5}),
    ("xquad/xquad.zh.json", {}, 48, 1190, 1190, {"same question": 9}),
]


@pytest.mark.parametrize(
    ("name", "files", "documents", "questions", "judgements", "rules"),
    SETS,
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_public_sets_import_with_their_defects_named(
    shared: Path,
    tmp_path: Path,
    name: str,
    files: dict[str, str],
    documents: int,
    questions: int,
    judgements: int,
    rules: dict[str, int],
) -> None:
    done = import_source(str(shared / "data" / name), tmp_path / "set", **files)
    assert (done.documents, done.questions, done.judgements) == (documents, questions, judgements)
    counts = Counter(finding.rule for finding in done.findings)
    assert {rule: n for rule, n in counts.items() if rule not in UNREAD} == rules
    lines = (done.folder / REPORT).read_text("utf-8").splitlines()
    assert len(lines) == 1 + len(counts) + (1 + len(done.findings) if done.findings else 0), (
        "a line a finding"
    )
    corpus = read_corpus(done.folder)
    read = read_diagnostics(done.folder, corpus)
    assert len(corpus) == documents
    assert sum(len(query.evidence) for query in read) == judgements


def test_labels_off_the_scale_are_named_although_nothing_can_be_imported(
    shared: Path, tmp_path: Path
) -> None:
    with pytest.raises(CorpusError) as fault:
        import_source(
            str(shared / "data/llmjudge"), tmp_path / "set", judgements="scores/RMITIR-llama70B.txt"
        )
    assert [problem.count("grade 5") for problem in fault.value.problems] == [0, 1, 1]
    assert not (tmp_path / "set").exists()


def test_imported_cranfield_is_the_set_that_was_mended_by_hand(
    shared: Path, tmp_path: Path
) -> None:
    done = import_source(str(shared / "data/cranfield"), tmp_path / "set")
    made = shared / "bench/beir/cranfield"
    ours, theirs = (read_diagnostics(path, read_corpus(path)) for path in (done.folder, made))
    assert [
        (q.query_id, " ".join(q.text.split()), sorted((e.doc_id, e.grade) for e in q.evidence))
        for q in ours
    ] == [
        (q.query_id, " ".join(q.text.split()), sorted((e.doc_id, e.grade) for e in q.evidence))
        for q in theirs
    ]


def test_ids_with_blanks_survive_a_round_trip(shared: Path, tmp_path: Path) -> None:
    first = import_source(str(shared / "data/limit-small"), tmp_path / "one")
    second = import_source(str(first.folder), tmp_path / "two")
    assert second.judgements == 2000
    for name in ("documents.jsonl", "queries.jsonl", "qrels/test.tsv"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()
    assert "Geneva Durben" in read_corpus(second.folder)


def test_an_import_replaces_an_earlier_one_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "d.md").write_text("text")
    import_source(str(tmp_path / "d.md"), tmp_path / "set")
    import_source(str(tmp_path / "d.md"), tmp_path / "set")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    with pytest.raises(CorpusError, match="is not an earlier import"):
        import_source(str(tmp_path / "d.md"), tmp_path / "mine")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.md", "mine", "set"], (
        "nothing half-written is left beside"
    )


def test_ids_as_paths_markup_and_formulas_are_data_and_never_file_names(tmp_path: Path) -> None:
    ids = [
        "../../etc/passwd",
        "<b>1</b>",
        "=1+2",
        "a b",
        "caf\u00e9",
        "cafe\u0301",
        "C:\\x",
        "nul",
        "x" * 500,
    ]
    rows = [json.dumps({"doc_id": doc_id, "text": f"text {n}"}) for n, doc_id in enumerate(ids)]
    (tmp_path / "documents.jsonl").write_text("\n".join(rows), "utf-8")
    done = import_source(str(tmp_path / "documents.jsonl"), tmp_path / "set")
    assert sorted(document.doc_id for document in read_corpus(done.folder)) == sorted(ids)
    assert sorted(p.name for p in done.folder.iterdir()) == ["documents.jsonl", MANIFEST, REPORT]
