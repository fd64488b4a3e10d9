"""Duplicate and near-duplicate documents and questions."""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from lab.corpus.document import Corpus
from lab.errors import counted
from lab.relevance.query import Query
from lab.retrieval.analyzer import ANALYZERS
from lab.sets.audit.finding import Finding, listed

# Terms a shingle, and the share of shingles in common from which two texts count as nearly the same
# (Broder 1997).
SHINGLE, ALIKE = 5, 0.8
# Of long documents a sample of the shingles by hash is compared, the same shingles in every
# document.
WHOLE, SAMPLED = 2000, 8
# A shingle of this many documents is boilerplate and says nothing of a pair.
BOILERPLATE = 50
# Questions with fewer different terms than these resemble each other by chance.
LEAST_TERMS = 4


def duplicate_documents(corpus: Corpus, terms: Sequence[Sequence[str]]) -> Iterator[Finding]:
    """Documents of one text, and pairs that share most of their shingles; `terms` are the
    documents' terms."""
    by_text: dict[str, list[str]] = defaultdict(list)
    for document in corpus:
        by_text[document.text].append(document.doc_id)
    same = [" = ".join(ids) for text, ids in by_text.items() if len(ids) > 1 and text.strip()]
    blank = [document.doc_id for document in corpus if not document.text.strip()]
    if blank:
        yield Finding(
            "warning",
            "blank documents",
            f"{counted(len(blank), 'document')} without text: {listed(blank)}",
            "",
            tuple(blank),
        )
    if same:
        message = f"{counted(len(same), 'text')} stand in several documents: {listed(same, 3)}"
        remedy = "keep one of each, or evidence in one of them makes the others wrong answers"
        yield Finding("warning", "duplicate documents", message, remedy, tuple(same))
    near = [
        f"{a} ~ {b} ({share:.0%})"
        for a, b, share in _near_duplicates([d.doc_id for d in corpus], terms)
        if corpus[a].text != corpus[b].text
    ]
    if near:
        message = (
            f"{counted(len(near), 'pair')} of documents share at least {ALIKE:.0%} "
            f"of their text: {listed(near, 3)}"
        )
        remedy = (
            "list the second place as an alternative (one group) where both "
            "hold a question's evidence"
        )
        yield Finding("warning", "near-duplicate documents", message, remedy, tuple(near))


def _near_duplicates(
    ids: Sequence[str], terms: Sequence[Sequence[str]]
) -> Iterator[tuple[str, str, float]]:
    """Pairs of documents with their share of common shingles (Jaccard, estimated on a sample of
    long ones)."""
    shingles = [_shingles(words) for words in terms]
    holders: dict[int, list[int]] = defaultdict(list)
    for number, of_text in enumerate(shingles):
        for shingle in of_text:
            holders[shingle].append(number)
    common: Counter[tuple[int, int]] = Counter()
    for members in holders.values():
        if 1 < len(members) <= BOILERPLATE:
            common.update(combinations(members, 2))
    for (a, b), shared in sorted(common.items()):
        share = shared / (len(shingles[a]) + len(shingles[b]) - shared)
        if share >= ALIKE:
            yield ids[a], ids[b], share


def _shingles(words: Sequence[str]) -> set[int]:
    # crc32, for Python's own hash of text differs from run to run.
    hashes = {
        zlib.crc32("\0".join(words[i : i + SHINGLE]).encode())
        for i in range(len(words) - SHINGLE + 1)
    }
    return (
        hashes if len(words) <= WHOLE else {shingle for shingle in hashes if shingle % SAMPLED == 0}
    )


def duplicate_questions(queries: Sequence[Query]) -> Iterator[Finding]:
    """Questions of one text with the same evidence, and pairs of nearly the same words. (One text
    with different evidence is an ambiguity, which is worse and told apart.)"""
    by_text: dict[str, list[Query]] = defaultdict(list)
    for query in queries:
        by_text[same_text(query.text)].append(query)
    same = [
        " = ".join(query.query_id for query in members)
        for text, members in by_text.items()
        if text and len(members) > 1 and len({query.evidence for query in members}) == 1
    ]
    if same:
        message = (
            f"{counted(len(same), 'question')} stand in the set more than once: {listed(same, 3)}"
        )
        yield Finding(
            "warning",
            "duplicate questions",
            message,
            "keep one, or it counts twice in every mean",
            tuple(same),
        )
    near = [
        f"{a} ~ {b}" for a, b in _alike([members[0] for text, members in by_text.items() if text])
    ]
    if near:
        message = (
            f"{counted(len(near), 'pair')} of questions have nearly the same "
            f"words: {listed(near, 3)}"
        )
        yield Finding(
            "note",
            "near-duplicate questions",
            message,
            "they are one observation rather than two",
            tuple(near),
        )


def same_text(text: str) -> str:
    """The form under which two questions count as one text: case and white space aside."""
    return " ".join(text.casefold().split())


def _alike(queries: Sequence[Query]) -> Iterator[tuple[str, str]]:
    analyzer = ANALYZERS["auto"]
    terms = [frozenset(analyzer(query.text)) for query in queries]
    holders: dict[str, list[int]] = defaultdict(list)
    common: Counter[tuple[int, int]] = Counter()
    for number, of_text in enumerate(terms):
        for term in of_text:
            holders[term].append(number)
    for members in holders.values():
        # A term of very many questions (what, is) would make the pairs quadratic; alike ones share
        # rarer terms as well.
        if 1 < len(members) <= 10 * BOILERPLATE:
            common.update(combinations(members, 2))
    for (a, b), shared in sorted(common.items()):
        union = len(terms[a] | terms[b])
        if union >= LEAST_TERMS and shared < union and len(terms[a] & terms[b]) >= ALIKE * union:
            yield queries[a].query_id, queries[b].query_id
