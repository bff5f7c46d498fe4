"""One recording of a model from start to end: take a snapshot, run it, put everything back, make the graph."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from trec.capture.eager import load_for
from trec.capture.emit.assemble import assemble
from trec.capture.emit.notes import notes
from trec.capture.failure import capture_error
from trec.capture.inputs import device_of, make_inputs, name_inputs, name_outputs
from trec.capture.leaves import wrapped_by_functorch
from trec.capture.log import ScopeRecord
from trec.capture.naming import walk
from trec.capture.recorder import Recorder, turn
from trec.capture.restore.interrupts import Interrupts
from trec.capture.restore.left import reason
from trec.capture.restore.state import State
from trec.capture.restore.twins import put_twins
from trec.capture.torch_api import DisableTorchFunction
from trec.capture.training.loss import differentiate
from trec.capture.training.recorder import TrainingRecorder
from trec.capture.watch import alone_in_this_thread, watching
from trec.errors import CaptureError, OptionError, TraceWarning
from trec.ir.collector import paused
from trec.ir.rewrite import revised
from trec.ir.tables import clean
from trec.ir.types import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trec.capture.log import Origin
    from trec.capture.restore.left import Left
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
    device: torch.device | None
    backward: Callable[[Any], Any] | bool
    """Whether to run backward as well, or what computes the loss to run it from."""


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
    backward: Any,
) -> Graph:
    """Record one call of a model; see `trec.capture`."""
    check_options(net, name, level)
    _check(net, shapes, args, kwargs, method)
    device = device_of(device)
    if not (isinstance(backward, bool) or callable(backward)):
        raise OptionError(f"backward takes True, False or a function that returns the loss, not {backward!r}")
    recorder = recorder_for(level, costs=costs, training=backward is not False)
    with alone_in_this_thread(), turn(net), paused():
        if shapes is not None:
            with torch.inference_mode(mode=torch.is_inference_mode_enabled() and backward is False):
                args = make_inputs(net, shapes, dtypes, device)
        named = name or type(net).__name__
        run = Run(net, args, dict(kwargs or {}), named, level, method, device, backward)
        graph, errors, left = _record(recorder, run)
    if left:
        warnings.warn(left.text(), TraceWarning, stacklevel=3)
    if errors and isinstance(errors[0], OptionError):
        recorder.forget_failure()
        raise errors.pop()
    if errors:
        guessed = shapes is not None and dtypes is None
        raise capture_error(recorder, errors[0], graph, guessed_dtypes=guessed) from errors.pop()
    return graph


def kept_from_compiler(function: Callable[..., Graph]) -> Callable[..., Graph]:
    """Return a function that the compiler calls as it is, where a function that calls it is compiled."""
    compiler: Any = torch.compiler
    return compiler.disable(function) if compiler.is_compiling() else function


def check_options(net: Any, name: Any, level: str, *, optional: bool = False) -> None:
    """Refuse a model that is none, a name that is no text and a level that there is not.

    Raises:
        OptionError: one of them is.
    """
    if not isinstance(net, torch.nn.Module) and not (optional and net is None):
        raise OptionError(f"{'recording' if optional else 'capture'} takes an nn.Module, not {type(net).__name__}")
    if not isinstance(name, str | None):
        raise OptionError(f"name must be a text, not {name!r}")
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


def recorder_for(level: Level, *, costs: bool = False, training: bool = False) -> Recorder:
    """Return a new recorder; modules are made single nodes afterwards.

    Args:
        level: the level that was asked for.
        costs: whether it measures.
        training: whether it follows backward passes and steps of optimizers.
    """
    finest: Level = "aten" if level == "aten" else "function"
    if not costs:
        return TrainingRecorder(finest) if training else Recorder(finest)
    # With torch's counter, which few recordings need.
    if training:
        from trec.capture.training.measured import CostTrainingRecorder

        return CostTrainingRecorder(finest)
    from trec.capture.costs import CostRecorder

    return CostRecorder(finest)


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
    graph = revised(graph, notes=notes(recorder, graph, modules))
    return graph.level("module") if level == "module" else graph


def _record(recorder: Recorder, run: Run) -> tuple[Graph, list[Exception], Left]:
    """Return the graph of one call, what the model raised if it did, and what could not be put back.

    The exception stands in a list, to be taken out: its frames hold the one of this call, and a variable here that held
    it in turn would keep all that the model had in hand until the collector comes.
    """
    untouched = DisableTorchFunction
    with Interrupts() as interrupts:
        with untouched():
            modules = walk(run.net)
            state = _prepare(recorder, run, modules)
        try:
            with untouched():
                if run.device is not None and run.device.type == "meta":
                    put_twins(state)
                _give_inputs(recorder, run, state)
            outputs, errors = _run(recorder, run, interrupts)
            recorder.settle_failure(errors)
            with untouched(), interrupts.let_through():
                made = recorder.names.made([*modules, *_met(recorder, state, modules)], recorder.thread)
                graph = conclude(recorder, run.name, run.level, outputs, made, modules)
        except BaseException:
            recorder.forget_failure()
            raise
        finally:
            with untouched():
                state.restore()
    left = tuple(Note("not_restored", "", clean(line)) for line in dict.fromkeys(state.left))
    return revised(graph, notes=(*graph.notes, *left)) if left else graph, errors, state.left


def _prepare(recorder: Recorder, run: Run, modules: list[tuple[str, Any]]) -> State:
    """Name the modules, open the root scope and take the snapshot."""
    net, names = run.net, recorder.names
    names.place(modules)
    native = type(net).__module__.startswith("torch.")
    recorder.log.scopes.append(ScopeRecord("module", "", type(net).__name__, 0, -1, net, 0, None, native))
    names.calls[""] = 1
    recorder.expected = net if run.method == "forward" else None
    try:
        recorder.state = state = State(recorder.memory, modules, (run.args, run.kwargs))
    except Exception as error:  # nothing is changed yet
        raise CaptureError(
            f"{type(net).__name__} cannot be looked at before it runs, so it could not be put back afterwards: "
            f"{reason(error)}"
        ) from error
    return state


def _give_inputs(recorder: Recorder, run: Run, state: State) -> None:
    log, memory = recorder.log, recorder.memory
    for index, (name, tensor) in enumerate(name_inputs(getattr(run.net, run.method), run.args, run.kwargs)):
        state.own(tensor)
        load_for(tensor.device)
        value = log.value(tensor)
        log.events.append(("input", name, 0, [], [value], index, None))
        if memory.known(tensor) is None:
            memory.give(tensor, value)


def _run(recorder: Recorder, run: Run, interrupts: Interrupts) -> tuple[list[tuple[str, int]], list[Exception]]:
    """Call the model with everything in place that watches it; return its outputs."""
    call = run.net if run.method == "forward" else getattr(run.net, run.method)
    outputs: list[tuple[str, int]] = []
    with watching(recorder):
        try:
            with interrupts.let_through():
                if isinstance(recorder, TrainingRecorder):
                    _run_both(recorder, run, call, outputs)
                    return outputs, []
                result = call(*run.args, **run.kwargs)
        except Exception as error:  # whatever the model raises is reported with its partial graph
            return outputs, [error]
    with DisableTorchFunction(), interrupts.let_through():
        return _take_outputs(recorder, result), []


def _run_both(recorder: TrainingRecorder, run: Run, call: Any, outputs: list[tuple[str, int]]) -> None:
    """Call the model and run backward from its loss, with the grad mode that this takes; fill in the outputs."""
    engine, thread = recorder.engine, recorder.thread
    engine.enabled = False
    with torch.inference_mode(False), torch.enable_grad():
        result = call(*run.args, **run.kwargs)
        thread.mute += 1
        try:
            with DisableTorchFunction():
                outputs += _take_outputs(recorder, result)
        finally:
            thread.mute -= 1
        engine.enabled = True
        differentiate(result, run.backward, engine)


def _met(recorder: Recorder, state: State, modules: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield path and module of those that were named only when they were called."""
    paths = recorder.names.paths
    known = {id(module) for _, module in modules}
    for module in state.modules:
        if id(module) in paths and id(module) not in known:
            yield paths[id(module)], module


def _take_outputs(recorder: Recorder, result: Any) -> list[tuple[str, int]]:
    recorder.thread.scope, recorder.thread.call = 0, None
    found = []
    for name, tensor in name_outputs(result):
        if not wrapped_by_functorch(tensor):
            found.append((name, recorder.memory.entry(tensor, recorder.thread).value))
    return found
