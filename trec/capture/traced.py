"""Read a traced program, node by node, as if it ran: what `from_fx` and `from_export` have in common."""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.fx import Graph as FxGraph

from trec.capture.arguments import name_arguments
from trec.capture.assemble import function_name
from trec.capture.contents import Held, Number, Parts, Subgraph, frozen_of, mapped, picked, tensors_in
from trec.capture.describe import describe
from trec.capture.effects import Effect, effect_of, effect_of_module, function_of
from trec.capture.examples import MISSING, NOTHING, example_of, is_tensor, line_in, share_memory, type_of
from trec.capture.flow import Flow
from trec.capture.memory import storage_key
from trec.capture.regions import region_of
from trec.capture.stacks import Calls, Chain, Frame, Stacks
from trec.capture.steps import Step, Steps
from trec.ir.builder import GraphBuilder
from trec.ir.types import NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch.fx import Node
    from torch.nn import Module

    from trec.ir.types import AttrRow, Level, TensorType

RUN_ONCE = frozenset({
    "wrap", "wrap_with_set_grad_enabled", "wrap_with_autocast", "wrap_activation_checkpoint",
    "tag_activation_checkpoint", "invoke_subgraph", "strict_mode", "hints_wrapper", "dynamo_bypassing_wrapper",
})  # fmt: skip
"""Higher-order operators that run their graph exactly once: it is read in their place."""

Contents = dict["Node", Any]


class Reader:
    """What the graphs of one program have in common: its steps, its scopes, the tensors of its modules."""

    def __init__(self, root: Module, name: str, cls: str, level: Level) -> None:
        self.root, self.level = root, level
        self.builder = GraphBuilder(name, (("level", level),))
        self.builder.scope("module", path="", cls=cls)
        self.steps = Steps(self.builder)
        self.flow = Flow(self.steps)
        self.calls = Calls(self.builder, self._describe)
        self.uses = Counter(_read_tensors(root, set()))
        self.inputs = self.outputs = 0
        self._held: dict[int, Held] = {}
        self._names: dict[int, tuple[NodeKind, list[str]]] = {}
        for kind, table in (("param", root.named_parameters), ("buffer", root.named_buffers)):
            for path, tensor in table(remove_duplicate=False):
                self._names.setdefault(id(tensor), (kind, []))[1].append(path)  # type: ignore[arg-type]

    def type(self, type_: TensorType) -> int:
        """Return the index of a type."""
        return self.builder.types.add(type_)

    def input(self, name: str, example: Any) -> Held:
        """Return a tensor that the program is given."""
        made = self.flow.tensor(self.type(type_of(example) if is_tensor(example) else NOTHING), _region(example))
        self.steps.rows.append(Step("input", "input", 0, [], [made.value], (("index", self.inputs),), name=name))
        self.inputs += 1
        return made

    def output(self, name: str, tensor: Held) -> None:
        """Note that the program returns a tensor."""
        value = self.flow.read(tensor, 0)
        self.steps.rows.append(Step("output", "output", 0, [value], [], (("index", self.outputs),), name=name))
        self.outputs += 1

    def owned(self, tensor: Tensor, name: str) -> Held:
        """Return a parameter, a buffer or another tensor that a module holds."""
        kind, names = self._names.get(id(tensor), ("constant", [name]))
        if _is_lifted(names[0]):
            kind = "constant"
        return self.source(id(tensor), kind, names, tensor)

    def source(self, key: int, kind: NodeKind, names: list[str], example: Any) -> Held:
        """Return a tensor that the program holds, the same one for the same key."""
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = self.flow.tensor(self.type(type_of(example)), _region(example))
            attrs: AttrRow = () if kind == "constant" else (("qualname", names[0]),)
            if len(names) > 1:
                attrs = (*attrs, ("aliases", ",".join(names[1:])))
            self.steps.rows.append(Step(kind, kind, 0, [], [held.value], attrs, name=names[0]))
        return held

    def _describe(self, path: str, cls: str) -> AttrRow:
        try:
            module = self.root.get_submodule(path)
        except AttributeError:
            return ()
        return describe(module) if type(module).__name__ == cls else ()


