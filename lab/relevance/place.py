"""Where evidence stands in its document."""

from lab.corpus.document import Corpus
from lab.relevance.query import Evidence


def place(corpus: Corpus, evidence: Evidence) -> tuple[str, int, int]:
    """The evidence's document and its span there; an empty text where the corpus lacks the
    document."""
    text = corpus[evidence.doc_id].text if evidence.doc_id in corpus else ""
    return text, *evidence.span(text)
