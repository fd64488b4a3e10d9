"""What of an experiment the documents decide: where they may be cut, how large chunks should be,
and which model reads their language."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice

import regex

from lab.chunking.prefix import headings
from lab.chunking.units import CJK
from lab.corpus.document import Corpus
from lab.retrieval.analyzer import STOP_WORDS
from lab.retrieval.config import DEFAULT_MODEL
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.models import PACKAGED

# Documents and characters of each that are looked at.
LOOKED_AT, READ = 500, 20_000
BLANK_LINES = regex.compile(r"\n[ \t\r]*\n\s*")
WORD = regex.compile(r"\p{L}+")
DENSE_SCRIPT = regex.compile(rf"[{CJK}]")
# English text has two of its five words among the function words, other languages next to none.
ENGLISH = 0.15
# The model for everything but English: a hub id, what it reads and how many characters a token has
# at the least, by its authors and in the lab's Chinese handbook and English corpora.
MULTILINGUAL, MULTILINGUAL_TOKENS = "intfloat/multilingual-e5-small", 512
CHARACTERS_A_TOKEN = {True: 1.0, False: 3.0}  # in Chinese, Japanese and Korean, and elsewhere
SMALLEST, STEP = 100, 50


@dataclass(frozen=True, slots=True)
class Fitting:
    """`strategies` and `sizes` in characters (none where documents stay whole), the `model`,
    whether it can be used here (`models`: the extra is installed), the length of the `paragraph` in
    which the middle character of all text lies, and how many characters the model reads of a text
    (`room`)."""

    strategies: tuple[str, ...]
    sizes: tuple[int, ...]
    model: str
    models: bool
    english: bool
    paragraph: int
    room: int


def fitting(corpus: Corpus) -> Fitting:
    """Look at up to 500 documents, evenly spaced. Linear in their text."""
    step = -(-len(corpus) // LOOKED_AT)
    texts = [document.text[:READ] for document in islice(corpus, 0, None, step)]
    english = _english(texts)
    models = find_spec("sentence_transformers") is not None
    model = DEFAULT_MODEL if english else MULTILINGUAL
    paragraph, room = _paragraph(texts), _room(model, texts)
    smallest = max(SMALLEST, _rounded(min(paragraph, room / 4)))
    sizes = tuple(size for size in (smallest, 2 * smallest, 4 * smallest) if size <= room)
    strategies: tuple[str, ...] = ("fixed", "structure" if _structured(texts) else "sentences")
    lengths = sorted(len(text) for text in texts)
    if lengths[int(0.9 * (len(lengths) - 1))] <= smallest:
        strategies, sizes = ("document",), ()
    return Fitting(
        strategies=strategies,
        sizes=sizes,
        model=model,
        models=models,
        english=english,
        paragraph=paragraph,
        room=room,
    )


def _english(texts: Sequence[str]) -> bool:
    """Whether a fair share of the words are English function words."""
    words = [word for text in texts for word in WORD.findall(text.lower())]
    return sum(word in STOP_WORDS for word in words) >= ENGLISH * max(1, len(words))


def _paragraph(texts: Sequence[str]) -> int:
    """Length of the paragraph in which the middle character lies: headings and single lines are
    many, but hold little."""
    lengths = sorted(
        len(part) for text in texts for part in BLANK_LINES.split(text) if part.strip()
    )
    half, passed = sum(lengths) / 2, 0
    for length in lengths:
        passed += length
        if passed >= half:
            return length
    return 0


def _room(model: str, texts: Sequence[str]) -> int:
    """Characters that the model reads of nine in ten of these documents: counted with its tokenizer
    where it is here, else by the least that a token holds. A model that has to be fetched is not
    asked."""
    if model in PACKAGED and find_spec(PACKAGED[model][0]) and find_spec("tokenizers"):
        encoder = SentenceEncoder(model)
        tokens = [len(encoder.offsets(text)) for text in texts]
        ratios = [len(text) / count for text, count in zip(texts, tokens, strict=True) if count]
        least = sorted(ratios or [CHARACTERS_A_TOKEN[False]])[len(ratios) // 10]
        return int(encoder.max_tokens * least)
    dense = sum(len(DENSE_SCRIPT.findall(text)) for text in texts)
    in_cjk = dense > sum(map(len, texts)) / 4
    tokens_read = 256 if model in PACKAGED else MULTILINGUAL_TOKENS
    return int(tokens_read * CHARACTERS_A_TOKEN[in_cjk])


def _rounded(size: float) -> int:
    """To the next lower step that reads well."""
    return int(size // STEP * STEP)


def _structured(texts: Sequence[str]) -> bool:
    """Whether half of the documents have headings."""
    return 2 * sum(len(headings(text)) > 1 for text in texts) >= len(texts)