class Reading:
    """Reads one graph.

    Args:
        reader: what it shares with other graphs of the program.
        module: what holds its attributes.
        graph: the graph.
        base: the calls around it.
        own: whether its nodes name calls from the graph itself on, not from the root of all.
    """

    def __init__(self, reader: Reader, module: Module, graph: FxGraph, base: Chain = (), *, own: bool = True) -> None:
        self.reader, self.module, self.graph, self.base, self.own = reader, module, graph, base, own
        self.chains = Stacks(graph.nodes, base, own=own)
        self.trusted = share_memory(graph.nodes)
        self.storages: dict[int, Held] = {}
        self.contents: Contents = {}
        self.called: Counter[str] = Counter()

    def run(self, given: Contents) -> Any:
        """Return the contents of the result.

        Args:
            given: contents of each placeholder.
        """
        self.contents.update(given)
        for node, content in given.items():
            self._remember(example_of(node), content)
        for node in self.graph.nodes:
            if node.op == "output":
                return self._resolved(node.args[0])
            if node.op == "get_attr":
                self.contents[node] = self._attribute(node)
            elif node.op == "call_module":
                self.contents[node] = self._call_module(node)
            elif node.op != "placeholder":
                self.contents[node] = self._call(node)
        return None

    def _resolved(self, argument: Any) -> Any:
        return mapped(argument, self.contents.__getitem__)

    def _attribute(self, node: Node) -> Any:
        held: Any = self.module
        for name in str(node.target).split("."):
            held = getattr(held, name, None)
        if isinstance(held, Tensor):
            prefix = f"{self.base[-1].path}." if self.base else ""
            tensor = self.reader.owned(held, prefix + str(node.target))
            self._remember(example_of(node), tensor)
            return tensor
        name = str(node.target)
        return Number(name) if _graph_of(held) is None else Subgraph(held, name)

    # ---- calls of functions

    def _call(self, node: Node) -> Any:
        args, kwargs = self._resolved(node.args), self._resolved(node.kwargs)
        function = function_of(node, tuple([isinstance(arg, Held) for arg in args]))
        if node.target is operator.getitem and not isinstance(args[0], Held):
            return picked(args[0], args[1])
        if isinstance(function, torch._ops.HigherOrderOperator):
            if function.name() == "with_effects":
                example = example_of(node)
                rest = example[1:] if isinstance(example, (tuple, list)) else example
                return [Number("token"), *self._step(node, args[1], args[2:], kwargs, rest, several=True)]
            inside = self._run_once(node, function.name(), args)
            if inside is not None:
                return inside
        return self._step(node, function, args, kwargs, example_of(node))

    def _step(self, node: Node, function: Any, args: Any, kwargs: Any, example: Any, *, several: bool = False) -> Any:
        """Write down one call of a function and return the contents of its result."""
        reader, flow = self.reader, self.reader.flow
        name = function if isinstance(function, str) else function_name(function)
        frozen = frozen_of(args, kwargs)
        tensors = tensors_in((args, kwargs))
        effect = effect_of(function, name, frozen, reads=bool(tensors))
        if effect.makes == "question":
            return dict(kwargs) if tensors and isinstance(function, type) else self._number(node, example)
        if effect.makes == "argument":
            return args[0]
        scope = reader.calls.scope(self.chains[node])
        inputs = [flow.read(tensor, scope) for tensor in tensors]
        written = self._written(effect, args, kwargs)
        if effect.overwrites:
            for tensor in written:
                inputs.remove(tensor.value)
        changed = [flow.write(tensor) for tensor in written]
        if effect.returns_written and not several:
            result: Any = written[0] if len(written) == 1 else written
            outputs, spare = changed, []
        else:
            result = self._made(node, example, effect, tensors[0] if tensors else None)
            made = [tensor.value for tensor in tensors_in(result)]
            fine = "." in name
            outputs, spare = ([*changed, *made], []) if fine else ([*made, *changed], changed)
        if not inputs and not outputs:
            return result
        attrs = name_arguments(None if isinstance(function, str) else function, frozen)
        unseen = sum(_steps_inside(arg.module) for arg in args if isinstance(arg, Subgraph))
        if unseen:
            attrs = (*attrs, ("unseen", unseen))
        kind: NodeKind = "op" if outputs else "host"
        source = line_in(node.meta.get("stack_trace"))
        reader.steps.rows.append(Step(kind, name, scope, inputs, outputs, attrs, source, spare=spare))
        return result

    def _written(self, effect: Effect, args: Any, kwargs: Any) -> list[Held]:
        found: list[Held] = []
        for where in effect.writes:
            if isinstance(where, str):
                found.extend(tensors_in(kwargs.get(where)))
            elif where < len(args):
                found.extend(tensors_in(args[where]))
        return list({id(tensor): tensor for tensor in found}.values())

    # ---- results

    def _made(self, node: Node, example: Any, effect: Effect, first: Held | None) -> Any:
        """Return the contents of a new result, of the shape of its example, or of what the call is known to make."""
        if example is not MISSING:
            return self._like(example, effect, first)
        unknown = self.reader.type(NOTHING)
        base = first if effect.shares else None
        if effect.makes == "tensor":
            return self.reader.flow.tensor(unknown, None, base)
        if effect.makes == "states":
            first_, *rest = [self.reader.flow.tensor(unknown) for _ in range(3)]
            return [first_, rest]
        if effect.makes == "tensors":
            picks = [user.args[1] for user in node.users if user.target is operator.getitem and user.args[0] is node]
            keys = sorted({pick for pick in picks if type(pick) is int}) or [0]
            return Parts({key: self.reader.flow.tensor(unknown, None, base) for key in keys})
        return Number(node.name)

    def _like(self, example: Any, effect: Effect, first: Held | None) -> Any:
        if is_tensor(example):
            base = first if effect.shares else None
            region = None
            if self.trusted:
                base, region = self._sharing(example), _region(example)
            made = self.reader.flow.tensor(self.reader.type(type_of(example)), region, base)
            self._remember(example, made)
            return made
        if isinstance(example, (tuple, list)):
            return [self._like(item, effect, first) for item in example]
        if isinstance(example, dict):
            return {key: self._like(item, effect, first) for key, item in example.items()}
        return Number(str(example).replace(" ", ""))

    def _number(self, node: Node, example: Any) -> Any:
        return Number(node.name if example is MISSING else str(example).replace(" ", ""))

    def _sharing(self, example: Any) -> Held | None:
        key = storage_key(example) if isinstance(example, Tensor) else None
        return None if key is None else self.storages.get(key)

    def _remember(self, example: Any, content: Any) -> None:
        if self.trusted and isinstance(content, Held) and isinstance(example, Tensor):
            key = storage_key(example)
            if key is not None:
                self.storages.setdefault(key, content)

    # ---- calls of modules and of graphs

    def _call_module(self, node: Node) -> Any:
        target = str(node.target)
        module = self.module.get_submodule(target)
        args, kwargs = self._resolved(node.args), self._resolved(node.kwargs)
        chain = self._chain_of_call(node, target.partition("@")[0], module)
        graph = _graph_of(module)
        if graph is not None:
            given = _bound(graph, args, kwargs)
            own = type(module).__name__ != "InterpreterModule"  # a part of an unflattened program
            return Reading(self.reader, module, graph, chain, own=own).run(given)
        if type(module).__name__ == "GuardsFn":  # checks the inputs of an exported program
            return Number(node.name)
        return self._leaf(node, module, args, kwargs, chain)

    def _chain_of_call(self, node: Node, target: str, module: Module) -> Chain:
        """Return the calls around a call of a module and that call itself."""
        chain = self.chains[node]
        path = f"{self.base[-1].path}.{target}" if self.base else target
        nested = _graph_of(module) is not None
        if not nested and chain and chain[-1].path == path:
            return chain
        while chain and not path.startswith(f"{chain[-1].path}."):
            chain = chain[:-1]
        self.called[path] += 1
        return (*chain, Frame(f"{path} {self.called[path]}", path, type(module).__name__))

    def _leaf(self, node: Node, module: Module, args: Any, kwargs: Any, chain: Chain) -> Any:
        """Write down the call of a module that was not traced into: one node, as a collapsed one."""
        reader, flow = self.reader, self.reader.flow
        scope = reader.calls.scope(chain)
        outer = reader.builder.scopes[scope].parent
        tensors = tensors_in((args, kwargs))
        inputs = [flow.read(tensor, outer) for tensor in tensors]
        for path, tensor in _tensors_of(module):
            if reader.uses[id(tensor)] > 1:
                inputs.append(flow.read(reader.owned(tensor, f"{chain[-1].path}.{path}"), outer))
        effect = effect_of_module(module)
        written = self._written(effect, args, kwargs)
        changed = [flow.write(tensor) for tensor in written]
        if written:
            result: Any = written[0]
        else:
            result = self._made(node, example_of(node), effect, tensors[0] if tensors else None)
        outputs = changed or [tensor.value for tensor in tensors_in(result)]
        params = list(module.parameters())
        attrs: AttrRow = (
            ("params", sum(map(_elements, params))),
            ("param_bytes", sum(_elements(param) * param.element_size() for param in params)),
        )
        source = line_in(node.meta.get("stack_trace"))
        cls = reader.builder.scopes[scope].cls
        reader.steps.rows.append(Step("module", cls, outer, inputs, outputs, attrs, source, stands_for=scope))
        return result

    def _run_once(self, node: Node, name: str, args: Any) -> Any:
        """Read the graph of an operator that runs it exactly once; None if it does not."""
        positions = [position for position, arg in enumerate(args) if isinstance(arg, Subgraph)]
        if name not in RUN_ONCE or len(positions) != 1:
            return None
        module = args[positions[0]].module
        graph = module.graph
        rest = [arg for arg in args[positions[0] + 1 :] if not isinstance(arg, str)]
        count = sum(inner.op == "placeholder" for inner in graph.nodes)
        if len(rest) != count and rest and isinstance(rest[0], (list, tuple)):
            rest = list(rest[0])
        if len(rest) != count:
            return None
        inside = Reading(self.reader, module, graph, self.base, own=self.own)
        if not self.trusted:
            inside.trusted = False
        inside.storages = self.storages
        return inside.run(_bound(graph, rest, {}))


