"""One recording from start to end: take a snapshot, run the model, put everything back, make the graph."""

from __future__ import annotations

import sys
import threading
import warnings
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from trec.capture.assemble import assemble
from trec.capture.inputs import make_inputs, name_inputs, name_outputs
from trec.capture.leaves import wrapped_by_functorch
from trec.capture.log import Origin, ScopeRecord, UninitializedTensor
from trec.capture.recorder import TABLES, Recorder, walk
from trec.capture.state import State
from trec.errors import CaptureError, OptionError
from trec.ir.collector import paused
from trec.ir.text import type_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.ir.graph import Graph
    from trec.ir.types import Level

LEVELS = ("module", "function", "aten")


def capture(
    net: torch.nn.Module,
    shapes: Any,
    *,
    args: Any,
    kwargs: Any,
    dtypes: Any,
    name: str | None,
    level: Level,
    method: str,
    device: Any,
    costs: bool,
) -> Graph:
    """Record one call of a model; see `trec.capture`."""
    _check(net, shapes, args, kwargs, level, method)
    kwargs = dict(kwargs or {})
    made = shapes is not None
    if made:
        args = make_inputs(net, shapes, dtypes, device)
    name = name or type(net).__name__
    with _alone_in_this_thread(), paused():
        compiler = "torch._dynamo" in sys.modules
        graph, failure = _record(net, args, kwargs, name, level, method, device, costs)
        if not compiler and "torch._dynamo" in sys.modules:
            # The model brought the compiler in, as `torch.cond` does, and some of it ran compiled. Now that it is there
            # it can be told to keep out, and what it compiled under our modes is dropped: it would refuse the model
            # later. Everything else is as it was before.
            torch._dynamo.reset()
            graph, failure = _record(net, args, kwargs, name, level, method, device, costs)
    if level == "module":
        graph = graph.level("module")
    if failure is not None:
        raise _capture_error(failure, graph, guessed_dtypes=made and dtypes is None) from failure.error
    return graph


_running = threading.local()


@contextmanager
def _alone_in_this_thread() -> Iterator[None]:
    if getattr(_running, "recording", False):
        raise CaptureError(
            "a recording is running in this thread already, and two would record each other; "
            "the model must not call trec.capture in its forward"
        )
    _running.recording = True
    try:
        yield
    finally:
        _running.recording = False


class _Failure(NamedTuple):
    error: Exception
    where: str


def _record(
    net: torch.nn.Module,
    args: Any,
    kwargs: Any,
    name: str,
    level: Level,
    method: str,
    device: Any,
    costs: bool,
) -> tuple[Graph, _Failure | None]:
    recorder = _recorder("aten" if level == "aten" else "function", costs=costs)
    untouched = torch._C.DisableTorchFunction
    with untouched():
        state = _prepare(recorder, net, args, kwargs, method)
    try:
        with untouched():
            call = _callable(net, method, device, recorder)
            _give_inputs(recorder, getattr(net, method), args, kwargs, state)
        result, error = _run(recorder, call, args, kwargs)
        recorder.settle_failure(error)
        with untouched():
            outputs = [] if error is not None else _take_outputs(recorder, result)
            graph = assemble(recorder, name, outputs, _made_in_pass(recorder, state))
    finally:
        with untouched():
            state.restore()
    return graph, None if error is None else _Failure(error, _where(recorder, graph))


def _recorder(level: Level, *, costs: bool) -> Recorder:
    if not costs:
        return Recorder(level)
    from trec.capture.costs import CostRecorder  # with torch's counter, which few recordings need

    return CostRecorder(level)


def _prepare(recorder: Recorder, net: torch.nn.Module, args: Any, kwargs: Any, method: str) -> State:
    """Name the modules, open the root scope and take the snapshot."""
    modules = walk(net)
    for path, module in modules:
        recorder.paths.setdefault(id(module), path)
    native = type(net).__module__.startswith("torch.")
    recorder.log.scopes.append(ScopeRecord("module", "", type(net).__name__, 0, -1, net, 0, None, native))
    recorder.calls[id(net)] = 1
    recorder.expected = net if method == "forward" else None
    recorder.state = state = State(recorder.memory, modules, (args, kwargs))
    return state


def _check(net: Any, shapes: Any, args: Any, kwargs: Any, level: str, method: str) -> None:
    if not isinstance(net, torch.nn.Module):
        raise OptionError(f"capture takes an nn.Module, not {type(net).__name__}")
    if level not in LEVELS:
        raise OptionError(f"level={level!r} is not known; known are: {', '.join(LEVELS)}")
    if not isinstance(args, tuple):
        raise OptionError(f"args takes a tuple of positional arguments, not {type(args).__name__}: write args=(x,)")
    if kwargs is not None and not isinstance(kwargs, dict):
        raise OptionError(f"kwargs takes a dict, not {type(kwargs).__name__}")
    if shapes is not None and args:
        raise OptionError("give either shapes or args, not both: tensors of your own go into args")
    if not callable(getattr(net, method, None)):
        raise OptionError(f"{type(net).__name__} has no method {method!r}")


