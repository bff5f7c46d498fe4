"""Operators that are given functions, such as `cond` and `while_loop`: what their functions do is seen too."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, MethodType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from trec.capture.arguments import freeze
from trec.capture.leaves import leaves, wrapped_by_functorch
from trec.capture.log import Call
from trec.capture.sources import caller_place
from trec.capture.torch_api import (
    EAGER,
    DisableTorchFunction,
    current_dispatch_mode,
    transform_inside,
    without_dispatch_mode,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trec.capture.dispatch import OperatorMode
    from trec.capture.values.storages import Storage
    from trec.ir.types import NodeKind

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodDescriptorType, MethodType, partial, torch.nn.Module)


def differentiable(operator: Any) -> Any:
    """Return what runs the functions of an operator as they are written, so that gradients flow through them.

    The operator's own rule for gradients traces them, which fails where they close over tensors: only the compiler,
    which is kept out, would have made operands of these.
    """
    kernel = operator.py_kernels.get(EAGER)
    top = current_dispatch_mode()
    below = transform_inside()
    if kernel is None or below is not None or not hasattr(top, "recorder") or not torch.is_grad_enabled():
        return operator

    def run(*args: Any, **kwargs: Any) -> Any:
        with ExitStack() as stack:
            mode = stack.enter_context(without_dispatch_mode())
            while current_dispatch_mode() is not None:  # one of the user's, around the recording
                stack.enter_context(without_dispatch_mode())
            return HigherOrderCall(mode, operator, args, kwargs, kernel).run()

    return run


class HigherOrderCall:
    """One call of an operator that is given functions.

    It is a node that reads its operands and what its functions returned. What they ran stands before it. If none of
    them was run in sight, it is a region, which reads what they close over besides.
    """

    def __init__(
        self, mode: OperatorMode, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], kernel: Any = None
    ) -> None:
        self.mode, self.operator, self.args, self.kwargs = mode, operator, args, kwargs
        self.kernel = kernel or operator
        self.recorder, self.thread, self.memory, self.log = mode.recorder, mode.thread, mode.memory, mode.log
        self.returned: list[int] = []
        """Values that its functions returned."""
        self.storages: list[Storage] = []
        self.seen = False

    def run(self) -> Any:
        """Run the operator and write it down."""
        thread = self.thread
        call = thread.call
        if call is not None and call.function is not self.operator:
            thread.split_call()
        thread.mute += 1
        outer = thread.operands
        try:
            with DisableTorchFunction():
                operands, self.storages = self.mode.read(self.args, self.kwargs)
                captured = [self.memory.entry(tensor, thread).value for tensor in self._captured()]
            thread.operands = operands
            kwargs = {key: self._watched(value) for key, value in self.kwargs.items()}
            result = self.kernel(*map(self._watched, self.args), **kwargs)
            with DisableTorchFunction(), self.recorder.lock:
                reads = operands + (self.returned if self.seen else captured)
                made = self.mode.made(result, self.storages)
                given = self.log.arguments(self.operator, freeze(self.args, self.kwargs)[0])
                kind: NodeKind = "op" if self.seen else "region"
                place = caller_place(4) if call is None else None
                thread.emit((kind, self.operator, thread.scope, list(dict.fromkeys(reads)), made, given, place))
        finally:
            thread.operands = outer
            thread.mute -= 1
        return result

    def _watched(self, value: Any) -> Any:
        """Return a function that is recorded when the operator runs it; other arguments as they are."""
        if isinstance(value, _FUNCTIONS):
            return partial(self._enter, value)
        if type(value) in (tuple, list):
            return type(value)(map(self._watched, value))
        return value

    def _enter(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        thread = self.thread
        call, mute = thread.call, thread.mute
        self.seen = True
        before = len(self.log.events)
        thread.call, thread.mute = None, 0
        try:
            with self.recorder.modes(thread):
                result = function(*args, **kwargs)
            thread.mute = 1
            with DisableTorchFunction():
                tensors = [tensor for _, tensor in leaves(result)]
                if any(map(wrapped_by_functorch, tensors)):
                    self.returned.extend(self._unread(before))
                else:
                    self.returned.extend([self._known(tensor) for tensor in tensors])
        finally:
            thread.call, thread.mute = call, mute
        return result

    def _known(self, tensor: Tensor) -> int:
        entry = self.memory.entry(tensor, self.thread)
        self.storages.append(entry.storage)
        return entry.value

    def _unread(self, start: int) -> list[int]:
        """Return the values made since an event that no event has read: what lies in results below a transform."""
        made: dict[int, None] = {}
        for event in self.log.events[start:]:
            for _, _, _, reads, makes, *_ in event.events if isinstance(event, Call) else (event,):
                made.update(dict.fromkeys(makes))
                for value in reads:
                    made.pop(value, None)
        return list(made)

    def _captured(self) -> list[Tensor]:
        found: dict[int, Tensor] = {}
        for value in [*self.args, *self.kwargs.values()]:
            for function in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(function, _FUNCTIONS):
                    found.update((id(tensor), tensor) for tensor in captured(function))
        return [tensor for tensor in found.values() if not wrapped_by_functorch(tensor)]


def captured(function: Any) -> list[Tensor]:
    """Return the tensors that a function can reach: in its closure, its defaults, what it is bound to.

    Of a module that it closes over, those count whose names, or whose modules' names, its code mentions.
    """
    found: list[Tensor] = []
    seen: set[int] = set()
    todo: list[tuple[Any, frozenset[str]]] = [(function, frozenset())]
    while todo:
        value, names = todo.pop()
        if isinstance(value, Tensor):
            found.append(value)
        elif id(value) not in seen:
            seen.add(id(value))
            todo.extend(_reached(value, names))
    return found


def _reached(value: Any, names: frozenset[str]) -> Iterator[tuple[Any, frozenset[str]]]:
    """Yield what a value leads to, each with the names that the code around mentions."""
    if isinstance(value, partial):
        yield from ((part, names) for part in (value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, MethodType):
        mentioned = names | frozenset(_names(value.__func__.__code__)) if hasattr(value.__func__, "__code__") else names
        yield value.__self__, mentioned
        yield value.__func__, names
    elif isinstance(value, FunctionType):
        mentioned = frozenset(_names(value.__code__))
        cells = [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
        defaults = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        outside = [value.__globals__[name] for name in sorted(mentioned) if name in value.__globals__]
        tensors = [item for item in outside if isinstance(item, Tensor)]
        yield from ((part, mentioned) for part in (*cells, *defaults, *tensors))
    elif isinstance(value, torch.nn.Module):
        held = {**value.__dict__, **value._parameters, **value._buffers, **value._modules}
        chosen = sorted(names & held.keys())
        yield from (
            (held[name], frozenset[str]()) for name in chosen or [*value._parameters, *value._buffers, *value._modules]
        )
    elif type(value) in (tuple, list):
        yield from ((part, names) for part in value)
    elif type(value) is dict:
        yield from ((part, names) for part in value.values())


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
