"""What is known of an operator before it runs: which arguments it writes, and whether it reads what it overwrites."""

from __future__ import annotations

from typing import Any, NamedTuple

from trec.analysis.groups import OVERWRITERS
from trec.capture.communication import COMMUNICATING, form_of
from trec.capture.torch_api import HigherOrderOperator


class Facts(NamedTuple):
    """What an ATen operator does to its arguments."""

    run: Any
    """What to call: the operator itself, without the wrapper that only forwards to it."""
    writes: tuple[int | str, ...]
    """Positions or keywords of the arguments that it writes."""
    overwrites: bool
    """Whether what it writes does not depend on what stood there."""
    training: int | None
    """Position of the flag that decides whether it writes at all; None if it always does."""
    aliases: bool
    """Whether a result shares memory with an argument."""
    reforms: bool = False
    """Whether it gives what it writes another form, and leaves the numbers as they are."""
    higher_order: bool = False
    """Whether it is given functions."""
    communicates: Any = None
    """What it does among ranks, as `trec.capture.communication.Form` says it; None if it does not."""
    reserve: int | None = None
    """Position of the result that is empty unless autograd needs it; None if there is none."""


UNDECLARED_WRITES: dict[str, tuple[tuple[int, ...], int | None]] = {
    "native_batch_norm": ((3, 4), 5),
    "cudnn_batch_norm": ((3, 4), 5),
    "miopen_batch_norm": ((3, 4), 5),
    "batch_norm": ((3, 4), 5),  # whole, as in inference mode, where torch takes no operator apart
    "_batch_norm_impl_index": ((3, 4), 5),
    "instance_norm": ((3, 4), 5),
    "batch_norm_gather_stats": ((3, 4), None),
    "batch_norm_gather_stats_with_counts": ((3, 4), None),
    "batch_norm_update_stats": ((1, 2), None),
}
"""Operators that write running statistics which their schema does not mark: positions, position of `training`."""

RESERVING = {"mkldnn_rnn_layer": 3, "_cudnn_rnn": 3, "miopen_rnn": 3}
"""Operators with a result that only their backward pass reads, which is empty where gradients are not followed."""

REFORMING = frozenset({
    "as_strided_", "detach_", "rename_", "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_",
})  # fmt: skip
"""In-place operators that write no number."""


def facts_of(operator: Any) -> Facts:
    """Return what is known of an operator; higher-order operators have no schema and write nothing."""
    schema = getattr(operator, "_schema", None)
    if schema is None:
        return Facts(operator, (), False, None, False, higher_order=isinstance(operator, HigherOrderOperator))
    facts = facts_of_schema(schema, getattr(operator, "_op", operator))
    return facts._replace(communicates=form_of(operator)) if operator.namespace in COMMUNICATING else facts


def facts_of_schema(schema: Any, run: Any = None) -> Facts:
    """Return what a schema tells of the operator that `run` is."""
    name = schema.name.split("::")[-1]
    writes: tuple[int | str, ...] = ()
    overwrites, training = name in OVERWRITERS, None
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            writes += (argument.name if argument.kwarg_only else position,)
            overwrites = overwrites or argument.kwarg_only or argument.name == "out"
    if not writes and name in UNDECLARED_WRITES:
        writes, training = UNDECLARED_WRITES[name]
    aliases = any(result.alias_info is not None for result in schema.returns)
    return Facts(run, writes, overwrites, training, aliases, name in REFORMING, reserve=RESERVING.get(name))


def operator_name(operator: Any) -> str:
    """Return the full name of an operator, such as `aten.addmm.default`."""
    name = getattr(operator, "name", None)
    if getattr(operator, "_schema", None) is None and callable(name):
        return f"higher_order.{name()}"
    return str(operator)
