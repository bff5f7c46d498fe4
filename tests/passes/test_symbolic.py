from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import trec
from examples.models import ResNet, UNet
from tests.capture.models import build
from tests.passes.several import Branch, Sizes
from tests.strategies import any_graph
from trec.analysis.expressions import Size, fit, windows
from trec.errors import OptionError, StructureError
from trec.ir.rewrite import with_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

Inputs = dict[str, torch.Tensor]


def shapes(graph: Graph, op: str) -> list[tuple[int | str, ...]]:
    return [graph.type_of(node.outputs[0]).shape for node in graph.nodes if node.op == op]


def at(shape: tuple[int | str, ...], sizes: dict[str, int]) -> tuple[int, ...]:
    """Return a shape for given sizes."""
    return tuple([size if isinstance(size, int) else eval(size, {}, dict(sizes)) for size in shape])


@given(any_graph())
def test_equal_graphs_have_no_symbols(graph: Graph) -> None:
    assert trec.symbolic([graph, graph]) == with_nodes(graph, graph.nodes)


@given(st.integers(1, 9), st.integers(-9, 9), st.integers(1, 5), st.integers(1, 5), st.integers(1, 200))
def test_a_size_in_simplest_form_is_what_it_was(count: int, added: int, one: int, other: int, size: int) -> None:
    found = Size((("T", count),)).plus(added).over(one).plus(added).over(other)
    assert eval(str(found), {}, {"T": size}) == ((count * size + added) // one + added) // other


@given(st.integers(1, 7), st.integers(1, 3), st.integers(0, 3), st.integers(1, 2), st.integers(20, 60))
def test_windows_are_those_of_a_convolution(kernel: int, stride: int, pad: int, dilation: int, size: int) -> None:
    x = torch.zeros(1, 1, size, device="meta")
    weight = torch.zeros(1, 1, kernel, device="meta")
    made = torch.nn.functional.conv1d(x, weight, stride=stride, padding=pad, dilation=dilation).shape[2]
    assert eval(str(windows(Size((("L", 1),)), kernel, stride, pad, dilation)), {}, {"L": size}) == made


def test_what_no_expression_gives_is_not_guessed() -> None:
    assert fit((3, 4, 9), {"T": (5, 9, 14)}) is None


@pytest.mark.torch
def test_sizes_follow_from_those_of_the_input() -> None:
    graph = trec.symbolic(
        [trec.capture(Sizes(), args=(torch.zeros(*s),)) for s in ((2, 10, 4), (3, 17, 4), (5, 26, 4))]
    )
    found = [graph.type_of(node.inputs[0]).shape for node in graph.verify().nodes if node.kind == "output"]
    assert found == [("B*T", 4), ("B", "2*T+1", 4), ("B", "T//2", 4), ("B", 4, "T"), ("T", "T")]
    reshape = next(node for node in graph.nodes if node.op == "reshape")
    assert graph.attrs_of(reshape)["shape"] == ("B*T", 4)
    assert "B×T×4" in graph.to_svg()
    assert "2*T+1" in graph.to_dot()


@pytest.mark.torch
def test_names_are_given_for_each_dimension() -> None:
    graphs = [trec.capture(Sizes(), args=(torch.zeros(*s),)) for s in ((2, 10, 4), (3, 17, 4))]
    graph = trec.symbolic(graphs, names={"x": ("batch", "length", None)})
    assert graph.type_of(0).shape == ("batch", "length", 4)
    for names, told in (
        ({"y": ("B",)}, "is no input"),
        ({"x": ("B",)}, "expected 3"),
        ({"x": ("B", "x", None)}, "without an x"),
        ({"x": ("B", "T", "C")}, "does not vary"),
        ({"x": ("B", "B", None)}, "name them differently"),
    ):
        with pytest.raises(OptionError, match=told):
            trec.symbolic(graphs, names=names)
    with pytest.raises(OptionError, match="two runs or more"):
        trec.symbolic(graphs[:1])


@pytest.mark.torch
def test_another_structure_is_told_with_its_place() -> None:
    net, x = Branch(), torch.ones(2, 4)
    net.stem.weight.data.fill_(1.0)
    graphs = [trec.capture(net, args=(sign * 9 * x,)) for sign in (1, -1)]
    with pytest.raises(StructureError, match=r"run 2 .* run 1: .*(left|right)"):
        trec.symbolic(graphs)


@pytest.mark.torch
def test_what_follows_from_no_input_has_a_name_of_its_own() -> None:
    class Found(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.nonzero().float() * 2

    inputs = [torch.tensor([0.0] * (size - found) + [1.0] * found) for size, found in ((50, 1), (70, 39), (95, 4))]
    graph = trec.symbolic([trec.capture(Found(), args=(x,)) for x in inputs])
    assert [graph.type_of(value).shape for value in range(4)] == [("N",), ("s0", 1), ("s0", 1), ("s0", 1)]


def tokens(batch: int, length: int) -> Inputs:
    return {
        "input_ids": torch.zeros(batch, length, dtype=torch.int64),
        "attention_mask": torch.ones(batch, length, dtype=torch.int64),
    }


def image(batch: int, height: int, width: int) -> Inputs:
    return {"image": torch.zeros(batch, 3, height, width)}


CASES: dict[str, tuple[Callable[[], torch.nn.Module], Callable[..., Inputs], list[tuple[int, ...]], str]] = {
    "BERT": (lambda: build("BERT")[0], tokens, [(2, 5), (3, 11), (7, 13)], "BT"),
    "ResNet": (lambda: ResNet(4, 3), image, [(2, 17, 40), (3, 33, 24), (5, 44, 61)], "BHW"),
    "U-Net": (UNet, image, [(2, 16, 48), (3, 32, 24), (5, 64, 72)], "BHW"),
}


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_two_runs_say_what_export_says(name: str) -> None:
    """The sizes hold for a third run, and are those of the program that torch exports, for sizes that it allows."""
    make, inputs, sizes, letters = CASES[name]
    net = make().eval()
    graphs = [trec.capture(net, kwargs=inputs(*size)) for size in sizes]
    graph = trec.symbolic(graphs[:2])
    third = dict(zip(letters, sizes[2], strict=True))
    assert [at(graph.type_of(v).shape, third) for v in range(len(graph.values))] == [
        graphs[2].type_of(v).shape for v in range(len(graph.values))
    ]
    axes = {"BT": (0, 1), "BHW": (0, 2, 3)}[letters]
    dynamic = {key: dict.fromkeys(axes, torch.export.Dim.AUTO) for key in inputs(*sizes[0])}
    program = torch.export.export(net, (), inputs(*sizes[0]), dynamic_shapes=dynamic)
    exported = trec.from_export(program)
    first = exported.type_of(0).shape
    symbols = {str(first[axis]): size for axis, size in zip(axes, sizes[2], strict=True)}
    for ours, theirs in (("conv2d", "aten.conv2d.default"), ("linear", "aten.linear.default")):
        found = [at(shape, third) for shape in shapes(graph, ours)]
        told = [evaluated(shape, symbols) for shape in shapes(exported, theirs)]
        assert found == told
        assert found or ours == "linear" or name == "BERT"


def evaluated(shape: tuple[Any, ...], symbols: dict[str, int]) -> tuple[int, ...]:
    return at(shape, symbols)


def test_levels_and_kinds_of_rows_are_kept() -> None:
    graph = replace(trec.Graph("Net", (), (), (), (), ((),), ()), meta=(("level", "aten"),))
    assert trec.symbolic([graph, graph]).meta == graph.meta
