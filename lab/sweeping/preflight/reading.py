"""How models read this corpus and these questions, as far as their files tell: prompts, similarity,
and text that a model has no words for."""

from collections.abc import Sequence

import numpy as np

from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.pipeline.resources import Resources
from lab.retrieval.encoder import SentenceEncoder
from lab.storage.cache import cache_key

# Share of unknown tokens from which on a model is said not to read a text. all-MiniLM-L6-v2 knows
# all but 4 % of the lab's own English corpora, and 42 % of the Chinese one.
UNKNOWN = 0.15


def reading(
    configs: Sequence[Config], corpus: Corpus, questions: Sequence[str], resources: Resources
) -> tuple[str, ...]:
    """A line for everything about a model that changes how its figures must be read."""
    lines: list[str] = []
    for name in dict.fromkeys(config.dense.model for config in configs if config.dense):
        encoder = resources.encoder(name)
        if isinstance(encoder, SentenceEncoder):
            lines += _prompts(name, encoder)
            lines += _unknown(name, resources, corpus, questions)
            searched = [c.dense for c in configs if c.dense and c.dense.model == name]
            if encoder.similarity != "cosine" and any(c.similarity == "model" for c in searched):
                lines.append(
                    f"model {name}: its authors compare vectors by '{encoder.similarity}', and so "
                    "does the dense leg; dense.similarity = 'cosine' asks for the cosine"
                )
    return tuple(lines)


def _prompts(name: str, encoder: SentenceEncoder) -> list[str]:
    """What questions and passages get, where the model has prompts that neither does or lends one
    to a role that no name fits."""
    prompts = encoder.prompts
    query, passage = (prompts.name(role) or "none" for role in ("query", "passage"))
    given = f"questions get '{query}', passages '{passage}'"
    lines = []
    if prompts.unused:
        lines.append(
            f"model {name}: not used, for fitting neither questions nor passages best: "
            f"{', '.join(map(repr, prompts.unused))}; {given}"
        )
    if prompts.borrowed:
        lines.append(
            f"model {name}: no prompt's name fits {' and '.join(prompts.borrowed)}; its default "
            f"'{prompts.default}' stands for it, as in model.encode"
        )
    return lines


def _unknown(
    name: str, resources: Resources, corpus: Corpus, questions: Sequence[str]
) -> list[str]:
    lines = []
    texts = [document.text for document in corpus]
    for what, read in (("corpus", texts), ("questions", list(questions))):
        unknown, tokens = unknown_tokens(resources, name, read)
        if tokens and unknown / tokens >= UNKNOWN:
            lines.append(
                f"model {name} cannot read the {what}: {unknown / tokens:.0%} of the tokens are "
                f"unknown to it (told from {UNKNOWN:.0%} on), and its figures say nothing about "
                "dense retrieval; choose a model of the language"
            )
    return lines


def unknown_tokens(resources: Resources, model: str, texts: Sequence[str]) -> tuple[int, int]:
    """Tokens of texts that a model has no word for, and all of them; none of an encoder that is
    given as an object."""
    encoder = resources.encoder(model)
    if not isinstance(encoder, SentenceEncoder):
        return 0, 0
    keys = {text: cache_key("unknown tokens", encoder.identity, text) for text in texts}
    known = resources.cache.get(keys.values())
    fresh = [text for text, key in keys.items() if key not in known]
    counted = {
        keys[text]: np.array(counts, dtype="<i8").tobytes()
        for text, counts in zip(fresh, encoder.unknown(fresh), strict=True)
    }
    resources.cache.put(counted, model)
    values = known | counted
    counts = [np.frombuffer(values[keys[text]], dtype="<i8") for text in texts]
    return sum(int(count[0]) for count in counts), sum(int(count[1]) for count in counts)
