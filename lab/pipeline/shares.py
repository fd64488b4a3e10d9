"""Shares: texts that tasks of a cluster encode, each worker with the model loaded once."""

from collections.abc import Iterator, Sequence

from lab.arrays import Vectors
from lab.cluster.cluster import Cluster
from lab.pipeline.slabs import slabs
from lab.retrieval.encoder import Encoder, Progress, SentenceEncoder
from lab.retrieval.prompts import Role

# Texts that a task is given, enough to find some of one length; and tasks a worker that are sent
# out before the vectors of all of them are kept.
SHARE, AHEAD = 128, 4

# Models that this worker has loaded, by `DenseConfig.encoder`; a worker ends with its run.
loaded: dict[str, Encoder] = {}


def encoded_parts(
    cluster: Cluster, name: str, texts: Sequence[str], role: Role, progress: Progress
) -> Iterator[tuple[range, Vectors]]:
    """Places of texts and their vectors, as `SentenceEncoder.parts`, share by share as they
    end."""
    shares = list(slabs(texts, SHARE))
    for place, vectors in cluster.each(_encode, [(name, share, role) for share in shares]):
        yield range(place * SHARE, place * SHARE + len(vectors)), vectors
        progress(len(vectors))


def _encode(name: str, texts: Sequence[str], role: Role) -> Vectors:
    if name not in loaded:
        loaded[name] = SentenceEncoder(*name.split("|"))  # type: ignore[arg-type]
    return loaded[name].encode(texts, role, lambda done: None)
