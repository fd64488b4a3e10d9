"""Competitors: what stands ahead of a piece of evidence, and what it is to that evidence."""

from lab.arrays import NEVER
from lab.diagnosis.misses import Ahead
from lab.diagnosis.neighbours import Neighbours
from lab.diagnosis.stage_ranks import StageRanks
from lab.evaluation.scores import SystemRun
from lab.pipeline.memo import Memo
from lab.relevance.judge import Judge, SpanJudge
from lab.relevance.pieces import Pieces


class Competitors:
    """Built once per chunking."""

    def __init__(self, pieces: Pieces) -> None:
        self.query = pieces.query
        self._evidence: Memo[tuple[Judge, int], list[int]] = Memo()
        self._neighbours: Memo[SpanJudge, Neighbours] = Memo()

    def evidence(self, judge: Judge, unit: int) -> list[int]:
        """The judged spans (or documents) that hold some of a piece, ascending."""

        def compute() -> list[int]:
            coverings = judge.covering_spans(unit)
            return sorted(
                {int(span) for covering in coverings for spans in covering.spans for span in spans}
            )

        return self._evidence.once((judge, unit), compute)

    def ahead(self, run: SystemRun, ranks: StageRanks, unit: int) -> list[int]:
        """What stands before the rank that completes the piece, the piece's own spans left out."""
        evidence = set(self.evidence(run.judge, unit))
        row = run.judged.ranking.chunks[self.query[unit]]
        final = int(ranks.final[unit])
        last = len(row) if final == NEVER else final - 1
        return [span for span in row[:last].tolist() if span >= 0 and span not in evidence]

    def distinct_rank(self, run: SystemRun, ranks: StageRanks, unit: int) -> int:
        """The piece's rank once near-duplicates ahead of it count once; counted as far as its k."""
        judge = run.judge
        assert isinstance(judge, SpanJudge)  # documents are not compared
        ahead, evidence = self.ahead(run, ranks, unit), self.evidence(judge, unit)
        return self._near(judge).distinct_rank(ahead, evidence, int(ranks.k[unit]))

    def named(self, run: SystemRun, ranks: StageRanks, unit: int) -> tuple[Ahead, ...]:
        """The judged things ahead within k; spans with what they are to the evidence."""
        judge = run.judge
        ahead = self.ahead(run, ranks, unit)[: int(ranks.k[unit])]
        documents = judge.spans.corpus.documents
        if not isinstance(judge, SpanJudge):
            return tuple(Ahead(documents[document].doc_id) for document in ahead)
        evidence, near, spans = self.evidence(judge, unit), self._near(judge), judge.spans
        return tuple(
            Ahead(
                documents[spans.document[span]].doc_id,
                int(spans.start[span]),
                int(spans.end[span]),
                near.relation(span, evidence),
            )
            for span in ahead
        )

    def _near(self, judge: SpanJudge) -> Neighbours:
        return self._neighbours.once(judge, lambda: Neighbours(judge.spans))
