"""The audit of a set against its corpus: everything worth knowing before anything runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.corpus.document import Corpus
from lab.relevance.query import Query
from lab.retrieval.analyzer import ANALYZERS
from lab.sets.audit.ambiguity import ambiguous_questions
from lab.sets.audit.asking import repeated_variants, useless_filters
from lab.sets.audit.counts import KindCount, count_kinds, origin, too_few
from lab.sets.audit.dates import dated
from lab.sets.audit.duplicates import duplicate_documents, duplicate_questions
from lab.sets.audit.evidence import evidence_without_identifier, found_by_title
from lab.sets.audit.finding import Finding, by_gravity
from lab.sets.audit.ids import awkward_ids, stray_grades
from lab.sets.audit.unread import unread_files
from lab.sets.audit.wording import leakage, parted_identifiers, shared_words, unknown_words


@dataclass(frozen=True, slots=True)
class Audit:
    """Counts by kind and the findings, the gravest first."""

    kinds: tuple[KindCount, ...]
    findings: tuple[Finding, ...]

    @property
    def unfit(self) -> bool:
        return any(finding.grade == "unfit" for finding in self.findings)


def audit(corpus: Corpus, queries: Sequence[Query], analyzers: Sequence[str] = ("auto",)) -> Audit:
    """Audit questions whose evidence has been found in the corpus (`read_diagnostics` reports what
    has not)."""
    analyzer = ANALYZERS["auto"]
    terms = [analyzer(document.text) for document in corpus]
    vocabulary = {term for words in terms for term in words}
    shares = {query.query_id: shared_words(query, corpus) for query in queries}
    kinds = count_kinds(queries, shares)
    findings = [
        *unread_files(corpus),
        *ambiguous_questions(queries, corpus),
        *stray_grades(queries),
        *duplicate_documents(corpus, terms),
        *duplicate_questions(queries),
        *leakage(queries, corpus, shares),
        *unknown_words(queries, vocabulary),
        *evidence_without_identifier(queries, corpus),
        *found_by_title(queries, corpus),
        *too_few(kinds),
        *origin(kinds),
        *parted_identifiers(corpus, queries, analyzers),
        *useless_filters(queries, corpus),
        *repeated_variants(queries),
        *dated(corpus, queries),
        *awkward_ids(corpus, queries),
    ]
    return Audit(kinds, tuple(by_gravity(findings)))
