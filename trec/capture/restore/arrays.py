"""Arrays of numpy that the model can reach: their numbers, or the objects in them, and their form."""

from __future__ import annotations

import sys
from operator import is_
from typing import Any

LARGEST_ARRAY = 1 << 26
"""Size in bytes of the largest array that is copied; larger ones are not put back."""


class ArrayFacts:
    """What an array was; numpy is loaded, or there would be none."""

    def __init__(self, array: Any) -> None:
        plain = array.view(sys.modules["numpy"].ndarray)
        self.form = _form(array)
        self.nbytes = plain.nbytes
        self.content = plain.copy() if plain.nbytes <= LARGEST_ARRAY else None
        self.objects: list[Any] = list(plain.flat) if plain.dtype == object else []


def refill_array(array: Any, old: ArrayFacts) -> None:
    """Give an array the form and the numbers that it had."""
    numpy = sys.modules["numpy"].ndarray
    shape, strides, dtype, writeable = old.form
    if _form(array)[:3] != old.form[:3]:
        numpy.setflags(array, write=True)
        if array.nbytes != old.nbytes:
            numpy.resize(array, (old.nbytes // array.itemsize,), refcheck=False)
        numpy.dtype.__set__(array, dtype)
        numpy.shape.__set__(array, shape)
        if array.strides != strides:
            numpy.strides.__set__(array, strides)
    plain = array.view(numpy)
    if old.content is not None and not _same(plain, old.content):
        numpy.setflags(array, write=True)
        array.view(numpy)[...] = old.content
    if array.flags.writeable != writeable:
        numpy.setflags(array, write=writeable)


def _same(now: Any, old: Any) -> bool:
    if now.dtype == object:
        return all(map(is_, now.flat, old.flat))
    return bool(now.tobytes() == old.tobytes())


def _form(array: Any) -> tuple[Any, ...]:
    return (array.shape, array.strides, array.dtype, array.flags.writeable)
