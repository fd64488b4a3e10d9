"""The slices of a system's config that retrieval reads."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    InstanceOf,
    RootModel,
    ValidationError,
    model_serializer,
    model_validator,
)

from lab.arrays import Floats
from lab.chunking.numbers import Count, CountFromZero, Number, UnitInterval, number, whole, within
from lab.chunking.units import words
from lab.retrieval.analyzer import AnalyzerName
from lab.retrieval.stored import FLOAT32, Storage, oversampled

Variant = Literal["lucene", "okapi", "l", "plus"]
Normalization = Literal["min-max", "theoretical", "z-score", "rrf"]
Index = Literal["exact", "hnsw", "ivf"]
Dtype = Literal["float32", "bfloat16", "int8"]
Backend = Literal["torch", "onnx", "openvino"]
Device = Literal["auto", "cpu", "cuda", "mps"]
Pooling = Literal["chunk", "late"]
Similarity = Literal["model", "cosine", "dot", "euclidean", "manhattan"]
COMPUTES: dict[Backend, tuple[Dtype, ...]] = {
    "torch": ("float32", "bfloat16"),
    "onnx": ("float32", "int8"),
    "openvino": ("float32", "bfloat16"),
}
Mode = Literal["bm25", "dense", "hybrid"]
# By what a question gets an alpha of its own: its kind, its length, figures known before fusion.
RuleName = Literal["by_kind", "by_length", "learned"]
# Beyond it a repeated word counts as often as it stands, to the decimals that decide order.
K1 = Annotated[Number, within(0, 1e6)]

OWN_TEXT = "text"


def _views(value: Any) -> tuple[str, ...]:
    """The chunk's own text first; the order of the others makes no difference."""
    several = (value,) if isinstance(value, str) else value
    if not isinstance(several, list | tuple) or not all(
        isinstance(name, str) and name.strip() for name in several
    ):
        raise ValueError('expected names of views, like [["text"], ["text", "title"]]')
    if OWN_TEXT not in several:
        raise ValueError(
            'expected views that include "text"; several together are a list in the list: '
            '[["text", "title"]]'
        )
    return (OWN_TEXT, *sorted({*several} - {OWN_TEXT}))


Views = Annotated[tuple[str, ...], BeforeValidator(_views)]

DEFAULT_MODEL = "all-MiniLM-L6-v2"
MAXSIM = "maxsim"
LIKELIHOOD = "likelihood"
# Candidates that a leg keeps, or hits that are re-scored; no question has a use for more.
DEEPEST = 1_000_000
Depth = Annotated[int, BeforeValidator(whole), within(1, DEEPEST, "a whole number")]


class _Slice(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BM25Config(_Slice):
    """The lexical leg: analyzer, variant of the formula, its saturation `k1` >= 0 and length weight
    `b` in [0, 1], the `views` through which a chunk is found (see `lab.retrieval.views`), and the
    file of `synonyms` for questions (see `lab.retrieval.synonyms`; empty for none)."""

    analyzer: AnalyzerName = "auto"
    variant: Variant = "lucene"
    k1: K1 = 1.2
    b: UnitInterval = 0.75
    views: Views = (OWN_TEXT,)
    synonyms: str = ""


class DenseConfig(_Slice):
    """The dense leg: a sentence-transformers model (package name, local folder or hub id) and the
    faiss index.

    `dtype` is what the model computes in; bfloat16 is faster on processors that have it and gives
    slightly other vectors, which are kept apart. `device` is where it computes; auto takes the
    first of cuda, mps and cpu that is there. `views` are as of the lexical leg. `pooling` is where
    a chunk's tokens are read: in the chunk alone, or `late`, within their whole document (see
    `lab.retrieval.late`). `similarity` is how two vectors are compared: as the model's authors say
    (cosine where they say nothing), or as named here. `backend` is the engine that computes:
    torch in float32 or bfloat16, onnx (onnxruntime) in float32 or int8, openvino in float32 or
    bfloat16, the last two on the CPU. Of every vector the first `dims` numbers are used (0: all)
    and kept in `storage` (see `lab.retrieval.stored`).
    """

    model: str = DEFAULT_MODEL
    index: Index = "exact"
    dtype: Dtype = "float32"
    device: Device = "auto"
    views: Views = (OWN_TEXT,)
    pooling: Pooling = "chunk"
    similarity: Similarity = "model"
    backend: Backend = "torch"
    dims: CountFromZero = 0
    storage: Storage = FLOAT32

    @model_validator(mode="after")
    def _possible(self) -> "DenseConfig":
        if self.dtype not in COMPUTES[self.backend]:
            raise ValueError(
                f"dense.backend '{self.backend}' computes in {' or '.join(COMPUTES[self.backend])},"
                f" not in '{self.dtype}'"
            )
        if self.backend != "torch" and self.device not in ("auto", "cpu"):
            raise ValueError(
                f"dense.backend '{self.backend}' computes on the CPU, not on '{self.device}'"
            )
        if self.backend != "torch" and self.pooling == "late":
            raise ValueError("dense.pooling 'late' is computed by dense.backend 'torch' alone")
        if oversampled(self.storage) and self.index != "exact":
            raise ValueError(
                f"dense.storage '{self.storage}' proposes by signs; expected index 'exact'"
            )
        return self

    @property
    def stores_whole(self) -> bool:
        """Whether vectors are kept with all dimensions in float32."""
        return self.storage == FLOAT32 and not self.dims

    @property
    def encoder(self) -> str:
        """The model with how it computes, as one name: the plain model's for the defaults."""
        computes = (self.dtype, self.device, self.backend)
        if computes == ("float32", "auto", "torch"):
            return self.model
        engine = () if self.backend == "torch" else (self.backend,)
        return "|".join((self.model, self.dtype, self.device, *engine))


class AlphaByQuestion(ABC):
    """An alpha for every question, once a rule for it is known (see `lab.pipeline.alphas`)."""

    @abstractmethod
    def __str__(self) -> str:
        """The rule's name."""

    @abstractmethod
    def of(self, stages: Any, config: Any) -> Floats:
        """The alpha of every question that the stages of a hybrid system are asked."""


def _alpha(value: Any) -> Any:
    if value in get_args(RuleName) or isinstance(value, AlphaByQuestion):
        return value
    try:
        if 0 <= number(value) <= 1:
            return number(value)
    except ValueError:
        pass
    rules = ", ".join(f"'{name}'" for name in get_args(RuleName))
    raise ValueError(f"expected a number from 0 to 1, or one of {rules}")


Alpha = Annotated[float | RuleName | InstanceOf[AlphaByQuestion], BeforeValidator(_alpha)]


class FusionConfig(_Slice):
    """How the legs are joined. `alpha` in [0, 1] is the weight of the dense leg: 0 is BM25 alone, 1
    dense alone; by the name of a rule every question has its own, which is learned from questions
    whose evidence is known."""

    normalization: Normalization = "min-max"
    alpha: Alpha = 0.5

    @property
    def rule(self) -> RuleName | None:
        """The rule that gives each question its alpha; None where all have the same."""
        return None if isinstance(self.alpha, float) else str(self.alpha)  # type: ignore[return-value]


def _weights(value: Any) -> tuple[tuple[str, float], ...]:
    """Pairs by name, without weights of 0, which make no difference."""
    pairs = list(value.items()) if isinstance(value, dict) else value
    if not isinstance(pairs, list | tuple) or not all(_is_pair(pair) for pair in pairs):
        raise ValueError("expected metadata fields with their weights, like { recency = 0.1 }")
    for name, weight in pairs:
        if not _is_weight(weight):
            raise ValueError(f"expected a weight from 0 to 1 for '{name}'")
    if sum(weight for _, weight in pairs) > 1 + 1e-9:
        raise ValueError(
            "expected weights that add up to at most 1; the rest is the weight of relevance"
        )
    return tuple(sorted((name, float(weight)) for name, weight in pairs if weight))


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str)


