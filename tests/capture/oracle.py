"""PyTorch's own log of calls, and the same read off a graph: two listings that must be equal."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor
from torch._ops import HigherOrderOperator, OpOverload
from torch.utils._debug_mode import DebugMode
from torch.utils._pytree import tree_leaves, tree_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trec import Graph

Listing = list[str]
"""Functions and operators in order of entry; what a function ran is indented."""

LEAVING = frozenset({"tolist", "numpy", "__repr__", "untyped_storage"})
"""Functions that return no tensor, and yet are nodes without an operator: values leave torch in them."""

UNCHANGING = frozenset({"requires_grad_", "as_subclass"})
"""Functions that return the tensor that they were given and do nothing to its numbers: no nodes."""

UNLOGGED = ("shared_memory", "prim.device.default")
"""Nodes that the log has not: what numpy wrote is no call, and the device of a fake tensor is no matter to it."""

DISSOLVED = frozenset({"grad", "backward"})
"""Functions that run modules again if these lie in a checkpoint: no call of a function holds modules, so it is none."""


class Row(NamedTuple):
    """One call in the log."""

    depth: int
    """How many calls it is inside of."""
    name: str
    counts: bool
    """Whether it is a node though it ran nothing."""
    higher_order: bool


class Log(DebugMode):  # type: ignore[no-untyped-call]
    """PyTorch's log, with every operator in it, and each once.

    - PyTorch leaves out an operator that is given a tensor whose class handles operators. It tells so by the classes
      that it is handed, and C++ hands it a class with all that it asks of one tensor: `detach` of what the autograd
      engine saves is left out too, and `sym_size` of nested tensors. So here it is handed none.
    - Where C++ calls an operator outside of any function, as scripts and the autograd engine do, PyTorch logs it once
      more, as the function by which it runs it itself.
    - PyTorch leaves out what the functions run that a higher-order operator is given. It stands before the operator.
    - PyTorch prints each tensor, which fails for those that are quantised or have no shape yet.
    """

    def __init__(self) -> None:
        super().__init__(
            record_torchfunction=True, record_faketensor=True, record_output=False, record_profiler_context=False
        )
        self.functions: set[int] = set()
        """Positions in the log of functions; the others are operators."""
        self.returning: set[int] = set()
        """Positions of calls that returned a tensor; those of a transform are not told apart from what they wrap."""
        self.raised: dict[int, BaseException] = {}
        """By position, what calls ended with."""
        self.handed_classes: set[int] = set()
        """Positions of the operators that PyTorch would have left out."""

    def _record_call(self, call: Any) -> None:
        del call.args, call.kwargs
        self.operators.append(call)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.functions.add(len(self.operators))
        return self._noted(partial(super().__torch_function__, func, types, args, kwargs))

    def _handle(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if isinstance(func, HigherOrderOperator):
            args = tree_map(lambda arg: partial(self._inside, arg) if callable(arg) else arg, args)
        if types:
            self.handed_classes.add(len(self.operators))
        with torch._C.DisableTorchFunction():
            return self._noted(partial(super().__torch_dispatch__, func, (), args, kwargs))

    def _inside(self, function: Callable[..., Any], *args: Any) -> Any:
        with torch._C._EnableTorchFunction(), self:
            return function(*args)

    def _noted(self, run: Callable[[], Any]) -> Any:
        position = len(self.operators)
        try:
            result = run()
        except BaseException as error:
            self.raised[position] = error
            raise
        if any(isinstance(leaf, Tensor) and not is_functorch_wrapped_tensor(leaf) for leaf in tree_leaves(result)):
            self.returning.add(position)
        return result

    def rows(self, error: BaseException | None) -> Iterator[Row]:
        """Yield the calls; of those that raised, only the function that the model's own error came from."""
        for position, call in enumerate(self.operators):
            function: Any = call.op
            name, accessor = _name(function)
            if "_record_function" in name:  # marks of the profiler, which PyTorch leaves out as well
                continue
            if position in self.functions:
                counts = name in LEAVING or (position in self.returning and not accessor and name not in UNCHANGING)
                counts = counts or (error is not None and self.raised.get(position) is error)
                yield Row(call.call_depth, name, counts, higher_order=False)
            elif position not in self.raised:
                higher_order = isinstance(function, HigherOrderOperator)
                yield Row(call.call_depth - 1, name, counts=True, higher_order=higher_order)


Log.__torch_dispatch__ = Log._handle  # type: ignore[assignment,method-assign]


