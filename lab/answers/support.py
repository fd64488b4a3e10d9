"""Evidence use: where every sentence of an answer comes from, and which evidence, at which place of
the context, an answer makes use of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lab.answers.context import Context, completion_ranks
from lab.answers.wording import PARTLY, content_words, words_held
from lab.chunking.sentences import sentence_spans
from lab.corpus.document import Corpus
from lab.relevance.query import Query

Source = Literal["core", "background", "other context", "nowhere"]
Third = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """One sentence of an answer: its span there, where its best support comes from, the rank of the
    context that gives it (None: nowhere), and the share of its content words held there."""

    start: int
    end: int
    source: Source
    rank: int | None
    share: float


@dataclass(frozen=True, slots=True)
class EvidenceUse:
    """An item of evidence in the contexts: the rank that shows it, the third of the context where
    it stands, and whether the answer holds half of its content words in their order."""

    place: int
    rank: int
    third: Third
    used: bool


def sentence_supports(
    query: Query, answer: str, contexts: Sequence[Context], corpus: Corpus
) -> list[SentenceSupport]:
    """The best support of every sentence that says something: the text, of all core evidence shown,
    background shown and whole contexts, that holds most of its content words; evidence first where
    they are equal."""
    texts = _candidates(query, contexts, corpus)
    supports = []
    for left, right in sentence_spans(answer):
        sentence = answer[left:right]
        if not content_words(sentence):
            continue
        best = max(
            ((words_held(sentence, text), source, rank) for text, source, rank in texts),
            key=lambda support: support[0],
            default=(0.0, "nowhere", None),
        )
        share, source, rank = best
        if share < PARTLY:
            source, rank = "nowhere", None
        supports.append(SentenceSupport(left, right, source, rank, share))
    return supports


def _candidates(
    query: Query, contexts: Sequence[Context], corpus: Corpus
) -> list[tuple[str, Source, int | None]]:
    """Texts that may support a sentence, the ones to prefer first."""
    ranks = completion_ranks(query.evidence, contexts, corpus)
    texts: list[tuple[str, Source, int | None]] = []
    for role in ("core", "background"):
        for item, rank in zip(query.evidence, ranks, strict=True):
            if item.role == role and rank is not None and not item.whole:
                start, end = item.span(corpus[item.doc_id].text)
                texts.append((corpus[item.doc_id].text[start:end], item.role, rank))
    texts += [(context.text, "other context", rank) for rank, context in enumerate(contexts, 1)]
    return texts


def evidence_use(
    query: Query, answer: str, contexts: Sequence[Context], corpus: Corpus
) -> list[EvidenceUse]:
    """One row an item of evidence that the contexts show."""
    ranks = completion_ranks(query.evidence, contexts, corpus)
    rows = []
    for place, (item, rank) in enumerate(zip(query.evidence, ranks, strict=True)):
        if rank is None or item.whole:
            continue
        start, end = item.span(corpus[item.doc_id].text)
        used = words_held(corpus[item.doc_id].text[start:end], answer) >= PARTLY
        rows.append(EvidenceUse(place, rank, _third(rank, len(contexts)), used))
    return rows


def _third(rank: int, count: int) -> Third:
    """The third of the context in which a rank lies; of fewer than three contexts the first is the
    start and the last the end."""
    share = (rank - 0.5) / count
    return "start" if share < 1 / 3 else "end" if share > 2 / 3 else "middle"
