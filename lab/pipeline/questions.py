"""Questions: what the stages of a chunking are asked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.arrays import Ints
from lab.corpus.filter import Filter
from lab.relevance.query import Query


@dataclass(frozen=True, eq=False)
class Questions:
    """Queries as they are asked. `filters` has each one's, None where it is not used. `variants`
    are the other wordings of all of them as questions of their own (None where they are not used),
    and `owner` says whose each wording is."""

    queries: tuple[Query, ...]
    texts: tuple[str, ...]
    filters: tuple[Filter | None, ...]
    owner: Ints
    variants: "Questions | None"

    @staticmethod
    def of(
        queries: Sequence[Query], *, filtered: bool = False, variants: bool = False
    ) -> "Questions":
        """Queries with their filters and variants, or without."""
        wordings = [len(query.variants) if variants else 0 for query in queries]
        others = [
            replace(query, text=text, variants=())
            for query, count in zip(queries, wordings, strict=True)
            for text in query.variants[:count]
        ]
        return Questions(
            queries=tuple(queries),
            texts=tuple(query.text for query in queries),
            filters=tuple(query.filter if filtered else None for query in queries),
            owner=np.repeat(np.arange(len(queries)), wordings),
            variants=Questions.of(others, filtered=filtered) if others else None,
        )

    def __len__(self) -> int:
        return len(self.queries)
