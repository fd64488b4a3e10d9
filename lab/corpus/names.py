"""Names: ids found whatever their Unicode normal form, for macOS writes file names in another than
keyboards do."""

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property


def normal(name: str) -> str:
    """The name in normal form C, under which equal-looking names are equal."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


class Names:
    """Known ids. One that is asked for is found as it is written, else by its normal form where
    just one id has it."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def find(self, name: str) -> str | None:
        """The known id that `name` means, None where there is none or where it could be several."""
        if name in self._known:
            return name
        alike = self._by_form.get(normal(name), ())
        return alike[0] if len(alike) == 1 else None

    def alike(self, name: str) -> tuple[str, ...]:
        """Known ids that look the same as `name` and are written otherwise."""
        return tuple(known for known in self._by_form.get(normal(name), ()) if known != name)

    @cached_property
    def _by_form(self) -> dict[str, tuple[str, ...]]:
        by_form: dict[str, tuple[str, ...]] = {}
        for name in sorted(self._known):
            by_form[normal(name)] = (*by_form.get(normal(name), ()), name)
        return by_form
