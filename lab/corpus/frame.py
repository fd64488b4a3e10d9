"""Documents, and rows in general, from a pandas DataFrame."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lab.corpus.lines import identifier, note_repeat, optional_text
from lab.errors import CorpusError, LabError, nearest

if TYPE_CHECKING:
    import pandas as pd


def document_rows(frame: "pd.DataFrame") -> list[tuple[str, str, str, dict[str, Any]]]:
    """The id, text, title and metadata of a document a row. Raises CorpusError with every bad
    row."""
    problems: list[str] = []
    seen: dict[str, str] = {}
    documents = []
    for place, record in rows_of(frame, ("doc_id", "text"), CorpusError):
        doc_id = identifier(record, "doc_id", place, problems)
        if doc_id is None:
            continue
        note_repeat(place, "doc_id", doc_id, seen, problems)
        text, title = (optional_text(record, part, place, problems) for part in ("text", "title"))
        rest = {
            key: value for key, value in record.items() if key not in ("doc_id", "text", "title")
        }
        documents.append((doc_id, text, title, rest))
    if problems:
        raise CorpusError(problems)
    return documents


def rows_of(
    frame: "pd.DataFrame", needed: Iterable[str], error: type[LabError]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place (`row 0`) and values of every row, as plain Python; what is missing in a row is left
    out. Raises `error` when a needed column is absent or two have one name."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise error(f"found a {type(frame).__name__}; expected a pandas DataFrame")
    columns = [str(column) for column in frame.columns]
    problems = [
        f"the frame has no column '{name}'{nearest(name, columns)}; rename yours with "
        f'frame.rename(columns={{"...": "{name}"}})'
        for name in needed
        if name not in columns
    ]
    twice = sorted({column for column in columns if columns.count(column) > 1})
    problems += [f"the frame has the column '{name}' more than once; keep one" for name in twice]
    if problems:
        raise error(problems)
    for number, row in enumerate(frame.itertuples(index=False, name=None)):
        values = {key: _plain(value) for key, value in zip(columns, row, strict=True)}
        yield f"row {number}", {key: value for key, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    """A cell as Python has it; None for what is missing (None, NaN, NaT, pd.NA)."""
    import numpy as np
    import pandas as pd

    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if pd.isna(value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    # Dates and times in ISO 8601, which filters and features read.
    return value.isoformat() if hasattr(value, "isoformat") else value
