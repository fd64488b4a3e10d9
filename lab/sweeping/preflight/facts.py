"""What is worth knowing about chunks before anything is encoded: how many, how long, and how much
the model never reads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lab.chunking.chunk import Chunking, Fault
from lab.chunking.config import ChunkConfig
from lab.chunking.size import SizeByType
from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.diagnosis.unread import room_of
from lab.errors import counted
from lab.pipeline.resources import Resources
from lab.pipeline.tokens import count_tokens
from lab.relevance.pieces import Pieces
from lab.sets.audit.asking import useless_filters
from lab.sets.audit.wording import leakage, shared_words
from lab.sweeping.injected import INJECTED, injected

if TYPE_CHECKING:
    # Only a type here: `lab check` counts tokens without the indexes that stages bring.
    from lab.pipeline.stages import Stages
    from lab.retrieval.bm25 import BM25

# Below this number of questions a mean says little; see the README's section on conclusions.
FEW_QUESTIONS = 100


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """One chunking: its size, per dense model how many chunks are longer than the model reads and
    the tokens lost, what another library's splitter did beside, and of chunks cut by tokens how
    many hold more than asked for when their text is read alone, and the most that one holds."""

    label: str
    chunks: int
    blank: int
    mean_characters: float
    truncated: tuple[tuple[str, int, int], ...]
    faults: tuple[Fault, ...] = ()
    recounted: tuple[int, int] = (0, 0)

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for every kind of fault: strings that are no chunks, text that lies in no chunk,
        chunks above their size."""
        lost = [fault for fault in self.faults if fault.strings]
        bare = [fault for fault in self.faults if fault.characters]
        large = [fault for fault in self.faults if fault.oversized]
        lines = []
        if lost:
            lines.append(
                f"{counted(sum(fault.strings for fault in lost), 'string')} of the splitter not in "
                "their document, and no chunks: "
                f"{_some(f'{fault.doc_id} {fault.strings}' for fault in lost)}; such as "
                f"{lost[0].sample[:60]!r}"
            )
        if bare:
            lines.append(
                f"{sum(fault.characters for fault in bare)} visible characters lie in no chunk: "
                f"{_some(f'{fault.doc_id} {fault.characters}' for fault in bare)}"
            )
        if large:
            lines.append(
                f"{sum(fault.oversized for fault in large)} of {self.chunks} chunks are larger "
                "than asked for, "
                f"up to {max(fault.largest for fault in large)}"
            )
        if self.recounted[0]:
            lines.append(
                f"{self.recounted[0]} of {self.chunks} chunks hold more tokens than asked for when "
                f"counted by themselves, up to {self.recounted[1]}: a cut inside a word leaves "
                "parts that are read otherwise"
            )
        return tuple(f"{self.label}: {line}" for line in lines)


def chunk_facts(
    stages: "Mapping[ChunkConfig, Stages]", configs: Sequence[Config], resources: Resources
) -> tuple[ChunkFacts, ...]:
    """Facts of every chunking of a sweep; raises nothing, encodes nothing."""
    return tuple(
        facts_of(stage.chunking, chunk, configs, resources) for chunk, stage in stages.items()
    )


def _models(configs: Sequence[Config], chunk: ChunkConfig) -> list[str]:
    """Models that read chunks by themselves; late pooling reads documents to their end."""
    legs = (config.dense for config in configs if config.chunk == chunk)
    return list(dict.fromkeys(dense.model for dense in legs if dense and dense.pooling == "chunk"))


def facts_of(
    chunking: Chunking, config: ChunkConfig, configs: Sequence[Config], resources: Resources
) -> ChunkFacts:
    """Facts of one chunking under `config`, with every dense model that one of the systems pairs it
    with."""
    lengths = chunking.end - chunking.start
    truncated = []
    for model in _models(configs, config):
        room = room_of(resources.encoder(model), chunking, config.prefix)
        over = np.maximum(
            count_tokens(resources.token_starts(model, chunking.corpus), chunking) - room, 0
        )
        truncated.append((model, int((over > 0).sum()), int(over.sum())))
    return ChunkFacts(
        config.label,
        len(chunking),
        chunking.blank,
        round(float(lengths.mean()), 1) if len(lengths) else 0.0,
        tuple(truncated),
        faults=chunking.faults,
        recounted=_recounted(chunking, config, resources),
    )


