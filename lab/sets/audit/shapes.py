"""Documents made to fit the treatment: paragraphs that never reach the size of the chunks
compared."""

import re
from collections.abc import Iterator, Mapping

import numpy as np

from lab.arrays import Ints
from lab.corpus.document import Corpus
from lab.sets.audit.finding import Finding

# Of all prose paragraphs; contracts have 38 % above 400 characters, reports and articles 48 %.
FEWEST_LONG = 0.02
FEWEST_PARAGRAPHS = 30
BLANK_LINE = re.compile(r"\n[ \t]*\n")
# Tables, lists, headings and code are no prose.
NO_PROSE = re.compile(r"\s*(?:[|#>]|[-*+] |\d+[.)] |```|~~~|<)")


def paragraph_lengths(corpus: Corpus) -> Ints:
    """Characters of every prose paragraph."""
    lengths = [
        len(paragraph.strip())
        for document in corpus
        for paragraph in BLANK_LINE.split(document.text)
        if paragraph.strip() and not NO_PROSE.match(paragraph)
    ]
    return np.array(lengths, dtype=np.int64)


def short_paragraphs(corpus: Corpus, sizes: Mapping[str, int]) -> Iterator[Finding]:
    """Chunkings that keep paragraphs whole, over documents whose paragraphs all fit: they cannot
    fail here where they would on other texts. `sizes` gives the characters of such chunks by
    label."""
    lengths = paragraph_lengths(corpus)
    if len(lengths) < FEWEST_PARAGRAPHS:
        return
    safe = tuple(label for label, size in sizes.items() if (lengths > size).mean() < FEWEST_LONG)
    if safe:
        yield Finding(
            "warning",
            "paragraphs shorter than the chunks",
            f"of {len(lengths)} paragraphs the longest has {lengths.max()} characters and hardly "
            f"any is longer than the chunks of {', '.join(safe)}, which keep paragraphs whole",
            "such chunks part no evidence here and would elsewhere: compare them on documents "
            "with paragraphs of your users' lengths",
            safe,
        )
