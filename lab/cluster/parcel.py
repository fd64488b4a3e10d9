"""Parcels: what a task returns, without what both sides hold already."""

import io
import pickle
from collections.abc import Sequence
from typing import Any


def packed(value: Any, shared: Sequence[object]) -> bytes:
    """A value as bytes in which each of the `shared` objects is its place in the list. Parcels go
    from one process of a run to another and are never kept."""
    places = {id(thing): place for place, thing in enumerate(shared)}

    class Pickler(pickle.Pickler):
        def persistent_id(self, thing: Any) -> int | None:
            return places.get(id(thing))

    into = io.BytesIO()
    Pickler(into, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return into.getvalue()


def unpacked(parcel: bytes, shared: Sequence[object]) -> Any:
    """The value of a parcel, with the receiver's own of the `shared` objects in their places."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, place: Any) -> object:
            return shared[place]

    return Unpickler(io.BytesIO(parcel)).load()
