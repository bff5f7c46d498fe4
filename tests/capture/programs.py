"""What holds of every graph that was read from a traced program, and ways to compare it with a recorded one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx
import torch
from torch import nn

import trec
from tests.capture.paths import flow

if TYPE_CHECKING:
    from pathlib import Path

    from trec import Graph

Rows = list[tuple[Any, ...]]


class Open(torch.fx.Tracer):
    """A tracer that goes into every module but those that ask for the shape of their input."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, nn.modules.batchnorm._BatchNorm)


def opened(net: nn.Module) -> torch.fx.GraphModule:
    """Return a model traced into all its modules."""
    tracer = Open()
    return torch.fx.GraphModule(net, tracer.trace(net), type(net).__name__)


def read(program: Any, folder: Path) -> Graph:
    """Return the graph of a traced program, after checks that hold for every one.

    It is well formed, also collapsed at any depth, can be drawn, saved and loaded, and is the same when read again.
    """
    reader = trec.from_export if isinstance(program, torch.export.ExportedProgram) else trec.from_fx
    graph = reader(program).verify()
    assert reader(program).to_json() == graph.to_json()
    assert networkx.is_directed_acyclic_graph(graph.to_networkx())
    for depth in range(4):
        collapsed = graph.collapse(depth=depth).verify()
        assert collapsed.to_dot().startswith("digraph")
        assert flow(collapsed) >= {pair for pair in flow(graph) if pair[0].startswith("input")}
    assert graph.to_dot(params=True, tensors="nodes", shapes="all").startswith("digraph")
    graph.level("module").verify()
    for name in ("program.trec", "program.json"):
        graph.save(folder / name)
        assert trec.load(folder / name) == graph
    return graph


def steps(graph: Graph) -> Rows:
    """Return kind, operator and name of every node, the scope that holds it and the nodes that it reads."""
    return [
        (
            node.kind,
            node.op,
            node.name,
            graph.scopes[node.parent].name,
            [graph.nodes[graph.producers[value]].name for value in node.inputs],
        )
        for node in graph.nodes
    ]


def calls(graph: Graph) -> Rows:
    """Return what is known of every call of a module."""
    return [
        (scope.name, scope.path, scope.cls, scope.call, scope.depth) for scope in graph.scopes if scope.kind == "module"
    ]


def operators_by_module(graph: Graph) -> dict[str, list[str]]:
    """Return the short names of the operators in each call of a module, in order."""
    found: dict[str, list[str]] = {}
    for node in graph.nodes:
        if node.kind != "op":
            continue
        scope = node.parent
        while graph.scopes[scope].kind == "function":
            scope = graph.scopes[scope].parent
        name = node.op.split(".")[1] if node.op.count(".") == 2 else node.op
        found.setdefault(graph.scopes[scope].name, []).append(name)
    return found
