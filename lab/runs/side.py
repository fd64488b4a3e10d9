"""Side: one system of one run, or a foreign TREC run, as what a comparison needs of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.arrays import NONE, Floats
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from lab.corpus.names import Names
from lab.errors import DiagnosticsError, RunError
from lab.evaluation.clusters import main_documents
from lab.evaluation.metrics import parse_metric
from lab.evaluation.scores import SystemRun, score
from lab.relevance.judge import DocumentJudge
from lab.relevance.pieces import Pieces, pieces
from lab.relevance.qrels import read_qrels
from lab.relevance.query import Evidence, Query
from lab.retrieval.ranking import Ranking
from lab.retrieval.trec_run import rankings_of
from lab.retrieval.trec_run import read_run as read_trec_run
from lab.runs.folder import MANIFEST
from lab.runs.questions import questions_of
from lab.runs.run import read_run
from lab.runs.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

# What TREC runs are scored by when nobody says.
METRICS = ("recall@5", "precision@3", "ndcg@10")

# A run folder keeps this many hits of every question.
KEPT = 10
# Question -> documents, best first.
Rankings = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Side:
    """`scores` has a row a question and a column a metric; `questions` is indexed by query_id with
    kind, doc_id (its main document), text and evidence (a fingerprint); `causes` counts the missed
    pieces of each cause, None where nobody asked why; `manifest` is empty for a foreign run;
    `by_phase` (phases x questions x metrics) are the scores of which `scores` are the means, None
    for a system that was run once. `judged` is what a set judged per document says and the run's
    documents, None for spans and for means over phases."""

    path: Path
    system: str
    scores: "pd.DataFrame"
    questions: "pd.DataFrame"
    manifest: Mapping[str, Any] = field(default_factory=dict)
    causes: Mapping[str, int] | None = None
    by_phase: Floats | None = None
    judged: "JudgedRun | None" = None

    def at(self, ids: "Sequence[str]", metrics: Sequence[str]) -> Floats | None:
        """Phases x questions x metrics; None for a system that was run once."""
        if self.by_phase is None:
            return None
        rows = self.scores.index.get_indexer(list(ids))
        columns = self.scores.columns.get_indexer(list(metrics))
        return self.by_phase[:, rows][:, :, columns]

    def named_as(self, other: "Side") -> "Side":
        """The same with the question ids of another side where they differ by Unicode normal form
        alone."""
        names = Names(map(str, other.scores.index))
        ids = set(map(str, self.scores.index))
        as_there = {
            query_id: there
            for query_id in ids
            if (there := names.find(query_id)) not in (None, query_id)
        }
        taken = Counter(as_there.values())
        renamed = {
            query_id: there
            for query_id, there in as_there.items()
            if there not in ids and taken[there] == 1
        }
        if not renamed:
            return self
        scores, questions = (table.rename(index=renamed) for table in (self.scores, self.questions))
        judged = self.judged and self.judged.renamed(renamed)
        return replace(self, scores=scores, questions=questions, judged=judged)


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """Judgements by question, and a run's documents, best first; `depth` is how many of them are
    known, None for all."""

    queries: Mapping[str, Query]
    rankings: Rankings
    depth: int | None = None

    def renamed(self, names: Mapping[str, str]) -> "JudgedRun":
        """The same with other question ids."""
        return replace(
            self,
            queries={
                names.get(query_id, query_id): query for query_id, query in self.queries.items()
            },
            rankings={
                names.get(query_id, query_id): hits for query_id, hits in self.rankings.items()
            },
        )


def run_side(path: Path, system: str | None = None) -> Side:
    """One system of a run folder, the recommended one by default."""
    import pandas as pd

    tables = read_run(path).tables
    system = tables.comparable(system or str(tables.manifest["recommended"]))
    values = tables.values[tables.place(system)]
    scores = pd.DataFrame(values, index=list(tables.query_ids), columns=list(tables.metrics))
    alone, by_phase = system not in tables.phased, tables.by_phase
    causes = tables.causes
    counts = causes.loc[causes["system"] == system, "cause"].astype(str).value_counts()
    by_document = tables.manifest["unit"] == "document"
    return Side(
        path=path,
        system=system,
        scores=scores,
        questions=tables.questions.set_index("query_id"),
        manifest=tables.manifest,
        causes={str(cause): int(count) for cause, count in sorted(counts.items())},
        by_phase=None if alone or by_phase is None else by_phase[:, tables.place(system)],
        judged=_judged_of(tables, system) if by_document and alone else None,
    )


def _judged_of(tables: Tables, system: str) -> JudgedRun:
    """What a run folder keeps of a set judged per document: its questions and first hits."""
    rows = tables.rows("rankings", system).dropna(subset="rank").sort_values("rank", kind="stable")
    shown = rows[rows["rank"] <= KEPT]
    rankings = {
        str(query_id): list(dict.fromkeys(hits["doc_id"].astype(str)))
        for query_id, hits in shown.groupby("query_id", observed=True)
    }
    queries = {query.query_id: query for query in questions_of(tables.questions)}
    return JudgedRun(queries, rankings, KEPT)


def sides(
    paths: tuple[Path, Path],
    systems: tuple[str | None, str | None],
    qrels: Path | None,
    metrics: Sequence[str],
) -> tuple[Side, Side]:
    """Both sides of a comparison: run folders, or TREC runs judged by `qrels`.

    Raises RunError when a TREC run comes without judgements, or a document-judged run meets a
    span-judged one.
    """
    read = []
    for path, system in zip(paths, systems, strict=True):
        if (path / MANIFEST).is_file():
            read.append(run_side(path, system))
        elif not path.is_file():
            raise RunError(f"{path}: neither a run folder (no {MANIFEST}) nor a TREC run file")
        elif qrels is None:
            raise RunError(
                f"{path}: a TREC run needs judgements to be compared; name them with --qrels FILE"
            )
        else:
            read.append(trec_side(path, qrels, metrics))
    return read[0], read[1]


def trec_side(path: Path, qrels: Path, metrics: Sequence[str]) -> Side:
    """A TREC run judged per document: every judged question counts, with 0 where the run has no
    hit; questions without judgements are left out. Hits are ordered as trec_eval orders them,
    whatever the file's ranks say."""
    import pandas as pd

    rankings = rankings_of(read_trec_run(path))
    asked, corpus = _judged(qrels, rankings)
    judge = DocumentJudge(asked, chunk(corpus, ChunkConfig(strategy="document")))
    judged = judge.judge(ranked(rankings, asked, corpus))
    parsed = [parse_metric(metric) for metric in metrics]
    in_python = [metric.label for metric in parsed if metric.function]
    if in_python:
        raise RunError(
            f"{path}: metric '{in_python[0]}' is Python, which is given the texts of hits, and a "
            "TREC run has none; sweep it with [[retriever]] run = and [measure] python =, then "
            "compare the run folders"
        )
    values = score(
        asked, [SystemRun(judge, judged, np.zeros(len(corpus), dtype=np.int64))], parsed
    )[0]
    ids = [query.query_id for query in asked.queries]
    questions = pd.DataFrame(
        {"kind": "", "doc_id": main_documents(asked), "text": "", "evidence_fingerprint": ""},
        index=ids,
    )
    return Side(
        path,
        path.name,
        pd.DataFrame(values, index=ids, columns=[metric.label for metric in parsed]),
        questions,
        judged=JudgedRun({query.query_id: query for query in asked.queries}, rankings),
    )


