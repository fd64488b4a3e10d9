"""How many tokens of a text a model reads, from the files in its folder alone."""

import json
import struct
from pathlib import Path

from lab.retrieval.models import model_modules, read_json

# sentence-transformers calls the file after the architecture in its first versions.
CONFIGS = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
# What stands for "no limit" is a number like 10^30.
ENDLESS = 1_000_000
# Architectures that number their positions from behind the padding token.
BEHIND_PADDING = (
    "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer",
    "roberta-prelayernorm", "data2vec-text",
)  # fmt: skip
TABLES = ("position_embeddings.weight", "wpe.weight", "embed_positions.weight")


def input_folder(folder: Path) -> Path:
    """Where a model's first module has its files: the folder itself, or one in it."""
    modules = model_modules(folder)
    return modules[0][1] if modules else folder


def most_tokens(folder: Path) -> int | None:
    """Tokens of a text that the model reads, special ones included; None without a limit.

    As sentence-transformers has it: what its authors set, else the tokenizer's limit or the
    model's, whichever is less; and never more than the table of positions has rows, beyond which
    the model itself fails.
    """
    place = input_folder(folder)
    config = read_json(place / "config.json")
    wanted = _wanted(place)
    if wanted is None:
        limits = (
            read_json(place / "tokenizer_config.json").get("model_max_length"),
            config.get("max_position_embeddings"),
        )
        wanted = min((limit for value in limits if (limit := _count(value))), default=None)
    rows = position_rows(place, config)
    return min((limit for limit in (wanted, rows) if limit is not None), default=None)


def position_rows(place: Path, config: dict[str, object]) -> int | None:
    """Positions that the model has a vector for; None where it computes them."""
    rows = _table_rows(place / "model.safetensors")
    if rows is None and config.get("model_type") in BEHIND_PADDING:
        rows = _count(config.get("max_position_embeddings"))
    if rows is None:
        return None
    padding = config.get("pad_token_id")
    behind = config.get("model_type") in BEHIND_PADDING and isinstance(padding, int)
    return rows - (padding + 1) if behind and isinstance(padding, int) else rows


def _wanted(place: Path) -> int | None:
    """What the authors set for this model, whatever the tokenizer says."""
    for kind in CONFIGS:
        config = read_json(place / f"sentence_{kind}_config.json")
        if config:
            nested = config.get("processor_kwargs") or config.get("tokenizer_args")
            inner = nested.get("model_max_length") if isinstance(nested, dict) else None
            return _count(inner) or _count(config.get("max_seq_length"))
    return None


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and 0 < value < ENDLESS else None


def _table_rows(file: Path) -> int | None:
    """Rows of the table of positions, from the header of the weights."""
    try:
        with file.open("rb") as weights:
            (length,) = struct.unpack("<Q", weights.read(8))
            header = json.loads(weights.read(length)) if length < 2**27 else {}
    except (OSError, ValueError, struct.error):
        return None
    shapes = [
        entry["shape"]
        for name, entry in header.items()
        if name.endswith(TABLES) and isinstance(entry, dict) and len(entry.get("shape", ())) == 2
    ]
    return int(shapes[0][0]) if len(shapes) == 1 else None
