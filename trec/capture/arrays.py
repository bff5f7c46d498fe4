"""Arrays of numpy that the model can reach: their numbers, or the objects in them, and their form."""

from __future__ import annotations

import sys
from typing import Any

LARGEST_ARRAY = 1 << 26
"""Size in bytes of the largest array that is copied; larger ones are not put back."""


class ArrayFacts:
    """What an array was; numpy is loaded, or there would be none."""

    def __init__(self, array: Any) -> None:
        plain = array.view(sys.modules["numpy"].ndarray)
        self.form = _form(array)
        self.nbytes = plain.nbytes
        copied = plain.nbytes <= LARGEST_ARRAY and plain.flags.writeable
        self.content = plain.copy() if copied else None
        self.objects: list[Any] = list(plain.flat) if plain.dtype == object else []


def refill_array(array: Any, old: ArrayFacts) -> None:
    """Give an array the form and the numbers that it had."""
    numpy = sys.modules["numpy"].ndarray
    if _form(array) != old.form:
        shape, strides, dtype, writeable = old.form
        if not array.flags.writeable:
            numpy.setflags(array, write=True)
        if array.nbytes != old.nbytes:
            numpy.resize(array, (old.nbytes // array.itemsize,), refcheck=False)
        numpy.dtype.__set__(array, dtype)
        numpy.shape.__set__(array, shape)
        if array.strides != strides:
            numpy.strides.__set__(array, strides)
        if not writeable:
            numpy.setflags(array, write=False)
    if old.content is not None:
        array.view(numpy)[...] = old.content


def _form(array: Any) -> tuple[Any, ...]:
    return (array.shape, array.strides, array.dtype, array.flags.writeable)