def _name(function: Any) -> tuple[str, bool]:
    """Return the name of a function, and whether it reads or writes an attribute."""
    if isinstance(function, OpOverload):
        return str(function), False
    if isinstance(function, HigherOrderOperator):
        return f"{function.namespace}.{function}", False
    name: str = function.__name__
    accessor = name in ("__get__", "__set__", "__delete__")
    return (function.__self__.__name__ if accessor else name), accessor


def as_written(call: Callable[[], Any], *contexts: Any) -> BaseException | None:
    """Run a model with scripts and compiled code as they are written; return what it raises."""
    with ExitStack() as stack:
        stack.enter_context(torch.jit.optimized_execution(False))  # type: ignore[attr-defined]
        if "torch._dynamo" in sys.modules:
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        for context in contexts:
            stack.enter_context(context)
        try:
            call()
        except Exception as error:  # the model's own
            return error
    return None


def logged(call: Callable[[], Any]) -> Listing:
    """Return what the log lists of a call.

    Left out, since they are no nodes of a graph: functions that run no operator and return no tensor (`dim`, `size`),
    and reads of attributes that run none (`shape`, `requires_grad`).
    """
    log = Log()
    error = as_written(call, log)
    rows = _operators_last(list(log.rows(error)))
    end = Row(0, "", counts=False, higher_order=False)
    return [
        "  " * row.depth + row.name
        for row, after in pairwise([*rows, end])
        if row.counts or after.depth > row.depth  # it ran something
    ]


def _operators_last(rows: list[Row]) -> list[Row]:
    """Put higher-order operators behind what their functions ran."""
    ordered: list[Row] = []
    position = 0
    while position < len(rows):
        row, *inside = rows[position : _after(rows, position)]
        if inside and inside[0].higher_order:
            ordered += _operators_last([inner._replace(depth=inner.depth - 1) for inner in inside[1:]])
            ordered += [row, inside[0]]
        elif inside:
            ordered += [row, *_operators_last(inside)]
        else:
            ordered.append(row)
        position += 1 + len(inside)
    return ordered


def _after(rows: list[Row], position: int) -> int:
    """Return the position behind a call and all that it ran."""
    end = position + 1
    while end < len(rows) and rows[end].depth > rows[position].depth:
        end += 1
    return end


def listed(graph: Graph) -> Listing:
    """Return the same for a graph."""
    listing, entered = [], set()
    for node in graph.nodes:
        if node.kind not in ("op", "host", "region") or node.op in UNLOGGED:
            continue
        scope = graph.scopes[node.parent]
        inside = scope.kind == "function"
        if inside and node.parent not in entered:
            entered.add(node.parent)
            listing.append(scope.cls)
        if "." in node.op:
            listing.append("  " * inside + node.op)
        elif not inside:
            listing.append(node.op)
    return listing


def with_operators_put_back(found: Listing, log: Listing) -> Listing:
    """Return the listing of a graph with operators that stand before their call where the log has them.

    - What autocast casts and autograd saves later calls use. The operators that made it stand before the call that ran
      them: inside, they would lead from each argument of this call to those.
    - A function that runs modules again is no node, so its operators stand singly.
    """
    result, position = [], 0
    for call, operators in _calls(log):
        entered = _end(found, position, lambda line: not is_function(line) and line[0] != " ")
        left = _end(found, entered + 1, lambda line: line[0] == " ")
        before, inside = [f"  {line}" for line in found[position:entered]], found[entered + 1 : left]
        hoisted = before and found[entered : entered + 1] == [call] and _is_mixture(operators, before, inside)
        dissolved = call in DISSOLVED and operators and before[: len(operators)] == operators
        if hoisted or dissolved:
            result += [call, *operators]
            position = left if hoisted else position + len(operators)
        else:
            result += found[position : position + 1 + len(operators)]
            position += 1 + len(operators)
    return result + found[position:]


def _calls(listing: Listing) -> Iterator[tuple[str, Listing]]:
    position = 0
    while position < len(listing):
        end = _end(listing, position + 1, lambda line: line[0] == " ")
        yield listing[position], listing[position + 1 : end]
        position = end


def _end(listing: Listing, start: int, holds: Callable[[str], bool]) -> int:
    while start < len(listing) and holds(listing[start]):
        start += 1
    return start


def is_function(line: str) -> bool:
    """Whether a line of a listing is the call of a function, not of an operator."""
    return "." not in line


def _is_mixture(whole: Listing, *parts: Listing) -> bool:
    """Whether a listing has the lines of all parts, and those of each in its order."""
    if sorted(whole) != sorted(line for part in parts for line in part):
        return False
    lines = [iter(whole) for _ in parts]
    return all(line in rest for part, rest in zip(parts, lines, strict=True) for line in part)
