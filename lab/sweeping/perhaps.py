"""Perhaps evidence too: hits that most systems place above the evidence of a question and that hold
the words of its answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from lab.arrays import NEVER
from lab.corpus.document import Corpus
from lab.errors import counted
from lab.pipeline.rows import StageRows
from lab.relevance.pieces import Pieces
from lab.relevance.query import Query
from lab.retrieval.analyzer import ANALYZERS

# Share of the answer's words that a hit must hold: all of up to four.
HELD = 0.8


@dataclass(frozen=True, slots=True)
class Perhaps:
    """A span [start, end) that nobody marked, found above the evidence by `systems` of the run's,
    and how many of the answer's `words` it holds."""

    query_id: str
    doc_id: str
    start: int
    end: int
    systems: int
    words: tuple[str, ...]


def perhaps_evidence(
    asked: Pieces, corpus: Corpus, rows: Sequence[StageRows]
) -> tuple[Perhaps, ...]:
    """Unmarked hits of the first ranks that stand above the first relevant hit (anywhere, where
    there is none) under more than half of the systems, and hold at least HELD of the answer's words
    (of its evidence's words, without an answer), those of the question and stop words aside.

    Systems cut differently, so hits of one place are one: those that overlap by half of the
    shorter. The shortest is named. Nothing for sets judged per document, where what is not marked
    was not judged (see `lab.evaluation.unjudged`).
    """
    if asked.unit != "evidence":
        return ()
    words = [_answer_words(query, corpus) for query in asked.queries]
    above: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for system, of in enumerate(rows):
        for query, document, start, end in _above(of, len(asked.queries)):
            if words[query]:
                above.setdefault((query, document), []).append((start, end, system))
    places = []
    for (query, document), hits in sorted(above.items()):
        if len({system for _, _, system in hits}) * 2 > len(rows):
            text = corpus.documents[document].text
            # A span is the hit of many systems, and read once.
            spans = {(s, e) for s, e, _ in hits}
            holding = {(s, e) for s, e in spans if _holds(text[s:e], words[query])}
            held = [hit for hit in hits if hit[:2] in holding]
            for start, end, systems in _places(held, len(rows)):
                of_hit = set(ANALYZERS["english"](text[start:end]))
                places.append(
                    Perhaps(
                        asked.queries[query].query_id,
                        corpus.documents[document].doc_id,
                        start,
                        end,
                        systems,
                        tuple(sorted(words[query] & of_hit)),
                    )
                )
    return tuple(places)


def _answer_words(query: Query, corpus: Corpus) -> frozenset[str]:
    analyzer = ANALYZERS["english"]
    given = query.answer or " ".join(
        corpus[item.doc_id].text[slice(*item.span(corpus[item.doc_id].text))]
        for item in query.evidence
        if item.doc_id in corpus
    )
    return frozenset(analyzer(given)) - frozenset(analyzer(query.text))


def _above(rows: StageRows, queries: int) -> Iterator[tuple[int, int, int, int]]:
    """Question, document and span of every unmarked hit above the first relevant one."""
    first = np.full(queries, NEVER)
    shown = rows.rank > 0
    good = shown & (rows.relevant | rows.evidence)
    np.minimum.at(first, rows.query[good], rows.rank[good])
    above = shown & ~good & (rows.rank < first[rows.query])
    columns = (rows.query, rows.document, rows.shown_start, rows.shown_end)
    yield from zip(*(column[above].tolist() for column in columns), strict=True)


def _holds(text: str, words: frozenset[str]) -> bool:
    return len(words & set(ANALYZERS["english"](text))) >= ceil(HELD * len(words))


def _places(hits: list[tuple[int, int, int]], systems: int) -> Iterator[tuple[int, int, int]]:
    """The shortest hit of every place that most systems have, and how many do."""
    left = sorted(hits, key=lambda hit: (hit[1] - hit[0], hit[0], hit[2]))
    while left:
        start, end, _ = left[0]
        same = [(s, e, n) for s, e, n in left if 2 * (min(e, end) - max(s, start)) >= end - start]
        count = len({n for _, _, n in same})
        if 2 * count > systems:
            yield start, end, count
        left = [hit for hit in left if hit not in same]


def perhaps_note(places: Sequence[Perhaps], systems: int) -> str:
    """A line that names the first few; nothing where there are none."""
    if not places:
        return ""
    questions = len({place.query_id for place in places})
    shown = ", ".join(f"{p.query_id} in {p.doc_id}:{p.start}-{p.end}" for p in places[:5])
    return (
        f"perhaps evidence too: for {counted(questions, 'question')} most of the {systems} systems "
        "find text above the evidence that holds the answer's words: "
        f"{shown}{', ...' if len(places) > 5 else ''}; mark it as an alternative if it answers"
    )
