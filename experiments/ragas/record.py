"""What the package ragas says to recorded replies of a model, for
tests/answers/judges/test_claims.py.

    python experiments/ragas/record.py > tests/answers/judges/ragas.json

It runs in an environment of its own (python -m venv, pip install ragas==0.4.3
'langchain-community<0.4'): its dependency instructor wants a rich below 15, the lab has 15.
"""

import asyncio
import json
import math
import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from langchain_core.outputs import Generation, LLMResult
from ragas import SingleTurnSample
from ragas.embeddings.base import BaseRagasEmbeddings
from ragas.llms.base import BaseRagasLLM
from ragas.metrics import Faithfulness, ResponseRelevancy
from ragas.run_config import RunConfig

VERDICTS = [[1, 1, 1, 1, 0], [1, 0, 0], [0, 0], [1], []]
# The question's vector, those of the generated questions, and whether each was noncommittal.
RELEVANCY: list[tuple[list[float], list[list[float]], list[int]]] = [
    ([1, 0, 0], [[1, 0, 0], [0.9, 0.4358898943540674, 0], [0.8389, 0.5443, 0]], [0, 0, 0]),
    ([1, 2, 3], [[3, 2, 1], [1, 2, 3], [-1, 0, 2]], [0, 1, 0]),
    ([1, 2, 3], [[3, 2, 1], [1, 2, 3], [-1, 0, 2]], [1, 1, 1]),
    ([0.5, 0.5], [[-0.5, -0.5], [0.5, -0.5], [0.1, -0.9]], [0, 0, 0]),
]


class Recorded(BaseRagasLLM):
    """A model that says its replies in turn."""

    def __init__(self, replies: Sequence[str]) -> None:
        super().__init__(run_config=RunConfig())
        self.replies = list(replies)

    def generate_text(self, *_: Any, n: int = 1, **__: Any) -> LLMResult:
        replies, self.replies = self.replies[:n], self.replies[n:]
        return LLMResult(generations=[[Generation(text=reply) for reply in replies]])

    async def agenerate_text(self, *_: Any, n: int = 1, **__: Any) -> LLMResult:
        return self.generate_text(n=n)

    def is_finished(self, response: LLMResult) -> bool:
        return True


class Given(BaseRagasEmbeddings):
    """The vectors of texts that are `vector N`."""

    def __init__(self, vectors: Sequence[Sequence[float]]) -> None:
        super().__init__()
        self.vectors = vectors

    def embed_query(self, text: str) -> list[float]:
        return list(self.vectors[int(re.findall(r"\d+", text)[0])])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed_documents(texts)


def score(metric: Any, sample: SingleTurnSample) -> float | None:
    value = float(asyncio.run(metric.single_turn_ascore(sample)))
    return None if math.isnan(value) else value


def faithfulness(verdicts: Sequence[int]) -> dict[str, Any]:
    claims = [f"claim {number}" for number in range(len(verdicts))]
    pairs = zip(claims, verdicts, strict=True)
    judged = [{"statement": c, "reason": "r", "verdict": v} for c, v in pairs]
    replies = [json.dumps({"statements": claims}), json.dumps({"statements": judged})]
    sample = SingleTurnSample(user_input="q", response="a", retrieved_contexts=["c"])
    return {"verdicts": verdicts, "score": score(Faithfulness(llm=Recorded(replies)), sample)}


def relevancy(
    question: list[float], generated: list[list[float]], noncommittal: Sequence[int]
) -> dict[str, Any]:
    replies = [
        json.dumps({"question": f"vector {number}", "noncommittal": empty})
        for number, empty in enumerate(noncommittal, start=1)
    ]
    metric = ResponseRelevancy(
        llm=Recorded(replies), embeddings=Given([question, *generated]), strictness=len(generated)
    )
    sample = SingleTurnSample(user_input="vector 0", response="a")
    return {
        "question": question,
        "generated": generated,
        "noncommittal": noncommittal,
        "score": score(metric, sample),
    }


json.dump(
    {
        "ragas": version("ragas"),
        "faithfulness": [faithfulness(verdicts) for verdicts in VERDICTS],
        "relevancy": [relevancy(*case) for case in RELEVANCY],
    },
    sys.stdout,
    indent=1,
)
