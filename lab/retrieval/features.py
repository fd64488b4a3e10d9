"""Features: what a document's metadata says for it whatever the question, such as recency or
authority."""

from typing import Any

import numpy as np

from lab.arrays import Floats
from lab.corpus.document import Corpus
from lab.corpus.values import moment, number
from lab.errors import ConfigError, nearest

SHOWN = 5


def feature(corpus: Corpus, name: str) -> Floats:
    """One value a document, (v - min) / (max - min) over the documents that have the field: the
    largest number or latest ISO date is 1. Where all are equal they are 1; NaN where a document
    lacks the field, which then counts as 0.

    Raises ConfigError when no document has the field, or with the documents whose value is neither
    number nor date.
    """
    raw = [document.metadata.get(name) for document in corpus]
    if all(value in (None, "") for value in raw):
        known = {key for document in corpus for key in document.metadata}
        raise ConfigError(
            "features: no document has metadata "
            f"'{name}'{nearest(name, known) if known else '; the documents have no metadata'}"
        )
    read = [None if value in (None, "") else _number(value) for value in raw]
    faulty = [
        f"features: document '{document.doc_id}' has {value!r} as '{name}'; expected a number or "
        "an ISO date"
        for document, value, parsed in zip(corpus, raw, read, strict=True)
        if value not in (None, "") and parsed is None
    ]
    kinds = {kind for kind, _ in filter(None, read)}
    if faulty or len(kinds) > 1:
        mixed = (
            [f"features: '{name}' is a number in some documents and a date in others"]
            if len(kinds) > 1
            else []
        )
        more = (
            [f"features: and {len(faulty) - SHOWN} more documents like that"]
            if len(faulty) > SHOWN
            else []
        )
        raise ConfigError([*mixed, *faulty[:SHOWN], *more])
    values = np.array([np.nan if parsed is None else parsed[1] for parsed in read])
    low, high = np.nanmin(values), np.nanmax(values)
    return np.asarray(
        np.where(np.isnan(values), np.nan, 1.0) if low == high else (values - low) / (high - low)
    )


def _number(value: Any) -> tuple[str, float] | None:
    """A number, or a date as seconds since 1970, with which of both it is; None for anything
    else."""
    read = number(value)
    if read is not None:
        return "number", float(read)
    date = moment(value)
    return None if date is None else ("date", date.time.timestamp())
