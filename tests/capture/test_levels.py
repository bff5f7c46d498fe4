"""Three levels of one recording, and names, lines and ends that are alike in all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trec
from tests.capture.paths import Apply, connected, ends, flow, ops, paths, record

pytestmark = pytest.mark.torch


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Any:
        y = self.mlp(self.norm(x))
        y = y * 2
        return x + y


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(4), Block(4)])
        self.head = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Any:
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


def test_the_level_of_modules_has_a_node_for_each_call_of_one_that_calls_no_other() -> None:
    graph = trec.capture(Net(), (1, 3, 4), level="module").verify()
    block = ["LayerNorm", "Linear", "GELU", "Linear", "mul", "add"]
    assert ops(graph, "op", "module") == [*block, *block, "mean", "Linear"]
    assert dict(graph.meta)["level"] == "module"
    assert graph == trec.capture(Net(), (1, 3, 4)).level("module")
    assert connected(graph, "input:0", "output:0")


def test_the_level_of_operators_holds_them_in_scopes_of_their_functions() -> None:
    graph = trec.capture(Net(), (1, 3, 4), level="aten").verify()
    found = [(scope.cls, scope.path) for scope in graph.scopes if scope.kind == "function"]
    assert found[:2] == [("layer_norm", "blocks.0.norm"), ("linear", "blocks.0.mlp.0")]
    for node in graph.nodes:
        assert (node.kind == "op") == ("." in node.op)
        if node.kind == "op":
            assert graph.scopes[node.parent].kind == "function"
            assert node.depth == graph.scopes[node.parent].depth


def test_function_scopes_list_what_they_are_given_and_return() -> None:
    graph = trec.capture(Apply(lambda x, y: torch.lerp(x, y, 0.5)), [(2,), (2,)], level="aten").verify()
    scope = graph.scopes[1]
    assert [graph.values[value].name for value in scope.inputs] == ["args.0", "args.1"]
    assert scope.outputs == graph.nodes[ends(graph, "output:")[0]].inputs
    assert graph.attrs_of(scope) == {"weight": 0.5}


@pytest.mark.parametrize("kind", [Net, lambda: nn.LSTM(4, 2), lambda: nn.TransformerEncoderLayer(4, 2, 8)])
def test_the_folded_level_of_operators_is_the_level_of_functions(kind: Any) -> None:
    net = kind()
    fine = trec.capture(net, (1, 3, 4), level="aten")
    assert fine.level("function") == trec.capture(net, (1, 3, 4), level="function")
    assert fine.level("module") == trec.capture(net, (1, 3, 4), level="module")


def test_a_function_without_operators_is_a_node_if_it_returns_a_tensor() -> None:
    graph = record(Apply(lambda x: x.contiguous().to(torch.float32).requires_grad_(False) + x.size(0)), torch.ones(2))
    assert ops(graph) == ["contiguous", "to", "add"]


def test_reading_an_attribute_is_a_node_only_if_it_runs_an_operator() -> None:
    graph = record(Apply(lambda x: x.T + x.mT.shape[0] + x.ndim + x.data.dim()), torch.ones(2, 2))
    assert ops(graph) == ["T", "mT", "add", "add", "data", "add"]


def test_depths_are_those_of_modules() -> None:
    graph = trec.capture(Net(), (1, 3, 4))
    depths = {(scope.path, scope.depth) for scope in graph.scopes}
    assert depths >= {("", 0), ("blocks.0", 1), ("blocks.0.mlp", 2), ("blocks.0.mlp.1", 3), ("head", 1)}
    assert all(node.depth == graph.scopes[node.parent].depth + 1 for node in graph.nodes)


# ---- lines


def line_of(text: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return 1 + next(index for index, line in enumerate(lines) if line.strip() == text)


@pytest.mark.parametrize("level", ["module", "function", "aten"])
def test_every_node_has_the_line_that_made_it(level: Any) -> None:
    graph = trec.capture(Net(), (1, 3, 4), level=level)
    found = {}
    for node in graph.nodes:
        source = graph.source_of(node)
        if node.kind in ("op", "module") and graph.scopes[node.parent].kind == "module":
            assert source is not None
            assert source.file == "test_levels.py"
            found[node.name] = source.line
    for scope in graph.scopes[1:]:
        if (place := graph.source_of(scope)) is not None:
            found[scope.name] = place.line
    assert found["blocks.0.mul"] == line_of("y = y * 2")
    assert found["blocks.1.norm"] == line_of("y = self.mlp(self.norm(x))")
    assert found["head"] == line_of("return self.head(x.mean(1))")
    if level != "module":
        assert found["head.linear"] == line_of("return self.head(x.mean(1))")
        assert found["blocks.1.mlp"] == line_of("y = self.mlp(self.norm(x))")


def test_no_file_is_named_by_an_absolute_path() -> None:
    graph = trec.capture(Net(), (1, 3, 4), level="aten")
    assert graph.sources
    assert not [source for source in graph.sources if source.file.startswith(("/", "C:"))]


def test_code_that_was_never_in_a_file_has_a_stable_name() -> None:
    space: dict[str, Any] = {}
    exec(compile("def forward(x):\n    return x * 2\n", "<string-17>", "exec"), space)
    graph = record(Apply(space["forward"]), torch.ones(2))
    assert (graph.sources[0].file, graph.sources[0].line) == ("<string>", 2)


# ---- names


def test_names_are_unique_and_say_where_the_node_is() -> None:
    graph = trec.capture(Net(), (1, 3, 4))
    names = [node.name for node in graph.nodes] + [scope.name for scope in graph.scopes]
    assert len(set(names)) == len(names)
    assert {"x", "blocks.0.norm.layer_norm", "blocks.1.add", "head.weight", "head.linear", "output"} <= set(names)


def test_the_graph_is_named_after_the_model_or_as_wished() -> None:
    assert trec.capture(Net(), (1, 3, 4)).name == "Net"
    assert trec.capture(Net(), (1, 3, 4), name="mine").name == "mine"


def test_an_input_named_as_a_module_keeps_both() -> None:
    class Clash(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.x = nn.Linear(2, 2)
            self.output = nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Any:
            return self.output(self.x(x))

    graph = record(Clash(), torch.ones(1, 2))
    assert paths(graph) == ["", "x", "output"]
    assert len(ends(graph, "input:")) == len(ends(graph, "output:")) == 1
    assert ("input:0", "output:0") in flow(graph)


def test_shapes_dtypes_and_devices_are_those_of_the_tensors() -> None:
    graph = record(Apply(lambda x: x.to(torch.float64).sum(1) > 0), torch.ones(2, 3))
    found = [(type_.shape, type_.dtype, type_.device) for type_ in map(graph.type_of, range(len(graph.values)))]
    assert found == [
        ((2, 3), "float32", "cpu"), ((2, 3), "float64", "cpu"), ((2,), "float64", "cpu"), ((2,), "bool", "cpu"),
    ]  # fmt: skip
