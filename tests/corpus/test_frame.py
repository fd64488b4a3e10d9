"""Documents from Python: a DataFrame's rows and Document objects are checked as files are."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import lab
from lab.errors import CorpusError


def test_a_frame_becomes_a_corpus_with_metadata() -> None:
    frame = pd.DataFrame(
        {
            "doc_id": [1, 2],
            "text": ["the pump leaks", None],
            "title": ["Pump", float("nan")],
            "year": [2020, np.nan],
            "day": [pd.Timestamp("2024-05-01"), pd.NaT],
            "tags": [["a", "b"], None],
        }
    )
    corpus = lab.Corpus.from_frame(frame)
    assert [(d.doc_id, d.text, d.title) for d in corpus] == [
        ("1", "the pump leaks", "Pump"),
        ("2", "", ""),
    ]
    assert corpus["1"].metadata == {
        "year": 2020.0,
        "day": "2024-05-01T00:00:00",
        "tags": ["a", "b"],
    }
    assert corpus["2"].metadata == {}
    assert len(corpus.fingerprint) == 64


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (pd.DataFrame({"id": ["a"], "text": ["b"]}), "no column 'doc_id'"),
        (pd.DataFrame({"doc_id": ["a"], "txt": ["b"]}), "no column 'text'; did you mean 'txt'?"),
        (pd.DataFrame({"doc_id": ["a", "a"], "text": ["b", "c"]}), "row 1: doc_id 'a' was already"),
        (pd.DataFrame({"doc_id": ["a", None], "text": ["b", "c"]}), "row 1: 'doc_id' is missing"),
        (pd.DataFrame({"doc_id": ["a"], "text": [3]}), "row 0: 'text' is a int; expected text"),
        (pd.DataFrame({"doc_id": [True], "text": ["b"]}), "row 0: 'doc_id' is True"),
        (pd.DataFrame([["a", "b", "c"]], columns=["doc_id", "text", "text"]), "more than once"),
        (pd.DataFrame({"doc_id": ["a"], "text": ["b"], "v": [float("inf")]}), "written as JSON"),
        ([("a", "b")], "found a list; expected a pandas DataFrame"),
    ],
)
def test_bad_rows_are_told(frame: Any, problem: str) -> None:
    with pytest.raises(CorpusError) as error:
        lab.Corpus.from_frame(frame)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ("text", "document 0 is a str; expected a Document"),
        (lab.Document("", "t"), "document 0: doc_id is ''; expected a non-empty text"),
        (lab.Document(3, "t"), "document 0: doc_id is 3"),  # type: ignore[arg-type]
        (lab.Document("d", None), "document 'd': text is a NoneType"),  # type: ignore[arg-type]
        (lab.Document("d", "half \ud800"), "document 'd': holds half of a surrogate pair"),
        (lab.Document("d\udc80", "t"), "holds half of a surrogate pair"),
        (lab.Document("d", "t", metadata={"v": "\ud800"}), "its metadata holds half"),
        (lab.Document("d", "t", metadata={"v": float("nan")}), "cannot be written as JSON"),
        (lab.Document("d", "t", metadata={"v": {1, 2}}), "cannot be written as JSON"),
        (lab.Document("d", "t", metadata=["v"]), "metadata is a list"),  # type: ignore[arg-type]
    ],
)
def test_documents_made_in_python_are_checked(document: Any, problem: str) -> None:
    with pytest.raises(CorpusError) as error:
        lab.Corpus([document])
    assert problem in str(error.value)