def _callable(net: torch.nn.Module, method: str, device: Any, recorder: Recorder) -> Any:
    """Return what to call: the method, or on the meta device the model with twins of its tensors."""
    function = net if method == "forward" else getattr(net, method)
    if device is None or torch.device(device).type != "meta":
        return function
    twins: dict[str, torch.Tensor] = {}
    by_id: dict[int, torch.Tensor] = {}
    for path, module in walk(net):
        for _, table in TABLES:
            for key, tensor in getattr(module, table).items():
                if tensor is None or tensor.device.type == "meta":
                    continue
                twin = by_id.get(id(tensor))
                if twin is None:
                    twin = by_id[id(tensor)] = tensor.detach().to("meta").requires_grad_(tensor.requires_grad)
                    recorder.memory.origins[id(twin)] = recorder.memory.origins[id(tensor)]
                twins[f"{path}.{key}" if path else key] = twin
    if not twins:
        return function
    if method != "forward":
        raise OptionError("device='meta' runs forward only; move the model to meta to record another method")
    return lambda *args, **kwargs: torch.func.functional_call(net, twins, args, kwargs)


def _give_inputs(recorder: Recorder, function: Any, args: Any, kwargs: Any, state: State) -> None:
    log, memory = recorder.log, recorder.memory
    for index, (name, tensor) in enumerate(name_inputs(function, args, kwargs)):
        state.own(tensor)
        value = log.value(tensor)
        log.events.append(("input", name, 0, [], [value], index, None))
        if memory.known(tensor) is None:
            memory.give(tensor, value)


def _run(recorder: Recorder, call: Any, args: Any, kwargs: Any) -> tuple[Any, Exception | None]:
    """Call the model with everything in place that watches it."""
    with ExitStack() as stack:
        stack.enter_context(recorder.hooks())
        if "torch._dynamo" in sys.modules:  # to ask for the stance would import the compiler
            stack.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", "Using `torch.compile\\(module\\)` when there are global hooks")
            stack.enter_context(torch.compiler.set_stance("force_eager"))  # compiled code would run without being seen
        # Optimised, the second run of a script would differ from the first.
        stack.enter_context(torch.jit.optimized_execution(False))  # type: ignore[attr-defined]
        stack.enter_context(recorder.modes(recorder.thread))
        recorder.active = True
        try:
            return call(*args, **kwargs), None
        except Exception as error:  # whatever the model raises is reported with its partial graph
            return None, error
        finally:
            recorder.stop()


def _take_outputs(recorder: Recorder, result: Any) -> list[tuple[str, int]]:
    recorder.thread.scope, recorder.thread.call = 0, None
    found = []
    for name, tensor in name_outputs(result):
        if not wrapped_by_functorch(tensor):
            found.append((name, recorder.memory.entry(tensor, recorder.thread).value))
    return found


def _made_in_pass(recorder: Recorder, state: State) -> dict[int, Origin]:
    """Return the parameters and buffers that came to be during the pass, by the value that they hold."""
    made: dict[int, Origin] = {}
    memory = recorder.memory
    introduced = memory.introduced
    for row in state.modules:
        module = row.module
        for kind, table in TABLES:
            held = getattr(module, table)
            if not held:
                continue
            for key, tensor in held.items():
                if id(tensor) in introduced or tensor is None or isinstance(tensor, UninitializedTensor):
                    continue
                if memory.known(tensor) is not None:
                    path = recorder.paths[id(module)]
                    value = memory.entry(tensor, recorder.thread).value
                    made.setdefault(value, Origin(kind, [])).names.append(f"{path}.{key}" if path else key)
    return made


def _where(recorder: Recorder, graph: Graph) -> str:
    """Return in words where the model failed: the module, and the call with what it was given."""
    where = ""
    if recorder.failure is not None:
        record = recorder.log.scopes[recorder.failure[0]]
        where = f" in module {record.path!r} ({record.cls})" if record.path else f" in {record.cls}.forward"
    if recorder.failed_call is None:
        return where
    failed = [(row.op, row.inputs, row.attrs) for row in graph.nodes if row.kind in ("op", "host")]
    failed += [(row.cls, row.inputs, row.attrs) for row in graph.scopes if row.kind == "function"]
    for name, inputs, attrs in failed:
        if "error" in (given := dict(graph.attrs[attrs])):
            shown = [type_text(graph.type_of(value)) for value in inputs]
            shown += [f"{key}={value!r}" for key, value in given.items() if key != "error"]
            return f"{where}, at {name}({', '.join(shown)})"
    return where


def _capture_error(failure: _Failure, graph: Graph, *, guessed_dtypes: bool) -> CaptureError:
    text = _text(failure.error)
    message = f"the model raised {type(failure.error).__name__}{failure.where}: {text}"
    if guessed_dtypes and any(word in text for word in ("indices", "Long", "Int", "integer", "scalar type")):
        message += (
            "\nThe inputs were made from shapes as floating point numbers; if the model takes integers, say so: "
            "trec.capture(net, shapes, dtypes=torch.int64)"
        )
    error = CaptureError(message)
    error.graph = graph
    return error


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # the user's own code
        return "an exception that has no text"
