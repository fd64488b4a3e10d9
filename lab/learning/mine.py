"""Mining hard negatives: what stood before missed evidence, without what may well be right."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lab.diagnosis.neighbours import DUPLICATE, Shingles, containment, shingles
from lab.errors import LearningError
from lab.learning.mined import FOUND, Example, Mined, Origin, Text
from lab.learning.sealed import Sealed, answering, refuse_leaks
from lab.learning.teacher import Scores
from lab.relevance.pieces import Pieces, pieces
from lab.relevance.query import Evidence, Query
from lab.retrieval.config import DEFAULT_MODEL, MAXSIM
from lab.runs.pool import KEPT
from lab.runs.run import Run

# Above this share of the positive's score a negative is left out: it may answer as well (Moreira et
# al., "NV-Retriever", arXiv 2407.15831, 2024).
LIKELY = 0.95
# The share of a piece that its chunk has to hold.
HOLD = 0.9

Place = tuple[str, int, int]


def mined_systems(run: Run, named: Sequence[str]) -> tuple[str, ...]:
    """The systems to mine: those named, else the recommended one and the best of every mode."""
    names = map(run.tables.named, named) if named else (run.recommended, *run.tables.best_of_modes)
    return tuple(dict.fromkeys(names))


def teacher_of(run: Run, systems: Sequence[str]) -> str:
    """Late interaction over the dense model of the first system that has one, else over the
    default one."""
    models = run.tables.systems.set_index("system")["model"].loc[list(systems)].dropna()
    model = str(models.iloc[0]) if len(models) else DEFAULT_MODEL
    return MAXSIM if model == DEFAULT_MODEL else f"{MAXSIM}:{model}"


@dataclass(frozen=True, eq=False)
class Mine:
    """What is mined: `systems` of a run, of every piece that they missed, with `found` of the
    others as well; `left_out` counts what stays out, by reason."""

    run: Run
    systems: tuple[str, ...]
    sealed: Sealed
    found: bool = False
    left_out: Counter[str] = field(default_factory=Counter)

    def examples(self, teacher: str, score: Scores) -> Mined:
        """The examples whose negative the teacher scores well below the positive, by question,
        piece and place. Raises LearningError when questions of the run are sealed, or nothing is
        left."""
        asked = {query.query_id: query for query in self.run.queries}
        scored = [asked[query_id] for query_id in self.run.query_ids]
        place = str(self.run.inputs.folder or self.run.manifest["name"])
        refuse_leaks(((query.query_id, query.text) for query in scored), self.sealed, place)
        open_ones = [query for query in scored if not answering(query) & self.sealed.documents]
        self.left_out["questions that sealed documents answer"] = len(scored) - len(open_ones)
        if not open_ones:
            raise LearningError(f"{place}: sealed documents answer every question of it")
        examples = self._merged(pieces(open_ones, self.run.manifest["unit"]))
        kept = self._unlike(examples, score)
        if not kept:
            raise LearningError(
                f"{place}: nothing to learn from: {self._reasons()}; mine other systems with "
                "--system, or evidence that was found with --found"
            )
        return Mined(tuple(kept), self._facts(teacher))

    def _reasons(self) -> str:
        reasons = [f"{count} {reason}" for reason, count in self.left_out.items() if count]
        return ", ".join(reasons) or "no system missed evidence below other hits"

    def _facts(self, teacher: str) -> dict[str, Any]:
        manifest, folder = self.run.manifest, self.run.inputs.folder
        return {
            "run": str(folder.absolute()) if folder else None,
            "name": manifest["name"],
            "corpus": manifest["corpus"],
            "questions": manifest["questions"]["fingerprint"],
            "k": self.run.tables.k,
            "systems": list(self.systems),
            "found": self.found,
            "teacher": teacher,
            "limit": LIKELY,
            "sealed": self.sealed.plain,
            "left_out": dict(self.left_out),
        }

    def _merged(self, asked: Pieces) -> list[Example]:
        """Every pair of a positive and a hit before it once, with all the systems it came from."""
        merged: dict[tuple[str, int, Place, Place], Example] = {}
        for system in self.systems:
            for example in self._of_system(system, asked):
                places = (_place(example.positive), _place(example.negative))
                key = (example.query_id, example.piece, *places)
                same = merged.get(key)
                origins = (*(same.origins if same else ()), *example.origins)
                merged[key] = replace(example, origins=origins)
        return [merged[key] for key in sorted(merged)]

    def _of_system(self, system: str, asked: Pieces) -> Iterator[Example]:
        tables, corpus = self.run.tables, self.run.corpus
        causes = {
            (row.query_id, int(row.piece)): row
            for row in tables.rows("causes", system).astype({"final_rank": "float64"}).itertuples()
        }
        rankings = tables.rows("rankings", system).astype({"rank": "float64"})
        hits = dict(list(rankings.groupby("query_id", observed=True)))
        perhaps = self.run.manifest.get("perhaps_evidence", ())
        for unit, alternatives in enumerate(asked.items):
            query, number = asked.queries[asked.query[unit]], int(asked.number[unit])
            cause = causes.get((query.query_id, number))
            rows = hits.get(query.query_id)
            if rows is None or (cause is None and not self.found):
                continue
            positive = self._positive(rows, alternatives, asked.unit)
            if positive is None:
                self.left_out["pieces that no chunk holds"] += 1
                continue
            doubtful = [p for p in perhaps if p["query_id"] == query.query_id]
            known = [*self._evidence(query), shingles(positive.text)]
            for row in rows[rows["rank"].between(1, min(KEPT, _last(cause)))].itertuples():
                span = (str(row.doc_id), int(row.start), int(row.end))
                text = corpus[span[0]].text[span[1] : span[2]]
                reason = self._reason(row, text, known, doubtful)
                if reason:
                    self.left_out[reason] += 1
                    continue
                origin = Origin(system, int(row.rank), FOUND if cause is None else str(cause.cause))
                yield Example(
                    query_id=query.query_id,
                    kind=query.kind,
                    piece=number,
                    question=query.text,
                    positive=positive,
                    negative=Text(*span, text),
                    origins=(origin,),
                )

    def _evidence(self, query: Query) -> list[Shingles]:
        corpus = self.run.corpus
        items = [item for item in query.evidence if item.grade > 0]
        texts = [
            corpus[item.doc_id].text[slice(*item.span(corpus[item.doc_id].text))] for item in items
        ]
        return [shingles(text) for text in texts]

    def _reason(self, row: Any, text: str, known: list[Shingles], doubtful: list[Any]) -> str:
        """Why a hit is no negative; empty where it is one."""
        if row.evidence or row.relevant:
            return "hits that hold evidence"
        if row.doc_id in self.sealed.documents:
            return "hits in sealed documents"
        if any(row.doc_id == p["doc_id"] and _overlap(row, p) for p in doubtful):
            return "hits that are perhaps evidence"
        own = shingles(text)
        if not text.strip() or any(containment(own, other) >= DUPLICATE for other in known):
            return "near-duplicates of evidence"
        return ""

    def _positive(self, rows: Any, alternatives: Sequence[Evidence], unit: str) -> Text | None:
        """The text that holds a piece; None where no chunk does, or it is sealed. Of several the
        shortest, or of judged documents that which was found first; then the first by place."""
        corpus, texts = self.run.corpus, list[tuple[float, Place]]()
        for item in alternatives:
            if item.doc_id in self.sealed.documents:
                continue
            of_document = rows[rows["doc_id"] == item.doc_id]
            first, last = item.span(corpus[item.doc_id].text)
            for row in of_document.itertuples():
                place = (item.doc_id, int(row.start), int(row.end))
                shared = min(place[2], last) - max(place[1], first)
                if unit == "document":
                    texts.append((float(row.rank), place))
                elif row.evidence and shared >= HOLD * (last - first):
                    texts.append((place[2] - place[1], place))
            if unit == "document":
                # A run keeps no chunk of a judged document that was not found.
                texts.append((np.inf, (item.doc_id, first, last)))
        if not texts:
            return None
        doc_id, start, end = min(texts)[1]
        return Text(doc_id, start, end, corpus[doc_id].text[start:end])

    def _unlike(self, examples: Sequence[Example], score: Scores) -> list[Example]:
        """Those whose negative the teacher scores at most LIKELY times as high as the positive (as
        far below it where that is negative)."""
        questions = [example.question for example in examples]
        high, low = (
            score(questions, [getattr(example, side).text for example in examples])
            for side in ("positive", "negative")
        )
        kept = []
        for example, best, other in zip(examples, high.tolist(), low.tolist(), strict=True):
            if other > best - (1 - LIKELY) * abs(best):
                self.left_out[f"scored above {LIKELY:g} of the positive"] += 1
                continue
            sides = [replace(example.positive, score=best), replace(example.negative, score=other)]
            kept.append(replace(example, positive=sides[0], negative=sides[1]))
        return kept


def _last(cause: Any) -> int:
    """The rank before the one that completes a missed piece; all that the run keeps where none
    does, or where it was not missed."""
    return KEPT if cause is None or np.isnan(cause.final_rank) else int(cause.final_rank) - 1


def _overlap(row: Any, place: Any) -> bool:
    shared = min(row.end, place["end"]) - max(row.start, place["start"])
    return bool(2 * shared >= min(row.end - row.start, place["end"] - place["start"]))


def _place(text: Text) -> Place:
    return text.doc_id, text.start, text.end
