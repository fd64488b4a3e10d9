"""Fields: what systems read of a document beside its text, checked before anything is computed."""

from collections.abc import Sequence

import numpy as np

from lab.chunking.contexts import read_contexts
from lab.chunking.prefix import FILE
from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.errors import ConfigError, nearest
from lab.retrieval.config import OWN_TEXT
from lab.retrieval.features import feature


def check_fields(corpus: Corpus, configs: Sequence[Config]) -> tuple[str, ...]:
    """A line for every view, feature and file of contexts that some documents lack.

    Raises ConfigError with every view that no document has, every feature that none has or whose
    values are no numbers, and every file of contexts that is none or of other documents.
    """
    views = dict.fromkeys(view for config in configs for view in config.views if view != OWN_TEXT)
    features = dict.fromkeys(name for config in configs for name, _ in config.features.root)
    lacking: list[str] = []
    problems: list[str] = []
    for view in views:
        missing = sum(not document.view(view) for document in corpus)
        if missing == len(corpus):
            problems.append(
                f"retrieve.views: no document has a text as '{view}'{nearest(view, _texts(corpus))}"
            )
        elif missing:
            lacking.append(
                f"views: {missing} of {len(corpus)} documents have no '{view}' and are found by "
                "the others alone"
            )
    for name in features:
        try:
            missing = int(np.isnan(feature(corpus, name)).sum())
        except ConfigError as fault:
            problems.extend(fault.problems)
            continue
        if missing:
            lacking.append(
                f"features: {missing} of {len(corpus)} documents have no '{name}' and count as 0"
            )
    files = dict.fromkeys(c.chunk.prefix for c in configs if c.chunk.prefix.startswith(FILE))
    for name in files:
        try:
            known = read_contexts(name.removeprefix(FILE)).by_document
        except ConfigError as fault:
            problems.extend(fault.problems)
            continue
        missing = sum(document.doc_id not in known for document in corpus)
        if missing == len(corpus):
            problems.append(
                f"chunk.prefix '{name}': none of its documents is in the corpus; it names "
                f"{', '.join(map(repr, list(known)[:3]))}"
            )
        elif missing:
            lacking.append(
                f"prefix: {missing} of {len(corpus)} documents have no context in "
                f"{name.removeprefix(FILE)} and are indexed without"
            )
    if problems:
        raise ConfigError(problems)
    return tuple(lacking)


def _texts(corpus: Corpus) -> list[str]:
    """Views that some document has."""
    names = dict.fromkeys(("title", *(key for document in corpus for key in document.metadata)))
    return [OWN_TEXT, *(name for name in names if any(document.view(name) for document in corpus))]
