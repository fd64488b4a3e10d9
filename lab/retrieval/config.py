"""The slices of a system's config that retrieval reads."""

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt

from lab.retrieval.analyzer import AnalyzerName


def _unit_interval(value: float) -> float:
    if not 0 <= value <= 1:  # NaN fails as well
        raise ValueError("expected a number from 0 to 1")
    return value


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("expected a finite number")
    return value


Variant = Literal["lucene", "okapi", "l", "plus"]
Normalization = Literal["min-max", "theoretical", "z-score", "rrf"]
Index = Literal["exact", "hnsw", "ivf"]
Dtype = Literal["float32", "bfloat16"]
Device = Literal["auto", "cpu", "cuda", "mps"]
Mode = Literal["bm25", "dense", "hybrid"]
UnitInterval = Annotated[float, AfterValidator(_unit_interval)]
K1 = Annotated[float, Field(ge=0), AfterValidator(_finite)]
Threshold = Annotated[float, AfterValidator(_finite)]

DEFAULT_MODEL = "all-MiniLM-L6-v2"
MAXSIM = "maxsim"


class _Slice(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BM25Config(_Slice):
    """The lexical leg: analyzer, variant of the formula, and its saturation `k1` >= 0 and length weight `b` in [0, 1]."""

    analyzer: AnalyzerName = "auto"
    variant: Variant = "lucene"
    k1: K1 = 1.2
    b: UnitInterval = 0.75


class DenseConfig(_Slice):
    """The dense leg: a sentence-transformers model (package name, local folder or hub id) and the faiss index.

    `dtype` is what the model computes in; bfloat16 is faster on processors that have it and gives slightly other vectors,
    which are kept apart. `device` is where it computes; auto takes the first of cuda, mps and cpu that is there.
    """

    model: str = DEFAULT_MODEL
    index: Index = "exact"
    dtype: Dtype = "float32"
    device: Device = "auto"

    @property
    def encoder(self) -> str:
        """The model with how it computes, as one name: the plain model's for the defaults."""
        return self.model if (self.dtype, self.device) == ("float32", "auto") else f"{self.model}|{self.dtype}|{self.device}"


class FusionConfig(_Slice):
    """How the legs are joined. `alpha` in [0, 1] is the weight of the dense leg: 0 is BM25 alone, 1 dense alone."""

    normalization: Normalization = "min-max"
    alpha: UnitInterval = 0.5


class RerankConfig(_Slice):
    """Re-scoring of the first `depth`: a cross-encoder's folder or hub id, or `maxsim`, late interaction over the default
    dense model (`maxsim:NAME` over another).

    `blend` in [0, 1] is the weight of the reranker's scores against the fused ones, both min-max normalised; a chunk
    whose own reranker score is below `threshold` is cut.
    """

    model: str = MAXSIM
    depth: PositiveInt = 20
    threshold: Threshold | None = None
    blend: UnitInterval = 1.0
