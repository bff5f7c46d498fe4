"""Read a traced program, node by node, as if it ran: what `from_fx` and `from_export` have in common."""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from trec.capture.arguments import name_arguments
from trec.capture.emit.names import function_name
from trec.capture.torch_api import HigherOrderOperator
from trec.capture.traced.contents import Held, Number, Subgraph, frozen_of, mapped, picked, tensors_in
from trec.capture.traced.effects import Effect, call_of, effect_of, effect_of_module
from trec.capture.traced.examples import example_of, line_in
from trec.capture.traced.results import Results
from trec.capture.traced.stacks import Chain, Frame, Stacks
from trec.capture.traced.steps import Step
from trec.capture.traced.subgraphs import bound, graph_of, steps_inside, tensors_of

if TYPE_CHECKING:
    from torch.fx import Graph as FxGraph
    from torch.fx import Node
    from torch.nn import Module

    from trec.capture.traced.reader import Reader
    from trec.ir.types import AttrRow, NodeKind

RUN_ONCE = frozenset({
    "wrap", "wrap_with_set_grad_enabled", "wrap_with_autocast", "wrap_activation_checkpoint",
    "tag_activation_checkpoint", "invoke_subgraph", "strict_mode", "hints_wrapper", "dynamo_bypassing_wrapper",
})  # fmt: skip
"""Higher-order operators that run their graph exactly once: it is read in their place."""

Contents = dict["Node", Any]


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
        self.results = Results(reader, graph)
        self.contents: Contents = {}
        self.called: Counter[str] = Counter()

    def run(self, given: Contents) -> Any:
        """Return the contents of the result.

        Args:
            given: contents of each placeholder.
        """
        self.contents.update(given)
        for node, content in given.items():
            self.results.remember(example_of(node), content)
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
            self.results.remember(example_of(node), tensor)
            return tensor
        name = str(node.target)
        return Number(name) if graph_of(held) is None else Subgraph(held, name)

    # ---- calls of functions

    def _call(self, node: Node) -> Any:
        args, kwargs = self._resolved(node.args), self._resolved(node.kwargs)
        if node.target is operator.getitem and not isinstance(args[0], Held):
            return picked(args[0], args[1])
        function, args = call_of(node, args)
        if isinstance(function, HigherOrderOperator):
            operator_name = str(function)
            if operator_name == "with_effects":
                example = example_of(node)
                rest = example[1:] if isinstance(example, (tuple, list)) else example
                result = self._step(node, args[1], args[2:], kwargs, rest, several=True)
                return [Number("token"), *(result if isinstance(result, list) else [result])]
            inside = self._run_once(operator_name, args)
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
            return dict(kwargs) if tensors and isinstance(function, type) else self.results.number(node, example)
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
            outputs, spare = changed, list[int]()
        else:
            result = self.results.made(node, example, effect, tensors[0] if tensors else None)
            made = [tensor.value for tensor in tensors_in(result)]
            fine = "." in name
            outputs, spare = ([*changed, *made], []) if fine else ([*made, *changed], changed)
        if not inputs and not outputs:
            return result
        attrs = name_arguments(None if isinstance(function, str) else function, frozen)
        unseen = sum(steps_inside(arg.module) for arg in args if isinstance(arg, Subgraph))
        if unseen:
            attrs = (*attrs, ("unseen", unseen))
        kind: NodeKind = "region" if unseen else "op" if outputs else "host"
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

    # ---- calls of modules and of graphs

    def _call_module(self, node: Node) -> Any:
        target = str(node.target)
        module = self.module.get_submodule(target)
        args, kwargs = self._resolved(node.args), self._resolved(node.kwargs)
        chain = self._chain_of_call(node, target.partition("@")[0], module)
        graph = graph_of(module)
        if graph is not None:
            given = bound(graph, args, kwargs)
            own = type(module).__name__ != "InterpreterModule"  # a part of an unflattened program
            return Reading(self.reader, module, graph, chain, own=own).run(given)
        if type(module).__name__ == "GuardsFn":  # checks the inputs of an exported program
            return Number(node.name)
        return self._leaf(node, module, args, kwargs, chain)

    def _chain_of_call(self, node: Node, target: str, module: Module) -> Chain:
        """Return the calls around a call of a module and that call itself."""
        chain = self.chains[node]
        path = f"{self.base[-1].path}.{target}" if self.base else target
        nested = graph_of(module) is not None
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
        for path, tensor in tensors_of(module):
            if reader.uses[id(tensor)] > 1:
                inputs.append(flow.read(reader.owned(tensor, f"{chain[-1].path}.{path}"), outer))
        effect = effect_of_module(module)
        written = self._written(effect, args, kwargs)
        changed = [flow.write(tensor) for tensor in written]
        if written:
            result: Any = written[0]
        else:
            result = self.results.made(node, example_of(node), effect, tensors[0] if tensors else None)
        outputs = changed or [tensor.value for tensor in tensors_in(result)]
        params = list(module.parameters())
        attrs: AttrRow = (
            ("ops", 1),
            ("params", sum(map(_elements, params))),
            ("param_bytes", sum(_elements(param) * param.element_size() for param in params)),
        )
        source = line_in(node.meta.get("stack_trace"))
        cls = reader.builder.scopes[scope].cls
        reader.steps.rows.append(Step("module", cls, outer, inputs, outputs, attrs, source, stands_for=scope))
        return result

    def _run_once(self, name: str, args: Any) -> Any:
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
        inside.results.join(self.results)
        return inside.run(bound(graph, rest, {}))


def _elements(tensor: Tensor) -> int:
    return 0 if torch.nn.parameter.is_lazy(tensor) else tensor.numel()
