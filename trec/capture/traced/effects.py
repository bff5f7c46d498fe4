"""What a traced call does, as far as its name, its arguments and the schema of its operator tell."""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch import Tensor

from trec.capture.arguments import TRUE, schema_of
from trec.capture.functions import EXPORTING, HOST, NO_CALLS, SILENT
from trec.capture.operators import facts_of_schema
from trec.capture.torch_api import DisableTorchFunction, Dropout, HigherOrderOperator, OpOverload
from trec.capture.traced.flow import Held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch.fx import Node

    from trec.capture.arguments import Frozen

Makes = Literal["tensor", "tensors", "states", "number", "argument", "question"]
"""What a call returns: a tensor, a sequence of them, a tensor and a pair of them, something else, its own first
argument; a question is no step."""


class Effect(NamedTuple):
    """What one call does to tensors."""

    makes: Makes
    writes: tuple[int | str, ...] = ()
    """Positions or keywords of the arguments that it writes."""
    overwrites: bool = False
    """Whether what it writes does not depend on what stood there."""
    shares: bool = False
    """Whether what it returns may lie in the memory of its first tensor."""
    returns_written: bool = False
    """Whether it returns the very tensors that it writes."""


QUESTIONS = frozenset({
    "sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "sym_is_contiguous", "_assert_tensor_metadata",
    "_has_compatible_shallow_copy_type",
})  # fmt: skip
"""Operators that ask a tensor for its shape or check it, which is no step of the computation."""

AUGMENTED = frozenset({
    "__iadd__", "__isub__", "__imul__", "__idiv__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__", "__iand__",
    "__ior__", "__ixor__", "__ilshift__", "__irshift__", "__imatmul__",
})  # fmt: skip
"""Methods that write their own tensor though their name does not end as those of others."""

VIEWING = frozenset({"T", "mT", "H", "mH", "data", "real", "imag"})
"""Attributes that give another view of the same memory."""

RETURNING_SEVERAL = (torch.nn.RNNBase, torch.nn.LSTMCell, torch.nn.MultiheadAttention)
PASSING = (
    torch.nn.Identity, torch.nn.Flatten, torch.nn.Unflatten, Dropout,
)  # fmt: skip
"""Modules that may return their argument or a view of it."""


STATISTICS = {torch.nn.functional.batch_norm: "training", torch.nn.functional.instance_norm: "use_input_stats"}
"""Functions that write running statistics, and the argument that decides whether they do."""


class _Seen(Exception):  # noqa: N818
    """Carries out of torch which function it was going to run, and with what."""


