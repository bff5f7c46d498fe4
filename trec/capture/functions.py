"""The upper of the two modes: it sees every call of a torch function that Python code makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.overrides import TorchFunctionMode

from trec.capture.arguments import freeze
from trec.capture.collectives import is_no_call
from trec.capture.direct import DIRECT, WATCH, DirectCalls
from trec.capture.higher_order import differentiable
from trec.capture.leaves import PLAIN_TENSORS, add_tensors, unwrapped, wrapped_by_functorch
from trec.capture.log import Call
from trec.capture.sources import caller_place
from trec.capture.torch_api import DisableTorchFunction, HigherOrderOperator, count_of_function_modes
from trec.capture.values.introduce import share_foreign
from trec.capture.values.storages import storage_key

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

READING_THE_REST = frozenset({"__getitem__", "__setitem__", "new", "new_tensor"})
"""Methods that read numbers out of tensors in their arguments, and of their own tensor only what operators tell."""

READING = READING_THE_REST | {"tensor", "as_tensor", "asarray", "tensor_split", "sparse_coo_tensor"}
"""Functions that read numbers out of tensors with no operator: those in lists, or the positions where to split."""

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
        if func in SILENT or (self.recorder.distributed and is_no_call(func)):
            thread.mute = 1
            try:
                return func(*args, **kwargs) if kwargs else func(*args)
            finally:
                thread.mute = 0
        unless = self.direct_calls.get(func)
        if unless is not None and PLAIN_TENSORS.issuperset(types):  # objects of others answer calls themselves
            result = self.direct.call(func, unless, args, kwargs)
            if result is not WATCH:
                return result
        name = getattr(func, "__name__", "")
        accessor = name in ACCESSORS
        outer = thread.call
        scope = thread.scope
        call = Call(func, scope, None if self.log.scopes[scope].native else caller_place(2), [])
        run = func
        if accessor:
            read: list[Tensor] = []
            add_tensors(args, read)
            call.tensors = read
        else:
            self._enter(call, name, args, kwargs)
            if isinstance(func, HigherOrderOperator):
                run = differentiable(func)
        thread.call = call
        try:
            result = run(*args, **kwargs) if kwargs else run(*args)
        except BaseException as error:
            call.tensors = ()
            self.recorder.note_failed_call(call, error)
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
                if type(result) is Tensor and call.events and not call.wrote:
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
                    if type(tensor) is Parameter and thread.call is None and not count_of_function_modes():
                        entry = memory.entry(tensor, thread)
                    elif (entry := self._resolve(tensor, thread)) is None:
                        continue
                given.append(entry.value)
            if name in EXPORTING:
                for tensor in tensors:
                    if (entry := memory.known(tensor)) is not None:
                        self.recorder.protect(entry, thread)

    def _resolve(self, tensor: Tensor, thread: Thread) -> Any:
        thread.mute += 1
        call, thread.call = thread.call, None
        try:
            with DisableTorchFunction():
                if not wrapped_by_functorch(tensor):
                    return self.memory.entry(tensor, thread)
                self.memory.entry(unwrapped(tensor), thread)  # so that its operators find what was there before
                return None
        finally:
            thread.mute -= 1
            thread.call = call

    def _leave(self, call: Call, name: str, result: Any) -> None:
        """Write the call down, if it is one."""
        results: list[Tensor] = []
        if isinstance(result, Tensor):
            results.append(result)
        elif name in EXPORTING:
            self._export(call, result)
        elif isinstance(result, (list, tuple, dict)):
            add_tensors(result, results)
        with self.lock:
            if not call.events:
                if call.split:
                    return
                self._leave_without_operator(call, name, results)
                return
            entries = self.memory.entries
            for tensor in call.tensors if call.wrote else ():
                entry = entries.get(id(tensor))
                if entry is not None and entry.seen != entry.storage.version and entry.tensor() is tensor:
                    self.memory.take_own_writes(tensor, entry, call)
            if name in READING and call.given:
                self._read_on_host(call)
            if name not in NO_CALLS:
                self._hand_back(call, results)
            call.results = [
                entry.value
                for tensor in results
                if (entry := entries.get(id(tensor))) is not None and entry.tensor() is tensor
            ]
            if not results and name in HOST and not call.host:
                call.host = True
                call.events.append(("host", name, call.scope, call.given, [], None, None))
            self.log.events.append(call)

    def _read_on_host(self, call: Call) -> None:
        """Mark what a call was given and read though none of its operators did."""
        read = {value for event in call.events for value in event[3]}
        if getattr(call.function, "__name__", "") in READING_THE_REST:
            read.add(call.given[0])
        rest = [value for value in call.given if value not in read]
        if rest:
            call.events.insert(0, ("host", "item", call.scope, rest, [], None, None))

    def _hand_back(self, call: Call, results: list[Tensor]) -> None:
        """Give what a call was given and returned as it was, after a look at it, a value that the call yields."""
        same = {id(tensor) for tensor in call.tensors}
        for tensor in results:
            entry = self.memory.known(tensor) if id(tensor) in same else None
            if entry is not None and entry.value in call.given:
                old, new = entry.value, self.thread.rename(entry, len(self.thread.frames))
                call.events.append(("link", "pass", call.scope, [old], [new], None, None))

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
            for tensor in fresh:  # frombuffer, from_dlpack, ...
                value = log.value(tensor)
                values = [*call.given, *share_foreign(memory, tensor, value, thread)]
                found = memory.live(storage_key(tensor))
                if found is None:
                    memory.place(tensor, value, storage_key(tensor))
                else:
                    memory.join(tensor, value, found)
                kind: NodeKind = "op" if call.given else "host"
                log.events.append((kind, call.function, call.scope, values, [value], call.arguments, call.place))
        elif name in HOST and call.given:
            log.events.append(("host", call.function, call.scope, call.given, [], call.arguments, call.place))

    def _export(self, call: Call, result: Any) -> None:
        """Watch the memory that was handed out, for what others may write into it."""
        array = result if type(result).__module__ == "numpy" else None
        memory = self.memory
        for tensor in call.tensors:
            entry = memory.known(tensor)
            if entry is not None and entry.storage.key is not None:
                memory.shared.take(entry.storage, tensor.untyped_storage())
                memory.shared.watch(entry.storage, array)
