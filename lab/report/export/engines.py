"""What OpenSearch and Elasticsearch have in common when a system is written for them: the field
that BM25 reads, the placeholders of a search, and what neither carries over."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lab.chunking.config import DELIVER
from lab.config.config import Config
from lab.errors import ConfigError
from lab.retrieval.config import OWN_TEXT, BM25Config

TEXT, VECTOR, SIMILARITY, ANALYZER = "text", "vector", "lab_bm25", "lab_text"
# What a program puts in: the question as a string, its vector as a list of numbers.
QUESTION, QUESTION_VECTOR = "{{question}}", "{{question_vector}}"
SIZE = 10
# Most results that an engine hands out of one search unless it is told otherwise.
WINDOW = 10_000
# Fields of a chunk beside its text and vector: they lead back to the document.
PLACE = {"doc_id": {"type": "keyword"}, "start": {"type": "integer"}, "end": {"type": "integer"}}
# Filters behind the tokenizer, and those that bring an analyzer of the lab nearer.
PLAIN_FILTERS = ["cjk_width", "lowercase", "cjk_bigram"]
FILTERS = {"stop": ["lab_stop"], "stem": ["lab_stem"], "english": ["lab_stop", "lab_stem"]}
OWN_FILTERS = {
    "lab_stop": {"type": "stop", "stopwords": "_english_"},
    "lab_stem": {"type": "snowball", "language": "English"},
}


@dataclass(frozen=True, slots=True)
class Vectors:
    """What a mapping has to know of a model's vectors."""

    dimension: int
    similarity: str


def legs(config: Config) -> tuple[bool, bool]:
    """Whether BM25 and the vectors are searched; a leg of weight 0 brings no hits."""
    alpha = config.fusion.alpha if config.fusion else None
    return (config.bm25 is not None and alpha != 1, config.dense is not None and alpha != 0)


def weights(config: Config) -> list[float]:
    """Of BM25 and of the vectors, which add up to 1."""
    assert config.fusion is not None  # asked of a hybrid alone
    if not isinstance(config.fusion.alpha, float):
        raise ConfigError(
            f"alpha '{config.fusion.rule}': an engine has one alpha for all questions; name a "
            "system of the run that has one with --system"
        )
    return [round(1 - config.fusion.alpha, 12), config.fusion.alpha]


def depth(config: Config) -> int:
    """Candidates a leg keeps, as far as an engine hands them out."""
    return min(config.depth, WINDOW)


def filters_of(config: BM25Config) -> list[str]:
    return [*PLAIN_FILTERS, *FILTERS.get(config.analyzer, [])]


def text_settings(config: BM25Config) -> dict[str, Any]:
    """Analysis and similarity of an index. Lucene's BM25 is the variant `lucene` but for a factor
    that is the same for all."""
    filters = filters_of(config)
    own = {name: OWN_FILTERS[name] for name in filters if name in OWN_FILTERS}
    analyzer = {"type": "custom", "tokenizer": "standard", "filter": filters}
    return {
        "analysis": {"analyzer": {ANALYZER: analyzer}, **({"filter": own} if own else {})},
        "similarity": {SIMILARITY: {"type": "BM25", "k1": config.k1, "b": config.b}},
    }


def text_field() -> dict[str, Any]:
    return {"type": "text", "analyzer": ANALYZER, "similarity": SIMILARITY}


def lost_alike(config: Config) -> Iterator[str]:
    """What no engine carries over, a line each."""
    yield (
        f"chunking: an engine does not cut documents. Index one entry a chunk of "
        f"`{config.chunk.label}`, with doc_id, start and end (`lab.load(RUN).indexes.chunking`)"
    )
    if config.chunk.prefix:
        yield f"prefix: put the chunk's {config.chunk.prefix} before its text when it is indexed"
    if DELIVER.fullmatch(config.deliver) and config.deliver != "chunk":
        yield f"delivery: hits are chunks; `{config.deliver}` has to be made of them afterwards"
    if config.bm25 is not None:
        yield from _lost_terms(config.bm25)
    if config.dense is not None:
        yield (
            f"model: the engine is given vectors, of chunks and questions, by {config.dense.model} "
            "with the prompts of either; ties and rounding differ"
        )
    if config.features.root:
        yield "features: weights of metadata are not written; see function_score or rank_feature"
    if config.variants or config.filter:
        yield "variants and filters of a question: the program that asks has to send them"
    if config.rerank is not None:
        yield f"reranker: {config.rerank.model} over the first {config.rerank.depth} is not written"
    if config.depth > WINDOW:
        yield f"depth: {config.depth:,} candidates a leg become {WINDOW:,}"


def _lost_terms(config: BM25Config) -> Iterator[str]:
    yield (
        f"analyzer: `{config.analyzer}` has no equal. The nearest (standard tokenizer, "
        f"{', '.join(filters_of(config))}) does not keep identifiers whole and in parts, "
        "nor numbers in groups, nor symbols"
    )
    yield (
        "scores: Lucene keeps a chunk's length in one byte and counts per shard; BM25's scores "
        "differ, and the factor k1 + 1 is left out"
    )
    if config.variant != "lucene":
        yield f"variant: `{config.variant}` is not there; Lucene's own BM25 stands in"
    if config.synonyms:
        yield f"synonyms: put the rules of {config.synonyms} into a synonym_graph search analyzer"
    if config.views != (OWN_TEXT,):
        names = ", ".join(view for view in config.views if view != OWN_TEXT)
        yield f"views: {names} would be fields of their own (multi_match, best_fields)"


def page(
    engine: str, config: Config, requests: Mapping[str, tuple[str, Any]], lost: list[str]
) -> Iterator[tuple[str, str]]:
    """The files: one a request (its address, its body), and a README that says what to do with
    them and what is lost."""
    lines = [f"# {config.name}, for {engine}", ""]
    lines += [
        f"Written from {engine}'s documentation; not run against a server. Measure it there as a",
        "`[[retriever]]` before you trust it: these figures are the lab's own search.",
        "",
    ]
    for name, (address, body) in requests.items():
        lines.append(f"- `{name}`: {address}")
        yield name, json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    lines += [
        "",
        f"In a search `{QUESTION}` is the question and `{QUESTION_VECTOR}` its vector, a list of",
        "numbers.",
        "",
        "What does not carry over:",
        "",
        *(f"- {line}" for line in lost),
    ]
    yield "README.md", "\n".join(lines) + "\n"
