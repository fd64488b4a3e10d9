"""The labelling page: one file that opens from disk, fetches nothing, and shows no system."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from lab.sets.pool.sheet import COLUMNS, Pair

TEMPLATE = Path(__file__).with_name("labelling.html")
# Characters shown on either side of a span, in which evidence may be marked as well.
BESIDE = 600


def labelling_page(pairs: Sequence[Pair], run: str, most: int, *, spans: bool) -> str:
    """The page for the pairs, in their order; grades go from 0 to `most`, and where `spans` are
    judged a grade above 0 needs words that are marked. Texts are data: none of them is markup."""
    rows = [_row(pair) for pair in pairs]
    content = json.dumps(rows, ensure_ascii=False, sort_keys=True)
    data = {
        "run": run,
        "spans": spans,
        "most": most,
        "columns": COLUMNS,
        "pairs": rows,
        # Labels that a browser keeps are those of these pairs alone.
        "key": hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16],
    }
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
    before, after = TEMPLATE.read_text("utf-8").split("DATA</script>", 1)
    return f"{before}{text}</script>{after}"


def _row(pair: Pair) -> dict[str, object]:
    """`offset` is where `before` begins in the document, in code points."""
    start, end = (0, len(pair.text)) if pair.start is None else (pair.start, pair.end or 0)
    offset = max(start - BESIDE, 0)
    return {
        "query_id": pair.query_id,
        "question": pair.question,
        "doc_id": pair.doc_id,
        "title": pair.title,
        "start": pair.start,
        "end": pair.end,
        "before": pair.text[offset:start],
        "text": pair.text[start:end],
        "after": pair.text[end : end + BESIDE],
        "offset": offset,
    }
