"""Questions from a pandas DataFrame, checked as a file's are."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lab.corpus.document import Corpus
from lab.corpus.filter import Fields
from lab.corpus.frame import rows_of
from lab.errors import DiagnosticsError
from lab.relevance.locate import find_quote
from lab.relevance.query import Query
from lab.relevance.record import EVIDENCE_KEYS, KEYS, Reading, question_of

if TYPE_CHECKING:
    import pandas as pd


def queries_from_frame(frame: "pd.DataFrame", corpus: Corpus) -> tuple[Query, ...]:
    """Questions from a DataFrame, one row for each piece of evidence.

    `text` (or `question`) is needed; `query_id` names the question, and rows of one id add evidence
    to it; without the column every row is a question of its own, `q1`, `q2` ... `doc_id` with
    `quote`, or with `start` and `end`, is its evidence; `grade`, `role`, `group` and `occurrence`
    are as in a set; a `quote` without `doc_id` is looked for in all documents. Every other column
    of a set (`kind`, `answer`, `variants`, `filter`, `history`, a list `evidence` ...) is as there
    as well, and any other column is a tag.

    Raises DiagnosticsError with every bad row.
    """
    needed = "question" if "question" in frame and "text" not in frame else "text"
    reading = Reading(corpus, Fields(corpus))
    records: dict[Any, tuple[str, dict[str, Any]]] = {}
    for place, row in rows_of(frame, [needed], DiagnosticsError):
        record = _record(row, needed, place, reading)
        if "query_id" not in frame:
            record["query_id"] = f"q{len(records) + 1}"
        # A row without an id is told by `question_of`.
        key = record.get("query_id", place)
        first_place, first = records.setdefault(key, (place, record))
        if first is record:
            continue
        first["evidence"].extend(record.pop("evidence"))
        if any(first.get(name) != value for name, value in record.items()):
            reading.problems.append(
                f"{place}: says otherwise of question '{key}' than {first_place}; rows of one "
                "question may differ in their evidence only"
            )
    queries = [question_of(record, place, reading) for place, record in records.values()]
    if not queries and not reading.problems:
        reading.problems.append("the frame holds no row; expected a question a row")
    return reading.finished(query for query in queries if query is not None)


def _record(row: Mapping[str, Any], text: str, place: str, reading: Reading) -> dict[str, Any]:
    """A row as the line of a set would have it."""
    rest = {key: value for key, value in row.items() if key not in (*EVIDENCE_KEYS, *KEYS, text)}
    record = {key: row[key] for key in KEYS if key in row and key != "text"}
    if text in row:
        record["text"] = row[text]
    tags = row.get("tags", {})
    record["tags"] = (tags if isinstance(tags, dict) else {}) | rest
    listed = row.get("evidence", [])
    record["evidence"] = [*listed] if isinstance(listed, list) else [listed]
    item = {key: _whole(row[key]) for key in EVIDENCE_KEYS if key in row}
    if "quote" in item and "doc_id" not in item:
        holder = _holder(item["quote"], place, reading)
        record["evidence"] += [] if holder is None else [item | {"doc_id": holder}]
    elif item.keys() & {"doc_id", "start", "end"}:
        record["evidence"].append(item)
    return record


def _whole(value: Any) -> Any:
    """pandas keeps whole numbers as floats where some rows have none."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _holder(quote: object, place: str, reading: Reading) -> str | None:
    """The one document that holds a quote."""
    if not isinstance(quote, str) or not quote.strip():
        reading.problems.append(f"{place}: quote is {quote!r}; expected the text of the evidence")
        return None
    holders = [d.doc_id for d in reading.corpus if find_quote(d.text, quote)]
    if len(holders) == 1:
        return holders[0]
    where = f"stands in {len(holders)} documents" if holders else "is in no document"
    remedy = f": {', '.join(holders[:5])}; say which in a column doc_id" if holders else ""
    reading.problems.append(f"{place}: quote {quote[:80]!r} {where}{remedy}")
    return None
