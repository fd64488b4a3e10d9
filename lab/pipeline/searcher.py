"""One question over one corpus: the ranked chunks with both legs' scores."""

from dataclasses import dataclass

from lab.chunking.chunk import Chunk
from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.errors import ConfigError
from lab.pipeline.indexes import Indexes
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages
from lab.relevance.query import Query
from lab.storage.cache import Cache, default_cache_path
from lab.storage.progress import Progress


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked chunk; a leg's score is NaN where it did not find the chunk."""

    rank: int
    chunk: Chunk
    text: str
    bm25: float
    dense: float
    score: float


def search(
    corpus: Corpus, query: Query, config: Config, k: int, progress: Progress
) -> tuple[Hit, ...]:
    """The first `k` chunks for a question under one hybrid system; the legs' scores are those of
    its own words. Raises ConfigError for a blank question."""
    if not query.text.strip():
        raise ConfigError("the question is blank; expected words to look for")
    assert config.bm25 is not None  # a hybrid system has both legs
    assert config.dense is not None
    resources = Resources(Cache(default_cache_path(), progress.note), progress)
    stage = Stages(Indexes(corpus, config.chunk, resources), Questions.of([query])).asked_by(config)
    ranking = stage.first_stage(config).first(k)
    lexical = stage.indexes.bm25_index(config.bm25).scores(stage.questions.texts, ranking.chunks)
    semantic = stage.indexes.dense_index(config.dense).scores(
        stage.question_vectors(config.dense), ranking.chunks
    )
    return tuple(
        Hit(
            rank + 1,
            stage.chunking[index],
            stage.chunking.text(index),
            *(float(s[0, rank]) for s in scores),
        )
        for scores in [(lexical, semantic, ranking.scores)]
        for rank, index in enumerate(ranking.hits(0))
    )
