"""Rows of a Parquet file, a few at a time."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.corpus.budget import Budget
from lab.errors import CorpusError
from lab.importing.formats.names import repeated

# Rows that are in memory at a time.
ROWS = 64


def rows(path: Path, budget: Budget) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows a few at a time. What a file says it unpacks to is believed where that is too much
    already; as repeated texts stay in their dictionary until they are a row, and rows are counted,
    a file that says less than the truth is stopped too."""
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            groups = (file.metadata.row_group(group) for group in range(file.num_row_groups))
            said = sum(
                group.column(column).total_uncompressed_size
                for group in groups
                for column in range(group.num_columns)
            )
            if said > budget.left:
                budget.take(said, path)
            repeated(str(path), file.schema_arrow.names)
            texts = [
                column.name
                for column in file.schema_arrow
                if pyarrow.types.is_string(column.type)
                or pyarrow.types.is_large_string(column.type)
            ]
        with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(ROWS):
                for row in batch.to_pylist():
                    budget.take(_size(row), path)
                    number += 1
                    yield f"{path}[{number}]", {key: _given(value) for key, value in row.items()}
    except (OSError, ValueError) as fault:
        raise CorpusError(f"{path}: not a Parquet file ({fault})") from None


def _size(value: Any) -> int:
    """What a cell or row takes in memory, roughly: the characters of its texts, and for anything
    else what Python takes."""
    if isinstance(value, dict):
        value = list(value.values())
    return (
        sum(map(_size, value))
        if isinstance(value, list)
        else len(value)
        if isinstance(value, str | bytes)
        else 32
    )


def _given(value: Any) -> Any:
    """None for NaN, which pandas writes into number columns for nothing."""
    return None if isinstance(value, float) and math.isnan(value) else value
