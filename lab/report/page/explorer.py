"""What the report's explorer knows: every question under every system, and full rankings for a
chosen few, column by column."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.arrays import Ints
from lab.corpus.document import Corpus
from lab.report.chosen import chosen_systems, other_system
from lab.report.page.curves import alphas_of, curves_of
from lab.report.page.packed import packed
from lab.report.page.systems import pairs
from lab.report.proof import proof_of
from lab.runs.explain import USED
from lab.runs.run import Run
from lab.runs.tables import plain_rows
from lab.sweeping.injected import INJECTED

if TYPE_CHECKING:
    import pandas as pd

# Characters of document text kept either side of a piece of evidence, to show it in its place.
AROUND = 120
# Characters shown of a document that is judged as a whole.
BEGINNING = 320
# Characters of document text the report carries at most; evidence comes first, then hits by rank.
TEXT_BUDGET = 5_000_000
STAGES = ("bm25", "dense", "fused")


def explorer_data(run: Run) -> dict[str, Any]:
    """Plain values for JSON, arrays of numbers packed (see `lab.report.page.packed`)."""
    by_id = {query.query_id: query for query in run.queries}
    asked = [by_id[query_id] for query_id in run.query_ids]
    chosen = chosen_systems(run)
    hits = run.tables.rankings[run.tables.rankings["system"].isin(chosen)]
    pieces = run.tables.rows("evidence", run.systems[0])
    keys = zip(pieces["query_id"].astype(str), pieces["piece"], strict=True)
    place = {key: number for number, key in enumerate(keys)}
    kept, ranks_with_text = _spans(hits, pieces, run.corpus)
    documents = {doc_id: place for place, doc_id in enumerate(kept)}
    values, codes = np.unique(run.tables.values, return_inverse=True)
    position = {query_id: place for place, query_id in enumerate(run.query_ids)}
    return {
        "metrics": list(run.metrics),
        "select_by": run.tables.select_by,
        "k": run.tables.k,
        "unit": run.manifest["unit"],
        "systems": _systems(run),
        "recommended": run.systems.index(run.recommended),
        "compared": run.systems.index(other_system(run)),
        "pairs": pairs(run),
        "questions": {
            "id": [query.query_id for query in asked],
            "text": [query.text for query in asked],
            "kind": [query.kind for query in asked],
            "tags": [
                [f"{key}: {value}" for key, value in sorted(query.tags.items())] for query in asked
            ],
            "answer": [query.answer for query in asked],
            "beside": [
                [f"{name}: {told(q)}" for name, told in USED.items() if told(q)] for q in asked
            ],
        },
        "scores": {
            "values": [round(float(v), 6) for v in values],
            "codes": packed(codes),
        },
        "pieces": {
            "query": [position[query_id] for query_id in pieces["query_id"]],
            "doc": [documents[doc_id] for doc_id in pieces["doc_id"]],
            "start": _whole(pieces["start"], -1).tolist(),
            "end": _whole(pieces["end"], -1).tolist(),
            "grade": pieces["grade"].tolist(),
        },
        "complete": packed(run.tables.whole("evidence", "complete")),
        "causes": _causes(run, place, chosen),
        "alphas": alphas_of(run),
        "curves": curves_of(run, chosen, place),
        "chosen": [run.systems.index(system) for system in chosen],
        "rankings": {
            str(run.systems.index(system)): _ranking(
                hits[hits["system"] == system], position, documents
            )
            for system in chosen
        },
        "documents": {
            "id": list(kept),
            "title": [run.corpus[doc].title if doc in run.corpus else "" for doc in kept],
            "segments": [kept[doc_id] for doc_id in kept],
        },
        "ranks_with_text": ranks_with_text,
        "injected": INJECTED,
    }


def _causes(
    run: Run, place: Mapping[tuple[str, int], int], chosen: Sequence[str]
) -> dict[str, Any] | None:
    """Code of the cause of every piece under every system (0: a hit), and in words the proofs under
    the chosen ones; None for a run without misses."""
    if run.tables.causes.empty:
        return None
    names = ["", *sorted(str(name) for name in run.tables.causes["cause"].unique())]
    code = {name: place for place, name in enumerate(names)}
    number = {system: at for at, system in enumerate(run.systems)}
    codes, proofs = np.zeros(len(run.systems) * len(place), dtype=np.uint8), dict[int, str]()
    causes = run.tables.causes
    at = [
        number[str(system)] * len(place) + place[str(query_id), piece]
        for system, query_id, piece in zip(
            causes["system"], causes["query_id"], causes["piece"], strict=True
        )
    ]
    codes[at] = [code[str(cause)] for cause in causes["cause"]]
    kept = causes["system"].isin(chosen).to_numpy()
    shown = zip(np.array(at)[kept].tolist(), plain_rows(causes[kept]), strict=True)
    proofs = {place: proof_of(miss) for place, miss in shown}
    return {"names": names, "codes": packed(codes), "proofs": proofs}


def _systems(run: Run) -> dict[str, Any]:
    shown = run.tables.shown
    return {
        "name": list(run.systems),
        "label": [run.labels[name] for name in run.systems],
        "settings": {column: shown[column].tolist() for column in shown.columns},
    }


def _ranking(
    hits: "pd.DataFrame", position: dict[str, int], documents: dict[str, int]
) -> dict[str, str]:
    """Rows of one system ordered by question, then rank, chunks of evidence that no rank reached
    last; `first[q]` is where question q begins."""
    query = hits["query_id"].astype(str).map(position).to_numpy()
    rank = _whole(hits["rank"])
    order = np.lexsort(
        (hits["start"].to_numpy(), np.where(rank == 0, np.iinfo(np.int32).max, rank), query)
    )
    rows = hits.iloc[order]
    columns = {"first": packed(np.searchsorted(query[order], np.arange(len(position) + 1)))}
    columns["doc"] = packed(rows["doc_id"].astype(str).map(documents).to_numpy())
    places = ("start", "end", "shown_start", "shown_end")
    for name in (*places, "rank", *(f"{stage}_rank" for stage in STAGES)):
        columns[name] = packed(_whole(rows[name]))
    for name in ("evidence", "relevant"):
        columns[name] = packed(rows[name].to_numpy())
    for name in (*(f"{stage}_score" for stage in STAGES), "rerank_score"):
        columns[name] = packed(rows[name].to_numpy(), "f")
    # These are added up again, and compared.
    for name in ("bm25_part", "dense_part"):
        columns[name] = packed(rows[name].to_numpy(), "d")
    return columns


def _whole(column: "pd.Series", absent: int = 0) -> Ints:
    return np.asarray(column.to_numpy(dtype=np.int64, na_value=absent))


def _spans(
    hits: "pd.DataFrame", pieces: "pd.DataFrame", corpus: Corpus
) -> tuple[dict[str, list[list[Any]]], int]:
    """Document -> [start, text] segments of everything that can be shown, and down to which rank
    hits have their text."""
    wanted: dict[str, list[tuple[int, int]]] = {
        doc_id: []
        for doc_id in sorted(set(pieces["doc_id"].unique()) | set(hits["doc_id"].unique()))
    }
    for doc_id, start, end in _rows(pieces[pieces["start"].notna()], "doc_id", "start", "end"):
        length = len(_text(corpus, doc_id))
        wanted[doc_id].append((min(max(start - AROUND, 0), length), min(end + AROUND, length)))
    # Of a document that is judged as a whole the beginning says what it is about.
    for doc_id in pieces.loc[pieces["start"].isna(), "doc_id"].unique():
        wanted[doc_id].append((0, min(len(_text(corpus, doc_id)), BEGINNING)))
    last = 0
    for rank, rows in (
        hits[["rank", "doc_id", "shown_start", "shown_end"]].drop_duplicates().groupby("rank")
    ):
        more: dict[str, list[tuple[int, int]]] = {}
        for doc_id, start, end in _rows(rows, "doc_id", "shown_start", "shown_end"):
            more.setdefault(doc_id, []).append((start, end))
        merged = wanted | {
            doc_id: _merged([*wanted[doc_id], *spans]) for doc_id, spans in more.items()
        }
        if sum(end - start for spans in merged.values() for start, end in spans) > TEXT_BUDGET:
            break
        wanted, last = merged, int(rank)
    return {
        doc_id: [[s, _text(corpus, doc_id)[s:e]] for s, e in _merged(spans)]
        for doc_id, spans in wanted.items()
    }, last


def _text(corpus: Corpus, doc_id: str) -> str:
    """A document's text, empty where evidence names a document that is not there."""
    return corpus[doc_id].text if doc_id in corpus else ""


def _rows(table: "pd.DataFrame", *columns: str) -> Iterable[tuple[str, int, int]]:
    return zip(*(table[column].tolist() for column in columns), strict=True)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans joined where they touch, in order."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((int(start), int(end)))
    return joined
