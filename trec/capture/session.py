"""One recording of a model from start to end: take a snapshot, run it, make the graph, put everything back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from msgspec.structs import replace

from trec.capture.assemble import assemble
from trec.capture.inputs import make_inputs, name_inputs, name_outputs
from trec.capture.leaves import wrapped_by_functorch
from trec.capture.log import ScopeRecord
from trec.capture.naming import TABLES, walk
from trec.capture.notes import notes
from trec.capture.recorder import Recorder
from trec.capture.state import State
from trec.capture.watch import alone_in_this_thread, watching
from trec.errors import CaptureError, OptionError
from trec.ir.collector import paused
from trec.ir.tables import clean
from trec.ir.text import type_text
from trec.ir.types import Note

if TYPE_CHECKING:
    from trec.capture.log import Origin
    from trec.ir.graph import Graph
    from trec.ir.types import Level

LEVELS = ("module", "function", "aten")


class Run(NamedTuple):
    """What to record, and how."""

    net: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    name: str
    level: Level
    method: str
    device: Any


class Failure(NamedTuple):
    """What the model raised, and where."""

    error: Exception
    where: str


def capture(
    net: torch.nn.Module, shapes: Any, dtypes: Any, args: Any, kwargs: Any, name: str | None, level: Level, method: str,
    device: Any,
) -> Graph:  # fmt: skip
    """Record one call of a model; see `trec.capture`."""
    check_options(net, level)
    _check(net, shapes, args, kwargs, method)
    with alone_in_this_thread(), paused():
        if shapes is not None:
            args = make_inputs(net, shapes, dtypes, device)
        run = Run(net, args, dict(kwargs or {}), name or type(net).__name__, level, method, device)
        graph, failure = _record(run)
    if failure is not None:
        guessed = shapes is not None and dtypes is None
        raise _capture_error(failure, graph, guessed_dtypes=guessed) from failure.error
    return graph


def check_options(net: Any, level: str, *, optional: bool = False) -> None:
    """Refuse a model that is none and a level that there is not.

    Raises:
        OptionError: one of them is.
    """
    if not isinstance(net, torch.nn.Module) and not (optional and net is None):
        raise OptionError(f"{'recording' if optional else 'capture'} takes an nn.Module, not {type(net).__name__}")
    if level not in LEVELS:
        raise OptionError(f"level={level!r} is not known; known are: {', '.join(LEVELS)}")


def _check(net: torch.nn.Module, shapes: Any, args: Any, kwargs: Any, method: str) -> None:
    if not isinstance(args, tuple):
        raise OptionError(f"args takes a tuple of positional arguments, not {type(args).__name__}: write args=(x,)")
    if kwargs is not None and not isinstance(kwargs, dict):
        raise OptionError(f"kwargs takes a dict, not {type(kwargs).__name__}")
    if shapes is not None and args:
        raise OptionError("give either shapes or args, not both: tensors of your own go into args")
    if not callable(getattr(net, method, None)):
        raise OptionError(f"{type(net).__name__} has no method {method!r}")


def recorder_for(level: Level) -> Recorder:
    """Return a new recorder; modules are made single nodes afterwards."""
    return Recorder("aten" if level == "aten" else "function")


def conclude(
    recorder: Recorder,
    name: str,
    level: Level,
    outputs: list[tuple[str, int]],
    made: dict[int, Origin],
    modules: list[tuple[str, Any]],
) -> Graph:
    """Return the graph of what a recorder has written down.

    Args:
        recorder: what was written down.
        name: name of the graph.
        level: the level that was asked for.
        outputs: name and value of each tensor that leaves the graph.
        made: parameters and buffers that came to be meanwhile, by value.
        modules: the paths and modules of the model.
    """
    graph = assemble(recorder, name, outputs, made)
    graph = replace(graph, notes=notes(recorder, graph, modules))
    return graph.level("module") if level == "module" else graph


def _record(run: Run) -> tuple[Graph, Failure | None]:
    recorder = recorder_for(run.level)
    untouched = torch._C.DisableTorchFunction
    with untouched():
        modules = walk(run.net)
        state = _prepare(recorder, run, modules)
    try:
        with untouched():
            call = _callable(run, recorder)
            _give_inputs(recorder, run, state)
        result, error = _run(recorder, call, run)
        recorder.settle_failure(error)
        with untouched():
            outputs = [] if error is not None else _take_outputs(recorder, result)
            made = recorder.names.made(modules, recorder.thread)
            graph = conclude(recorder, run.name, run.level, outputs, made, modules)
    finally:
        with untouched():
            state.restore()
    left = [Note("not_restored", "", clean(line)) for line in dict.fromkeys(getattr(state, "left", ()))]
    graph = replace(graph, notes=(*graph.notes, *left))
    return graph, None if error is None else Failure(error, _where(recorder, graph))


def _prepare(recorder: Recorder, run: Run, modules: list[tuple[str, Any]]) -> State:
    """Name the modules, open the root scope and take the snapshot."""
    net, names = run.net, recorder.names
    for path, module in modules:
        names.paths.setdefault(id(module), path)
    native = type(net).__module__.startswith("torch.")
    recorder.log.scopes.append(ScopeRecord("module", "", type(net).__name__, 0, -1, net, 0, None, native))
    names.calls[id(net)] = 1
    recorder.expected = net if run.method == "forward" else None
    recorder.state = state = State(recorder.memory, modules, (run.args, run.kwargs))
    return state


def _callable(run: Run, recorder: Recorder) -> Any:
    """Return what to call: the method, or on the meta device the model with twins of its tensors."""
    net, device = run.net, run.device
    function = net if run.method == "forward" else getattr(net, run.method)
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
    if run.method != "forward":
        raise OptionError(
            "device='meta' runs only the forward of a model that is not on meta; to record another method there, "
            "move the model first: net.to('meta')"
        )
    return lambda *args, **kwargs: torch.func.functional_call(net, twins, args, kwargs)


def _give_inputs(recorder: Recorder, run: Run, state: State) -> None:
    log, memory = recorder.log, recorder.memory
    for index, (name, tensor) in enumerate(name_inputs(getattr(run.net, run.method), run.args, run.kwargs)):
        state.own(tensor)
        value = log.value(tensor)
        log.events.append(("input", name, 0, [], [value], index, None))
        if memory.known(tensor) is None:
            memory.give(tensor, value)


def _run(recorder: Recorder, call: Any, run: Run) -> tuple[Any, Exception | None]:
    """Call the model with everything in place that watches it."""
    with watching(recorder):
        try:
            return call(*run.args, **run.kwargs), None
        except Exception as error:  # whatever the model raises is reported with its partial graph
            return None, error


def _take_outputs(recorder: Recorder, result: Any) -> list[tuple[str, int]]:
    recorder.thread.scope, recorder.thread.call = 0, None
    found = []
    for name, tensor in name_outputs(result):
        if not wrapped_by_functorch(tensor):
            found.append((name, recorder.memory.entry(tensor, recorder.thread).value))
    return found


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


def _capture_error(failure: Failure, graph: Graph, *, guessed_dtypes: bool) -> CaptureError:
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
