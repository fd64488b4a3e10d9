"""A result as the tables of a run folder."""

import hashlib
import json
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.arrays import NEVER
from lab.evaluation.clusters import main_documents
from lab.pipeline.rows import StageRows
from lab.relevance.query import Query
from lab.runs.folder import FORMAT
from lab.runs.run import Run
from lab.sweeping.conclusions import conclusions
from lab.sweeping.distractors import injected

if TYPE_CHECKING:
    import pandas as pd

    from lab.sweeping.result import Result

PACKAGES = (
    "retrieval-diagnostics-lab",
    "rank-bm25",
    "sentence-transformers",
    "torch",
    "faiss-cpu",
    "ranx",
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
)


def run_of(result: "Result") -> Run:
    """The result as tables."""
    return Run(
        _manifest(result),
        result.table(),
        _scores(result),
        _rankings(result),
        _evidence(result),
        _questions(result),
        result.findings.causes(result.systems),
        result.findings.curves(result.pieces),
        *result.findings.alphas(result.pieces, result.metrics),
        result.findings.separation(),
        result.findings.thresholds(),
    )


def _manifest(result: "Result") -> dict[str, Any]:
    return {
        "format": FORMAT,
        "name": result.name,
        "grid": result.grid.model_dump(mode="json"),
        "measure": result.measure.model_dump(mode="json"),
        "unit": result.pieces.unit,
        "causes": asdict(result.findings.cutoff),
        "best": result.best,
        "recommended": result.recommended,
        "as_good_as_best": [result.systems[i] for i in result.selection.undecided],
        "conclusions": conclusions(result),
        "corpus": {
            "documents": len(result.corpus),
            "characters": result.corpus.characters,
            "injected": injected(result.corpus),
            "fingerprint": result.corpus.fingerprint,
        },
        "questions": {
            "scored": len(result.pieces.queries),
            "pieces": len(result.pieces),
            "unscored": [list(pair) for pair in result.pieces.unscored],
            "fingerprint": _questions_fingerprint(result),
        },
        "chunkings": [asdict(fact) for fact in result.facts],
        "identities": dict(sorted(result.identities.items())),
        "versions": {name: _version(name) for name in PACKAGES},
        "notes": list(result.notes),
        "counts": dict(sorted(result.counts.items())),
        "seconds": dict(sorted(result.seconds.items())),
        **(
            {"profile": {"peak_mb": dict(result.peak_mb), "index_bytes": result.profile.indexes}}
            if result.profile
            else {}
        ),
    }


def _questions_fingerprint(result: "Result") -> str:
    rows = [
        [
            q.query_id,
            q.text,
            q.kind,
            dict(q.tags),
            q.answer,
            [asdict(item) for item in q.evidence],
            *_used_if_set(q),
        ]
        for q in sorted(result.queries, key=lambda query: query.query_id)
    ]
    return _fingerprint(rows)


def _used_if_set(query: Query) -> list[Any]:
    """Variants and filter, then the date; nothing where a question has none of them, so that older
    fingerprints of its set hold."""
    dated = [query.date] if query.date else []
    if not query.variants and query.filter is None:
        return dated
    return [list(query.variants), query.filter and query.filter.plain, *dated]


def _fingerprint(plain: Any) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _scores(result: "Result") -> "pd.DataFrame":
    import pandas as pd

    systems, questions, metrics = result.values.shape
    ids = [query.query_id for query in result.pieces.queries]
    return pd.DataFrame(
        {
            "system": _labels(result.systems, np.repeat(np.arange(systems), questions * metrics)),
            "query_id": _labels(ids, np.tile(np.repeat(np.arange(questions), metrics), systems)),
            "metric": _labels(result.metrics, np.tile(np.arange(metrics), systems * questions)),
            "value": result.values.reshape(-1),
        }
    )


def _rankings(result: "Result") -> "pd.DataFrame":
    import pandas as pd

    lengths = [len(rows.query) for rows in result.rows]
    columns = {
        name: np.concatenate([getattr(rows, name) for rows in result.rows])
        for name in StageRows.columns()
    }
    query, document = columns.pop("query"), columns.pop("document")
    labels = {
        "system": _labels(result.systems, np.repeat(np.arange(len(lengths)), lengths)),
        "query_id": _labels([q.query_id for q in result.pieces.queries], query),
        "doc_id": _labels([d.doc_id for d in result.corpus], document),
    }
    return pd.DataFrame(
        labels
        | {name: c.astype(np.int32) if c.dtype == np.int64 else c for name, c in columns.items()}
    )


def _evidence(result: "Result") -> "pd.DataFrame":
    """Of alternatives the first is named; start and end are -1 for a whole document."""
    import pandas as pd

    asked, systems = result.pieces, len(result.systems)
    first = [piece[0] for piece in asked.items]
    numbers = np.arange(len(asked)) - np.searchsorted(asked.query, asked.query) + 1
    return pd.DataFrame(
        {
            "system": _labels(result.systems, np.repeat(np.arange(systems), len(asked))),
            "query_id": _labels([q.query_id for q in asked.queries], np.tile(asked.query, systems)),
            "piece": np.tile(numbers, systems).astype(np.int32),
            "doc_id": np.tile([item.doc_id for item in first], systems),
            "start": np.tile(
                [-1 if item.start is None else item.start for item in first], systems
            ).astype(np.int32),
            "end": np.tile(
                [-1 if item.end is None else item.end for item in first], systems
            ).astype(np.int32),
            "grade": np.tile(asked.grade, systems).astype(np.int32),
            "complete": np.where(result.complete == NEVER, 0, result.complete)
            .reshape(-1)
            .astype(np.int32),
            "reachable": result.findings.reachable[:, asked.query].reshape(-1).astype(np.int32),
        }
    )


def _questions(result: "Result") -> "pd.DataFrame":
    import pandas as pd

    unscored = dict(result.pieces.unscored) | dict.fromkeys(
        result.sealed.query_ids if result.sealed else (), "sealed"
    )
    ids = [query.query_id for query in result.pieces.queries]
    documents = dict(zip(ids, main_documents(result.pieces).tolist(), strict=True))
    rows = [
        {
            "query_id": query.query_id,
            "text": query.text,
            "kind": query.kind,
            "variants": json.dumps(query.variants, ensure_ascii=False) if query.variants else "",
            "filter": json.dumps(query.filter.plain, ensure_ascii=False) if query.filter else "",
            "tags": json.dumps(dict(query.tags), ensure_ascii=False, sort_keys=True),
            "doc_id": documents.get(query.query_id, ""),
            "evidence": _fingerprint([asdict(item) for item in query.evidence])[:16],
            "unscored": unscored.get(query.query_id, ""),
        }
        for query in result.queries
    ]
    return pd.DataFrame(rows).astype("str")


def _labels(
    names: "tuple[str, ...] | list[str]", codes: "np.ndarray[Any, Any]"
) -> "pd.Categorical":
    import pandas as pd

    return pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype="str"))
