"""What evidence holds beside its answer, and what it lacks: padding across a cut, an identifier
that stands outside the span, documents that are found by title alone."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from lab.arrays import Span
from lab.chunking.chunk import Chunking
from lab.chunking.cuts import Cuts
from lab.chunking.sentences import sentence_spans
from lab.corpus.document import Corpus
from lab.errors import counted
from lab.relevance.query import Evidence, Query
from lab.retrieval.analyzer import ANALYZERS
from lab.sets.audit.cuts import MINED
from lab.sets.audit.finding import Finding, listed
from lab.sets.identifiers import find_identifiers, folded

# A sentence has to hold this many words of the question and its answer to be the answering one.
FEWEST_WORDS = 3
# Share of a kind's questions with padded evidence that chance does not bring together: quotes of
# several sentences are natural, and some are cut anywhere.
PADDED = 0.1
FEWEST_PADDED = 3
# Share of a kind's questions whose document its title alone puts first, beyond which metrics of
# documents say more of titles than of texts.
BY_TITLE = 0.33
FEWEST_QUESTIONS = 10


def answering_sentence(query: Query, text: str, start: int, end: int) -> Span | None:
    """The one sentence of a span that holds every content word which the span shares with the
    question and its answer; None where no single sentence does, or so few are shared that this says
    nothing."""
    analyzer = ANALYZERS["english"]
    wanted = set(analyzer(f"{query.text} {query.answer or ''}")) & set(analyzer(text[start:end]))
    sentences = [(start + left, start + right) for left, right in sentence_spans(text[start:end])]
    if len(wanted) < FEWEST_WORDS or len(sentences) < 2:
        return None
    holding = [
        (left, right) for left, right in sentences if wanted <= set(analyzer(text[left:right]))
    ]
    return holding[0] if len(holding) == 1 else None


def padded_across_cuts(
    queries: Sequence[Query], chunkings: Mapping[str, Chunking]
) -> Iterator[Finding]:
    """Evidence that a chunking parts although a single sentence of it answers and lies whole in one
    chunk: the cut goes through text that was only put there to be cut."""
    written = [query for query in queries if query.evidence and query.tags.get("origin") != MINED]
    padded = {
        query.query_id
        for chunking in chunkings.values()
        for query in written
        if _is_padded(query, Cuts(chunking), chunking.corpus)
    }
    for kind in sorted({query.kind for query in written}):
        members = [query.query_id for query in written if query.kind == kind]
        cases = tuple(query_id for query_id in members if query_id in padded)
        if len(cases) >= max(FEWEST_PADDED, PADDED * len(members)):
            yield Finding(
                "warning",
                "padding across cuts",
                f"kind '{kind}': the evidence of {counted(len(cases), 'question')} of "
                f"{len(members)} is parted although one sentence of it answers and lies whole in "
                f"a chunk: {listed(cases)}",
                "quote the answering sentence alone, or what it needs to be understood",
                cases,
            )


def _is_padded(query: Query, cuts: Cuts, corpus: Corpus) -> bool:
    return any(
        _is_padding_cut(query, item, cuts, corpus)
        for item in query.evidence
        if not item.whole and item.doc_id in corpus
    )


def _is_padding_cut(query: Query, item: Evidence, cuts: Cuts, corpus: Corpus) -> bool:
    place, text = corpus.position[item.doc_id], corpus[item.doc_id].text
    start, end = item.span(text)
    if cuts.margin(place, start, end) >= 0:
        return False
    sentence = answering_sentence(query, text, start, end)
    return sentence is not None and cuts.margin(place, *sentence) >= 0


def evidence_without_identifier(queries: Sequence[Query], corpus: Corpus) -> Iterator[Finding]:
    """Questions of kind `exact_id` with a piece of core evidence whose document has the question's
    identifier although none of its spans holds it: whoever reads the span does not see what it is
    about."""
    lacking = tuple(
        query.query_id
        for query in queries
        if query.kind == "exact_id" and _lacks_identifier(query, corpus)
    )
    if lacking:
        yield Finding(
            "warning",
            "evidence without its identifier",
            f"{counted(len(lacking), 'question')} ask for an identifier that stands in the "
            f"document but not in the evidence: {listed(lacking)}",
            "begin the quote at the identifier, or at the heading that names it",
            lacking,
        )


def _lacks_identifier(query: Query, corpus: Corpus) -> bool:
    asked = _identifiers(query.text)
    if not asked:
        return False
    for piece in query.pieces:
        spans = [item for item in piece if item.role == "core" and not item.whole]
        texts = [corpus[item.doc_id].text for item in spans]
        quotes = [text[slice(*item.span(text))] for item, text in zip(spans, texts, strict=True)]
        if any(asked & _identifiers(quote) for quote in quotes):
            continue
        if any(asked & _identifiers(text) for text in texts):
            return True
    return False


def _identifiers(text: str) -> set[str]:
    return {folded(word) for _, word in find_identifiers(text)}


def found_by_title(queries: Sequence[Query], corpus: Corpus) -> Iterator[Finding]:
    """Kinds whose questions find their document by title and file name alone, without its text: by
    the idf of the words that question and title share."""
    asked = [query for query in queries if query.evidence and query.text.strip()]
    if len(corpus) < FEWEST_QUESTIONS or not asked:
        return
    analyzer = ANALYZERS["english"]
    titles = [{*analyzer(f"{d.title or ''} {_words_of(d.doc_id)}")} for d in corpus]
    places: dict[str, list[int]] = {}
    for place, words in enumerate(titles):
        for word in words:
            places.setdefault(word, []).append(place)
    hits: dict[str, list[bool]] = {}
    for query in asked:
        scores: dict[int, float] = {}
        for word in sorted({*analyzer(query.text)} & places.keys()):
            df = len(places[word])
            for place in places[word]:
                idf = math.log(1 + (len(titles) - df + 0.5) / (df + 0.5))
                scores[place] = scores.get(place, 0.0) + idf
        relevant = {item.doc_id for item in query.evidence}
        # Of equals the first by id, as everywhere.
        first = min(scores, key=lambda place: (-round(scores[place], 6), place), default=None)
        is_right = first is not None and corpus.documents[first].doc_id in relevant
        hits.setdefault(query.kind, []).append(is_right)
    for kind, right in sorted(hits.items()):
        share = sum(right) / len(right)
        if len(right) >= FEWEST_QUESTIONS and share > BY_TITLE:
            yield Finding(
                "note",
                "found by title",
                f"titles and file names alone put the right document first for {share:.0%} of the "
                f"{len(right)} questions of kind '{kind}'",
                "judged per document, this kind says little about the texts",
                (kind,),
            )


def _words_of(doc_id: str) -> str:
    return " ".join(PurePosixPath(doc_id).with_suffix("").parts).replace("-", " ").replace("_", " ")