def _judged(qrels: Path, rankings: Rankings) -> tuple[Pieces, Corpus]:
    """The questions as far as judgements tell, and every document that is named anywhere; of its
    text, only that it has one."""
    problems: list[str] = []
    evidence: dict[str, list[Evidence]] = {}
    for row in read_qrels(qrels, problems):
        evidence.setdefault(row.query_id, []).append(Evidence(row.doc_id, grade=row.grade))
    if problems:
        raise DiagnosticsError(problems)
    queries = [
        Query(query_id, "", evidence=tuple(items)) for query_id, items in sorted(evidence.items())
    ]
    judged = Names(item.doc_id for items in evidence.values() for item in items)
    named = set(judged)
    for ranking in rankings.values():
        named.update(doc_id for doc_id in ranking if judged.find(doc_id) is None)
    return pieces(queries, "document"), Corpus(Document(doc_id, "-") for doc_id in named)


def ranked(rankings: Rankings, asked: Pieces, corpus: Corpus) -> Ranking:
    """The hits of the judged questions as rows, in their order; ids are met in any normal form."""
    written = Names(rankings)
    rows: list[list[int]] = []
    for query in asked.queries:
        ranking = rankings.get(written.find(query.query_id) or "", ())
        names = (corpus.names.find(doc_id) or doc_id for doc_id in ranking)
        rows.append([corpus.position[doc_id] for doc_id in dict.fromkeys(names)])
    width = max(1, *map(len, rows))
    chunks = np.full((len(rows), width), NONE)
    for row, documents in enumerate(rows):
        chunks[row, : len(documents)] = documents
    return Ranking(chunks, np.where(chunks == NONE, -np.inf, -np.arange(width, dtype=np.float64)))
