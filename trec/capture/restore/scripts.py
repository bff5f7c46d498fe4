"""Attributes of scripted modules that are no tensors: they live in C++, and Python is given copies of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from trec.capture.leaves import ATOMS
from trec.capture.torch_api import script_attributes

if TYPE_CHECKING:
    from trec.capture.restore.left import Left


class Scripts:
    """What scripted modules held, as far as Python can be told."""

    def __init__(self) -> None:
        self._held: list[tuple[Any, str, Any]] = []

    def remember(self, module: Any) -> None:
        """Remember the attributes of a module, if it is scripted."""
        if issubclass(type(module), torch.jit.ScriptModule):
            self._held += [(module._c, name, module._c.getattr(name)) for name in script_attributes(module)]

    def restore(self, left: Left) -> None:
        """Give every attribute the value that it had."""
        for script, name, old in self._held:
            left.attempt(f"the attribute {name} of a script", _put_back, script, name, old)


def _put_back(script: Any, name: str, old: Any) -> None:
    if not _same(script.getattr(name), old):
        script.setattr(name, old)


def _same(now: Any, old: Any) -> bool:
    """Tell whether two copies are of one value; of tensors and objects, whether they are the same."""
    if type(now) is not type(old):
        return False
    if type(old) in ATOMS:
        return bool(repr(now) == repr(old))  # of numbers, as a NaN is not equal to itself
    if isinstance(old, (list, tuple)):
        return len(now) == len(old) and all(map(_same, now, old))
    if isinstance(old, dict):
        return _same(list(now.items()), list(old.items()))
    return now is old
