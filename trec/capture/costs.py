"""A recording that also counts and times: what each operator and each call of a module took."""

from __future__ import annotations

import warnings
from collections import defaultdict
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from torch.utils import flop_counter

from trec.capture.dispatch import OperatorMode
from trec.capture.functions import FunctionMode
from trec.capture.modules import ModuleHooks
from trec.capture.recorder import Recorder
from trec.capture.torch_api import TorchDispatchMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from trec.capture.operators import Facts
    from trec.capture.thread import Thread
    from trec.capture.values.storages import Storage
    from trec.ir.types import AttrRow


class Clock:
    """A clock of one thread that stands still while recording itself works."""

    __slots__ = ("lost", "used")

    def __init__(self) -> None:
        self.lost = 0.0
        """Seconds that recording took."""
        self.used = 0.0
        """Seconds that operators and calls of modules took."""

    def now(self) -> float:
        """Return the seconds on the clock."""
        return perf_counter() - self.lost


class CostRecorder(Recorder):
    """A recorder with modes and hooks that measure."""

    def __init__(self, level: Any) -> None:
        super().__init__(level)
        self.clocks: defaultdict[Thread, Clock] = defaultdict(Clock)
        """What has been measured in each thread so far."""

    @property
    def meta(self) -> AttrRow:
        """Facts of the whole recording."""
        return (*super().meta, ("costs", True))

    def hooks(self) -> ModuleHooks:
        """Return a context in which every module call opens and closes a scope, and is timed."""
        return CostHooks(self)

    def new_modes(self, thread: Thread) -> tuple[Any, Any]:
        """Return what watches and measures the operators and the functions of the running thread."""
        return CostMode(self, thread), CostFunctions(self, thread)


class CostMode(OperatorMode):  # type: ignore[no-untyped-call]
    """Writes down every operator with the floating point operations it took and the seconds it ran."""

    def __init__(self, recorder: CostRecorder, thread: Thread) -> None:
        super().__init__(recorder, thread)
        self.known = self.facts
        self.facts = {}  # what is called instead of an operator is bound to this mode
        self.make = self._make
        self.clock = recorder.clocks[thread]
        self.cost = (0, 0.0)

    def _handle(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        if self.thread.mute:
            return func(*args, **kwargs) if kwargs else func(*args)
        clock = self.clock
        start, used = clock.now(), clock.used
        self.cost = (0, 0.0)
        try:
            return super()._handle(func, types, args, kwargs)
        finally:
            clock.used += self.cost[1]
            clock.lost += clock.now() - start - (clock.used - used)

    def _facts_of(self, func: Any) -> Facts:
        facts = self.known[id(func)] = super()._facts_of(func)
        formula = formula_of(func)
        if formula is None and is_composite(func):
            return facts._replace(run=partial(self._run_parts, func))
        return facts._replace(run=partial(self._run, facts.run, formula))

    def _run(self, run: Callable[..., Any], formula: Callable[..., Any] | None, *args: Any, **kwargs: Any) -> Any:
        start = perf_counter()
        result = run(*args, **kwargs)
        seconds = perf_counter() - start
        self.cost = (0 if formula is None else count(formula, args, kwargs, result), seconds)
        return result

    def _run_parts(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        counter = PartCounter()
        start = perf_counter()
        with counter:
            result = func.decompose(*args, **kwargs)
        self.cost = (counter.flops, perf_counter() - start)
        return result

    def _make(self, tensor: Tensor, sources: Sequence[Storage], aliases: bool = False, reads: Any = None) -> int:
        value = self.memory.make(tensor, sources, aliases, reads)
        self.log.costs[value] = self.cost
        return value

    def _made(self, *args: Any) -> Sequence[int]:
        made = super()._made(*args)
        if made:
            self.log.costs[made[0]] = self.cost
        return made


class PartCounter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts what a composite operator runs, which the modes above it do not see."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops = 0

    def _handle(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        formula = formula_of(func)
        if formula is None and is_composite(func):
            with self:
                return func.decompose(*args, **kwargs)
        result = func(*args, **kwargs)
        if formula is not None:
            self.flops += count(formula, args, kwargs, result)
        return result


# Assigned later, as in `trec.capture.dispatch`.
CostMode.__torch_dispatch__ = CostMode._handle  # type: ignore[assignment,method-assign]
PartCounter.__torch_dispatch__ = PartCounter._handle  # type: ignore[assignment,method-assign]


class CostFunctions(FunctionMode):
    """Gathers the operators of each torch function; of its time only theirs, and that of modules, is the model's."""

    def __init__(self, recorder: CostRecorder, thread: Thread) -> None:
        super().__init__(recorder, thread)
        self.direct_calls = {}  # every operator is watched, for its cost
        self.clock = recorder.clocks[thread]

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if self.thread.mute:
            return func(*args, **kwargs) if kwargs else func(*args)
        clock = self.clock
        start, used = clock.now(), clock.used
        try:
            return super().__torch_function__(func, types, args, kwargs)
        finally:
            clock.lost += clock.now() - start - (clock.used - used)


class CostHooks(ModuleHooks):
    """Opens and closes a scope for every module call, and writes down how long it ran."""

    recorder: CostRecorder

    def __init__(self, recorder: CostRecorder) -> None:
        super().__init__(recorder)
        self.began: dict[int, tuple[float, float]] = {}

    def _enter(self, module: Any, args: Any) -> None:
        start = perf_counter()
        super()._enter(module, args)
        thread = self.recorder.current()
        if thread is not None:
            clock = self.recorder.clocks[thread]
            clock.lost += perf_counter() - start
            self.began[thread.frames[-1].scope] = (clock.now(), clock.used)

    def _leave(self, module: Any, args: Any, kwargs: Any = None, result: Any = None) -> None:
        start = perf_counter()
        thread = self.recorder.current()
        if thread is None:
            return
        clock = self.recorder.clocks[thread]
        if thread.frames and thread.frames[-1].module is module:
            scope = thread.frames[-1].scope
            began, used = self.began.pop(scope)
            self.recorder.log.seconds[scope] = start - clock.lost - began
            clock.used = used + start - clock.lost - began
        super()._leave(module, args, kwargs, result)
        clock.lost += perf_counter() - start


def formula_of(func: Any) -> Callable[..., Any] | None:
    """Return what PyTorch counts the floating point operations of an operator with; None if it has nothing."""
    return flop_counter.flop_registry.get(getattr(func, "overloadpacket", func))


def is_composite(func: Any) -> bool:
    """Return whether an operator is defined by others, which it calls.

    What yields no tensor, such as `aten.is_contiguous`, computes nothing that counts, and tensors that answer such
    questions themselves would ask without end if it was taken apart.
    """
    schema = getattr(func, "_schema", None)
    if schema is None or not any("Tensor" in str(result.type) for result in schema.returns):
        return False
    return bool(func._can_decompose())


def count(formula: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> int:
    """Return how many floating point operations a formula says; 0 if that depends on symbolic sizes."""
    try:
        flops = formula(*args, **kwargs, out_val=result)
    except Exception as error:  # a formula may be anyone's, and must not stop the model
        warnings.warn(f"a formula for floating point operations failed, so none are counted: {error!r}", stacklevel=2)
        return 0
    return flops if type(flops) is int else 0
