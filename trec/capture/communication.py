"""What is known of the operators that communicate: which arguments they give and write, and with whom they speak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch.distributed as dist

from trec.capture.leaves import add_tensors
from trec.capture.torch_api import process_group
from trec.ir.collectives import BARRIER, RECV, SEND, Collective

if TYPE_CHECKING:
    from torch import Tensor

COMMUNICATING = frozenset({"c10d", "_c10d_functional", "_c10d_functional_autograd", "_dtensor"})
"""Where operators that communicate are defined."""


class Form(NamedTuple):
    """What an operator that communicates does to its arguments, which its schema does not say."""

    collective: str
    """Its operation; see `trec.ir.collectives.COLLECTIVES`."""
    gives: str = ""
    """Name of the argument whose tensors are sent; empty for none."""
    writes: str = ""
    """Name of the argument whose tensors are written; empty where the result is new."""


WRAPS = Form("")
"""What only wraps a result, so that whoever reads it waits for it."""

_IN_PLACE = Form("all_reduce", "tensors", "tensors")
FORMS: dict[str, Form] = {
    # classic operators: everything is written in place
    "allreduce_": _IN_PLACE,
    "allreduce_coalesced_": _IN_PLACE,
    "allgather_": Form("all_gather", "input_tensors", "output_tensors"),
    "_allgather_base_": Form("all_gather", "input_tensor", "output_tensor"),
    "allgather_coalesced_": Form("all_gather", "input_list", "output_lists"),
    "allgather_into_tensor_coalesced_": Form("all_gather", "inputs", "outputs"),
    "reduce_scatter_": Form("reduce_scatter", "input_tensors", "output_tensors"),
    "_reduce_scatter_base_": Form("reduce_scatter", "input_tensor", "output_tensor"),
    "reduce_scatter_tensor_coalesced_": Form("reduce_scatter", "inputs", "outputs"),
    "alltoall_": Form("all_to_all", "input_tensors", "output_tensors"),
    "alltoall_base_": Form("all_to_all", "input", "output"),
    "broadcast_": Form("broadcast", "tensors", "tensors"),
    "reduce_": Form("reduce", "tensors", "tensors"),
    "gather_": Form("gather", "input_tensors", "output_tensors"),
    "scatter_": Form("scatter", "input_tensors", "output_tensors"),
    "send": Form(SEND, "tensors"),
    "recv_": Form(RECV, "", "tensors"),
    "recv_any_source_": Form(RECV, "", "tensors"),
    "barrier": Form(BARRIER),
    "monitored_barrier_": Form(BARRIER),
    # functional operators: the result is new, or the argument where the name ends in an underscore
    "all_reduce": Form("all_reduce", "input"),
    "all_reduce_": Form("all_reduce", "input", "input"),
    "all_reduce_coalesced": Form("all_reduce", "inputs"),
    "all_reduce_coalesced_": Form("all_reduce", "inputs", "inputs"),
    "all_gather_into_tensor": Form("all_gather", "input"),
    "all_gather_into_tensor_out": Form("all_gather", "input", "out"),
    "all_gather_into_tensor_coalesced": Form("all_gather", "inputs"),
    "reduce_scatter_tensor": Form("reduce_scatter", "input"),
    "reduce_scatter_tensor_out": Form("reduce_scatter", "input", "out"),
    "reduce_scatter_tensor_coalesced": Form("reduce_scatter", "inputs"),
    "all_to_all_single": Form("all_to_all", "input"),
    "shard_dim_alltoall": Form("all_to_all", "input"),
    "broadcast": Form("broadcast", "input"),
    "_c10d_functional.broadcast_": Form("broadcast", "input", "input"),
    "isend": Form(SEND, "tensor"),
    "irecv": Form(RECV, "", "tensor"),
    "_wrap_tensor_autograd": WRAPS,
}  # fmt: skip
"""Operators that communicate, by name; with the namespace where another one has the same name."""


def form_of(operator: Any) -> Form | None:
    """Return what an operator does among ranks; None if it does not communicate."""
    name = operator._schema.name.split("::")[-1]
    return FORMS.get(f"{operator.namespace}.{name}") or FORMS.get(name)


class Exchange(NamedTuple):
    """One call of an operator that communicates."""

    form: Form
    group: Any
    ranks: tuple[int, ...]
    """The ranks of the group, as the job numbers them."""
    given: list[Tensor]
    """Tensors that this rank sends."""
    written: list[Tensor]
    """Tensors that it writes what it gets into; empty where the result is new."""
    facts: dict[str, Any]
    """Root, peer, tag, reduction and whether it blocks, as far as the operator has them, as fields of `Collective`."""

    def collective(self, results: list[Tensor], sequence: int) -> Collective:
        """Return this rank's part, as a node says it."""
        size = self._bytes(results, len(self.ranks))
        return Collective(self.form.collective, self.ranks, _name(self.group), sequence, size, **self.facts)

    def _bytes(self, results: list[Tensor], ranks: int) -> int:
        operation = self.form.collective
        if operation == "all_gather":
            return _size(self.written or results)
        if operation == "gather":
            return _size(self.given) * ranks
        if operation == "scatter":
            return _size(self.written) * ranks
        return _size(self.given or self.written or results)

    def stream(self) -> tuple[str, str, int, int]:
        """Return what the call is numbered among: those of its group, or those with its peer and tag."""
        if self.form.collective in (SEND, RECV):
            return _name(self.group), self.form.collective, self.facts.get("peer", -1), self.facts["tag"]
        return _name(self.group), "", -1, -1


