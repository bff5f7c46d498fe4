"""Exported programs say what a recording of the same model says, but for what exporting itself changes."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram, export, unflatten

import trec
from examples.models import ResNet, SampleNet, gpt2, llama, multilayer_perceptron, token_ids
from tests.capture.paths import Apply, connected, ends, flow, ops
from tests.capture.programs import calls, operators_by_module, read
from tests.capture.test_mutation import OVERWRITES, VIEWS, WRITES, through_view
from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def bert() -> nn.Module:
    from transformers import BertConfig, BertModel

    config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
    return BertModel(config)  # type: ignore[no-any-return]


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Any, ...]]]] = {
    "sample": (SampleNet, lambda: (torch.randn(4, 3), torch.randn(4, 3))),
    "resnet": (ResNet, lambda: (torch.randn(2, 3, 32, 32),)),
    "perceptron": (lambda: multilayer_perceptron(3), lambda: (torch.randn(2, 8),)),
    "gpt2": (gpt2, lambda: (token_ids(8),)),
    "llama": (llama, lambda: (token_ids(8),)),
    "bert": (bert, lambda: (token_ids(8),)),
}
PLAIN = ("sample", "resnet", "perceptron")
"""Models in which every function call is one operator before it is decomposed."""


def exported(name: str, *, training: bool = False, **options: Any) -> tuple[nn.Module, Any, ExportedProgram]:
    torch.manual_seed(0)
    make, inputs = MODELS[name]
    net, args = make().train(training), inputs()
    return net, args, export(net, args, **options)


# ---- against recordings


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
@pytest.mark.parametrize("name", MODELS)
def test_data_flow_and_module_calls_are_those_of_the_recording(name: str, strict: bool, tmp_path: Path) -> None:
    net, args, program = exported(name, strict=strict)
    recorded = trec.capture(net, args=args, level="aten")
    for version in (program, program.run_decompositions()):
        graph = read(version, tmp_path)
        assert dict(graph.meta)["level"] == "aten"
        # newer versions of torch leave a dropout out that does nothing, and with it its module
        assert [row for row in calls(graph) if row[2] != "Dropout"] == [
            row for row in calls(recorded) if row[2] != "Dropout"
        ]
        assert flow(graph) == flow(recorded)
        for kind in ("input", "output"):
            assert [node.name for node in graph.nodes if node.kind == kind] == [
                node.name for node in recorded.nodes if node.kind == kind
            ]


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", PLAIN)
def test_operators_are_the_functions_that_each_module_calls(name: str, training: bool, tmp_path: Path) -> None:
    net, args, program = exported(name, training=training)
    graph, recorded = read(program, tmp_path), trec.capture(net, args=args)
    assert operators_by_module(graph) == operators_by_module(recorded)


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", PLAIN)
def test_decomposed_operators_are_those_that_ran(name: str, training: bool, tmp_path: Path) -> None:
    net, args, program = exported(name, training=training)
    graph = read(program.run_decompositions(), tmp_path)
    recorded = trec.capture(net, args=args, level="aten")
    functional = {
        "t": "permute",  # transposition is spelled out
        "add_": "add",  # the number of batches is written back at the end
        "native_batch_norm": "_native_batch_norm_legit_functional"
        if training
        else "_native_batch_norm_legit_no_training",
    }
    left_out = {"detach", "empty"}  # what only autograd and the kernel of batch normalisation need
    expected = {
        module: [functional.get(op, op) for op in found if op not in left_out]
        for module, found in operators_by_module(recorded).items()
    }
    assert operators_by_module(graph) == expected


def test_types_and_sources_are_those_of_the_recording(tmp_path: Path) -> None:
    net, args, program = exported("resnet")
    graph, recorded = read(program, tmp_path), trec.capture(net, args=args)
    for ours, theirs in zip(graph.nodes, recorded.nodes, strict=True):
        # the operator yields the written statistics too, which the function does not return
        assert [graph.types[graph.values[value].type] for value in ours.outputs[-1:]] == [
            recorded.types[recorded.values[value].type] for value in theirs.outputs[-1:]
        ]
        if ours.kind == "op" and theirs.parent == 0:
            assert graph.source_of(ours) == recorded.source_of(theirs)


WRITERS: dict[str, Any] = {
    **{f"through {name}": through_view(view) for name, view in VIEWS.items()},
    **{function.__name__: function for function in (*WRITES, *OVERWRITES)},
}
UNTRACEABLE = ("through data", "by_data")
"""What `torch.export` refuses, or gets wrong: assignments through `.data`."""


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in UNTRACEABLE])
def test_a_write_flows_where_the_recording_says(name: str, tmp_path: Path) -> None:
    function = WRITERS[name]
    inputs = torch.rand(4, 4) + 0.1, torch.rand(4, 4) + 0.1
    expected = flow(trec.capture(Apply(function), args=inputs))
    program = export(Apply(function), inputs)
    assert flow(read(program, tmp_path)) == expected
    if function in (*WRITES, *OVERWRITES):  # made functional, an overwrite is given what it overwrites
        assert flow(read(program.run_decompositions(), tmp_path)) >= expected


# ---- the signature


class Stateful(nn.Module):
    """Tied layers, a module called twice, buffers and an input that are written, a constant, containers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = self.first
        self.act = nn.ReLU()
        self.count: Tensor
        self.register_buffer("count", torch.zeros(4))
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: Tensor, more: Any, *, flag: Any = None) -> Any:
        y = self.act(self.second(self.act(self.first(x))))
        self.count.add_(1)
        x.mul_(2)
        values, indices = torch.topk(y, 2)
        y = self.norm(y) + torch.tensor([1.0, 2.0, 3.0, 4.0])
        return {"sum": y + more["u"][0] + self.count, "none": flag, "top": (values, indices), "number": 3}


