"""Engines: onnxruntime and OpenVINO in place of torch for a model's transformer.

sentence-transformers' own backends need optimum, which no version of transformers 5 suits that this
house runs on; so the transformer alone is converted here, by torch, into an ONNX file that both
engines read, and everything around it (tokens, pooling, prompts) stays sentence-transformers'. The
file is kept beside the cache by the model's content and the versions of what converts it.
"""

import hashlib
import logging
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.errors import ModelError
from lab.retrieval.config import Backend, Dtype
from lab.storage.cache import default_cache_path
from lab.versions import version_of

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor

# What a backend imports; the extra has the backend's name.
NEEDS: dict[str, tuple[str, ...]] = {
    "onnx": ("onnx", "onnxruntime"),
    "openvino": ("onnx", "openvino"),
}
FOLDER = "converted"
PRECISIONS = {"float32": "f32", "bfloat16": "bf16"}
# A conversion whose vectors lie further from the model's own is none.
NEAR = 1e-3
OUTPUT = "last_hidden_state"

# Ids, mask ... of texts of one length -> a vector of every token (texts x tokens x dimension).
Run = Callable[[Mapping[str, "np.ndarray[Any, Any]"]], "np.ndarray[Any, Any]"]


def missing_engine(backend: Backend) -> str:
    """What has to be installed for a backend; empty where all is there."""
    absent = [name for name in NEEDS.get(backend, ()) if find_spec(name) is None]
    if not absent:
        return ""
    return (
        f"dense.backend '{backend}' needs {' and '.join(absent)}; pip install "
        f"'retrieval-diagnostics-lab[{backend}]'"
    )


def put_engine(model: "SentenceTransformer", identity: str, backend: Backend, dtype: Dtype) -> None:
    """Let an engine compute the first module's transformer. `identity` is the model's content.
    Raises ModelError where the model cannot be converted."""
    import torch

    transformer: Any = model[0]
    place, threads = _kept(identity, "float32"), torch.get_num_threads()
    if not place.is_file():
        with _written(place) as part:
            _convert(model, part)
            _check(model, _forward(_engine(part, backend, "float32", threads)))
    if dtype == "int8":
        place = _quantised(identity, place)
    transformer.model.forward = _forward(_engine(place, backend, dtype, threads))


def _forward(run: Run) -> Callable[..., dict[str, "Tensor"]]:
    """An engine in the place of a transformer's `forward`."""
    import torch

    def forward(**features: Any) -> dict[str, "Tensor"]:
        asked = {name: value.cpu().numpy() for name, value in features.items() if _is_tensor(value)}
        return {OUTPUT: torch.from_numpy(run(asked))}

    return forward


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "cpu")


def _kept(identity: str, dtype: str) -> Path:
    """Where a converted model lies."""
    versions = [version_of(name) for name in ("torch", "transformers", "onnx", "onnxruntime")]
    key = hashlib.sha256("\0".join((identity, dtype, *map(str, versions))).encode()).hexdigest()
    return default_cache_path().parent / FOLDER / f"{key[:32]}.onnx"


@contextmanager
def _written(place: Path) -> Any:
    """A file to write, which takes its place when it is whole."""
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(".onnx", dir=place.parent)
    os.close(handle)
    try:
        yield Path(name)
        Path(name).replace(place)
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()


def _features(model: "SentenceTransformer", texts: list[str]) -> dict[str, Any]:
    """What the transformer gets of some texts, tensors only."""
    given = model.preprocess(texts)
    wanted = ("input_ids", "attention_mask", "token_type_ids")
    return {name: given[name] for name in wanted if name in given}


def _convert(model: "SentenceTransformer", place: Path) -> None:
    """Write the transformer as ONNX, with any number of texts and tokens."""
    import torch

    transformer: Any = model[0]
    features = _features(model, ["a text of some words", "another text of words"])
    names = list(features)

    class Tokens(torch.nn.Module):  # type: ignore[misc]  # torch is not followed
        """The transformer as a function of its inputs in order."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = transformer.model

        def forward(self, *inputs: Any) -> Any:
            return self.inner(**dict(zip(names, inputs, strict=True)), return_dict=True)[OUTPUT]

    axes = {name: {0: "texts", 1: "tokens"} for name in (*names, OUTPUT)}
    try:
        with warnings.catch_warnings(), _hushed(), torch.inference_mode():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                Tokens().train(False),
                tuple(features.values()),
                str(place),
                input_names=names,
                output_names=[OUTPUT],
                dynamic_axes=axes,
                dynamo=False,
            )
    except Exception as fault:  # whatever a foreign architecture makes the exporter raise
        raise ModelError(f"the model cannot be converted to ONNX ({fault})") from fault


@contextmanager
def _hushed() -> Any:
    """Without the exporter's remarks about its own insides."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _quantised(identity: str, whole: Path) -> Path:
    """The model with weights in eight bits, and what flows between them quantised as it comes."""
    place = _kept(identity, "int8")
    if not place.is_file():
        from onnxruntime.quantization import QuantType, quantize_dynamic

        with _written(place) as part, _quiet_root():
            quantize_dynamic(str(whole), str(part), weight_type=QuantType.QInt8)
    return place


@contextmanager
def _quiet_root() -> Any:
    """onnxruntime's quantiser warns on the root logger that it was not preprocessed."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def _engine(place: Path, backend: Backend, dtype: Dtype, threads: int) -> Run:
    return _onnx(place, dtype, threads) if backend == "onnx" else _openvino(place, dtype, threads)


def _onnx(place: Path, dtype: Dtype, threads: int) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    session = onnxruntime.InferenceSession(str(place), options, providers=["CPUExecutionProvider"])

    def run(features: Mapping[str, "np.ndarray[Any, Any]"]) -> "np.ndarray[Any, Any]":
        return np.asarray(session.run(None, dict(features))[0])

    def one_by_one(features: Mapping[str, "np.ndarray[Any, Any]"]) -> "np.ndarray[Any, Any]":
        rows = range(len(next(iter(features.values()))))
        alone = ({name: values[[row]] for name, values in features.items()} for row in rows)
        return np.concatenate([run(text) for text in alone])

    # Eight bits are scaled over all that a batch holds: a text's vector would depend on the others.
    return one_by_one if dtype == "int8" else run


def _openvino(place: Path, dtype: Dtype, threads: int) -> Run:
    import openvino

    core = openvino.Core()
    hints = {
        "INFERENCE_PRECISION_HINT": PRECISIONS[dtype],
        "INFERENCE_NUM_THREADS": threads,
    }
    compiled = core.compile_model(core.read_model(str(place)), "CPU", hints)
    return lambda features: np.array(compiled(dict(features))[0])


def _check(model: "SentenceTransformer", converted: Callable[..., Any]) -> None:
    """Texts of other lengths and numbers than the conversion has seen must come out alike."""
    import torch

    own = model[0].model.forward
    for texts in (["one"], ["a pump leaks at its valve " * 5] * 3):
        features = _features(model, texts)
        with torch.inference_mode():
            expected = own(**features, return_dict=True)[OUTPUT].numpy()
        got = converted(**features)[OUTPUT].numpy()
        distance = np.linalg.norm(got - expected, axis=2) / np.linalg.norm(expected, axis=2)
        if not distance.max() <= NEAR:
            raise ModelError(f"the converted model differs from the model by {distance.max():.2g}")
