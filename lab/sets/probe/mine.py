"""Mining a corpus: all three kinds of questions that need no person to think of them."""

from lab.chunking.chunk import Chunking
from lab.corpus.document import Corpus
from lab.sets.probe.boundaries import boundary_questions
from lab.sets.probe.identifiers import identifier_questions
from lab.sets.probe.keywords import keyword_questions
from lab.sets.probe.mined import MinedKind
from lab.sets.probe.passages import passages
from lab.sets.probe.words import Rarity


def mine(
    corpus: Corpus, chunking: Chunking, label: str, prefix: str, count: int, seed: int
) -> dict[str, MinedKind]:
    """At most `count` questions of each kind (pairs for `chunk_boundary`), the same for the same
    seed.

    `label` names the chunk config whose cuts are probed; `prefix` begins the question ids.
    """
    rarity = Rarity.of(passage for document in corpus for passage in passages(document))
    boundary = boundary_questions(rarity, chunking, label, prefix, count, seed)
    asked_for = {passage for question in boundary.questions for passage in question.passages}
    return {
        "exact_id": identifier_questions(corpus, prefix, count, seed),
        "keyword": keyword_questions(rarity, asked_for, prefix, count, seed),
        "chunk_boundary": boundary,
    }
