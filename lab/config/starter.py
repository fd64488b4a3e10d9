"""A first experiment file for documents at hand: what they decide is set, everything else stands as
a comment with its default, taken from the table of settings."""

import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic_core import PydanticUndefined

from lab.config.fitting import Fitting
from lab.config.measure import Measure
from lab.config.retriever import RetrieverConfig
from lab.config.settings import SETTINGS, TABLES
from lab.config.toml import toml_axis, toml_value
from lab.corpus.document import Corpus
from lab.corpus.values import moment, number
from lab.retrieval.models import EXTRA

MODES = ["bm25", "dense", "hybrid"]
ALPHAS = [0.2, 0.4, 0.6, 0.8]
WIDTH = 34
SHOWN = 5


def starter(name: str, corpus: Corpus, place: str, sets: Sequence[str], fits: Fitting) -> str:
    """The file's text. It reads as it stands; taking a `# ` away before a setting changes nothing
    until its value is changed."""
    chosen = _chosen(fits)
    lines = [
        f"# {len(corpus):,} documents, {corpus.characters:,} characters; a paragraph has about "
        f"{fits.paragraph:,}.",
        *_about_model(fits),
        "# A list is swept: every value with every other. A line that begins with '# ' shows a",
        "# default. Check with `lab check`, then `lab run`.",
        f"name = {toml_value(name)}",
        f"corpus = {toml_value(place)}",
        f"diagnostic_sets = {toml_value(list(sets))}",
    ]
    for table, keys in TABLES.items():
        lines += ["", f"[{table}]"]
        for key, setting in keys.items():
            row = SETTINGS[setting]
            if setting in chosen:
                lines.append(_beside(f"{key} = {toml_value(chosen[setting])}", row.type))
            else:
                lines.append(_default(key, row.default, row.type, True))
    lines += ["", *_features(corpus), "", *_measure(), "", *_retriever()]
    return "\n".join(lines) + "\n"


def _chosen(fits: Fitting) -> dict[str, Any]:
    """What the documents decide, by setting."""
    chosen: dict[str, Any] = {"chunk_strategy": list(fits.strategies)}
    if fits.sizes:
        chosen["chunk_size"] = list(fits.sizes)
    chosen["mode"] = MODES if fits.models else MODES[:1]
    if fits.models:
        chosen |= {"model": fits.model, "alpha": ALPHAS}
    return chosen


def _about_model(fits: Fitting) -> Iterator[str]:
    if not fits.models:
        yield "# BM25 alone: for dense retrieval, the modes dense and hybrid, and rerankers"
        yield f"# pip install 'retrieval-diagnostics-lab[{EXTRA}]'."
        return
    yield f"# {fits.model} reads about {fits.room:,} characters of a chunk; sizes stay within."
    if not fits.english:
        yield "# The documents are not in English: the model is a multilingual one, which is"
        yield "# fetched from its hub at first use. A folder on this machine will do as well."


def _default(key: str, value: Any, type_: Any, axis: bool) -> str:
    """A setting that is not named, with its default and the values it may have where these are
    words."""
    if value is None or value is PydanticUndefined:
        return f"# {key}: not set"
    return _beside(f"# {key} = {toml_axis(value) if axis else toml_value(value)}", type_)


def _beside(line: str, type_: Any) -> str:
    """A line with the words that its setting may have, where it may have no others; names of other
    libraries' splitters are left out."""
    words = [word for word in _words(type_) if word and ":" not in word]
    return f"{line.ljust(WIDTH)} # {', '.join(words)}" if len(words) > 1 else line


def _words(type_: Any) -> tuple[str, ...]:
    """The words that a type allows, none where it allows others too."""
    if get_origin(type_) is Literal:
        return tuple(word for word in get_args(type_) if isinstance(word, str))
    if get_origin(type_) in (Union, types.UnionType):
        return tuple(word for part in get_args(type_) for word in _words(part))
    return ()


def _features(corpus: Corpus) -> list[str]:
    """The metadata that may be weighed."""
    fields: dict[str, bool] = {}
    for document in corpus:
        for key, value in document.metadata.items():
            weighable = number(value) is not None or moment(value) is not None
            fields[key] = fields.get(key, True) and weighable
    names = sorted(key for key, weighable in fields.items() if weighable)[:SHOWN]
    if not names:
        return ["# [features]: weights of metadata that is a number or a date; these have none"]
    return ["[features]", *(f"# {toml_value(name)} = 0" for name in names)]


def _measure() -> list[str]:
    lines = ["[measure]"]
    for key, field in Measure.model_fields.items():
        if key in ("metrics", "select_by"):
            lines.append(f"{key} = {toml_value(field.default)}")
        else:
            lines.append(_default(key, field.default, field.annotation, False))
    return lines


def _retriever() -> list[str]:
    """A system of the user's own, all of it as a comment: there is none by default."""
    shown = {"name": "mine", "url": "http://127.0.0.1:8765/"}
    lines = [
        "# A system of your own, beside the lab's: a url, a command or a run file.",
        "# [[retriever]]",
    ]
    for key, field in RetrieverConfig.model_fields.items():
        if key in shown:
            lines.append(f"# {key} = {toml_value(shown[key])}")
        else:
            lines.append(_default(key, field.default, field.annotation, False))
    return lines


def free_name(corpus: Path) -> str:
    """The name of an experiment over documents: their folder's, or their file's."""
    named = corpus.resolve()
    return (named.stem if named.is_file() else named.name) or "experiment"
