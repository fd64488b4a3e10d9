"""Trail: how far every piece of evidence came under one system, stage by stage."""

from dataclasses import dataclass

from lab.arrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class Trail:
    """One system's way from the text to the hits. All arrays are over the pieces; ranks count
    delivered spans from 1 and are NEVER where a stage does not have the whole piece.

    `limit` is how many spans are read (k, or what fits the token budget), `k` the cut-off that
    causes are relative to. `inside` says whether some alternative is in the corpus, `filtered` that
    the question's filter leaves all of them out, `needed` how few spans hold the piece, `unread`
    that the encoder does not read as far as the piece. `bm25` and `dense` are the ranks in each leg
    alone (None without the leg), `pool` says whether the candidates hold the piece, `pool_part` a
    part of it, and `exact_pool` whether exact search would. `first` is the rank before the
    reranker, `part` that of the first span with a part of the piece; `reranked` is the rank with no
    threshold, `final` as delivered. `crowded` says that the rank is within k once near-duplicates
    ahead count once.
    """

    limit: Ints
    k: Ints
    inside: Bools
    filtered: Bools
    needed: Ints
    unread: Bools
    bm25: Ints | None
    dense: Ints | None
    pool: Bools
    pool_part: Bools
    exact_pool: Bools
    first: Ints
    part: Ints
    reranked: Ints
    final: Ints
    crowded: Bools

    @property
    def missed(self) -> Bools:
        """Pieces that are not complete within what is read."""
        return self.final > self.limit
