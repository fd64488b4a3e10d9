"""An index folder answers as its system does, and one that was brought up to date as a new one."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab
from lab.corpus.document import Corpus, Document
from lab.errors import CorpusError, RunError
from lab.pipeline.index_folder import Update, open_index, write_index
from lab.pipeline.index_update import MANIFEST
from lab.pipeline.resources import Resources
from lab.storage.cache import Cache
from lab.storage.generations import current
from lab.storage.progress import Silent
from tests.given import GivenEncoder
from tests.pipeline.test_searcher import CORPUS, GRID, QUERIES, RERANKER, searcher_of

ROOT = Path(__file__).parent.parent.parent
SYSTEMS: dict[str, dict[str, Any]] = {
    "bm25": {"mode": "bm25", "chunk_size": 30, "variant": "okapi"},
    "hybrid with views": {
        "mode": "hybrid",
        "chunk_size": ((20, 50),),
        "views": (("text", "title"),),
        "deliver": "window(1)",
    },
    "dense behind prefixes": {
        "mode": "dense",
        "chunk_size": 30,
        "chunk_strategy": "sentences",
        "prefix": "title",
        "deliver": "parent(90)",
    },
    "features, filters, bm25+": {
        "mode": "hybrid",
        "chunk_size": 40,
        "overlap": 10,
        "features": {"year": 0.3},
        "filter": True,
        "variant": "plus",
    },
    "hnsw": {"mode": "dense", "chunk_size": 30, "index": "hnsw"},
    "euclidean": {"mode": "hybrid", "chunk_size": 30, "similarity": "euclidean"},
}
WORDS = ("oil", "seal", "pump", "leaks", "Ventil", "E-4012", "ring.", "nine", "泵漏油", "")
ASKED = ["oil seal", "pump leaks E-4012", "nine 泵漏", "ventil ring", "unknown"]


def system(name: str) -> lab.Config:
    settings = {"model": "given"} if SYSTEMS[name]["mode"] != "bm25" else {}
    return lab.Grid(**SYSTEMS[name], **settings).systems()[0][0]


def resources(encoder: GivenEncoder | None = None) -> Resources:
    return Resources(Cache(None), Silent(), {"given": encoder or GivenEncoder()})


def answers(folder: Path) -> Any:
    return open_index(folder, resources()).search_many(ASKED, 30)


def arrays_of(folder: Path) -> dict[str, bytes]:
    """Every file of the state that counts."""
    return {file.name: file.read_bytes() for file in current(folder).iterdir()}


def test_an_index_answers_as_its_system_at_every_stage(tmp_path: Path) -> None:
    asking, _ = lab.Grid(**GRID).asking(QUERIES)
    for number, config in enumerate(asking.systems()[0]):
        searcher = searcher_of(config)
        folder = tmp_path / str(number)
        write_index(folder, CORPUS, config, searcher.resources)
        models = {"given": GivenEncoder()}
        fresh = Resources(Cache(None), Silent(), models, {"given-reranker": RERANKER})
        assert open_index(folder, fresh).search_many(QUERIES, 5) == searcher.search_many(QUERIES, 5)


texts = st.lists(st.sampled_from(WORDS), min_size=0, max_size=25).map(" ".join)
collections = st.dictionaries(st.sampled_from("abcdefg"), texts, min_size=1, max_size=6)


def corpus_of(given_texts: dict[str, str]) -> Corpus:
    return Corpus(
        Document(doc_id, text, title=text[:9], metadata={"year": 2000 + len(text)})
        for doc_id, text in given_texts.items()
    )


@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=25, deadline=None)
@given(before=collections, after=collections)
def test_brought_up_to_date_it_is_what_a_new_one_would_be(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    before: dict[str, str],
    after: dict[str, str],
) -> None:
    for texts_of_one in (before, after):
        texts_of_one["z"] = "oil " * 8  # some text there is
    work = tmp_path_factory.mktemp("index")
    encoder = GivenEncoder()
    write_index(work / "kept", corpus_of(before), system(name), resources(encoder))
    encoder.encoded.clear()
    done = write_index(work / "kept", corpus_of(after), system(name), resources(encoder))
    write_index(work / "new", corpus_of(after), system(name), resources())
    assert arrays_of(work / "kept") == arrays_of(work / "new")
    assert answers(work / "kept") == answers(work / "new")
    same = {doc_id for doc_id in before if after.get(doc_id) == before[doc_id]}
    assert (done.added, done.removed) == (len(after.keys() - before), len(before.keys() - after))
    assert done.kept == len(same)
    assert done.changed == len(after.keys() & before) - len(same)
    # What is embedded again is text of documents that are new or changed, and nothing else.
    fresh = " ".join(text for doc_id, text in after.items() if doc_id not in same)
    for text in encoder.encoded:
        assert all(word in fresh for word in text.split())
    shutil.rmtree(work)


def test_another_model_or_other_rules_index_everything_again(tmp_path: Path) -> None:
    config = system("hybrid with views")
    write_index(tmp_path / "index", CORPUS, config, resources())
    other = GivenEncoder(identity="another")
    with pytest.raises(RunError, match="its vectors were made by given"):
        open_index(tmp_path / "index", resources(other))
    done = write_index(tmp_path / "index", CORPUS, config, resources(other))
    assert (done.added, done.kept) == (3, 0)
    assert open_index(tmp_path / "index", resources(other)).search("oil", 3)


def test_another_system_takes_over_what_is_cut_and_embedded_alike(tmp_path: Path) -> None:
    configs = lab.Grid(mode="hybrid", model="given", chunk_size=(30, 40), k1=(0.9, 1.2)).systems()
    first, second, other_size, _ = configs[0]
    write_index(tmp_path / "index", CORPUS, first, resources())
    assert write_index(tmp_path / "index", CORPUS, second, resources()).kept == 3
    assert write_index(tmp_path / "index", CORPUS, other_size, resources()).kept == 0
    assert open_index(tmp_path / "index", resources()).config == other_size


def test_rules_of_synonyms_are_kept_with_the_index(tmp_path: Path) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_text("lubricant => oil\n")
    config = lab.Grid(mode="bm25", chunk_size=30, synonyms=str(file)).systems()[0][0]
    write_index(tmp_path / "index", CORPUS, config, resources())
    file.unlink()
    assert open_index(tmp_path / "index", resources()).search("lubricant", 1)[0].doc_id == "pump.md"


def test_documents_without_text_and_folders_of_others_are_refused(tmp_path: Path) -> None:
    config = system("bm25")
    with pytest.raises(CorpusError, match="no text"):
        write_index(tmp_path / "index", Corpus([Document("a", " ")]), config, resources())
    write_index(tmp_path / "index", CORPUS, config, resources())
    with pytest.raises(CorpusError, match="no text"):
        write_index(tmp_path / "index", Corpus([Document("a", " ")]), config, resources())
    assert answers(tmp_path / "index")[0]  # the old state is there
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(RunError, match="is not an index"):
        write_index(tmp_path / "mine", CORPUS, config, resources())
    assert [place.name for place in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("damage", ["cut", "gone", "manifest", "format"])
def test_a_damaged_index_is_told(tmp_path: Path, damage: str) -> None:
    write_index(tmp_path / "index", CORPUS, system("bm25"), resources())
    place = current(tmp_path / "index")
    if damage == "cut":
        os.truncate(place / "bm25_weights.npy", 150)
    elif damage == "gone":
        (place / "chunks.npy").unlink()
    elif damage == "manifest":
        (place / MANIFEST).write_text("[")
    else:
        manifest = json.loads((place / MANIFEST).read_text())
        (place / MANIFEST).write_text(json.dumps(manifest | {"format": 99}))
    with pytest.raises(RunError, match="write it again with lab index"):
        open_index(tmp_path / "index", resources())
    done = write_index(tmp_path / "index", CORPUS, system("bm25"), resources())
    assert (done.added, done.kept) == (3, 0)
    assert answers(tmp_path / "index")[0]


def test_readers_see_the_old_index_or_the_new(tmp_path: Path) -> None:
    folder, config = tmp_path / "index", system("hybrid with views")
    states = [CORPUS, Corpus([*CORPUS.documents[:2], Document("new", "oil and seals. " * 9)])]
    allowed = []
    for corpus in states:
        write_index(folder, corpus, config, resources())
        allowed.append(answers(folder))
    done, seen = threading.Event(), []

    def keep_reading() -> None:
        while not done.is_set():
            seen.append(answers(folder))

    readers = [threading.Thread(target=keep_reading) for _ in range(2)]
    held = open_index(folder, resources())
    for reader in readers:
        reader.start()
    for turn in range(8):
        write_index(folder, states[turn % 2], config, resources())
    done.set()
    for reader in readers:
        reader.join(60)
    assert len(seen) > 2
    assert all(answer in allowed for answer in seen)
    # What was opened before stays what it was, though its files are gone.
    assert held.search_many(ASKED, 30) == allowed[1]


def test_a_killed_update_leaves_the_old_index(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    write_index(folder, CORPUS, system("bm25"), resources())
    before = answers(folder)
    script = f"""
