"""One question over one corpus: the ranked chunks with both legs' scores."""

from dataclasses import dataclass

from lab.chunking.chunk import Chunk
from lab.corpus.document import Corpus
from lab.errors import ConfigError
from lab.experiment.cache import Cache, default_cache_path
from lab.experiment.config import Config
from lab.experiment.progress import Progress
from lab.experiment.resources import Resources
from lab.experiment.stages import Stages


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked chunk; a leg's score is NaN where it did not find the chunk."""

    rank: int
    chunk: Chunk
    text: str
    bm25: float
    dense: float
    score: float


def search(corpus: Corpus, question: str, config: Config, k: int, progress: Progress) -> tuple[Hit, ...]:
    """The first `k` chunks for a question under one hybrid system. Raises ConfigError for a blank question."""
    if not question.strip():
        raise ConfigError("the question is blank; expected words to look for")
    stage = Stages(corpus, [question], config.chunk, Resources(Cache(default_cache_path(), progress.note), progress))
    ranking = stage.first_stage(config).first(k)
    found = stage.candidates(config.bm25, config.dense, config.depth)  # type: ignore[arg-type]  # a hybrid system has both
    hits = []
    for rank, (index, score) in enumerate(zip(ranking.hits(0), ranking.scores[0], strict=False), start=1):
        place = found.chunks[0].tolist().index(index)
        legs = float(found.bm25[0, place]), float(found.dense[0, place])
        hits.append(Hit(rank, stage.chunking[index], stage.chunking.text(index), *legs, float(score)))
    return tuple(hits)
