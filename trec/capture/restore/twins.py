"""Twins of a model's tensors on the meta device, put in their places while the model is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import Parameter

from trec.capture.log import UninitializedTensor
from trec.capture.restore.refill import refill_attributes
from trec.errors import OptionError

if TYPE_CHECKING:
    from trec.capture.restore.state import State
    from trec.capture.values.memory import Memory


def put_twins(state: State) -> None:
    """Put a twin without memory in the place of every tensor that the model holds.

    Parameters and buffers have twins, and so have tensors that are attributes or stand in lists, dicts and objects
    that the model reaches. Restoring the state puts the tensors themselves back.

    Raises:
        OptionError: a module is scripted, and its tensors cannot be replaced.
    """
    twins = Twins(state.memory)
    for module in state.modules:
        if isinstance(module, torch.jit.ScriptModule):
            raise OptionError(
                f"device='meta' cannot run {type(module).__name__}, which is scripted and keeps its tensors to itself: "
                "record the module that was scripted, or leave device out"
            )
        for table in (module._parameters, module._buffers, object.__getattribute__(module, "__dict__")):
            twins.replace(table)
    for put_back, box, old in state.contents.boxes[: state.reached]:
        if put_back is refill_attributes:
            twins.replace(old[0])
        elif issubclass(type(box), (dict, list)):
            twins.replace(box)


class Twins:
    """The twin of each tensor, one for one."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._made: dict[int, Tensor] = {}

    def replace(self, box: Any) -> None:
        """Replace the tensors in a dict or list."""
        items = dict.items(box) if issubclass(type(box), dict) else enumerate(list.__iter__(box))
        for key, value in list(items):
            if issubclass(type(value), Tensor) and value.device.type != "meta":
                (dict if issubclass(type(box), dict) else list).__setitem__(box, key, self._twin(value))

    def _twin(self, tensor: Tensor) -> Tensor:
        twin = self._made.get(id(tensor))
        if twin is not None:
            return twin
        wants = tensor.requires_grad
        if isinstance(tensor, UninitializedTensor):
            twin = type(tensor)(requires_grad=wants, device="meta", dtype=tensor.dtype)
            self.memory.lazy.add(id(twin))
        elif isinstance(tensor, Parameter):
            twin = Parameter(tensor.detach().to("meta"), requires_grad=wants)
        else:
            twin = tensor.detach().to("meta").requires_grad_(wants)
        memory = self.memory
        if (origin := memory.origins.get(id(tensor))) is not None:
            memory.origins[id(twin)] = origin
        if (label := memory.labels.get(id(tensor))) is not None:
            memory.labels[id(twin)] = label
        self._made[id(tensor)] = twin
        return twin