def _graph_of(module: Any) -> FxGraph | None:
    graph = getattr(module, "graph", None) if isinstance(module, torch.nn.Module) else None
    return graph if isinstance(graph, FxGraph) else None


def _steps_inside(module: Module) -> int:
    """Return how many calls the graph of a module makes, as it stands."""
    graph = _graph_of(module)
    return sum(node.op.startswith("call_") for node in graph.nodes) if graph is not None else 0


def _bound(graph: FxGraph, args: Iterable[Any], kwargs: dict[str, Any]) -> Contents:
    """Return what each placeholder of a graph holds that is called."""
    left = iter(args)
    bound: Contents = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            default = kwargs.get(str(node.target), node.args[0] if node.args else None)
            bound[node] = next(left, default)
    return bound


def _read_tensors(module: Any, seen: set[int]) -> Iterator[int]:
    """Yield the ids of the tensors of modules, once for each place in the program that reads them."""
    graph = _graph_of(module)
    if graph is None or id(graph) in seen:
        return
    seen.add(id(graph))
    for node in graph.nodes:
        held: Any = module
        if node.op not in ("get_attr", "call_module"):
            continue
        for name in str(node.target).split("."):
            held = getattr(held, name, None)
        if isinstance(held, Tensor):
            yield id(held)
        elif _graph_of(held) is not None:
            yield from _read_tensors(held, seen)
        elif isinstance(held, torch.nn.Module):
            yield from [id(tensor) for _, tensor in _tensors_of(held)]


def _tensors_of(module: Module) -> list[tuple[str, Tensor]]:
    return [*module.named_parameters(), *module.named_buffers()]


def _elements(tensor: Tensor) -> int:
    return 0 if torch.nn.parameter.is_lazy(tensor) else tensor.numel()


def _region(example: Any) -> Any:
    return region_of(example) if isinstance(example, Tensor) else None


def _is_lifted(name: str) -> bool:
    return name.rpartition(".")[2].startswith(("_tensor_constant", "lifted_tensor_", "_lifted_tensor_constant"))
