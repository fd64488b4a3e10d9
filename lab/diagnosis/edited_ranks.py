"""Edited ranks: at which rank a chunk edit stands when everything after chunking runs again."""

from collections.abc import Sequence

import numpy as np

from lab.arrays import NEVER, NONE, Floats, Ints
from lab.config.config import Config
from lab.diagnosis.chunk_edits import ChunkEdit
from lab.diagnosis.insertion import Insertion, Legs, insert
from lab.diagnosis.stage_ranks import legs
from lab.pipeline.memo import Memo
from lab.pipeline.stages import Stages
from lab.relevance.judge import DocumentJudge, Judge
from lab.relevance.pieces import Pieces
from lab.retrieval.config import BM25Config, DenseConfig, RerankConfig
from lab.retrieval.fusion import Boost
from lab.retrieval.ranking import Ranking, merged, ranks_of
from lab.retrieval.rerank import rerank
from lab.retrieval.similarity import prepared
from lab.retrieval.similarity import scores as similarities
from lab.retrieval.variants import fuse_wordings

Edits = Sequence[ChunkEdit]


class EditedRanks:
    """Built once per chunking. A leg's scores of edits are computed once, and the same whatever
    alpha or reranker asks for them."""

    def __init__(self, stages: Stages, pieces: Pieces) -> None:
        self.stages = stages
        self.pieces = pieces
        # (asked in their own words, leg) -> (question, edit) -> score
        self._scores: Memo[
            tuple[bool, BM25Config | DenseConfig], dict[tuple[int, ChunkEdit], float]
        ] = Memo()

    def ranks(self, config: Config, judge: Judge, units: Ints, edits: Edits) -> Ints:
        """The rank of each piece's edit under a system. Other questions and chunks, and the index's
        statistics, stay as they are."""
        query = self.pieces.query[units]
        ranking = self._first_stage(self.stages, config, query, edits)
        if self.stages.variants is not None:
            # Every wording of a piece's question is asked with the edit in place, then fused as
            # ever.
            row, variant = np.nonzero(query[:, None] == self.stages.questions.owner)
            edits_of_variants = [edits[i] for i in row.tolist()]
            others = self._first_stage(self.stages.variants, config, variant, edits_of_variants)
            ranking = fuse_wordings(ranking, others, row, config.depth)
        if config.rerank is not None:
            questions = [self.stages.questions.texts[q] for q in query]
            scores = self._pair_scores(config.rerank, query, edits, ranking)
            ranking = rerank(ranking, scores, config.rerank, questions)
        target, judged_as = self._judged(config, judge, edits)
        # Each row has its edit under the same number, the one behind all chunks.
        mapped = np.append(target, (NONE, NONE))[ranking.chunks]
        mapped = np.where(ranking.chunks == len(target), judged_as[:, None], mapped)
        ranks = ranks_of(merged(ranking, mapped), np.arange(len(edits)), judged_as)
        return np.where(ranks > 0, ranks, NEVER)

    def _first_stage(self, stages: Stages, config: Config, query: Ints, edits: Edits) -> Ranking:
        """The ranking before the reranker of questions in one wording, each with its edit."""
        lexical, semantic = legs(config)
        both = (
            None
            if lexical is None or semantic is None
            else stages.candidates(lexical, semantic, config.depth)
        )
        parts = Legs(
            bm25=None if lexical is None else stages.own_bm25(lexical, config.depth),
            dense=None if semantic is None else stages.own_dense(semantic, config.depth),
            candidates=both,
            fusion=config.fusion,
            alphas=None if both is None else stages.alphas(config)[query],
            depth=config.depth,
            boost=self._boost(config, edits),
        )
        insertion = Insertion(
            chunk=len(stages.chunking),
            removed=_removed(edits),
            bm25=self._admitted(stages, config.bm25, query, edits),
            dense=self._admitted(stages, config.dense, query, edits),
        )
        return insert(parts, query, insertion)

    def _admitted(
        self, stages: Stages, leg: BM25Config | DenseConfig | None, query: Ints, edits: Edits
    ) -> Floats:
        """A leg's scores of edits; NaN without the leg, where no term is shared, or where the
        question's filter leaves the edit's document out."""
        if leg is None:
            return np.full(len(edits), np.nan)
        documents = stages.chunking.corpus.documents
        admitted = [
            stages.admits(q, documents[edit.document].doc_id)
            for q, edit in zip(query.tolist(), edits, strict=True)
        ]
        return np.where(admitted, self._leg_scores(stages, leg, query, edits), np.nan)

    def _leg_scores(
        self, stages: Stages, leg: BM25Config | DenseConfig, query: Ints, edits: Edits
    ) -> Floats:
        known = self._scores.once((stages is self.stages, leg), dict)
        pairs = list(zip(query.tolist(), edits, strict=True))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if new:
            questions = np.array([question for question, _ in new])
            new_edits = [edit for _, edit in new]
            scores = (
                self._bm25(stages, leg, questions, new_edits)
                if isinstance(leg, BM25Config)
                else self._dense(stages, leg, questions, new_edits)
            )
            known.update(zip(new, scores.tolist(), strict=True))
        return np.array([known[pair] for pair in pairs])

    def _bm25(self, stages: Stages, leg: BM25Config, query: Ints, edits: Edits) -> Floats:
        questions, index = (
            [stages.questions.texts[q] for q in query],
            stages.indexes.bm25_index(leg),
        )
        kept, neighbour = _kept_and_neighbour(edits)
        texts = stages.indexes.texts_of([(edit.document, edit.start, edit.end) for edit in edits])
        fresh = index.own.scores_of_new(questions, texts)
        fresh = np.fmax(fresh, index.scores_of_others(questions, neighbour)[:, 0])
        return np.where(kept[:, 0] == NONE, fresh, index.scores(questions, kept)[:, 0])

    def _dense(self, stages: Stages, leg: DenseConfig, query: Ints, edits: Edits) -> Floats:
        spans = [(edit.document, *edit.reads) for edit in edits]
        similarity = stages.resources.similarity(leg)
        read = prepared(stages.indexes.span_vectors(leg, spans), similarity)
        questions, index = stages.question_vectors(leg)[query], stages.indexes.dense_index(leg)
        kept, neighbour = _kept_and_neighbour(edits)
        edited = np.arange(len(edits))[:, None]
        fresh = np.fmax(
            similarities(read, questions, edited, similarity)[:, 0],
            index.scores_of_others(questions, neighbour)[:, 0],
        )
        return np.asarray(np.fmax(fresh, index.scores(questions, kept)[:, 0]))

    def _boost(self, config: Config, edits: Edits) -> Boost | None:
        """The features of every row's chunks, its edit among them."""
        if not config.features.root:
            return None
        values, new = self.stages.indexes.feature_values(config.features), len(self.stages.chunking)
        document = np.append(self.stages.chunking.document, NONE)
        document_of_edit = np.array([edit.document for edit in edits])[:, None]
        weights = tuple(weight for _, weight in config.features.root)

        def features_of(chunks: Ints) -> Floats:
            return values[:, np.where(chunks == new, document_of_edit, document[chunks])]

        return Boost(weights, features_of)

    def _pair_scores(
        self, config: RerankConfig, query: Ints, edits: Edits, ranking: Ranking
    ) -> Floats:
        """Pair scores of the head: known ones looked up, new ones computed where the edit is in the
        head, for elsewhere they decide nothing."""
        pool, new = ranking.first(config.depth).chunks, len(self.stages.chunking)
        edited = pool == new
        known = np.where(edited, NONE, pool)
        scores = self.stages.pairs.known(config.model, known, query)
        row, column = np.nonzero(edited)
        if len(row):
            texts = [self._text(edits[r]) for r in row.tolist()]
            questions = [self.stages.questions.texts[query[r]] for r in row]
            scores[row, column] = self.stages.resources.score_pairs(config.model, questions, texts)
        row, column = np.nonzero(np.isnan(scores) & (pool != NONE) & edited.any(axis=1)[:, None])
        if len(row):
            scores[row, column] = self.stages.pairs.ask(config.model, query[row], pool[row, column])
        return scores

    def _judged(self, config: Config, judge: Judge, edits: Edits) -> tuple[Ints, Ints]:
        """What every chunk is judged as, and what every edit is: its document, the span of the
        chunk it stands for, or a span of its own."""
        target = self.stages.delivery(config.deliver).span_of
        if isinstance(judge, DocumentJudge):
            return judge.spans.document[target], np.array([edit.document for edit in edits])
        span_of_edit = [
            len(judge.spans) if edit.kept is None else int(target[edit.kept]) for edit in edits
        ]
        return target, np.array(span_of_edit, dtype=np.int64)

    def _text(self, edit: ChunkEdit) -> str:
        document = self.stages.chunking.corpus.documents[edit.document]
        return document.text[edit.start : edit.end]


def _removed(edits: Edits) -> Ints:
    """Edits x any: the chunks that each takes out, NONE-padded."""
    # No edit is left where none of the questions asked has another wording.
    width = max((len(edit.removed) for edit in edits), default=0)
    removed = np.full((len(edits), width), NONE, dtype=np.int64)
    for row, edit in enumerate(edits):
        removed[row, : len(edit.removed)] = edit.removed
    return removed


def _kept_and_neighbour(edits: Edits) -> tuple[Ints, Ints]:
    """The chunk whose score stays (NONE for a new one), and one of the document: views but the
    chunk's own text are its document's, which the removed chunks share. Both as a column."""
    kept = [[NONE if edit.kept is None else edit.kept] for edit in edits]
    return np.array(kept), np.array([[edit.removed[0]] for edit in edits])
