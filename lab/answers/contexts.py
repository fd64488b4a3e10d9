"""What a generator is given for every question: what a system delivered, or the gold evidence, as
it stands or with noise or in another order."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.answers.answer import GOLD, NO_CONTEXT
from lab.answers.context import Context, completion_ranks
from lab.corpus.document import Corpus
from lab.errors import AnswersError
from lab.relevance.query import Query
from lab.runs.run import Run

MODES = "chain, gold, gold+noise(n), reordered(front|back|sides), none"
NOISE = re.compile(r"gold\+noise\((\d{1,3})\)")
REORDERED = re.compile(r"reordered\((front|back|sides)\)")
PROMPT = (
    "Answer the question from the passages alone. If they do not answer it, say so.\n\n"
    "{passages}\n\nQuestion: {question}\nAnswer:"
)
BARE_PROMPT = "Question: {question}\nAnswer:"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question with its contexts, ready for any generator. `system` is what the answer's
    `system` should be."""

    query_id: str
    system: str
    question: str
    contexts: tuple[Context, ...]

    @property
    def prompt(self) -> str:
        """The text to send: numbered passages, then the question."""
        if not self.contexts:
            return BARE_PROMPT.format(question=self.question)
        numbered = (f"[{rank}] {context.text}" for rank, context in enumerate(self.contexts, 1))
        return PROMPT.format(passages="\n\n".join(numbered), question=self.question)


def delivered(run: Run, system: str, k: int) -> Mapping[str, tuple[Context, ...]]:
    """What a system handed to the reader for every scored question, best first; a run keeps the
    first ten hits."""
    table = run.tables.rankings
    rows = table[(table["system"] == system) & (table["rank"] > 0) & (table["rank"] <= k)]
    rows = rows.sort_values(["query_id", "rank"], kind="stable")
    contexts: dict[str, list[Context]] = {query_id: [] for query_id in run.query_ids}
    seen: set[tuple[str, int]] = set()
    columns = ("query_id", "rank", "doc_id", "shown_start", "shown_end")
    for query_id, rank, doc_id, start, end in rows[list(columns)].itertuples(index=False):
        if (query_id, rank) not in seen:  # one span may be delivered for several chunks
            seen.add((query_id, rank))
            text = run.corpus[doc_id].text[start:end]
            contexts[query_id].append(Context(text, str(doc_id), int(start), int(end)))
    return {query_id: tuple(context) for query_id, context in contexts.items()}


def prompts(run: Run, system: str, mode: str, k: int, seed: int = 0) -> Iterator[Prompt]:
    """A prompt for every scored question. `system` is a full name.

    `chain` is what the system delivered; `gold` the core and background evidence in its order;
    `gold+noise(n)` the same among n delivered passages that hold none of it, shuffled by `seed`;
    `reordered(front)` what was delivered with the evidence first, `back` last, `sides` turn by turn
    at both ends; `none` nothing. Raises AnswersError for an unknown mode.
    """
    noise, order = NOISE.fullmatch(mode), REORDERED.fullmatch(mode)
    if mode not in ("chain", "gold", "none") and noise is None and order is None:
        raise AnswersError(f"mode is {mode!r}; expected one of {MODES}")
    queries = {query.query_id: query for query in run.queries}
    chains = delivered(run, system, k)
    for query_id in run.query_ids:
        query, chain = queries[query_id], chains[query_id]
        name = system
        if mode == "none":
            name, chain = NO_CONTEXT, ()
        elif mode == "gold":
            name, chain = GOLD, gold(query, run.corpus)
        elif noise is not None:
            name, chain = mode, _with_noise(query, chain, run.corpus, int(noise[1]), seed)
        elif order is not None:
            name, chain = f"{system} {mode}", _reordered(query, chain, run.corpus, order[1])
        yield Prompt(query_id, name, query.text, chain)


def gold(query: Query, corpus: Corpus) -> tuple[Context, ...]:
    """The evidence itself, one alternative of each piece, in the order of the chain where it has
    one."""
    items = [piece[0] for piece in query.pieces]
    items.sort(key=lambda item: (item.order is None, item.order or 0))
    spans = [(item.doc_id, *item.span(corpus[item.doc_id].text)) for item in items]
    return tuple(Context(corpus[doc].text[start:end], doc, start, end) for doc, start, end in spans)


def _with_noise(
    query: Query, chain: Sequence[Context], corpus: Corpus, count: int, seed: int
) -> tuple[Context, ...]:
    mixed = [*gold(query, corpus), *_without_evidence(query, chain, corpus)[:count]]
    random.Random(f"{seed} {query.query_id}").shuffle(mixed)
    return tuple(mixed)


def _reordered(
    query: Query, chain: Sequence[Context], corpus: Corpus, where: str
) -> tuple[Context, ...]:
    empty = _without_evidence(query, chain, corpus)
    full = [context for context in chain if context not in empty]
    if where == "front":
        return (*full, *empty)
    if where == "back":
        return (*empty, *full)
    return (*full[::2], *empty, *reversed(full[1::2]))


def _without_evidence(query: Query, chain: Sequence[Context], corpus: Corpus) -> list[Context]:
    """Passages of a chain that complete no evidence by themselves."""
    return [
        context
        for context in chain
        if not any(rank is not None for rank in completion_ranks(query.evidence, [context], corpus))
    ]