def _recounted(chunking: Chunking, config: ChunkConfig, resources: Resources) -> tuple[int, int]:
    """Chunks above their size in tokens when each is read alone, and the most tokens of one."""
    if config.tokenizer is None or isinstance(config.size, SizeByType):
        return 0, 0
    encoder, sizes = resources.encoder(config.tokenizer), config.sizes
    counts = np.array([len(encoder.offsets(text)) for text in chunking.texts], dtype=np.int64)
    above = counts > np.array(sizes)[chunking.level]
    return int(above.sum()), int(counts[above].max(initial=0))


def _some(items: Iterable[str], shown: int = 5) -> str:
    listed = list(items)
    return ", ".join(listed[:shown]) + (", ..." if len(listed) > shown else "")


def unmatched(
    stages: "Mapping[ChunkConfig, Stages]", configs: Sequence[Config], asked: Pieces
) -> tuple[str, ...]:
    """A line for every analyzer (with every set of views and file of synonyms) under which
    questions share no term with the corpus, so that BM25 has no hit for them."""
    indexes: dict[str, BM25] = {}
    for config in configs:
        if config.bm25 is not None:
            views = f" and views {'+'.join(config.views)}" if len(config.views) > 1 else ""
            rules = f" with {Path(config.bm25.synonyms).name}" if config.bm25.synonyms else ""
            name = f"'{config.bm25.analyzer}'{rules}{views}"
            if name not in indexes:
                indexes[name] = stages[config.chunk].indexes.bm25_index(config.bm25).own
    lines = []
    for name, index in indexes.items():
        terms = index.terms.counts([query.text for query in asked.queries])
        ids = [asked.queries[i].query_id for i in np.flatnonzero(np.diff(terms.indptr) == 0)]
        if ids:
            lines.append(
                f"no lexical hit: {counted(len(ids), 'question')} without a term of the corpus "
                f"under analyzer {name}: {_some(ids)}"
            )
    return tuple(lines)


def left_out(configs: Sequence[Config], asked: Pieces, corpus: Corpus) -> tuple[str, ...]:
    """Lines where the filters of questions pass no document, or not those of their own evidence, if
    a system uses filters."""
    findings = (
        useless_filters(asked.queries, corpus) if any(config.filter for config in configs) else ()
    )
    return tuple(f"{finding.rule}: {finding.message}" for finding in findings)


def leaked(asked: Pieces, corpus: Corpus) -> tuple[str, ...]:
    """A line where questions take their words from their evidence, which flatters every lexical
    match."""
    if asked.unit == "document":
        return ()
    located = [
        query for query in asked.queries if all(item.doc_id in corpus for item in query.evidence)
    ]
    shares = {
        query.query_id: shared_words(query, corpus) if query.kind == "semantic" else None
        for query in located
    }
    return tuple(
        f"{finding.rule}: {finding.message}" for finding in leakage(located, corpus, shares)
    )


def distracted(corpus: Corpus) -> tuple[str, ...]:
    """A line where the corpus holds distractors of `lab interfere`."""
    count = injected(corpus)
    line = (
        f"{count} of {len(corpus)} documents are injected distractors; their "
        f"ids begin with '{INJECTED}'"
    )
    return (line,) if count else ()


def warnings(facts: Sequence[ChunkFacts], asked: Pieces) -> tuple[str, ...]:
    """The few lines that change how a table must be read."""
    lines = []
    for fact in facts:
        if fact.blank:
            lines.append(f"{fact.label}: {counted(fact.blank, 'blank chunk')} skipped")
        lines += fact.notes
        for model, chunks, tokens in fact.truncated:
            if chunks:
                lines.append(
                    f"{fact.label}: {chunks} of {fact.chunks} chunks are longer than {model} "
                    f"reads; {tokens} tokens at their "
                    "ends are invisible to the dense leg"
                )
    blank = [query.query_id for query in asked.queries if not query.text.strip()]
    if blank:
        lines.append(
            f"{counted(len(blank), 'question')} without text, finding nothing: "
            f"{', '.join(blank[:5])}"
        )
    if asked.unscored:
        reasons: dict[str, list[str]] = {}
        for query_id, reason in asked.unscored:
            reasons.setdefault(reason, []).append(query_id)
        for reason, ids in reasons.items():
            lines.append(f"{counted(len(ids), 'question')} not scored, {reason}: {_some(ids)}")
    if len(asked.queries) < FEW_QUESTIONS:
        lines.append(
            f"{counted(len(asked.queries), 'scored question')}: small differences between systems "
            "cannot be settled with so few"
        )
    return tuple(lines)
