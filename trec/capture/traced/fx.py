"""From a graph of `torch.fx` to the graph."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Graph as FxGraph

from trec.capture.torch_api import OpOverload
from trec.capture.traced.contents import Number
from trec.capture.traced.examples import MISSING, example_of, is_tensor
from trec.capture.traced.reader import Reader
from trec.capture.traced.stacks import root_class
from trec.capture.traced.structures import named_outputs, names_of_inputs
from trec.capture.traced.traced import Reading
from trec.errors import OptionError
from trec.ir.collector import paused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch.fx import Node

    from trec.ir.graph import Graph
    from trec.ir.types import Level


def from_fx(module: Any, name: str | None) -> Graph:
    """Read a graph module; see `trec.from_fx`."""
    _check(module)
    nodes = list(module.graph.nodes)
    cls = root_class(nodes) or type(module).__name__
    with paused():
        reader = Reader(module, name or cls, cls, level_of(nodes))
        arguments, in_spec, out_spec = _containers(module)
        given = _inputs(reader, nodes, arguments, in_spec)
        result = Reading(reader, module, module.graph).run(given)
        for key, tensor in named_outputs(result, out_spec):
            reader.output(key, tensor)
        return reader.steps.build()


def level_of(nodes: Iterable[Node]) -> Level:
    """Return how fine a traced program is: `aten` if it calls operators, else `function`."""
    return "aten" if any(isinstance(node.target, OpOverload) for node in nodes) else "function"


def _check(module: Any) -> None:
    kind = type(module).__name__
    if isinstance(module, torch.jit.ScriptModule):
        raise OptionError(f"from_fx takes a torch.fx.GraphModule; record a {kind} with trec.capture(module, shapes)")
    if isinstance(module, torch.export.ExportedProgram):
        raise OptionError(f"from_fx takes a torch.fx.GraphModule; read an {kind} with trec.from_export(program)")
    if isinstance(module, FxGraph):
        raise OptionError("from_fx takes a torch.fx.GraphModule, not its graph: torch.fx.GraphModule(root, graph)")
    if not isinstance(module, torch.nn.Module):
        raise OptionError(f"from_fx takes a torch.fx.GraphModule, not {kind}")
    if not isinstance(getattr(module, "graph", None), FxGraph):
        raise OptionError(
            f"from_fx takes a torch.fx.GraphModule, and {kind} has no graph: record it with trec.capture(net, shapes), "
            "or trace it first: trec.from_fx(torch.fx.symbolic_trace(net))"
        )


def _containers(module: Any) -> tuple[list[str] | None, Any, Any]:
    """Return names of the arguments, containers of the inputs and of the result, where the graph has only leaves."""
    info = getattr(module.graph._codegen, "pytree_info", None)
    if info is not None:
        return info.orig_args, info.in_spec, info.out_spec
    entries = getattr(module, "module_call_graph", ())  # an unflattened program keeps its signature
    signature = entries[0].signature if entries else None
    return (signature.forward_arg_names, signature.in_spec, signature.out_spec) if signature else (None, None, None)


def _inputs(reader: Reader, nodes: list[Node], arguments: list[str] | None, spec: Any) -> dict[Node, Any]:
    """Return what each placeholder holds; one that nothing reads and that has a default is no input."""
    placeholders = [node for node in nodes if node.op == "placeholder"]
    examples = [example_of(node) for node in placeholders]
    tensors = [example is MISSING or is_tensor(example) for example in examples]
    names = names_of_inputs(spec, arguments, tensors)
    given: dict[Node, Any] = {}
    for position, node in enumerate(placeholders):
        if not tensors[position]:
            given[node] = Number(str(examples[position]).replace(" ", ""))
        elif node.args and not node.users and examples[position] is MISSING:
            given[node] = node.args[0]
        else:
            name = names[position] if names else str(node.target).lstrip("*")
            given[node] = _parts(reader, node, name or node.name)
    return given


def _parts(reader: Reader, node: Node, name: str) -> Any:
    """Return an input tensor, or a dict of them where the program picks items by text."""
    picks = [user for user in node.users if user.target is operator.getitem and isinstance(user.args[1], str)]
    if not picks:
        return reader.input(name, example_of(node))
    return {user.args[1]: _parts(reader, user, f"{name}.{user.args[1]}") for user in picks}
