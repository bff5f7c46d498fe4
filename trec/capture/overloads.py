"""Which overload of an operator a function of torch leads to, and the names of the parameters that it takes."""

from __future__ import annotations

import inspect
from functools import cache
from types import FunctionType
from typing import Any

from trec.capture.torch_api import OpOverloadPacket, boolean_dispatched, schemas_of


@cache
def parameters_of(
    function: Any, kinds: tuple[str, ...], keywords: tuple[tuple[str, str], ...] = ()
) -> tuple[tuple[str, bool], ...]:
    """Return name and whether it takes a list, of each positional parameter of a torch function or operator.

    Args:
        function: what was called.
        kinds: what each positional argument is, to choose among overloads.
        keywords: name and kind of the others.
    """
    schema = getattr(function, "_schema", None)
    if schema is not None:
        return _positional(schema)
    name = getattr(function, "__name__", "")
    if name in _NO_OPERATORS:
        return tuple((parameter, False) for parameter in _NO_OPERATORS[name])
    by_flag = boolean_dispatched.get(function) if type(function) is FunctionType else None
    try:
        parameters = inspect.signature(function if by_flag is None else by_flag["if_true"]).parameters.values()
        if not any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
            return tuple((parameter.name, False) for parameter in parameters)
    except (TypeError, ValueError):
        pass
    best = overload_of(function, kinds, keywords)
    return () if best is None else _positional(best)


@cache
def overload_of(function: Any, kinds: tuple[str, ...], keywords: tuple[tuple[str, str], ...]) -> Any:
    """Return the schema of the shortest overload of those that take such arguments best; None if there is none."""
    return min(
        _overloads(function),
        key=lambda schema: (_misfits(schema, kinds, keywords), len(schema.arguments)),
        default=None,
    )


def _overloads(function: Any) -> Any:
    if isinstance(function, OpOverloadPacket):
        return schemas_of(str(function).replace(".", "::", 1))
    name = getattr(function, "__name__", "")
    return schemas_of(f"aten::{_ARITHMETIC.get(name, name)}")


def _positional(schema: Any) -> tuple[tuple[str, bool], ...]:
    return tuple((a.name, a.type.kind() == "ListType") for a in schema.arguments if not a.kwarg_only)


def _misfits(schema: Any, kinds: tuple[str, ...], keywords: tuple[tuple[str, str], ...]) -> int:
    """Return how many arguments a schema does not take as they were given, or lacks."""
    positional = [argument for argument in schema.arguments if not argument.kwarg_only]
    by_name = {argument.name: argument for argument in schema.arguments}
    count: int = 0
    for position, kind in enumerate(kinds[: len(positional)]):
        argument = by_name.pop(positional[position].name)
        if position == len(positional) - 1 and _takes_all(argument, kinds[position:]):
            break
        count += not _takes(argument, kind)
    else:
        count += max(len(kinds) - len(positional), 0)
    for name, kind in keywords:
        wanted = by_name.pop(name, None) or by_name.pop(_ALSO_CALLED.get(name, name), None)
        count += wanted is None or not _takes(wanted, kind)
    missing = [name for name, argument in by_name.items() if not argument.has_default_value() and name != "generator"]
    return count + len(missing)


def _takes_all(argument: Any, kinds: tuple[str, ...]) -> bool:
    """Tell whether a last parameter that is a list takes all further arguments, as in `view(2, -1)`."""
    listed = {"List[int]": {"int", "str"}, "List[Tensor]": {"Tensor"}}.get(str(argument.type).replace("SymInt", "int"))
    return listed is not None and bool(kinds) and listed.issuperset(kinds)


def _takes(argument: Any, kind: str) -> bool:
    wanted = str(argument.type).removeprefix("Optional[").rstrip("]")
    if kind == "NoneType":
        return str(argument.type).startswith("Optional")
    if kind in ("dtype", "layout", "memory_format"):  # all numbers in a schema, told apart by their names
        return bool(argument.name == kind)
    if argument.name in ("dtype", "layout", "memory_format"):
        return False
    return wanted.startswith(_TAKEN_BY.get(kind, ("",)))


_TAKEN_BY = {
    "Tensor": ("Tensor",), "tensors": ("List[Tensor", "List[Optional[Tensor"), "list": ("List",), "Size": ("List[int",),
    "bool": ("bool", "Scalar", "number"), "int": ("int", "Scalar", "number", "float", "List[int", "SymInt"),
    "float": ("float", "Scalar", "number"), "str": ("str", "Dimname", "Device"), "device": ("Device",),
}  # fmt: skip
"""For each kind of argument, how the types of parameters begin that take it."""

_NO_OPERATORS = {
    "tensor": ("data",), "as_tensor": ("data", "dtype", "device"), "asarray": ("obj",), "from_numpy": ("ndarray",),
    "frombuffer": ("buffer",), "new_tensor": ("self", "data"),
}  # fmt: skip
"""Positional parameters of functions that show no signature and are no operators, or under other names."""

_ALSO_CALLED = {"input": "self", "x": "self", "axis": "dim", "keepdims": "keepdim"}
"""Names that torch takes besides those of its schemas."""

_ARITHMETIC = {
    "__add__": "add", "__radd__": "add", "__iadd__": "add_", "__sub__": "sub", "__isub__": "sub_", "__mul__": "mul",
    "__rmul__": "mul", "__imul__": "mul_", "__truediv__": "div", "__itruediv__": "div_", "__pow__": "pow",
}  # fmt: skip
"""Arithmetic operators of Python under the names of torch's."""
