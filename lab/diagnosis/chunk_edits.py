"""Transplants: a chunk cut elsewhere or read to its end takes the place of the old one, and
everything after it runs again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import NEVER, NONE, Floats, Ints
from lab.config.config import Config
from lab.diagnosis.cuts import chunk_around
from lab.diagnosis.insertion import Legs, insert
from lab.diagnosis.stage_ranks import legs
from lab.diagnosis.unread import Tail
from lab.pipeline.stages import Stages
from lab.relevance.judge import DocumentJudge, Judge, place
from lab.relevance.pieces import Pieces
from lab.retrieval import dense
from lab.retrieval.config import BM25Config, DenseConfig
from lab.retrieval.fusion import Boost
from lab.retrieval.ranking import Ranking, project, ranks_of
from lab.retrieval.rerank import rerank
from lab.retrieval.variants import fuse_wordings


@dataclass(frozen=True, slots=True)
class Graft:
    """What is put in for one piece: [start, end) of a document, instead of the chunks `removed`.
    `reads` is the span that the encoder is given; `kept` is the chunk whose lexical score and
    better vector stay, None for a new chunk."""

    document: int
    start: int
    end: int
    removed: tuple[int, ...]
    reads: tuple[int, int]
    kept: int | None = None


class Transplants:
    """Built once per chunking; the texts of its grafts are encoded once."""

    def __init__(self, stage: Stages, asked: Pieces) -> None:
        self.stage, self.asked = stage, asked
        self._first = np.searchsorted(
            stage.chunking.document, np.arange(len(stage.chunking.corpus) + 1)
        )
        self._around: dict[tuple[int, float], Graft] = {}
        self._leg_scores: dict[
            tuple[bool, BM25Config | DenseConfig], dict[tuple[int, Graft], float]
        ] = {}

    def ranks(self, config: Config, judge: Judge, pieces: Ints, grafts: Sequence[Graft]) -> Ints:
        """The rank of each piece's graft under a system. Other questions and chunks, and the
        index's statistics, stay as they are."""
        query = self.asked.query[pieces]
        removed = np.full(
            (len(grafts), max(len(graft.removed) for graft in grafts)), NONE, dtype=np.int64
        )
        for row, graft in enumerate(grafts):
            removed[row, : len(graft.removed)] = graft.removed
        ranking = self._first_stage(self.stage, config, query, grafts, removed)
        if self.stage.variants is not None:
            # Every wording of a piece's question is asked with the graft in place, then fused as
            # ever.
            of, variant = np.nonzero(query[:, None] == self.stage.owner)
            others = self._first_stage(
                self.stage.variants, config, variant, [grafts[i] for i in of.tolist()], removed[of]
            )
            ranking = fuse_wordings(ranking, others, of, config.depth)
        if config.rerank is not None:
            asked = [self.stage.questions[q] for q in query]
            ranking = rerank(
                ranking, self._pairs(config, query, grafts, ranking), config.rerank, asked
            )
        target, own = self._judged(config, judge, grafts)
        # Each row has its own graft under the same number, so rows are asked one document or span
        # at a time.
        found = np.zeros(len(grafts), dtype=np.int64)
        for judged in np.unique(own):
            rows = np.flatnonzero(own == judged)
            part = project(
                Ranking(ranking.chunks[rows], ranking.scores[rows]), np.append(target, judged)
            )
            found[rows] = ranks_of(part, np.arange(len(rows)), np.full(len(rows), judged))
        return np.where(found > 0, found, NEVER)

    def _first_stage(
        self, stage: Stages, config: Config, query: Ints, grafts: Sequence[Graft], removed: Ints
    ) -> Ranking:
        """The ranking before the reranker of questions in one wording, each with its graft."""
        lexical, semantic = legs(config)
        parts = Legs(
            None if lexical is None else stage.own_bm25(lexical, config.depth),
            None if semantic is None else stage.own_dense(semantic, config.depth),
            stage.candidates(lexical, semantic, config.depth) if lexical and semantic else None,
            config.fusion,
            config.depth,
            self._boost(config, grafts),
        )
        return insert(
            parts, query, removed, len(stage.chunking), *self._scores(stage, config, query, grafts)
        )

    def around(self, piece: int, share: float = 1.0) -> Graft:
        """A chunk with the piece in its middle, a share of the old ones' length, in place of all
        that hold some of it."""
        if (piece, share) not in self._around:
            self._around[piece, share] = self._cut_around(piece, share)
        return self._around[piece, share]

    def _cut_around(self, piece: int, share: float) -> Graft:
        chunking, (document, start, end, parts) = self.stage.chunking, self._parts(piece)
        text = chunking.corpus.documents[document].text
        lengths = (chunking.end[parts] - chunking.start[parts]).tolist()
        low, high = chunk_around(text, start, end, lengths, share)
        return Graft(document, low, high, tuple(parts.tolist()), (low, high))

    def moved(self, piece: int, behind: bool) -> Graft:
        """The first chunk that holds some of a piece, ending behind it, or the last one, beginning
        before it; what overlaps it then stays as it is."""
        chunking, (document, start, end, parts) = self.stage.chunking, self._parts(piece)
        part = int(parts[0] if behind else parts[-1])
        span = min(int(chunking.start[part]), start), max(int(chunking.end[part]), end)
        return Graft(document, *span, (part,), span)

    def _parts(self, piece: int) -> tuple[int, int, int, Ints]:
        """(document, start, end) of a piece's first alternative that has a text, and the chunks
        that hold some of it."""
        chunking = self.stage.chunking
        for evidence in self.asked.items[piece]:
            text, start, end = place(chunking.corpus, evidence)
            if text[start:end].strip() and self.stage.admits(
                int(self.asked.query[piece]), evidence.doc_id
            ):
                break
        document = chunking.corpus.position[evidence.doc_id]
        chunks = np.arange(self._first[document], self._first[document + 1])
        parts = chunks[(chunking.start[chunks] < end) & (chunking.end[chunks] > start)]
        return document, start, min(end, len(text)), parts

    def read(self, tail: Tail) -> Graft:
        """A chunk of which the encoder reads its tail as well."""
        chunking = self.stage.chunking
        document = int(chunking.document[tail.chunk])
        chunk, reads = tail.chunk, (tail.begin, tail.end)
        return Graft(
            document, int(chunking.start[chunk]), int(chunking.end[chunk]), (chunk,), reads, chunk
        )

    def _scores(
        self, stage: Stages, config: Config, query: Ints, grafts: Sequence[Graft]
    ) -> tuple[Floats, Floats]:
        """Both legs' scores of every graft; NaN without the leg, where no term is shared, or where
        the question's filter leaves the graft's document out."""
        names = stage.chunking.corpus.documents
        admitted = [
            stage.admits(q, names[graft.document].doc_id)
            for q, graft in zip(query.tolist(), grafts, strict=True)
        ]
        bm25, vectors = (
            np.where(
                admitted, np.nan if leg is None else self._known(stage, leg, query, grafts), np.nan
            )
            for leg in (config.bm25, config.dense)
        )
        return bm25, vectors

    def _known(
        self, stage: Stages, leg: BM25Config | DenseConfig, query: Ints, grafts: Sequence[Graft]
    ) -> Floats:
        """A leg's scores of grafts; they are the same whatever alpha or reranker asks for them."""
        known = self._leg_scores.setdefault((stage is self.stage, leg), {})
        pairs = list(zip(query.tolist(), grafts, strict=True))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if new:
            score = self._bm25 if isinstance(leg, BM25Config) else self._dense
            of, added = np.array([q for q, _ in new]), [graft for _, graft in new]
            known.update(zip(new, score(stage, leg, of, added).tolist(), strict=True))  # type: ignore[arg-type]  # the leg's own
        return np.array([known[pair] for pair in pairs])

    def _bm25(self, stage: Stages, leg: BM25Config, query: Ints, grafts: Sequence[Graft]) -> Floats:
        asked, index, (old, alike) = (
            [stage.questions[q] for q in query],
            stage.bm25_index(leg),
            _neighbours(grafts),
        )
        fresh = index.own.scores_of_new(asked, [self._text(graft) for graft in grafts])
        fresh = np.fmax(fresh, index.scores_beside(asked, alike)[:, 0])
        return np.where(old[:, 0] == NONE, fresh, index.scores(asked, old)[:, 0])

    def _dense(
        self, stage: Stages, leg: DenseConfig, query: Ints, grafts: Sequence[Graft]
    ) -> Floats:
        read = dense.unit(
            stage.span_vectors(leg, [(graft.document, *graft.reads) for graft in grafts])
        )
        questions, index, (old, alike) = (
            stage.question_vectors(leg)[query],
            stage.dense_index(leg),
            _neighbours(grafts),
        )
        fresh = np.fmax(
            (read.astype(np.float64) * questions).sum(axis=1),
            index.scores_beside(questions, alike)[:, 0],
        )
        return np.asarray(np.fmax(fresh, index.scores(questions, old)[:, 0]))

    def _boost(self, config: Config, grafts: Sequence[Graft]) -> Boost | None:
        """The features of every row's chunks, its graft among them."""
        if not config.features.root:
            return None
        values, new = self.stage.feature_values(config.features), len(self.stage.chunking)
        padded = np.append(self.stage.chunking.document, NONE)
        own = np.array([graft.document for graft in grafts])[:, None]
        weights = tuple(weight for _, weight in config.features.root)
        return Boost(
            weights, lambda chunks: values[:, np.where(chunks == new, own, padded[chunks])]
        )

    def _pairs(
        self, config: Config, query: Ints, grafts: Sequence[Graft], ranking: Ranking
    ) -> Floats:
        """Pair scores of the head: known ones looked up, new ones computed where the graft is in
        the head, for elsewhere they decide nothing."""
        assert config.rerank is not None  # only systems that rerank ask
        pool = ranking.first(config.rerank.depth).chunks
        new = len(self.stage.chunking)
        scores = self.stage.known_pair_scores(
            config.rerank.model, np.where(pool == new, NONE, pool), query
        )
        row, column = np.nonzero(pool == new)
        if len(row):
            texts = [self._text(grafts[r]) for r in row.tolist()]
            asked = [self.stage.questions[query[r]] for r in row]
            scores[row, column] = self.stage.resources.score_pairs(
                config.rerank.model, asked, texts
            )
        row, column = np.nonzero(
            np.isnan(scores) & (pool != NONE) & (pool == new).any(axis=1)[:, None]
        )
        if len(row):
            scores[row, column] = self.stage.score_new_pairs(
                config.rerank.model, query[row], pool[row, column]
            )
        return scores

    def _judged(self, config: Config, judge: Judge, grafts: Sequence[Graft]) -> tuple[Ints, Ints]:
        """What every chunk is judged as, and what every graft is: its document, the span of the
        chunk it stands for, or a span of its own."""
        target = self.stage.delivery(config.deliver).span_of
        if isinstance(judge, DocumentJudge):
            return judge.spans.document[target], np.array([graft.document for graft in grafts])
        own = [
            len(judge.spans) if graft.kept is None else int(target[graft.kept]) for graft in grafts
        ]
        return target, np.array(own, dtype=np.int64)

    def _text(self, graft: Graft) -> str:
        return self.stage.chunking.corpus.documents[graft.document].text[graft.start : graft.end]


def _neighbours(grafts: Sequence[Graft]) -> tuple[Ints, Ints]:
    """The chunk whose score stays (NONE for a new one), and one of the document: views but the
    chunk's own text are its document's, which the removed chunks share. Both as a column."""
    old = [[NONE if graft.kept is None else graft.kept] for graft in grafts]
    return np.array(old), np.array([[graft.removed[0]] for graft in grafts])