def stateful(*, strict: bool) -> ExportedProgram:
    return export(Stateful(), (torch.randn(3, 4), {"u": [torch.randn(4)]}), strict=strict)


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
def test_the_signature_tells_what_a_value_is(strict: bool, tmp_path: Path) -> None:
    graph = read(stateful(strict=strict), tmp_path)
    held = {node.name: graph.attrs_of(node) for node in graph.nodes if node.kind in ("param", "buffer")}
    assert held["first.weight"] == {"qualname": "first.weight", "aliases": "second.weight"}
    assert "second.weight" not in held
    assert held["count"] == {"qualname": "count"}
    inputs = {node.name: graph.attrs_of(node)["index"] for node in graph.nodes if node.kind == "input"}
    assert inputs == {"x": 0, "more.u.0": 1}
    outputs = {node.name: graph.attrs_of(node)["index"] for node in graph.nodes if node.kind == "output"}
    assert outputs == {"sum": 0, "top.0": 1, "top.1": 2}
    assert ops(graph, "constant") == ["constant"]
    paths = [row[1] for row in calls(graph)[1:]]
    assert paths == ["first", "act", "first" if strict else "second", "act", "norm"]


def test_writes_in_place_are_new_values_that_later_readers_see(tmp_path: Path) -> None:
    graph = read(stateful(strict=False), tmp_path)
    written = graph.nodes[ends(graph, "op:aten.add_.Tensor")[0]]
    (reader,) = graph.users[written.outputs[0]]
    assert graph.nodes[reader].op == "aten.add.Tensor"
    assert connected(graph, "buffer:norm.num_batches_tracked", "op:aten.add_.Tensor")


