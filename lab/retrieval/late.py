"""Late chunking: a whole document is read in context, and a chunk's vector is the mean of its
tokens' vectors.

Günther, Mohr, Williams, Wang & Xiao, "Late Chunking: Contextual Chunk Embeddings Using Long-Context
Embedding Models", arXiv 2409.04701 (2024); documents longer than the model's window as in its
section on long late chunking.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lab.arrays import Ints, Span, Vectors
from lab.retrieval.encoder import Encoder, SentenceEncoder
from lab.retrieval.models import model_modules, read_json

# The share of a window that it has in common with the next one.
OVERLAP = 0.25
BATCH = 8
SWITCH = "pooling_mode_"


@dataclass(frozen=True, eq=False)
class Tokens:
    """A document as the model gets it: what stands before its text in every window (special tokens
    and prompt), its own tokens with their offsets in the text, and what stands after it."""

    before: list[int]
    ids: list[int]
    starts: Ints
    ends: Ints
    after: list[int]


def obstacle(encoder: Encoder) -> str | None:
    """Why a model cannot pool late; None where it can: the vector of a text has to be the mean of
    its tokens' vectors."""
    if not isinstance(encoder, SentenceEncoder):
        return "an encoder that is given as an object has no token vectors"
    for kind, folder in model_modules(encoder.folder):
        if kind == "Pooling":
            config = read_json(folder / "config.json")
            # Until sentence-transformers 5 every mode was a switch, "pooling_mode_mean_tokens":
            # true.
            switched = [
                key[len(SWITCH) :].removesuffix("s").removesuffix("_token")
                for key in config
                if key.startswith(SWITCH) and config[key]
            ]
            mode = config.get("pooling_mode") or "+".join(switched) or "mean"
            if mode not in ("mean", ["mean"]):
                return f"it pools its tokens by '{mode}'"
            if config.get("include_prompt") is False:
                return "it leaves its prompt out of the mean"
        elif kind not in ("Transformer", "Normalize"):
            return f"its vectors go through a module '{kind}'"
    return None


def windows(tokens: int, room: int) -> list[tuple[int, int, int]]:
    """(first token, first and one past the last token kept) of every window over a document: each
    holds `room` tokens and shares a quarter of them with the next, and a token is kept from the
    window in which it has more context."""
    if tokens <= room:
        return [(0, 0, tokens)]
    step = max(room - int(OVERLAP * room), 1)
    firsts = [*range(0, tokens - room, step), tokens - room]
    middles = [(first + room + following + 1) // 2 for first, following in pairwise(firsts)]
    return list(zip(firsts, [0, *middles], [*middles, tokens], strict=True))


def late_vectors(
    encoder: SentenceEncoder, text: str, spans: Sequence[Span], *, scaled: bool = True
) -> Vectors:
    """One vector a span of the text (spans x dimension): the mean over the tokens that it shares a
    character with, `scaled` to length 1 or as it is.

    Special tokens and prompt count with the spans that begin or end the text, so that the span of
    all of it has the vector which the model gives the text, if it fits into the window.
    """
    tokens = _tokens(encoder, text)
    before, rows, after = _read(encoder, tokens)
    vectors = np.zeros((len(spans), rows.shape[1]), dtype=np.float32)
    for place, (start, end) in enumerate(spans):
        first = int(np.searchsorted(tokens.ends, start, side="right"))
        last = int(np.searchsorted(tokens.starts, end, side="left"))
        if (
            first >= last
        ):  # no token at all, of characters that the tokenizer passes over: the nearest one
            first = max(min(first, len(rows) - 1), 0)
            last = first + 1
        span_rows = [
            rows[first:last],
            *([before] if first == 0 else ()),
            *([after] if last >= len(rows) else ()),
        ]
        mean = np.concatenate(span_rows).mean(axis=0, dtype=np.float64)
        vectors[place] = mean / max(float(np.linalg.norm(mean)), 1e-12) if scaled else mean
    return vectors


def room_of(encoder: Encoder) -> int:
    """Tokens of a document that one window holds beside the prompt."""
    return encoder.max_tokens - len(encoder.offsets(encoder.prompt("passage")))


def _tokens(encoder: SentenceEncoder, text: str) -> Tokens:
    prompt = encoder.prompt("passage")
    ids, offsets, special = encoder.tokens(prompt + text)
    inside = [
        place for place, (_, end) in enumerate(offsets) if not special[place] and end > len(prompt)
    ]
    first, last = (inside[0], inside[-1] + 1) if inside else (len(ids) - 1, len(ids) - 1)
    spans = np.array(offsets[first:last], dtype=np.int64).reshape(-1, 2) - len(prompt)
    # A token may have the blank before its word; the word decides which chunk it belongs to.
    starts = [
        min(start + len(text[start:end]) - len(text[start:end].lstrip()), end)
        for start, end in np.maximum(spans, 0).tolist()
    ]
    return Tokens(
        ids[:first], ids[first:last], np.array(starts, dtype=np.int64), spans[:, 1], ids[last:]
    )


def _read(encoder: SentenceEncoder, tokens: Tokens) -> tuple[Vectors, Vectors, Vectors]:
    """Vectors of the tokens before the document's in the first window, of its own, and of those
    after it in the last."""
    room = room_of(encoder)
    parts = windows(len(tokens.ids), room)
    lead, vectors = len(tokens.before), list[Vectors]()
    for number in range(0, len(parts), BATCH):
        batch = parts[number : number + BATCH]
        vectors += encoder.token_embeddings(
            [
                [*tokens.before, *tokens.ids[first : first + room], *tokens.after]
                for first, _, _ in batch
            ]
        )
    rows = [
        read[lead + kept - first : lead + last - first]
        for (first, kept, last), read in zip(parts, vectors, strict=True)
    ]
    return (
        vectors[0][:lead],
        np.concatenate(rows),
        vectors[-1][len(vectors[-1]) - len(tokens.after) :],
    )