def exchange(form: Form, schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Exchange:
    """Return what a call of an operator that communicates is about to do."""
    named = dict(zip([argument.name for argument in schema.arguments], args, strict=False))
    named.update(kwargs or {})
    group = _group(named.get("process_group", named.get("group_name")))
    ranks = _ranks(group)
    facts = _facts(form, named, ranks)
    given, written = _tensors(named.get(form.gives)), _tensors(named.get(form.writes))
    here = facts.get("root") == ranks[group.rank()]
    if form.collective == "broadcast":
        given, written = (given, []) if here else ([], written)
    elif form.collective == "reduce" and not here:
        written = []
    return Exchange(form, group, ranks, given, written, facts)


def _tensors(value: Any) -> list[Tensor]:
    found: list[Tensor] = []
    add_tensors(value, found)
    return found


def _size(tensors: list[Tensor]) -> int:
    return sum([tensor.numel() * tensor.element_size() for tensor in tensors])


def _group(given: Any) -> Any:
    """Return the process group that an operator was given: itself, its name, or wrapped for C++."""
    if isinstance(given, str):
        return process_group(given)
    return given if isinstance(given, dist.ProcessGroup) else dist.ProcessGroup.unbox(given)


def _ranks(group: Any) -> tuple[int, ...]:
    """Return the ranks of a group as the job numbers them; as the group does where it was made past torch's tables."""
    try:
        return tuple(dist.get_process_group_ranks(group))
    except (KeyError, RuntimeError, ValueError):
        return tuple(range(group.size()))


def _name(group: Any) -> str:
    try:
        return str(group.group_name)
    except RuntimeError:  # made past torch's tables
        return ""


def _facts(form: Form, named: dict[str, Any], ranks: tuple[int, ...]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    reduction = named.get("reduce_op")
    if reduction is not None:
        facts["reduction"] = reduction if isinstance(reduction, str) else dist.ReduceOp.RedOpType(reduction.op()).name
        facts["reduction"] = facts["reduction"].lower()
    other = "peer" if form.collective in (SEND, RECV) else "root"
    for name in ("src", "dst", "root_rank"):
        if name in named:
            facts[other] = ranks[named[name]]
    if "tag" in named:
        facts["tag"] = named["tag"]
    if named.get("async_op") is False:
        facts["blocking"] = True
    return facts