def _is_weight(value: Any) -> bool:
    try:
        return 0 <= number(value) <= 1
    except ValueError:
        return False


class FeaturesConfig(
    RootModel[Annotated[tuple[tuple[str, float], ...], BeforeValidator(_weights)]]
):
    """Ranking features beside the text: metadata fields (numbers or ISO dates) with their weights
    in the first stage's score (see `lab.retrieval.features`), given as a mapping."""

    model_config = ConfigDict(frozen=True)

    root: Annotated[tuple[tuple[str, float], ...], BeforeValidator(_weights)] = ()

    @model_serializer
    def _plain(self) -> dict[str, float]:
        return dict(self.root)

    def __str__(self) -> str:
        return ",".join(f"{name}={weight:.12g}" for name, weight in self.root) or "none"


class LengthThreshold(_Slice):
    """A threshold by the length of the question: `short` for one of at most `words` words, `long`
    for others. Words are those of `lab slices --by length`: a Chinese, Japanese or Korean character
    is one."""

    short: Number
    long: Number
    words: Count = 6

    def __str__(self) -> str:
        return f"{self.short:.12g}@{self.words}w,{self.long:.12g}"


def _threshold(value: Any) -> Any:
    """One number where length makes no difference, so that such a cell appears once."""
    if isinstance(value, dict):
        try:
            value = LengthThreshold(**value)
        except (ValidationError, TypeError):
            raise ValueError(
                "expected a number or { short = 0.4, long = 0.2, words = 6 }"
            ) from None
    if isinstance(value, LengthThreshold):
        return value.short if value.short == value.long else value
    try:
        return number(value)
    except ValueError:
        raise ValueError("expected a number or { short = 0.4, long = 0.2, words = 6 }") from None


Threshold = Annotated[float | LengthThreshold, BeforeValidator(_threshold)]


class RerankConfig(_Slice):
    """Re-scoring of the first `depth`: a cross-encoder's folder or hub id, or `maxsim`, late
    interaction over the default dense model (`maxsim:NAME` over another), or `likelihood:NAME`, how
    likely a causal model finds the question behind the text (see `lab.retrieval.likelihood`).

    `blend` in [0, 1] is the weight of the reranker's scores against the fused ones, both min-max
    normalised; a chunk whose own reranker score is below `threshold` is cut, which is one number or
    depends on the question's length.
    """

    model: str = MAXSIM
    depth: Depth = 20
    threshold: Threshold | None = None
    blend: UnitInterval = 1.0

    def cuts(self, questions: Sequence[str]) -> list[float]:
        """The score below which a hit of each question is cut; -inf without a threshold."""
        cut = -math.inf if self.threshold is None else self.threshold
        if not isinstance(cut, LengthThreshold):
            return [cut] * len(questions)
        return [
            cut.short if len(words(question)) <= cut.words else cut.long for question in questions
        ]
