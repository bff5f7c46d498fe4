"""Record a model and ask its graph which ends are connected; find the same out by experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

import trec
from tests.capture.states import unchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trec import Graph
    from trec.ir.types import Node

Pairs = set[tuple[str, str]]


class Apply(nn.Module):
    """A model that calls a function with its arguments, and with itself first if it holds anything."""

    def __init__(self, function: Callable[..., Any], **held: Any) -> None:
        super().__init__()
        self.function = function
        self.gives_itself = bool(held)
        for name, value in held.items():
            if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self, *args, **kwargs) if self.gives_itself else self.function(*args, **kwargs)


def record(net: nn.Module, *args: Any, **kwargs: Any) -> Graph:
    """Return the graph of a call at function level, after checks that hold for every model.

    The graph is well formed, nothing is changed by looking, and the graph of ATen operators folds to the same.
    """
    with unchanged(net, args, kwargs):
        graph = trec.capture(net, args=args, kwargs=kwargs).verify()
    with unchanged(net, args, kwargs):
        fine = trec.capture(net, args=args, kwargs=kwargs, level="aten").verify()
    assert rows(fine.level("function").verify()) == rows(graph)
    assert networkx.is_directed_acyclic_graph(fine.to_networkx())
    return graph


def rows(graph: Graph) -> list[Any]:
    """Return all of a graph but the arguments of single operators, which not every level keeps."""
    nodes = [
        (node.kind, node.op, node.name, node.parent, node.depth, node.inputs, node.outputs, graph.source_of(node))
        for node in graph.nodes
    ]
    arguments = [graph.attrs_of(node) for node in graph.nodes if "." not in node.op]
    types = [(value.name, graph.types[value.type]) for value in graph.values]
    scopes = [(scope.name, scope.path, scope.cls, scope.parent, graph.attrs_of(scope)) for scope in graph.scopes]
    return [graph.name, nodes, arguments, types, scopes, graph.meta]


# ---- what a graph says


def ends(graph: Graph, text: str) -> list[int]:
    """Return the nodes that a text names: `kind:index`, `kind:name`, `op:name` or `module:path`."""
    kind, _, rest = text.partition(":")
    found = []
    for index, node in enumerate(graph.nodes):
        attrs = graph.attrs_of(node)
        if kind == "module":
            hit = node.kind not in ("param", "buffer") and path_of(graph, node) == rest
        elif kind == "op":
            hit = node.kind in ("op", "host", "link", "region") and node.op == rest
        else:
            hit = node.kind == kind and rest in ("", str(attrs.get("index")), node.name, str(attrs.get("qualname")))
        if hit:
            found.append(index)
    return found


def path_of(graph: Graph, node: Node) -> str:
    return graph.scopes[node.parent].path


def connected(graph: Graph, source: str, target: str) -> bool:
    """Whether a path leads from one end to another; both must exist."""
    network = networkx.DiGraph(graph.to_networkx())
    sources, targets = ends(graph, source), ends(graph, target)
    assert sources, f"no {source} in\n{graph}"
    assert targets, f"no {target} in\n{graph}"
    return any(networkx.has_path(network, a, b) for a in sources for b in targets)


def ops(graph: Graph, *kinds: str) -> list[str]:
    """Return the names of operators (or of the nodes of other kinds) in the order in which they ran."""
    return [node.op for node in graph.nodes if node.kind in (kinds or ("op",))]


def paths(graph: Graph) -> list[str]:
    """Return the paths of the module calls in order."""
    return [scope.path for scope in graph.scopes if scope.kind == "module"]


def flow(graph: Graph) -> Pairs:
    """Return which inputs, parameters and buffers reach which outputs."""
    network = graph.to_networkx()
    found = set()
    for index, node in enumerate(graph.nodes):
        if node.kind in ("input", "param", "buffer"):
            for reached in networkx.descendants(network, index):
                if graph.nodes[reached].kind == "output":
                    found.add((_end(graph, node), _end(graph, graph.nodes[reached])))
    return found


def _end(graph: Graph, node: Node) -> str:
    attrs = graph.attrs_of(node)
    return f"{node.kind}:{attrs.get('qualname', attrs.get('index'))}"


# ---- what an experiment says


def flow_by_experiment(build: Callable[[], tuple[nn.Module, tuple[Any, ...]]]) -> Pairs:
    """Return the same, found by changing each tensor in turn and looking which results differ."""
    base = _results(*build())
    found = set()
    for end in dict(_sources(*build())):
        changed = build()
        with torch.no_grad():
            disturb(dict(_sources(*changed))[end])
        for index, (before, after) in enumerate(zip(base, _results(*changed), strict=True)):
            if not same(before, after):
                found.add((end, f"output:{index}"))
    return found


def same(first: torch.Tensor, second: torch.Tensor) -> bool:
    return first.shape == second.shape and torch.equal(first.nan_to_num(7.5), second.nan_to_num(7.5))


def disturb(tensor: torch.Tensor) -> None:
    """Change every element."""
    if tensor.dtype is torch.bool:
        tensor.logical_not_()
    elif not tensor.is_floating_point() and not tensor.is_complex():
        tensor.copy_(1 - tensor)  # indices 0 and 1 stay indices
    else:
        tensor.mul_(1.7).add_(0.31)


def _sources(net: nn.Module, args: tuple[Any, ...]) -> Iterable[tuple[str, torch.Tensor]]:
    tensors = [leaf for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)]
    yield from ((f"input:{index}", tensor) for index, tensor in enumerate(tensors))
    yield from ((f"param:{name}", tensor) for name, tensor in net.named_parameters())
    yield from ((f"buffer:{name}", tensor) for name, tensor in net.named_buffers())


def _results(net: nn.Module, args: tuple[Any, ...]) -> list[torch.Tensor]:
    torch.manual_seed(5)
    result = net(*args)
    return [leaf.detach().clone() for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def check(build: Callable[[], tuple[nn.Module, tuple[Any, ...]]], *, whole_calls: bool = True) -> Graph:
    """Record a model and hold the paths of its graph against the experiment.

    Args:
        build: makes the model and its arguments, the same each time.
        whole_calls: whether each call of a function depends on all that it is given; otherwise only the graph of ATen
            operators can be exact.
    """
    net, args = build()
    torch.manual_seed(5)
    graph = record(net, *args)
    drawn, true = flow(graph), flow_by_experiment(build)
    assert true <= drawn, f"missing {sorted(true - drawn)} in\n{graph}"
    if not whole_calls:
        net, args = build()
        torch.manual_seed(5)
        fine = trec.capture(net, args=args, level="aten")
        drawn = flow(fine)
    assert drawn == true, f"missing {sorted(true - drawn)}, false {sorted(drawn - true)} in\n{graph}"
    return graph


def check_function(
    function: Callable[..., Any], *shapes: tuple[int, ...], whole_calls: bool = True, **held: tuple[int, ...]
) -> Graph:
    """Do so for a function of random tensors; `held` are shapes of buffers of the model, which is given first."""

    def build() -> tuple[nn.Module, tuple[Any, ...]]:
        generator = torch.Generator().manual_seed(1)
        inputs = tuple(torch.randn(shape, generator=generator) for shape in shapes)
        return Apply(
            function, **{name: torch.randn(shape, generator=generator) for name, shape in held.items()}
        ), inputs

    return check(build, whole_calls=whole_calls)
