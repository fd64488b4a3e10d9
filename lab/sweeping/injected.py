"""Injected documents: the distractors that a corpus holds."""

from lab.corpus.document import Corpus

# The prefix of every injected document's id; no document of a corpus may begin so.
INJECTED = "injected:"


def injected(corpus: Corpus) -> int:
    """How many documents of a corpus are distractors."""
    return sum(document.doc_id.startswith(INJECTED) for document in corpus)