import os, signal, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
import lab.pipeline.index_folder as index_folder
from lab.corpus.document import Corpus, Document
from tests.pipeline.test_index_folder import resources, system
whole = index_folder.write_bm25
def killed(*given):
    whole(*given)
    os.kill(os.getpid(), signal.SIGKILL)
index_folder.write_bm25 = killed
corpus = Corpus([Document("other", "nothing of the old")])
index_folder.write_index(Path({str(folder)!r}), corpus, system("bm25"), resources())
"""
    ended = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert answers(folder) == before
    done = write_index(folder, CORPUS, system("bm25"), resources())
    assert done == Update(system("bm25").name, 3, done.chunks, 0, 0, 0, 3)
    assert len(list(folder.iterdir())) == 2


def test_arrays_are_mapped_and_not_read(tmp_path: Path) -> None:
    write_index(tmp_path / "index", CORPUS, system("hybrid with views"), resources())
    searcher = open_index(tmp_path / "index", resources())
    assert searcher.config.dense is not None
    vectors = searcher.indexes.dense_index(searcher.config.dense).own.vectors
    while isinstance(vectors, np.ndarray) and not isinstance(vectors, np.memmap):
        vectors = vectors.base  # type: ignore[assignment]
    assert isinstance(vectors, np.memmap)