class _Probe(Tensor):
    """A tensor that only tells which function of torch it was given to."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise _Seen(func, args)


def call_of(node: Node, args: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """Return the function of torch that a node calls, and its arguments, as recording would see them.

    `1 - a` is `Tensor.__rsub__(a, 1)`, and `a.T` is the accessor of that name, given `a`.
    """
    target = node.target
    if node.op == "call_method":
        return getattr(Tensor, str(target), target), args
    if target is not getattr and getattr(target, "__module__", None) != "_operator":
        return target, args
    tensors = tuple([isinstance(arg, Held) for arg in args])
    if not any(tensors):
        return target, args
    function, order = _seen(target, tensors, str(args[1]) if target is getattr else "")
    return function, [args[position] for position in order]


@cache
def _seen(target: Any, tensors: tuple[bool, ...], attribute: str) -> tuple[Any, tuple[int, ...]]:
    """Return what torch calls for an operator of Python, and which argument goes where."""
    with DisableTorchFunction():
        probes = [torch.empty(0).as_subclass(_Probe) if tensor else at for at, tensor in enumerate(tensors)]
    given: list[Any] = [probes[0], attribute] if attribute else probes
    try:
        target(*given)
    except _Seen as seen:
        function, args = seen.args
        return function, tuple([next(at for at, item in enumerate(probes) if item is arg) for arg in args])
    except (TypeError, AttributeError):  # no operator of tensors
        pass
    return target, tuple(range(len(tensors)))


def effect_of(function: Any, name: str, frozen: Frozen, *, reads: bool) -> Effect:
    """Return what a call does.

    Args:
        function: what is called.
        name: its short name.
        frozen: what it is given, frozen.
        reads: whether any of that is a tensor.
    """
    if isinstance(function, OpOverload):
        return _of_schema(function._schema, frozen)
    if isinstance(function, HigherOrderOperator):
        return Effect("tensors")
    if function in SILENT or (name in NO_CALLS and reads):
        return Effect("question" if function in SILENT else "argument")
    if name in HOST or name in EXPORTING:
        return Effect("number")
    if name in ("__getitem__", "__setitem__"):
        return _of_item(name, frozen)
    if name in VIEWING:
        return Effect("tensor", shares=True)
    if function in STATISTICS:
        return _of_normalisation(function, frozen)
    schema = schema_of(function, frozen) if _is_of_torch(function) else None
    return _of_python(function, name, frozen, reads=reads) if schema is None else _of_schema(schema, frozen, function)


def effect_of_module(module: torch.nn.Module) -> Effect:
    """Return what a call of a module does that was not traced into."""
    writes = (0,) if getattr(module, "inplace", None) is True else ()
    makes: Makes = "tensors" if isinstance(module, RETURNING_SEVERAL) else "tensor"
    if isinstance(module, torch.nn.LSTM):
        makes = "states"
    return Effect(makes, writes, shares=isinstance(module, PASSING))


def _of_schema(schema: Any, frozen: Frozen, function: Any = None) -> Effect:
    facts = facts_of_schema(schema)
    name = schema.name.partition("::")[2]
    if name in QUESTIONS:
        return Effect("question")
    given = dict(frozen[1])
    writes = tuple([where for where in facts.writes if type(where) is int or where in given])
    if facts.training is not None and frozen[0][facts.training : facts.training + 1] != (TRUE,):
        writes = ()
    returned = any(result.alias_info is not None and result.alias_info.is_write for result in schema.returns)
    if not writes and (writes := _in_place(function, frozen)):
        returned = True
    return Effect(
        _returned(schema), writes, facts.overwrites and bool(writes), facts.aliases, bool(writes) and returned
    )


def _of_normalisation(function: Any, frozen: Frozen) -> Effect:
    """A function of torch that brings running statistics up to date if it is told to."""
    parameters = list(inspect.signature(function).parameters)
    given = {**dict(zip(parameters, frozen[0], strict=False)), **dict(frozen[1])}
    if given.get(STATISTICS[function], TRUE if function is torch.nn.functional.instance_norm else False) != TRUE:
        return Effect("tensor")
    positions = len(frozen[0])
    names = ("running_mean", "running_var")
    return Effect("tensor", tuple([at if (at := parameters.index(name)) < positions else name for name in names]))


def _of_item(name: str, frozen: Frozen) -> Effect:
    whole = frozen[0][1:2] in (("...",), (":",))
    if name == "__setitem__":
        return Effect("number", (0,), overwrites=whole)
    return Effect("tensor", shares=True)


def _of_python(function: Any, name: str, frozen: Frozen, *, reads: bool) -> Effect:
    """A function without a schema: one of torch's that is written in Python, or one of the user's."""
    if isinstance(function, type) and is_dataclass(function):
        return Effect("question")
    module = getattr(function, "__module__", None) or ""
    if not reads or module in ("builtins", "math", "_operator"):
        return Effect("question" if function in (len, isinstance, type, hasattr) else "number")
    writes = (0,) if name in AUGMENTED else _in_place(function, frozen)
    try:
        returned = str(inspect.signature(function).return_annotation)
    except (TypeError, ValueError):
        returned = ""
    several = returned.lower().removeprefix("typing.").startswith(("tuple", "list"))
    return Effect("tensors" if several else "tensor", writes, returns_written=bool(writes))


def _in_place(function: Any, frozen: Frozen) -> tuple[int | str, ...]:
    """Return what a function writes that is told so by `inplace=True` or by `out=`."""
    positional, keywords = frozen
    given = dict(keywords)
    if given.get("out") is not None:
        return ("out",)
    flag = given.get("inplace")
    if flag is None and len(positional) > 1:
        try:
            parameters = list(inspect.signature(function).parameters)[: len(positional)]
        except (TypeError, ValueError):
            return ()
        flag = positional[parameters.index("inplace")] if "inplace" in parameters else None
    return (0,) if flag == TRUE else ()


def _is_of_torch(function: Any) -> bool:
    """Tell whether a function is torch's own, so that its name says what it does."""
    module = getattr(function, "__module__", None)
    return not isinstance(function, str) and (module is None or module.partition(".")[0] == "torch")


def _returned(schema: Any) -> Makes:
    kinds = [result.type.kind() for result in schema.returns]
    if len(kinds) == 1 and kinds[0] in ("TensorType", "OptionalType"):
        return "tensor"
    if any("TensorType" in (kind, _element(result.type)) for kind, result in zip(kinds, schema.returns, strict=True)):
        return "tensors"
    return "number"


def _element(type_: Any) -> str:
    return str(type_.getElementType().kind()) if type_.kind() in ("ListType", "OptionalType") else ""
