"""Slices: by what questions can be told apart, whatever is measured on them."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from lab.chunking.units import words
from lab.corpus.document import Corpus, Document
from lab.errors import RunError, nearest
from lab.relevance.query import Query

# Question lengths in words (a character of Chinese, Japanese or Korean is a word): terse, phrase,
# sentence, long.
LENGTHS = (3, 7, 14)
# Distances of evidence from the nearest cut, in characters.
DISTANCES = (0, 25, 100)

CJK_SCRIPTS = {"CJK": "zh", "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko"}


def length_label(text: str) -> str:
    """The slice of a question's length."""
    count = len(words(text))
    low = 1
    for high in LENGTHS:
        if count <= high:
            return f"{low}-{high} words"
        low = high + 1
    return f"{low}+ words"


def _language(query: Query, corpus: Corpus) -> str:
    """The tag `lang` where there is one, else the script of most letters: languages of one script
    are not told apart."""
    if "lang" in query.tags:
        return query.tags["lang"]
    scripts = Counter(
        unicodedata.name(letter, "?").split()[0] for letter in query.text if letter.isalpha()
    )
    if not scripts:
        return "no letters"
    # Any kana means Japanese, whose other half is Chinese characters; identifiers inside Chinese do
    # not make it Latin.
    for script in ("HIRAGANA", "KATAKANA", "HANGUL", "CJK"):
        if script in scripts and 4 * scripts[script] >= sum(scripts.values()):
            return CJK_SCRIPTS[script]
    return scripts.most_common(1)[0][0].lower()


def _doctype(query: Query, corpus: Corpus) -> str:
    """Type of the evidence's documents: metadata `type`, else the folder, else the file's
    extension; `several` if they differ."""
    documents = (
        corpus[item.doc_id] if item.doc_id in corpus else Document(item.doc_id, "")
        for item in query.evidence
    )
    types = {document.doctype for document in documents}
    return "several" if len(types) > 1 else next(iter(types), "no evidence")


AXES: dict[str, Callable[[Query, Corpus], str]] = {
    "kind": lambda query, corpus: query.kind,
    "doctype": _doctype,
    "length": lambda query, corpus: length_label(query.text),
    "language": _language,
}


def labels(queries: Sequence[Query], corpus: Corpus, by: str) -> list[str]:
    """The slice of every question along one axis: kind, doctype, length, language, or a tag by
    name.

    Raises RunError with the nearest name when neither an axis nor any question's tag is called so.
    """
    if by in AXES:
        return [AXES[by](query, corpus) for query in queries]
    tags = {tag for query in queries for tag in query.tags}
    if by not in tags:
        raise RunError(
            f"nothing to slice by '{by}'{nearest(by, {*AXES, 'distance', 'siblings', *tags})}"
        )
    return [query.tags.get(by, "-") for query in queries]


def distance_label(margin: int) -> str:
    """The slice of a distance from the nearest cut (see `lab.chunking.cuts`): negative means that
    the cut parts it."""
    if margin < DISTANCES[0]:
        return "cut"
    low = DISTANCES[0]
    for high in DISTANCES[1:]:
        if margin < high:
            return f"{low}-{high - 1}"
        low = high
    return f"{low}+"
