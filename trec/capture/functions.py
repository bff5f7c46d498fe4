"""The upper of the two modes: it sees every call of a torch function that Python code makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._C import DisableTorchFunction
from torch.nn import Parameter
from torch.overrides import TorchFunctionMode

from trec.capture.arguments import freeze
from trec.capture.direct import DIRECT, WATCH, DirectCalls
from trec.capture.leaves import add_tensors, wrapped_by_functorch
from trec.capture.log import Call
from trec.capture.memory import data_address, storage_key
from trec.capture.regions import APART, WHOLE, overlap, region_of
from trec.capture.sources import caller_place

if TYPE_CHECKING:
    from trec.capture.recorder import Recorder
    from trec.capture.thread import Thread
    from trec.ir.types import NodeKind

ACCESSORS = frozenset({"__get__", "__set__", "__delete__"})
"""Reads and writes of attributes: a node only if they run an operator."""

SILENT = frozenset(
    [
        getattr(Tensor, name).__get__
        for name in (
            "shape", "dtype", "device", "layout", "ndim", "requires_grad", "is_leaf", "grad_fn", "is_cuda", "is_cpu",
            "is_sparse", "is_meta", "is_nested", "is_quantized", "is_mkldnn", "itemsize", "nbytes", "names",
        )
        if hasattr(getattr(Tensor, name, None), "__get__")
    ]
    + [
        getattr(owner, name)
        for owner in (Tensor, torch)
        for name in (
            "size", "dim", "ndimension", "numel", "nelement", "stride", "storage_offset", "element_size", "get_device",
            "is_contiguous", "is_floating_point", "is_complex", "is_signed", "is_inference", "is_same_size",
        )
        if hasattr(owner, name)
    ]
)  # fmt: skip
"""Questions to a tensor that never run an operator on its values and never give a tensor."""

NO_CALLS = frozenset({"requires_grad_", "retain_grad", "register_hook", "is_tensor", "as_subclass"})
"""Functions that run no operator and return their argument, yet do nothing to its value."""

HOST = frozenset({
    "item", "tolist", "numpy", "__array__", "__bool__", "__float__", "__int__", "__index__", "__complex__",
    "__dlpack__", "__contains__", "__repr__", "__str__", "__format__", "equal", "allclose", "is_nonzero", "data_ptr",
    "untyped_storage", "storage", "__reduce_ex__", "__iter__",
})  # fmt: skip
"""Functions through which values leave torch."""

EXPORTING = frozenset({"numpy", "__array__", "__dlpack__", "data_ptr", "untyped_storage", "storage"})
"""Functions that hand out memory which may be written behind our back."""


class FunctionMode(TorchFunctionMode):
    """Gathers the operators of each torch function into one call, and names what it was given and returned."""

    def __init__(self, recorder: Recorder, thread: Thread) -> None:
        super().__init__()
        self.recorder, self.thread = recorder, thread
        self.memory, self.log, self.lock = recorder.memory, recorder.log, recorder.lock
        self.direct = DirectCalls(recorder, thread)
        self.direct_calls = DIRECT if recorder.level == "function" else {}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        thread = self.thread
        if thread.mute:
            return func(*args, **kwargs) if kwargs else func(*args)
        if func in SILENT:
            thread.mute = 1
            try:
                return func(*args, **kwargs) if kwargs else func(*args)
            finally:
                thread.mute = 0
        unless = self.direct_calls.get(func)
        if unless is not None:
            result = self.direct.call(func, unless, args, kwargs)
            if result is not WATCH:
                return result
        name = getattr(func, "__name__", "")
        accessor = name in ACCESSORS
        outer = thread.call
        scope = thread.scope
        call = Call(func, scope, None if self.log.scopes[scope].native else caller_place(2), [])
        if accessor:
            read: list[Tensor] = []
            add_tensors(args, read)
            call.tensors = read
        else:
            self._enter(call, name, args, kwargs)
        thread.call = call
        try:
            result = func(*args, **kwargs) if kwargs else func(*args)
        except BaseException:
            call.tensors = ()
            if call.events:
                self.log.events.append(call)
            raise
        finally:
            thread.call = outer
        if accessor and name == "__set__" and getattr(func.__self__, "__name__", "") == "data":
            self.memory.forget(args[0])
        if call.events or not accessor:
            thread.mute += 1
            try:
                if type(result) is Tensor and call.events:
                    self._leave(call, name, result)
                else:
                    with DisableTorchFunction():
                        self._leave(call, name, result)
            finally:
                thread.mute -= 1
        call.tensors = ()
        return result

    def _enter(self, call: Call, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> None:
        """Note what the function is given, before anything is written."""
        frozen, tensors = freeze(args, kwargs)
        call.arguments = self.log.arguments(call.function, frozen)
        call.tensors = tensors
        memory, thread = self.memory, self.thread
        entries = memory.entries
        call.given = given = []
        with self.lock:
            for tensor in tensors:
                entry = entries.get(id(tensor))
                if entry is None or entry.tensor() is not tensor or entry.seen != entry.storage.version:
                    if type(tensor) is Parameter and thread.call is None:
                        entry = memory.entry(tensor, thread)
                    elif (entry := self._resolve(tensor, thread)) is None:
                        continue
                given.append(entry.value)
            if name in EXPORTING:
                for tensor in tensors:
                    if (entry := memory.known(tensor)) is not None:
                        self.recorder.protect(entry.storage, thread)

    def _resolve(self, tensor: Tensor, thread: Thread) -> Any:
        thread.mute += 1
        call, thread.call = thread.call, None
        try:
            with DisableTorchFunction():
                return None if wrapped_by_functorch(tensor) else self.memory.entry(tensor, thread)
        finally:
            thread.mute -= 1
            thread.call = call

    def _leave(self, call: Call, name: str, result: Any) -> None:
        """Write the call down, if it is one."""
        results: list[Tensor] = []
        if isinstance(result, Tensor):
            results.append(result)
        elif isinstance(result, (list, tuple, dict)):
            add_tensors(result, results)
        with self.lock:
            if not call.events:
                self._leave_without_operator(call, name, results)
                return
            entries = self.memory.entries
            for tensor in call.tensors if call.wrote else ():
                entry = entries.get(id(tensor))
                if entry is not None and entry.seen != entry.storage.version and entry.tensor() is tensor:
                    self._take_own_writes(call, tensor)
            call.results = [
                entry.value
                for tensor in results
                if (entry := entries.get(id(tensor))) is not None and entry.tensor() is tensor
            ]
            if name in HOST and not results and not call.host:
                call.host = True
                call.events.append(("host", name, call.scope, call.given, [], None, None))
            self.log.events.append(call)
        if name in ("numpy", "__array__"):
            self._export(call)

    def _take_own_writes(self, call: Call, tensor: Tensor) -> None:
        """An argument that this call wrote through a view of it: the call yields its new value."""
        entry = self.memory.entries[id(tensor)]
        pending = entry.storage.writes[entry.seen :]
        if any(where is not call for _, _, where in pending):
            return
        covered = region_of(tensor)
        touched = [overlap(region, covered) for _, region, _ in pending]
        if any(kind != APART for kind in touched):
            old = entry.value
            entry.value = self.log.value(tensor)
            if WHOLE not in touched:
                call.read = (*call.read, old)
            call.events.append(("link", "write", call.scope, [v for v, _, _ in pending], [entry.value], None, None))
        entry.seen = entry.storage.version

    def _leave_without_operator(self, call: Call, name: str, results: list[Tensor]) -> None:
        """A call that ran no operator is a node if it returns a tensor, or takes a value out of torch."""
        memory, thread, log = self.memory, self.thread, self.log
        results = [tensor for tensor in results if not wrapped_by_functorch(tensor)]
        if results and name not in NO_CALLS:
            returned = {id(tensor): tensor for tensor in results}.values()
            same = {id(tensor) for tensor in call.tensors}
            if any(id(tensor) in same for tensor in returned):
                depth = len(thread.frames)
                made = [thread.rename(memory.entry(tensor, thread), depth) for tensor in returned]
                log.events.append(("op", call.function, call.scope, call.given, made, call.arguments, call.place))
                return
            keys = {storage_key(tensor) for tensor in call.tensors} - {None}
            fresh = [tensor for tensor in returned if storage_key(tensor) not in keys]
            for tensor in fresh:  # from_numpy, frombuffer, ...
                source = memory.shared_with(tensor)
                values = call.given if source is None else [*call.given, source]
                value = memory.make(tensor, ())
                kind: NodeKind = "op" if call.given else "host"
                log.events.append((kind, call.function, call.scope, values, [value], call.arguments, call.place))
        elif name in HOST and call.given:
            log.events.append(("host", call.function, call.scope, call.given, [], call.arguments, call.place))
            if name in ("numpy", "__array__"):
                self._export(call)

    def _export(self, call: Call) -> None:
        for tensor in call.tensors:
            address, entry = data_address(tensor), self.memory.known(tensor)
            if address is not None and entry is not None:
                self.memory.exported.append((address, address + max(_extent(tensor), 1), entry.value))


def _extent(tensor: Tensor) -> int:
    """Return the number of bytes from the first element of a tensor to the end of the last one."""
    steps = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return (steps + 1) * tensor.element_size()