def test_what_a_functional_program_writes_back_is_an_update_behind_its_maker(tmp_path: Path) -> None:
    graph = read(stateful(strict=False).run_decompositions(), tmp_path)
    found = {}
    for index, node in enumerate(graph.nodes):
        if node.kind == "link":
            assert node.op == "update"
            assert graph.nodes[index - 1].kind in ("op", "link")
            found.update(graph.attrs_of(node))
            assert graph.scopes[node.parent] == graph.scopes[graph.nodes[graph.producers[node.inputs[0]]].parent]
    assert found.keys() == {"qualname", "input"}
    written = [graph.attrs_of(node).get("qualname") for node in graph.nodes if node.kind == "link"]
    assert set(written) == {"count", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked", None}
    assert Counter(node.op for node in graph.collapse(depth=1).nodes if node.kind == "module")["BatchNorm1d"] == 1


def test_unflattened_and_inlined_programs_are_read_by_from_fx(tmp_path: Path) -> None:
    for strict in (False, True):
        program = stateful(strict=strict)
        graph = read(program, tmp_path)
        for module in (unflatten(program), program.module()):
            other = read(module, tmp_path)
            assert operators_by_module(other) == operators_by_module(graph)
            assert [row[:1] + row[3:] for row in calls(other)] == [row[:1] + row[3:] for row in calls(graph)]
            assert {pair for pair in flow(other) if "param" not in pair[0]} == {
                pair for pair in flow(graph) if "param" not in pair[0]
            }
            assert [node.name for node in other.nodes if node.kind in ("input", "output")] == [
                node.name for node in graph.nodes if node.kind in ("input", "output")
            ]


# ---- symbolic sizes and numbers


class Sized(nn.Module):
    def forward(self, x: Tensor) -> Any:
        grown = torch.cat([x, x, torch.zeros(1, x.shape[1])])
        return grown.view(grown.shape[0] * grown.shape[1]), x.nonzero(), x.sum().item()


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
@pytest.mark.parametrize("size", [Dim.AUTO, Dim("batch", min=2, max=64)], ids=["auto", "named"])
def test_sizes_that_are_symbols_keep_their_names(strict: bool, size: Any, tmp_path: Path) -> None:
    program = export(Sized(), (torch.randn(5, 3),), dynamic_shapes={"x": {0: size}}, strict=strict)
    graph = read(program, tmp_path)
    name, columns = graph.types[graph.values[0].type].shape
    assert isinstance(name, str)
    assert columns == 3
    shapes = {node.op: graph.types[graph.values[node.outputs[0]].type].shape for node in graph.nodes if node.outputs}
    assert shapes["aten.cat.default"] == (f"2*{name}+1", 3)
    assert shapes["aten.view.default"] == (f"6*{name}+3",)
    assert all(isinstance(size, str) or size == 2 for size in shapes["aten.nonzero.default"])
    assert not [op for op in ops(graph, "op", "host") if "sym" in op or "assert" in op]
    assert ops(graph, "host") == ["aten.item.default"]


# ---- operators that run graphs


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x: Tensor) -> Any:
        with torch.no_grad():
            y = self.block(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            z = self.block(x)
        return torch.cond(x.sum() > 0, lambda v: v + y, lambda v: self.layer(v), (x,)), z


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
def test_branches_are_one_node_that_reads_all_they_close_over(strict: bool, tmp_path: Path) -> None:
    graph = read(export(Branches(), (torch.randn(3, 4),), strict=strict), tmp_path)
    node = graph.nodes[ends(graph, "op:higher_order.cond")[0]]
    assert node.kind == "region"
    assert graph.attrs_of(node)["unseen"] == 2
    assert connected(graph, "param:layer.weight", "output:0")
    assert connected(graph, "param:block.0.weight", "output:0")
    assert connected(graph, "input:0", "op:higher_order.cond")


def test_code_under_other_modes_is_read_in_its_place(tmp_path: Path) -> None:
    graph = read(export(Branches(), (torch.randn(3, 4),)), tmp_path)
    assert [row[0] for row in calls(graph)[1:]] == ["block", "block.0", "block.1", "block#2", "block.0#2", "block.1#2"]
    assert ops(graph)[:4] == ["aten.linear.default", "aten.relu.default"] * 2
    assert not [op for op in ops(graph) if "wrap" in op]


class Loop(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Any:
        from torch._higher_order_ops.scan import scan
        from torch._higher_order_ops.while_loop import while_loop

        _, y = while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, self.layer(y)), (torch.tensor(0), x))  # type: ignore[no-untyped-call]
        return y, scan(lambda carry, row: (carry + row, carry * 2), torch.zeros(4), x)


def test_loops_are_one_node_that_reads_all_they_close_over(tmp_path: Path) -> None:
    graph = read(export(Loop(), (torch.randn(3, 4),)), tmp_path)
    assert ops(graph, "region") == ["higher_order.while_loop", "higher_order.scan"]
    for pair in (("param:layer.weight", "output:0"), ("input:0", "output:0"), ("input:0", "output:2")):
        assert connected(graph, *pair)
    assert not connected(graph, "param:layer.weight", "output:2")


def test_effects_are_read_through_their_tokens(tmp_path: Path) -> None:
    from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

    library = torch.library.Library("trec_tests", "FRAGMENT")  # type: ignore[no-untyped-call]
    library.define("noisy(Tensor x) -> Tensor")  # type: ignore[no-untyped-call]
    library.impl("noisy", lambda x: x * 2, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
    torch.library.register_fake("trec_tests::noisy", torch.empty_like, lib=library)
    _register_effectful_op("trec_tests::noisy", _EffectType.ORDERED)
    program = export(Apply(lambda x: torch.ops.trec_tests.noisy(x + 1) - 1), (torch.randn(3),)).run_decompositions()
    assert "with_effects" in str(program.graph)
    graph = read(program, tmp_path)
    assert ops(graph) == ["aten.add.Tensor", "trec_tests.noisy.default", "aten.sub.Tensor"]
    assert ops(graph, "input", "output") == ["input", "output"]
    assert flow(graph) == {("input:0", "output:0")}


# ---- what is no exported program


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (SampleNet, r"torch\.export\.export\(net, args\)"),
        (lambda: torch.jit.script(nn.ReLU()), r"trec\.capture\(module, shapes\)"),
        (lambda: torch.fx.symbolic_trace(nn.ReLU()), r"trec\.from_fx"),
        (lambda: "net.pt2", "given str"),
    ],
)
def test_what_is_no_exported_program_is_answered_with_what_fits(make: Any, hint: str) -> None:
    with pytest.raises(OptionError, match=hint):
        trec.from_export(make())


def test_a_program_is_left_as_it_is() -> None:
    program = stateful(strict=False)
    before = str(program)
    trec.from_export(program)
    assert str(program) == before
