"""Mined sets: ordinary, verified, the same for the same seed; controls match their probes."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab.chunking.config import ChunkConfig
from lab.chunking.cuts import Cuts
from lab.chunking.strategies import chunk
from lab.cli import app
from lab.corpus.document import Corpus, Document
from lab.corpus.fences import fenced_lines
from lab.corpus.read import read_corpus
from lab.errors import DiagnosticsError
from lab.relevance.read import read_diagnostics
from lab.sets.identifiers import find_identifiers
from lab.sets.probe.boundaries import IDF_TOLERANCE, LENGTH_TOLERANCE, ROOM
from lab.sets.probe.identifiers import identifier_questions
from lab.sets.probe.mine import mine
from lab.sets.probe.mined import MinedKind, write_sets
from lab.sets.probe.passages import passages
from lab.sets.probe.words import Rarity, content_words
from tests.conftest import ROOT

DEVICES = ROOT / "corpora" / "devices"


@pytest.fixture(scope="module")
def devices() -> Corpus:
    return read_corpus(DEVICES)


@pytest.fixture(scope="module")
def mined(devices: Corpus) -> dict[str, MinedKind]:
    config = ChunkConfig()
    return mine(devices, chunk(devices, config), config.label, "dev", 60, 0)


def test_passages_are_slices_without_code_and_front_matter() -> None:
    text = (
        "---\ntitle: X\n---\n# Code E-4012\n\nThe pump stops. Then it waits.\n\n```\nE-9999 "
        "code\n```\n\n"
        "| Code | Text |\n|---|---|\n| E-4013 | low |\n\n1. First step\n   goes on.\n2. Second "
        "step.\n"
    )
    document = Document("a.md", text)
    found = list(passages(document))
    assert all(text[p.start : p.end] == p.text for p in found)
    assert [(p.kind, p.text) for p in found] == [
        ("heading", "# Code E-4012\n\nThe pump stops."),
        ("sentence", "The pump stops."),
        ("sentence", "Then it waits."),
        ("row", "| Code | Text |"),
        ("row", "| E-4013 | low |"),
        ("item", "1. First step\n   goes on."),
        ("item", "2. Second step."),
    ]


def test_every_mined_set_is_read_back_and_marked(
    devices: Corpus, mined: dict[str, MinedKind], tmp_path: Path
) -> None:
    files = write_sets(mined, devices, tmp_path / "sets")
    queries = read_diagnostics(files, devices)
    assert len(queries) == sum(len(kind.questions) for kind in mined.values())
    assert {query.kind for query in queries} == {"exact_id", "keyword", "chunk_boundary"}
    assert all(query.tags["origin"] == "mined" for query in queries)
    quoted = {
        q.query_id: [(p.doc_id, p.start, p.end) for p in q.passages]
        for kind in mined.values()
        for q in kind.questions
    }
    for query in queries:
        assert [(e.doc_id, e.start, e.end) for e in query.evidence] == quoted[query.query_id]


def test_same_seed_same_bytes_other_seed_other_questions(tmp_path: Path) -> None:
    def run(seed: int, name: str) -> dict[str, bytes]:
        arguments = [
            "probe",
            str(DEVICES),
            "--out",
            str(tmp_path / name),
            "--count",
            "20",
            "--seed",
            str(seed),
        ]
        assert CliRunner().invoke(app, arguments).exit_code == 0
        return {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}

    assert run(3, "a") == run(3, "b")
    assert run(3, "a2") != run(4, "c")


def test_edited_sets_are_not_overwritten(
    devices: Corpus, mined: dict[str, MinedKind], tmp_path: Path
) -> None:
    (tmp_path / "keyword.jsonl").write_text("mine\n", "utf-8")
    with pytest.raises(DiagnosticsError, match=r"keyword.jsonl: exists"):
        write_sets(mined, devices, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["keyword.jsonl"]


def test_identifiers_come_with_their_siblings_and_explaining_passages(
    mined: dict[str, MinedKind],
) -> None:
    assert len(mined["exact_id"].questions) == 60
    for question in mined["exact_id"].questions:
        identifier = next(name for _, name in find_identifiers(question.text))
        assert all(identifier in passage.text for passage in question.passages)
        assert 1 <= len(question.passages) <= 3
        assert identifier not in question.tags.get("siblings", "").split()
    assert all(
        "siblings" in question.tags for question in mined["exact_id"].questions
    )  # the devices have more than 60 with near misses


def test_keyword_questions_fit_one_passage_only(
    devices: Corpus, mined: dict[str, MinedKind]
) -> None:
    everything = [
        {word.text for word in content_words(p.text)}
        for document in devices
        for p in passages(document)
        if p.kind != "heading"
    ]
    for question in mined["keyword"].questions:
        words = set(question.text.split())
        assert sum(words <= passage for passage in everything) <= 1


def test_boundary_probes_are_cut_and_their_controls_are_not(
    devices: Corpus, mined: dict[str, MinedKind]
) -> None:
    cuts = Cuts(chunk(devices, ChunkConfig()))
    rarity = Rarity.of(passage for document in devices for passage in passages(document))
    questions = mined["chunk_boundary"].questions
    assert len(questions) == 120
    for probe, control in zip(questions[::2], questions[1::2], strict=True):
        assert (probe.tags["boundary"], control.tags["boundary"]) == ("cut", "control")
        assert probe.tags["pair"] == control.tags["pair"]
        parted, whole = probe.passages[0], control.passages[0]
        cut = int(probe.tags["cut"])
        assert cut % 400 == 0
        assert min(cut - parted.start, parted.end - cut) >= 0.25 * (parted.end - parted.start)
        assert cuts.margin(devices.position[parted.doc_id], parted.start, parted.end) < 0
        assert cuts.margin(devices.position[whole.doc_id], whole.start, whole.end) >= ROOM
        assert abs(len(whole.text) - len(parted.text)) <= LENGTH_TOLERANCE * len(parted.text)
        asked, other = rarity.mean_idf(probe.text.split()), rarity.mean_idf(control.text.split())
        assert len(probe.text.split()) == len(control.text.split())
        assert abs(other - asked) <= IDF_TOLERANCE * asked + 1e-12


def test_what_an_overlapping_chunk_holds_is_no_boundary_probe(devices: Corpus) -> None:
    config = ChunkConfig(size=400, overlap=60)
    chunking = chunk(devices, config)
    cuts = Cuts(chunking)
    probes = mine(devices, chunking, config.label, "dev", 60, 0)["chunk_boundary"].questions[::2]
    assert probes
    for probe in probes:
        passage = probe.passages[0]
        assert cuts.margin(devices.position[passage.doc_id], passage.start, passage.end) < 0


def test_margins_by_hand() -> None:
    corpus = Corpus([Document("a", "x" * 10 + "y" * 10 + "z" * 5), Document("b", "short")])
    cuts = Cuts(chunk(corpus, ChunkConfig(size=10)))  # cuts at 10 and 20
    assert cuts.margin(0, 12, 16) == 2
    assert cuts.margin(0, 3, 8) == 2  # the document's start is no cut
    assert cuts.margin(0, 21, 25) == 1  # nor is its end
    assert cuts.margin(0, 8, 14) == -2  # [10, 20) holds 4 of 6
    assert cuts.margin(1, 0, 5) == 5
    assert cuts.inside(0, 8, 21) == (10, 20)
    overlapping = Cuts(chunk(corpus, ChunkConfig(size=10, overlap=4)))  # chunks at 0, 6, 12, 18
    assert overlapping.margin(0, 8, 14) == 2


def test_a_thousand_pages_of_compiler_errors(shared: Path, tmp_path: Path) -> None:
    pages = shared / "data" / "msvc-error-docs" / "docs"
    corpus = read_corpus(pages)
    files = write_sets({"exact_id": identifier_questions(corpus, "msvc", 500, 0)}, corpus, tmp_path)
    queries = read_diagnostics(files, corpus)
    assert len(queries) == 500
    lines = [json.loads(line) for line in files[0].read_text("utf-8").splitlines()]
    assert all(line["tags"]["origin"] == "mined" for line in lines)


def test_short_rows_and_items_explain_identifiers(tmp_path: Path) -> None:
    text = (
        "# Parts\n\n- PN-77310-B: seal, QF-200\n- PN-77311-B: ring\n- PN-77312-B\n\n"
        "| Code | Meaning |\n|---|---|\n| E-4042 | hopper too hot |\n| E-4043 | door open |\n"
    )
    corpus = Corpus([Document("a.md", text)])
    kind = identifier_questions(corpus, "x", 100, 0)
    asked = {name for each in kind.questions for _, name in find_identifiers(each.text)}
    # PN-77312-B stands alone: nothing says what it is.
    assert asked == {"PN-77310-B", "QF-200", "PN-77311-B", "E-4042", "E-4043"}
    assert kind.left_out["identifiers that no heading, row, item or sentence explains"] == 1
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.md").write_text(text, "utf-8")
    done = CliRunner().invoke(app, ["probe", str(folder), "--out", str(tmp_path / "sets")])
    assert done.exit_code == 0
    assert "exact_id: left out: 1 identifiers that no heading" in done.output
    assert "chunk_boundary: left out: all, so no file was written" in done.output


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("````\n```\n# no heading\n```\n````\n# Heading", "111110"),
        ("~~~~ text\n# no heading\n~~~\n# nor this\n~~~~~\n# Heading", "111110"),
        ("```\n# no heading\n~~~\n``` js\n```\n# Heading", "111110"),
        ("``` a`b\n# Heading", "00"),
        ("    ```\n# Heading", "00"),
        ("~~~ a`b\n# no heading, for the fence is never closed", "11"),
        ("   ```\n# no heading\n   ```  \n# Heading", "1110"),
    ],
)
def test_fences_are_those_of_commonmark(text: str, code: str) -> None:
    assert "".join(str(int(line)) for line in fenced_lines(text.split("\n"))) == code
    headings = [p.text for p in passages(Document("a.md", text)) if p.kind == "heading"]
    assert headings == (["# Heading"] if text.endswith("# Heading") else [])
