"""From an exported program to the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.export.graph_signature import InputKind, OutputKind

from trec.capture.traced.contents import Number
from trec.capture.traced.examples import example_of, is_tensor
from trec.capture.traced.flow import Held
from trec.capture.traced.reader import Reader
from trec.capture.traced.stacks import root_class
from trec.capture.traced.steps import Step
from trec.capture.traced.structures import named_outputs, names_of_inputs
from trec.capture.traced.traced import Reading
from trec.errors import OptionError
from trec.ir.collector import paused

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node

    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow, NodeKind

HELD: dict[InputKind, NodeKind] = {
    InputKind.PARAMETER: "param",
    InputKind.BUFFER: "buffer",
    InputKind.CONSTANT_TENSOR: "constant",
}
"""What an input of an exported program is that the model holds."""

RETURNED = frozenset({OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT})
GRADIENTS = frozenset({OutputKind.GRADIENT_TO_PARAMETER, OutputKind.GRADIENT_TO_USER_INPUT})


def from_export(program: Any, name: str | None) -> Graph:
    """Read an exported program; see `trec.from_export`."""
    _check(program)
    graph = program.graph_module.graph
    cls = root_class(graph.nodes) or type(program).__name__
    with paused():
        reader = Reader(program.graph_module, name or cls, cls, "aten")
        given = _inputs(reader, program)
        result = Reading(reader, program.graph_module, graph).run(given)
        _outputs(reader, program, result)
        return reader.steps.build()


def _check(program: Any) -> None:
    if isinstance(program, torch.export.ExportedProgram):
        return
    kind = type(program).__name__
    if isinstance(program, torch.jit.ScriptModule):
        hint = f"record a {kind} with trec.capture(module, shapes)"
    elif isinstance(getattr(program, "graph", None), torch.fx.Graph):
        hint = f"read a {kind} with trec.from_fx(graph_module)"
    elif isinstance(program, torch.nn.Module):
        hint = f"record {kind} with trec.capture(net, shapes), or export it first: torch.export.export(net, args)"
    else:
        hint = f"it was given {kind}"
    raise OptionError(f"from_export takes a torch.export.ExportedProgram; {hint}")


def _inputs(reader: Reader, program: ExportedProgram) -> dict[Node, Any]:
    """Return what each placeholder holds, by the signature; tensors of the model that are one are one."""
    placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
    specs = program.graph_signature.input_specs
    tied = _names_by_tensor(program)
    user = [node for node, spec in zip(placeholders, specs, strict=True) if spec.kind == InputKind.USER_INPUT]
    names = _names_of_user_inputs(program, user)
    given: dict[Node, Any] = {}
    for node, spec in zip(placeholders, specs, strict=True):
        example = example_of(node)
        kind = HELD.get(spec.kind)
        if kind is not None and is_tensor(example):
            target = str(spec.target)
            key, aliases = tied.get(target, (id(spec), [target]))
            given[node] = reader.source(key, kind, aliases, example)
        elif spec.kind == InputKind.USER_INPUT and is_tensor(example):
            given[node] = reader.input(names.get(node) or node.name, example)
        else:  # an effect token, an object, a number
            given[node] = Number(str(example) if isinstance(example, torch.SymInt) else node.name)
    return given


def _names_by_tensor(program: ExportedProgram) -> dict[str, tuple[int, list[str]]]:
    """Return for the name of each tensor of the model its identity and all its names."""
    by_tensor: dict[int, list[str]] = {}
    for name, tensor in (*program.state_dict.items(), *program.constants.items()):
        if isinstance(tensor, torch.Tensor):
            by_tensor.setdefault(id(tensor), []).append(name)
    return {name: (key, list(dict.fromkeys(names))) for key, names in by_tensor.items() for name in names}


def _names_of_user_inputs(program: ExportedProgram, nodes: list[Node]) -> dict[Node, str]:
    entry = next((entry for entry in program.module_call_graph if entry.fqn == ""), None)
    signature = entry.signature if entry is not None else None
    tensors = [is_tensor(example_of(node)) for node in nodes]
    arguments = signature.forward_arg_names if signature is not None else None
    names = names_of_inputs(program.call_spec.in_spec, arguments, tensors)
    return dict(zip(nodes, names, strict=True)) if names else {}


def _outputs(reader: Reader, program: ExportedProgram, result: Any) -> None:
    specs = program.graph_signature.output_specs
    returned: list[Any] = []
    gradients: list[tuple[str, Held]] = []
    for spec, content in zip(specs, result, strict=True):
        if spec.kind in RETURNED:
            returned.append(content)
        elif not isinstance(content, Held):
            continue
        elif spec.kind in GRADIENTS:
            gradients.append((f"{spec.target}.grad", content))
        elif spec.kind != OutputKind.TOKEN:
            _write_back(reader, str(spec.target), spec.kind, content)
    named = named_outputs(returned, program.call_spec.out_spec)
    for name, tensor in (*named, *gradients):
        reader.output(name, tensor)


def _write_back(reader: Reader, target: str, kind: OutputKind, tensor: Held) -> None:
    """What is copied at the end into a tensor of the model or an input: its new value, which nothing reads any more."""
    made = reader.steps.value(tensor.type)
    what = "input" if kind == OutputKind.USER_INPUT_MUTATION else "qualname"
    attrs: AttrRow = ((what, target),)
    reader.steps.follow(tensor.value, Step("link", "update", 0, [tensor.value], [made], attrs))
