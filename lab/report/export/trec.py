"""Runs and judgements for trec_eval and ranx, made so that both give the numbers of the run.

What is judged are pieces of evidence (or documents), so a run lists what each rank contributes: the
pieces that become complete there, or one non-relevant item, the hit itself. Ranks that the run
folder does not name are `rank-17`, and a question without any hit lists `nothing-found`; where a
document has such a name, hyphens before them keep these apart from all documents.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from lab.runs.run import Run

# (question, item, grade) and, per question, items best first.
Judgements = dict[str, dict[str, int]]
Lists = dict[str, list[str]]

NOTHING = "nothing-found"
# trec_eval's name of each metric over the contributed items.
MEASURES = {"ndcg": "ndcg_cut.{k}", "hit_rate": "success.{k}", "map": "map_cut.{k}"}
UNCUT = {"map": "map", "mrr": "recip_rank"}


def trec_id(text: str) -> str:
    """An id without blanks, for TREC's columns are parted by them; `urllib.parse.unquote` gives the
    id back."""
    return (
        quote(text, safe="".join(chr(c) for c in range(33, 127) if chr(c) != "%"))
        if re.search(r"[\s%]", text)
        else text
    )


def trec_files(run: Run) -> Iterator[tuple[str, str]]:
    """qrels, a run file a system, and `index.json`: which system a file holds and which measure
    gives which number."""
    judged = judgements(run)
    yield "items/qrels.txt", _qrels(judged)
    by_chunk = run.manifest["unit"] == "evidence"
    names = [str(name) for name in run.tables.systems["system"]]
    if by_chunk:
        yield "chunks/qrels.txt", _qrels(chunk_judgements(run))
    measures = _measures(run, by_chunk)
    kept = sorted(
        {
            int(folder.removeprefix("recall-"))
            for folder, _ in measures.values()
            if folder.startswith("recall-")
        }
    )
    for k in kept:
        yield f"recall-{k}/qrels.txt", _qrels(judged)
    for number, name in enumerate(names, start=1):
        file, tag = f"{number:04d}.run", f"system-{number:04d}"
        yield f"items/{file}", _run(items(run, name), tag)
        if by_chunk:
            yield f"chunks/{file}", _run(chunks(run, name), tag)
        for k in kept:
            yield f"recall-{k}/{file}", _run(within(run, name, k), tag)
    index = {
        "systems": {f"{number:04d}.run": name for number, name in enumerate(names, start=1)},
        "measures": {
            metric: {"folder": folder, "trec_eval": measure}
            for metric, (folder, measure) in measures.items()
        },
        "not_exported": [
            metric for metric in run.manifest["measure"]["metrics"] if metric not in measures
        ],
    }
    yield "index.json", json.dumps(index, indent=1, ensure_ascii=False) + "\n"


def ranx_files(run: Run) -> Iterator[tuple[str, str]]:
    """The contributed items as ranx's JSON: `Qrels.from_file("qrels.json")`,
    `Run.from_file("runs/0001.json")`."""
    yield "qrels.json", json.dumps(judgements(run), ensure_ascii=False) + "\n"
    names = [str(name) for name in run.tables.systems["system"]]
    for number, name in enumerate(names, start=1):
        scored = {
            query: {item: float(len(found) - at) for at, item in enumerate(found)}
            for query, found in items(run, name).items()
        }
        yield f"runs/{number:04d}.json", json.dumps(scored, ensure_ascii=False) + "\n"
    yield (
        "index.json",
        json.dumps(
            {f"runs/{n:04d}.json": name for n, name in enumerate(names, start=1)},
            indent=1,
            ensure_ascii=False,
        )
        + "\n",
    )


def judgements(run: Run) -> Judgements:
    """Grade of every piece; documents are named by their id, pieces of evidence by their number."""
    first = run.tables.rows("evidence", run.systems[0])
    found: Judgements = {}
    for row in first.itertuples():
        found.setdefault(str(row.query_id), {})[_piece(run, row)] = int(row.grade)
    return found


def _apart(run: Run) -> str:
    """What made-up ids begin with: as many hyphens as no document's or piece's name does."""
    tables = (run.tables.rankings, run.tables.evidence)
    names = {str(name) for table in tables for name in table["doc_id"].unique()}
    made_up = [name for name in names if re.match(rf"-*(rank-\d+|{NOTHING})(:|$)", name)]
    most = max((len(name) - len(name.lstrip("-")) for name in made_up), default=-1)
    return "-" * (most + 1)


def items(run: Run, system: str) -> Lists:
    """What every rank contributes, per question: pieces complete there, highest grade first, or the
    hit itself."""
    by_rank: dict[str, dict[int, list[Any]]] = {query: {} for query in judgements(run)}
    for row in run.tables.evidence[
        (run.tables.evidence["system"] == system) & (run.tables.evidence["complete"] > 0)
    ].itertuples():
        by_rank[str(row.query_id)].setdefault(int(row.complete), []).append(row)
    hits, found = (
        chunks(run, system) if run.manifest["unit"] == "evidence" else _documents(run, system),
        {},
    )
    apart = _apart(run)
    for query, complete in by_rank.items():
        named = hits.get(query, [])
        listed: list[str] = []
        for rank in range(1, max([len(named), *complete]) + 1):
            pieces = sorted(complete.get(rank, ()), key=lambda row: (-row.grade, row.piece))
            listed += [_piece(run, row) for row in pieces] or [
                named[rank - 1] if rank <= len(named) else f"{apart}rank-{rank}"
            ]
        found[query] = listed or [apart + NOTHING]
    return found


def within(run: Run, system: str, k: int) -> Lists:
    """The pieces complete within the first k hits, however many there are: what recall@k counts."""
    rows = run.tables.evidence[
        (run.tables.evidence["system"] == system) & run.tables.evidence["complete"].between(1, k)
    ].sort_values("complete")
    found: Lists = {query: [] for query in judgements(run)}
    for row in rows.itertuples():
        found[str(row.query_id)].append(_piece(run, row))
    return {query: listed or [_apart(run) + NOTHING] for query, listed in found.items()}


def chunks(run: Run, system: str) -> Lists:
    """The first hits as delivered, `doc_id:start-end`."""
    rows = run.tables.rankings[
        (run.tables.rankings["system"] == system) & (run.tables.rankings["rank"] > 0)
    ].sort_values("rank")
    found: Lists = {query: [] for query in judgements(run)}
    for row in rows.itertuples():
        name = _chunk(row)
        if (
            name not in found[str(row.query_id)]
        ):  # chunks that are delivered as one span share its rank
            found[str(row.query_id)].append(name)
    return {query: listed or [_apart(run) + NOTHING] for query, listed in found.items()}


def chunk_judgements(run: Run) -> Judgements:
    """Which delivered chunks precision counts as relevant, over all systems."""
    found: Judgements = {query: {_apart(run) + NOTHING: 0} for query in judgements(run)}
    for row in (
        run.tables.rankings[run.tables.rankings["relevant"]][
            ["query_id", "doc_id", "shown_start", "shown_end"]
        ]
        .drop_duplicates()
        .itertuples()
    ):
        found[str(row.query_id)][_chunk(row)] = 1
    return found


def _documents(run: Run, system: str) -> Lists:
    rows = run.tables.rankings[
        (run.tables.rankings["system"] == system) & (run.tables.rankings["rank"] > 0)
    ].sort_values("rank")
    found: Lists = {}
    for query, doc_id in zip(rows["query_id"].astype(str), rows["doc_id"].astype(str), strict=True):
        found.setdefault(query, []).append(doc_id)
    return {query: list(dict.fromkeys(documents)) for query, documents in found.items()}


def _piece(run: Run, row: Any) -> str:
    return f"evidence-{row.piece}" if run.manifest["unit"] == "evidence" else str(row.doc_id)


def _chunk(row: Any) -> str:
    return f"{row.doc_id}:{row.shown_start}-{row.shown_end}"


def _measures(run: Run, by_chunk: bool) -> dict[str, tuple[str, str]]:
    """Metric -> the folder and trec_eval measure that give its number. Token budgets and the lab's
    own have none."""
    found: dict[str, tuple[str, str]] = {}
    for metric in run.manifest["measure"]["metrics"]:
        name, _, cut = metric.partition("@")
        if not cut:
            if name in UNCUT:
                found[metric] = "items", UNCUT[name]
        elif cut.isdigit() and name == "recall":
            found[metric] = f"recall-{cut}", "set_recall"
        elif cut.isdigit() and name == "precision" and int(cut) <= 10:
            found[metric] = "chunks" if by_chunk else "items", f"P.{cut}"
        elif cut.isdigit() and name in MEASURES:
            found[metric] = "items", MEASURES[name].format(k=cut)
    return found


def _qrels(judged: Judgements) -> str:
    return "".join(
        f"{trec_id(q)} 0 {trec_id(item)} {grade}\n"
        for q, graded in judged.items()
        for item, grade in graded.items()
    )


def _run(lists: Lists, tag: str) -> str:
    return "".join(
        f"{trec_id(query)} Q0 {trec_id(item)} {rank} {len(found) - rank + 1} {tag}\n"
        for query, found in lists.items()
        for rank, item in enumerate(found, start=1)
    )
