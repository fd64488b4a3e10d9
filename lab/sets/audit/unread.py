"""Files beside the documents that were not read: text that nobody will find."""

from collections.abc import Iterator

from lab.corpus.document import Corpus
from lab.sets.audit.finding import Finding


def unread_files(corpus: Corpus) -> Iterator[Finding]:
    """A warning where files of the corpus folder were left out."""
    if corpus.unread:
        yield Finding(
            "warning",
            "files not read",
            " | ".join(corpus.unread),
            "turn them into text, or take them out of the folder, so that nothing is missed",
            corpus.unread,
        )
