"""Modules that hold a graph of `torch.fx`, and what such a graph is given and reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.fx import Graph as FxGraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch.fx import Node
    from torch.nn import Module


def graph_of(module: Any) -> FxGraph | None:
    """Return the graph that a module runs; None if it holds none."""
    graph = getattr(module, "graph", None) if isinstance(module, torch.nn.Module) else None
    return graph if isinstance(graph, FxGraph) else None


def steps_inside(module: Module) -> int:
    """Return how many calls the graph of a module makes, as it stands."""
    graph = graph_of(module)
    return sum(node.op.startswith("call_") for node in graph.nodes) if graph is not None else 0


def bound(graph: FxGraph, args: Iterable[Any], kwargs: dict[str, Any]) -> dict[Node, Any]:
    """Return what each placeholder of a graph holds that is called."""
    left = iter(args)
    bound: dict[Node, Any] = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            default = kwargs.get(str(node.target), node.args[0] if node.args else None)
            bound[node] = next(left, default)
    return bound


def read_tensors(module: Any) -> Iterator[int]:
    """Yield the ids of the tensors of modules, once for each place in the program that reads them."""
    graph = graph_of(module)
    for node in graph.nodes if graph is not None else ():
        held: Any = module
        if node.op not in ("get_attr", "call_module"):
            continue
        for name in str(node.target).split("."):
            held = getattr(held, name, None)
        if isinstance(held, Tensor):
            yield id(held)
        elif graph_of(held) is not None:
            yield from read_tensors(held)
        elif isinstance(held, torch.nn.Module):
            yield from [id(tensor) for _, tensor in tensors_of(held)]


def tensors_of(module: Module) -> list[tuple[str, Tensor]]:
    """Return name and tensor of the parameters and buffers of a module, each once."""
    return [*module.named_parameters(), *module.named_buffers()]
