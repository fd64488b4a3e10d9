"""How large chunks are: one size, several that are indexed together, or one by document type."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from lab.chunking.numbers import LARGEST, whole
from lab.corpus.document import Corpus
from lab.errors import ConfigError, counted

DEFAULT = "default"
SHOWN = 3


@dataclass(frozen=True, slots=True)
class SizeByType:
    """Pairs (type, size), ordered by type: what documents of a type (`Document.doctype`) are cut
    to. The type `default` stands for all that are not named."""

    pairs: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return ",".join(f"{doctype}={size}" for doctype, size in self.pairs)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The distinct sizes, ascending."""
        return tuple(sorted({size for _, size in self.pairs}))

    def by_document(self, corpus: Corpus) -> list[int]:
        """The size of every document. Raises ConfigError with every type that has no size, and some
        of its documents."""
        named = dict(self.pairs)
        without: dict[str, list[str]] = {}
        for document in corpus:
            if document.doctype not in named and DEFAULT not in named:
                without.setdefault(document.doctype, []).append(document.doc_id)
        if without:
            raise ConfigError(
                f"chunk.size has no size for {counted(len(ids), 'document')} of type '{doctype}' "
                f"({', '.join(ids[:SHOWN])}{', ...' if len(ids) > SHOWN else ''}); "
                f"it names {', '.join(named)}; add the type, or '{DEFAULT}' for all others"
                for doctype, ids in sorted(without.items())
            )
        return [
            named[document.doctype if document.doctype in named else DEFAULT] for document in corpus
        ]


def _size(value: Any) -> int | tuple[int, ...] | SizeByType:
    """Several sizes stand in ascending order, for neither their order nor repeats make a
    difference."""
    if isinstance(value, SizeByType):
        return value
    if isinstance(value, Mapping):
        named = bool(value) and all(isinstance(kind, str) and kind for kind in value)
        if not named or not _whole_numbers(value.values()):
            raise ValueError(
                "expected a whole number from 1 for every document type, like { technical = 300, "
                "default = 800 }"
            )
        return SizeByType(tuple(sorted((kind, whole(size)) for kind, size in value.items())))
    several = value if isinstance(value, list | tuple) else (value,)
    if not several or not _whole_numbers(several):
        raise ValueError(
            "expected a whole number from 1, several that are indexed together, like [[256, 768]], "
            "or one for every document type, like { technical = 300, default = 800 }"
        )
    distinct = tuple(sorted({whole(size) for size in several}))
    return distinct if len(distinct) > 1 else distinct[0]


def _whole_numbers(values: Iterable[Any]) -> bool:
    try:
        return all(0 < whole(size) <= LARGEST for size in values)
    except ValueError:
        return False


def _plain(size: int | tuple[int, ...] | SizeByType) -> Any:
    return dict(size.pairs) if isinstance(size, SizeByType) else size


Size = Annotated[
    int | tuple[int, ...] | SizeByType, BeforeValidator(_size), PlainSerializer(_plain)
]
