"""How questions are worded: words taken from the evidence, words that occur nowhere, identifiers
that the analyzer parts."""

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence

from lab.corpus.document import Corpus
from lab.errors import counted
from lab.relevance.query import Query
from lab.retrieval.analyzer import ANALYZERS, STOP_WORDS
from lab.sets.audit.finding import Finding, listed
from lab.sets.identifiers import find_identifiers, folded, shape

# A paraphrase shares at most this much of its content words with its evidence.
PARAPHRASE = 0.2
# A question of fewer words than these can stand in a text by chance.
VERBATIM_WORDS = 6


def shared_words(query: Query, corpus: Corpus) -> float | None:
    """Share of a question's content words (English stems without stop words; bigrams of Chinese)
    that its evidence holds; None for a question without evidence or without content words."""
    analyzer = ANALYZERS["english"]
    words = set(analyzer(query.text))
    if not words or not query.evidence:
        return None
    held: set[str] = set()
    for item in query.evidence:
        start, end = item.span(corpus[item.doc_id].text)
        held.update(analyzer(corpus[item.doc_id].text[start:end]))
    return len(words & held) / len(words)


def leakage(
    queries: Sequence[Query], corpus: Corpus, shares: Mapping[str, float | None]
) -> Iterator[Finding]:
    """Questions that stand word for word in their evidence, and paraphrases (kind `semantic`) that
    share too many words. `shares` gives `shared_words` of every question id."""
    verbatim = tuple(query.query_id for query in queries if _verbatim(query, corpus))
    if verbatim:
        message = (
            f"{counted(len(verbatim), 'question')} stand word for word in their "
            f"evidence: {listed(verbatim)}"
        )
        yield Finding(
            "warning",
            "verbatim questions",
            message,
            "reword them: any lexical match finds them",
            verbatim,
        )
    copied = tuple(
        f"{query.query_id} ({share:.0%})"
        for query in queries
        if query.kind == "semantic"
        and (share := shares[query.query_id]) is not None
        and share > PARAPHRASE
    )
    if copied:
        message = (
            f"{counted(len(copied), 'semantic question')} share more than {PARAPHRASE:.0%} of "
            "their words with the evidence: "
            f"{listed(copied)}"
        )
        yield Finding(
            "warning", "leakage", message, "reword them, or call them keyword questions", copied
        )


def _verbatim(query: Query, corpus: Corpus) -> bool:
    analyzer = ANALYZERS["auto"]
    words = analyzer(query.text)
    if len(words) < VERBATIM_WORDS or not query.evidence:
        return False
    asked = f" {' '.join(words)} "
    for item in query.evidence:
        start, end = item.span(corpus[item.doc_id].text)
        if asked in f" {' '.join(analyzer(corpus[item.doc_id].text[start:end]))} ":
            return True
    return False


def unknown_words(queries: Sequence[Query], vocabulary: Collection[str]) -> Iterator[Finding]:
    """Words of questions that no document holds; questions of nothing but such words, or of none;
    identifiers that no document holds."""
    analyzer = ANALYZERS["auto"]
    some: list[str] = []
    none: list[str] = []
    named: list[str] = []
    codes: dict[str, list[str]] = {}
    for term in sorted(vocabulary):
        if any(map(str.isdigit, term)):
            codes.setdefault(shape(term), []).append(term)
    for query in queries:
        words = [term for term in dict.fromkeys(analyzer(query.text)) if term not in STOP_WORDS]
        unknown = [term for term in words if term not in vocabulary]
        if not unknown:
            continue
        if len(unknown) == len(words):
            none.append(query.query_id)
        some.append(f"{query.query_id} ({', '.join(unknown[:3])})")
        if query.evidence:
            known = {folded(name) for _, name in find_identifiers(query.text)}
            named.extend(
                f"{query.query_id}: '{term}'{_nearest_code(term, codes)}"
                for term in unknown
                if term in known
            )
    blank = tuple(query.query_id for query in queries if not query.text.strip())
    if blank:
        message = f"{counted(len(blank), 'question')} without text: {listed(blank)}"
        yield Finding(
            "warning", "blank questions", message, "they find nothing and lower every mean", blank
        )
    if none:
        message = (
            f"no word of {counted(len(none), 'question')} occurs in any document: {listed(none)}"
        )
        yield Finding(
            "warning",
            "unknown words",
            message,
            "BM25 finds nothing for them; look for another language or a slip",
            tuple(none),
        )
    if named:
        message = (
            f"{counted(len(named), 'identifier')} of questions with evidence "
            f"occur nowhere: {listed(named, 2)}"
        )
        yield Finding(
            "warning",
            "unknown identifiers",
            message,
            "mend the slip, or drop the evidence",
            tuple(named),
        )
    if some:
        message = (
            f"{counted(len(some), 'question')} hold words that occur nowhere in "
            f"the documents: {listed(some, 3)}"
        )
        yield Finding("note", "unknown words", message, "", tuple(some))


def _nearest_code(term: str, codes: Mapping[str, Sequence[str]]) -> str:
    close = difflib.get_close_matches(term, codes.get(shape(term), ()), n=1)
    return f" (nearest: '{close[0]}')" if close else ""


def parted_identifiers(
    corpus: Corpus, queries: Sequence[Query], analyzers: Sequence[str]
) -> Iterator[Finding]:
    """Identifiers of documents and questions that are no term of their own under an analyzer."""
    texts = [document.text for document in corpus] + [query.text for query in queries]
    names = sorted({name for text in texts for _, name in find_identifiers(text)})
    for key in analyzers:
        analyzer = ANALYZERS[key]
        parted = tuple(
            f"{name} -> {' '.join(terms)}"
            for name in names
            if folded(name) not in (terms := analyzer(name))
        )
        if parted:
            message = (
                f"analyzer '{key}' parts {len(parted)} of "
                f"{counted(len(names), 'identifier')}: {listed(parted, 4)}"
            )
            yield Finding(
                "note",
                "parted identifiers",
                message,
                "near misses that share the parts score like them",
                parted,
            )
