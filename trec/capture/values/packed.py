"""Weights packed into objects of C++, such as those of quantised layers: constants that operators read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from trec.capture.log import Log
    from trec.capture.thread import Thread

_NAMES = ("weight", "bias")


class Packed:
    """The values of the tensors in such objects, each object unpacked once."""

    def __init__(self, log: Log, paths: dict[int, str]) -> None:
        self._log, self._paths = log, paths
        self._values: dict[int, list[int]] = {}
        self._held: list[Any] = []
        """The objects met so far, so that their hashes stay theirs."""

    def read(self, packed: Any, thread: Thread) -> list[int]:
        """Return the values of the tensors in an object; none if it cannot be unpacked."""
        values = self._values.get(hash(packed))  # Python has a new object of it each time; this tells which it is
        if values is None:
            values = self._values[hash(packed)] = self._introduce(packed, thread)
            self._held.append(packed)
        return values

    def _introduce(self, packed: Any, thread: Thread) -> list[int]:
        try:
            held = packed.unpack()
        except (AttributeError, RuntimeError):
            return []
        around = self._name(packed, thread)
        values = []
        for position, tensor in enumerate(held if isinstance(held, tuple) else (held,)):
            if isinstance(tensor, Tensor):
                values.append(self._log.value(tensor))
                part = _NAMES[position] if position < len(_NAMES) else str(position)
                name = f"{around}.{part}" if around else "constant"
                self._log.events.append(("constant", name, thread.scope, [], [values[-1]], None, None))
        return values

    def _name(self, packed: Any, thread: Thread) -> str:
        """Return the path of the attribute that holds the object, below the module that runs; empty if none does."""
        todo = [thread.frames[-1][1]] if thread.frames else []
        while todo:
            module = todo.pop()
            for name, value in vars(module).items():
                if isinstance(value, torch.ScriptObject) and hash(value) == hash(packed):
                    path = self._paths.get(id(module), "")
                    return f"{path}.{name}" if path else name
            todo.extend(child for child in module._modules.values() if child is not None)
        return ""
