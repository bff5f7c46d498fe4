"""Blocks of code: which calls, inputs and outputs a recording has, and what it leaves behind."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

import networkx
import pytest
import torch
import torch.utils.checkpoint
from torch import Tensor, nn

import trec
from tests.capture.paths import connected, disturb, ops, paths, rows, same
from tests.capture.states import global_hooks, process_facts
from tests.conftest import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trec import Graph

pytestmark = pytest.mark.torch


class Net(nn.Module):
    """Three layers, of which `encode` and `decode` use one each."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(2)
        self.enc, self.dec, self.aux = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)
        for parameter in self.parameters():
            parameter.data = torch.randn(parameter.shape, generator=generator)

    def forward(self, x: Tensor, *, scale: Any = None) -> Any:
        h = self.decode(self.encode(x))
        return h if scale is None else h * scale

    def encode(self, x: Tensor) -> Any:
        return torch.tanh(self.enc(x))

    def decode(self, h: Tensor) -> Any:
        return self.dec(h)


class Pair(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Any:
        return x + 1, y * 2


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x: Tensor) -> Any:
        return x * self.factor


def tensors(*names: str) -> dict[str, Tensor]:
    """Return a random tensor for each name, the same each time."""
    generator = torch.Generator().manual_seed(3)
    return {name: torch.randn(2, 3, generator=generator) for name in names}


def kinds(graph: Graph, kind: str) -> list[str]:
    return [node.name for node in graph.nodes if node.kind == kind]


def scope_of(graph: Graph, op: str) -> str:
    node = next(node for node in graph.nodes if node.op == op)
    return graph.scopes[node.parent].name


# ---- the tree of calls


def test_calls_are_siblings_under_a_region() -> None:
    net, x = Net(), torch.ones(2, 3)
    with trec.recording(net) as rec:
        net(net(x))
    graph = rec.graph.verify()
    root = graph.scopes[0]
    assert (root.kind, root.path, root.name, root.parent) == ("region", "", "Net", -1)
    calls = [scope for scope in graph.scopes if scope.parent == 0]
    assert [(scope.kind, scope.path, scope.cls, scope.call) for scope in calls] == [
        ("module", "", "Net", 0),
        ("module", "", "Net", 1),
    ]
    assert paths(graph) == ["", "enc", "dec", "", "enc", "dec"]
    assert kinds(graph, "input") == ["x"]
    assert kinds(graph, "output") == ["output"]


def test_methods_and_functions_lie_in_the_root_and_the_modules_they_call_below_it() -> None:
    net, x = Net(), torch.ones(2, 3)
    with trec.recording(net, name="coding") as rec:
        h = torch.relu(net.encode(x))
        net.decode(h)
    graph = rec.graph.verify()
    assert graph.name == "coding"
    assert ops(graph) == ["linear", "tanh", "relu", "linear"]
    assert (scope_of(graph, "tanh"), scope_of(graph, "relu")) == ("coding", "coding")
    assert paths(graph) == ["enc", "dec"]
    assert kinds(graph, "input") == ["input"]
    assert connected(graph, "input:0", "output:0")


def test_modules_beside_the_model_go_by_their_class() -> None:
    net, other, x = Net(), nn.Sequential(nn.Linear(3, 3)), torch.ones(2, 3)
    with trec.recording(net) as rec:
        other(net(x))
        nn.Sequential(nn.Tanh())(x)
    graph = rec.graph.verify()
    assert paths(graph) == ["", "enc", "dec", "<Sequential>", "<Sequential>.0", "<Sequential>2", "<Sequential>2.0"]
    assert kinds(graph, "param")[-2:] == ["<Sequential>.0.weight", "<Sequential>.0.bias"]


def test_without_a_model_every_module_goes_by_its_class() -> None:
    net = Net()
    with trec.recording() as rec:
        net(torch.ones(2, 3))
    graph = rec.graph.verify()
    assert (graph.name, graph.scopes[0].kind, graph.scopes[0].cls) == ("recording", "region", "recording")
    assert paths(graph) == ["<Net>", "<Net>.enc", "<Net>.dec"]
    assert graph.notes == ()


def test_nothing_in_the_block_is_an_empty_region() -> None:
    with trec.recording() as rec:
        pass
    graph = rec.graph.verify()
    assert len(graph.scopes) == 1
    assert graph.nodes == ()


SCRIPTS = pytest.mark.filterwarnings("ignore:.*torch.jit.script", "ignore:Attempted to insert a get_attr")


@SCRIPTS
@pytest.mark.parametrize("level", ["module", "function", "aten"])
def test_one_call_of_the_model_is_what_capture_records(level: Any) -> None:
    def nets() -> Iterator[tuple[nn.Module, tuple[Any, ...], dict[str, Any]]]:
        x = torch.ones(2, 3)
        yield Net(), (x,), {"scale": torch.full((3,), 2.0)}
        yield nn.Linear(3, 3), (x,), {}
        yield nn.Identity(), (x,), {}
        yield nn.Dropout().eval(), (x,), {}
        yield nn.BatchNorm1d(3), (x,), {}
        yield nn.LSTM(3, 4, bidirectional=True), (torch.ones(5, 2, 3),), {}
        yield nn.TransformerEncoderLayer(8, 2, 16), (torch.ones(5, 2, 8),), {}
        yield nn.Sequential(nn.LazyLinear(4), nn.Tanh()), (x,), {}
        yield Pair(), (x, x), {}
        yield Pair(), (x,), {"y": x[0]}
        yield torch.jit.script(Pair()), (x, torch.ones(2, 3)), {}

    for net, args, kwargs in nets():
        captured = trec.capture(net, args=args, kwargs=kwargs, level=level)
        with trec.recording(net, level=level) as rec:
            net(*args, **kwargs)
        assert rec.graph.verify() == captured, type(net).__name__


def test_a_step_outside_of_the_only_call_makes_a_region() -> None:
    net, x = Net(), torch.ones(2, 3)
    with trec.recording(net) as rec:
        net(x).sum()
    graph = rec.graph.verify()
    assert graph.scopes[0].kind == "region"
    assert scope_of(graph, "sum") == "Net"
    assert graph.scopes[1].name == "Net#1"


def test_levels_of_a_recording_fold_into_one_another() -> None:
    def record(level: Any) -> Graph:
        net, other, given = Net(), Scale(), tensors("x")
        with trec.recording(net, level=level) as rec:
            y = other(net(given["x"])) + 1
            y[0] = 0
            net(y, scale=given["x"])
        return rec.graph.verify()

    function, fine = record("function"), record("aten")
    assert rows(fine.level("function")) == rows(function)
    assert fine.notes == function.notes == record("module").notes
    assert function.level("module") == record("module")
    assert ops(function.collapse(depth=1), "module") == ["Net", "Scale", "Net"]
    assert len(function.collapse(depth=0).scopes) == 1


# ---- inputs, constants and outputs


def test_inputs_are_arguments_of_calls_and_constants_are_the_rest() -> None:
    net, given = Net(), tensors("x", "y", "bias", "late")
    with trec.recording(net) as rec:
        net(given["x"], scale=given["y"]) + given["bias"]
        net(torch.relu(given["late"]) + given["late"])
        net(given["late"])
        net(given["x"])
    graph = rec.graph.verify()
    inputs = [(node.name, graph.attrs_of(node)["index"]) for node in graph.nodes if node.kind == "input"]
    assert inputs == [("x", 0), ("scale", 1), ("x_1", 2)]
    assert kinds(graph, "constant") == ["constant"]
    assert connected(graph, "constant:constant", "op:add")


def test_outputs_are_what_calls_returned_and_nothing_read_later() -> None:
    pair, given = Pair(), tensors("x", "y")
    with trec.recording() as rec:
        first, second = pair(given["x"], given["y"])
        third, fourth = pair(first, given["y"])
        assert repr(fourth)
        assert second.sum().item() is not None
    graph = rec.graph.verify()
    outputs = [(node.name, graph.attrs_of(node)["index"]) for node in graph.nodes if node.kind == "output"]
    assert outputs == [("output0", 0), ("output1", 1)]  # of the second call; the others were read
    assert third.shape == fourth.shape


def siamese(given: dict[str, Tensor], net: Any) -> Any:
    return net(given["input:0"]), net(given["input:1"])


def chain(given: dict[str, Tensor], net: Any) -> Any:
    return (net(net(given["input:0"]) + given["constant:constant"]),)


def same_argument_twice(given: dict[str, Tensor], net: Any) -> Any:
    pair = Pair()
    return (*pair(given["input:0"], given["input:1"]), net(given["input:0"]))


def write_between(given: dict[str, Tensor], net: Any) -> Any:
    y = net.encode(given["input:0"])
    y[0] = given["constant:constant"][0]
    return (net.decode(y),)


def write_through_a_view_between(given: dict[str, Tensor], net: Any) -> Any:
    y = net.encode(given["input:0"])
    row = y[1]
    row.mul_(given["constant:constant"][0])
    return (net.decode(y),)


def write_into_an_argument(given: dict[str, Tensor], net: Any) -> Any:
    first = net(given["input:0"])
    given["input:0"].copy_(given["constant:constant"])
    return first, net(given["input:0"])


def partly_consumed(given: dict[str, Tensor], net: Any) -> Any:
    first, second = Pair()(given["input:0"], given["input:1"])
    return second, net(first)


def untouched(given: dict[str, Tensor], net: Any) -> Any:
    return (net(nn.Identity()(given["input:0"])),)


def loop(given: dict[str, Tensor], net: Any) -> Any:
    x = given["input:0"]
    for _ in range(3):
        x = torch.cat([x, net(x)[-1:]])
    return (net(x),)


def cache(given: dict[str, Tensor], net: Any) -> Any:
    past: list[Tensor] = []

    class Step(nn.Module):
        def forward(self, x: Tensor, past: list[Tensor]) -> Any:
            past.append(net.enc(x))
            return net.dec(torch.stack(past).sum(0))

    step = Step()
    first = step(given["input:0"], past)
    return first, step(given["input:1"], past)


def view_of_an_argument(given: dict[str, Tensor], net: Any) -> Any:
    return net(given["input:0"]), net(given["input:0"][:1])


def view_made_before(given: dict[str, Tensor], net: Any) -> Any:
    return net(given["input:0"]), net(given["view"])


def closed_over(given: dict[str, Tensor], net: Any) -> Any:
    class Shift(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return x + given["constant:<Shift>.constant"]

    return (net(Shift()(given["input:0"])),)


class Running(nn.Module):
    mean: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(2, 3))

    def forward(self, x: Tensor) -> Any:
        self.mean.mul_(0.5).add_(x)
        return self.mean.clone()


def state_written(given: dict[str, Tensor], net: Any) -> Any:
    running: Any = Running()
    return running(given["input:0"]), running(given["input:1"])


def state_replaced(given: dict[str, Tensor], net: Any) -> Any:
    class Replacing(Running):
        def forward(self, x: Tensor) -> Any:
            self.mean = self.mean * 0.5 + x
            return self.mean

    running: Any = Replacing()
    running(given["input:0"])
    return (net(running(given["input:1"])),)


def static_cache(given: dict[str, Tensor], net: Any) -> Any:
    class Filling(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cache = torch.zeros(4, 3)

        def forward(self, x: Tensor, row: int) -> Any:
            self.cache[row] = x[0]
            return self.cache.sum(0)

    filling = Filling()
    return filling(given["input:0"], 0), filling(given["input:1"], 2)


def results_that_are_views(given: dict[str, Tensor], net: Any) -> Any:
    class Views(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return x[0], {"turned": [x.t()]}

    first, rest = Views()(given["input:0"])
    return rest["turned"][0], net(first)


def written_by_a_module(given: dict[str, Tensor], net: Any) -> Any:
    y = net.enc(given["input:0"])
    nn.ReLU(inplace=True)(y)
    y.mul_(2)
    return net.dec(y), net(given["input:1"])


def through_out(given: dict[str, Tensor], net: Any) -> Any:
    out = torch.empty(2, 3)
    torch.add(net(given["input:0"]), given["constant:constant"], out=out)
    return (net(out),)


def through_numpy(given: dict[str, Tensor], net: Any) -> Any:
    return (net(torch.from_numpy(net(given["input:0"]).numpy())),)


def split_and_written(given: dict[str, Tensor], net: Any) -> Any:
    y = net.enc(given["input:0"])
    first, second = y.split(1)
    first.zero_()
    return net.dec(y), net.dec(second)


def nested(given: dict[str, Tensor], net: Any) -> Any:
    class Adding(nn.Module):
        def forward(self, xs: list[Tensor], *, extra: dict[str, Tensor]) -> Any:
            return [x + extra["e"] for x in xs]

    return (Adding()([given["input:0"]], extra={"e": given["input:1"]})[0],)


def mapped(given: dict[str, Tensor], net: Any) -> Any:
    return (net(torch.vmap(net.enc)(given["input:0"])),)


SCENES: dict[str, tuple[Callable[[dict[str, Tensor], Any], Any], tuple[str, ...]]] = {
    function.__name__: (function, names)
    for function, names in [
        (siamese, ("input:0", "input:1")),
        (chain, ("input:0", "constant:constant")),
        (same_argument_twice, ("input:0", "input:1")),
        (write_between, ("input:0", "constant:constant")),
        (write_through_a_view_between, ("input:0", "constant:constant")),
        (write_into_an_argument, ("input:0", "constant:constant")),
        (partly_consumed, ("input:0", "input:1")),
        (untouched, ("input:0",)),
        (loop, ("input:0",)),
        (cache, ("input:0", "input:1")),
        (view_of_an_argument, ("input:0",)),
        (view_made_before, ("input:0",)),
        (state_written, ("input:0", "input:1")),
        (state_replaced, ("input:0", "input:1")),
        (static_cache, ("input:0", "input:1")),
        (results_that_are_views, ("input:0",)),
        (written_by_a_module, ("input:0", "input:1")),
        (through_out, ("input:0", "constant:constant")),
        (through_numpy, ("input:0",)),
        (split_and_written, ("input:0",)),
        (nested, ("input:0", "input:1")),
        (mapped, ("input:0",)),
        (closed_over, ("input:0", "constant:<Shift>.constant")),
    ]
}


def given_for(names: tuple[str, ...]) -> tuple[dict[str, Tensor], Net]:
    given = tensors(*names)
    given["view"] = given["input:0"][1:]
    return given, Net()


def flow_by_experiment(scene: str, ends: list[str]) -> set[tuple[str, int]]:
    run, names = SCENES[scene]
    given, net = given_for(names)
    with torch.no_grad():
        base = [result.clone() for result in run(given, net)]
    found = set()
    for end in ends:
        given, net = given_for(names)
        with torch.no_grad():
            kind, _, name = end.partition(":")
            disturb(dict(net.named_parameters())[name] if kind == "param" else given[end])
            after = run(given, net)
        found |= {(end, index) for index, pair in enumerate(zip(base, after, strict=True)) if not same(*pair)}
    return found


@pytest.mark.parametrize("level", ["function", "aten"])
@pytest.mark.parametrize("scene", SCENES)
def test_paths_across_calls_are_those_of_the_experiment(scene: str, level: Any) -> None:
    run, names = SCENES[scene]
    given, net = given_for(names)
    with torch.no_grad(), trec.recording(net, level=level) as rec:
        results = run(given, net)
    graph = rec.graph.verify()
    assert len(kinds(graph, "output")) == len(results), graph
    ends = [*names, *[f"param:{name}" for name in kinds(graph, "param")]]
    assert len(kinds(graph, "input")) == sum(name.startswith("input") for name in names), graph
    drawn = {(end, index) for end in ends for index in range(len(results)) if connected(graph, end, f"output:{index}")}
    assert drawn == flow_by_experiment(scene, ends), graph


# ---- training and several models


def test_a_training_step_stays_and_its_operators_are_recorded() -> None:
    def step(net: nn.Module, *, recorded: bool) -> Graph | None:
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        rec = trec.recording(net)
        with rec if recorded else torch.enable_grad():
            for _ in range(2):
                optimizer.zero_grad()
                nn.functional.mse_loss(net(torch.ones(2, 3)), torch.zeros(2, 3)).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
        return rec.graph.verify() if recorded else None

    plain, watched = Net(), Net()
    step(plain, recorded=False)
    graph = step(watched, recorded=True)
    assert all(map(torch.equal, plain.state_dict().values(), watched.state_dict().values()))
    assert graph is not None
    assert ops(graph).count("backward") == 2
    assert not ops(graph, "host")
    assert networkx.is_directed_acyclic_graph(graph.to_networkx())
    calls = [index for index, node in enumerate(graph.nodes) if node.op == "linear"]
    first = graph.nodes[calls[0]].inputs[1]
    assert graph.nodes[calls[2]].inputs[1] != first  # the second call reads the weight that the first step wrote
    network = networkx.DiGraph(graph.to_networkx())
    assert networkx.has_path(network, graph.producers[first], calls[2])


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("level", ["function", "aten"])
def test_what_a_backward_pass_computes_again_is_no_call_of_the_code(reentrant: bool, level: Any) -> None:
    checkpoint: Any = vars(torch.utils.checkpoint)["checkpoint"]
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
    x = torch.ones(2, 3, requires_grad=True)
    with trec.recording(net, level=level) as rec:
        h = checkpoint(net[0], x, use_reentrant=reentrant)
        net[2](checkpoint(net[1], h, use_reentrant=reentrant)).sum().backward()
    graph = rec.graph.verify()
    modules = [scope for scope in graph.scopes if scope.kind == "module"]
    assert [scope.name for scope in modules if not scope.name.endswith(".backward")] == ["0", "1", "2", "1#2", "0#2"]
    assert [scope.phase for scope in modules if scope.name in ("0", "0#2")] == ["forward", "backward"]
    assert kinds(graph, "output") == []
    assert kinds(graph, "input") == ["input"]
    assert networkx.is_directed_acyclic_graph(graph.to_networkx())


def test_weights_that_are_loaded_between_calls_are_read_by_the_later_ones() -> None:
    net, other, x = nn.Linear(3, 3), nn.Linear(3, 3).state_dict(), torch.ones(2, 3)
    with trec.recording(net) as rec:
        net(x)
        net.load_state_dict(other)
        net(x)
        net.load_state_dict({name: tensor.clone() for name, tensor in other.items()}, assign=True)
        net(x)
    graph = rec.graph.verify()
    assert ops(graph) == ["linear", "copy_", "copy_", "linear", "clone", "clone", "linear"]
    network = networkx.DiGraph(graph.to_networkx())
    first, second, third = [index for index, node in enumerate(graph.nodes) if node.op == "linear"]
    copied, cloned = [next(i for i, node in enumerate(graph.nodes) if node.op == op) for op in ("copy_", "clone")]
    assert [networkx.has_path(network, copied, call) for call in (first, second, third)] == [False, True, False]
    assert [networkx.has_path(network, cloned, call) for call in (first, second, third)] == [False, False, True]


def test_two_models_that_train_against_each_other() -> None:
    maker, judge = Net(), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    loss = nn.BCEWithLogitsLoss()
    adam = torch.optim.Adam(judge.parameters())
    noise, real = tensors("noise", "real").values()
    with trec.recording(maker) as rec:
        fake = maker(noise)
        total = loss(judge(real), torch.ones(2, 1)) + loss(judge(fake.detach()), torch.zeros(2, 1))
        total.backward()
        adam.step()
        loss(judge(fake), torch.ones(2, 1)).backward()
    graph = rec.graph.verify()
    top = [scope.name for scope in graph.scopes if scope.parent == 0]
    assert top == [
        "Net#1", "<Sequential>", "<BCEWithLogitsLoss>", "<Sequential>#2", "<BCEWithLogitsLoss>#2", "backward",
        "optimizer", "<Sequential>#3", "<BCEWithLogitsLoss>#3", "backward#2",
    ]  # fmt: skip
    assert kinds(graph, "input") == ["x", "input"]
    assert trec.Graph.verify(graph.collapse(depth=1)) is not None


def test_generation_with_a_cache_hands_one_step_to_the_next() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=40, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=64,
    )  # fmt: skip
    torch.manual_seed(0)
    net = transformers.LlamaForCausalLM(config).eval()
    ids = torch.arange(5)[None]

    def generate() -> tuple[Graph, Tensor]:
        with torch.no_grad(), trec.recording(net) as rec:
            result = net.generate(ids, max_new_tokens=16, do_sample=False, use_cache=True)
        return rec.graph.verify(), result

    graph, result = generate()
    assert torch.equal(result, net.generate(ids, max_new_tokens=16, do_sample=False, use_cache=True))
    calls = [scope.name for scope in graph.scopes if scope.parent == 0]
    assert calls == [f"LlamaForCausalLM#{index}" for index in range(1, 17)]
    assert [name.split(".")[-1] for name in kinds(graph, "output")] == ["keys", "values"] * 2
    assert connected(graph, "constant:constant", "output:0")
    assert generate()[0].to_json() == graph.to_json()
    shown = [node for node in graph.collapse(depth=1).nodes if node.kind == "module"]
    assert len(shown) == 16


def test_an_evaluation_loop_keeps_nothing_from_one_round_to_the_next() -> None:
    net, alive, most = Net().eval(), [], 0
    with torch.no_grad(), trec.recording(net) as rec:
        for _ in range(6):
            x = torch.randn(2, 3)
            y = net(x)
            alive += [weakref.ref(x), weakref.ref(y)]
            del x, y
            most = max(most, sum(reference() is not None for reference in alive))
    assert most == 0
    assert len([scope for scope in rec.graph.scopes if scope.parent == 0]) == 6


def test_modules_and_parameters_made_in_the_block_go_when_the_code_drops_them() -> None:
    with trec.recording() as rec:
        for _ in range(3):
            net: Any = Net()
            net(torch.ones(2, 3))
            gone = [weakref.ref(net), weakref.ref(net.enc)]
            del net
            gc.collect()
            assert [reference() for reference in gone] == [None, None]
    graph = rec.graph.verify()
    assert [path for path in paths(graph) if "." not in path] == ["<Net>", "<Net>2", "<Net>3"]
    assert len(kinds(graph, "param")) == 12


# ---- what is left behind


def test_hooks_and_modes_are_gone_however_the_block_ends() -> None:
    net, failing, x = Net(), Broken(ValueError()), torch.ones(2, 3)

    def broken(error: BaseException) -> Broken:
        failing.error = error
        return failing

    def returns() -> Any:
        with trec.recording(net):
            return net(x)

    def breaks() -> None:
        for _ in range(2):
            with trec.recording(net):
                net(x)
                break

    def fails(error: BaseException) -> None:
        with pytest.raises(type(error)) as caught, trec.recording(net):
            broken(error)(net(x))
        assert caught.value is error
        assert error.__cause__ is None
        assert error.__context__ is None

    before, tables = process_facts(), {name: len(table) for name, table in global_hooks().items()}
    returns()
    breaks()
    for error in (ValueError("own"), KeyboardInterrupt(), SystemExit(1), GeneratorExit()):
        fails(error)
    after = process_facts()
    assert [key for key in before if after[key] != before[key]] == []
    assert {name: len(table) for name, table in global_hooks().items()} == tables


class Broken(nn.Module):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.fc, self.error = nn.Linear(3, 3), error

    def forward(self, x: Tensor) -> Any:
        torch.sin(self.fc(x))
        raise self.error


@pytest.mark.parametrize("error", [ValueError("inside"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_an_exception_passes_and_the_graph_is_what_ran(error: BaseException) -> None:
    net = nn.Sequential(Broken(error))
    rec = trec.recording(net)
    with pytest.raises(type(error)), rec:
        net(torch.ones(2, 3).cos())
    graph = rec.graph.verify()
    assert ops(graph) == ["ones", "cos", "linear", "sin"]
    marked = [scope.path for scope in graph.scopes if "error" in graph.attrs_of(scope)]
    assert marked == (["0"] if isinstance(error, Exception) else [])


@pytest.mark.parametrize("error", [ValueError("inside"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_an_exception_that_the_block_catches_leaves_later_calls_where_they_are(error: BaseException) -> None:
    broken, net, x = nn.Sequential(Broken(error)), Net(), torch.ones(2, 3)
    with trec.recording() as rec:
        with pytest.raises(type(error)):
            broken(x)
        net(x)
    graph = rec.graph.verify()
    assert [scope.name for scope in graph.scopes if scope.parent == 0] == ["<Sequential>", "<Net>"]
    assert not any("error" in graph.attrs_of(scope) for scope in graph.scopes)


def test_the_graph_is_there_when_the_block_has_ended() -> None:
    rec = trec.recording()
    with pytest.raises(trec.CaptureError, match="has not begun"):
        _ = rec.graph
    with rec, pytest.raises(trec.CaptureError, match="still running"):
        _ = rec.graph
    assert rec.graph is rec.graph
    with pytest.raises(trec.CaptureError, match="made once"), rec:
        pass


def test_recordings_do_not_nest_and_the_outer_one_goes_on() -> None:
    net, x = Net(), torch.ones(2, 3)
    with trec.recording(net) as rec:
        with pytest.raises(trec.CaptureError, match="running in this thread"), trec.recording(net):
            pass
        with pytest.raises(trec.CaptureError, match="running in this thread"):
            trec.capture(net, (2, 3))
        net(x)
    assert paths(rec.graph.verify()) == ["", "enc", "dec"]
    assert trec.capture(net, args=(x,)) == rec.graph


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"net": lambda x: x}, r"takes an nn\.Module, not function"),
        ({"level": "fine"}, "known are: module, function, aten"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], part: str) -> None:
    with pytest.raises(trec.OptionError, match=part):
        trec.recording(**options)


# ---- threads and generators


def test_two_threads_record_at_once_without_seeing_each_other() -> None:
    shared, barrier, graphs = Net(), threading.Barrier(2, timeout=LONGEST), {}

    def record(name: str, own: nn.Module) -> None:
        given = torch.ones(2, 3)
        with trec.recording(shared, name=name) as rec:
            barrier.wait()
            for _ in range(5):
                own(shared(given))
            barrier.wait()
        graphs[name] = rec.graph

    before = process_facts()
    workers = [threading.Thread(target=record, args=(str(index), own)) for index, own in enumerate([Scale(), Pair3()])]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for name, extra in (("0", "mul"), ("1", "sin")):
        graph = graphs[name].verify()
        assert ops(graph) == ["linear", "tanh", "linear", extra] * 5
        assert graph.notes == trec.capture(shared, (2, 3)).notes
    after = process_facts()
    assert [key for key in before if after[key] != before[key]] == []


class Pair3(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return torch.sin(x)


def test_a_generator_that_goes_on_after_the_block_goes_on_unrecorded() -> None:
    net, x = Net(), torch.ones(2, 3)

    def results() -> Iterator[Tensor]:
        for _ in range(3):
            yield net(x)

    with trec.recording(net) as rec:
        generator = results()
        next(generator)
    assert len(list(generator)) == 2
    assert rec.graph.verify() == trec.capture(net, args=(x,))


def test_a_generator_holds_a_block() -> None:
    net, x = Net(), torch.ones(2, 3)
    recordings = []

    def results() -> Iterator[Tensor]:
        with trec.recording(net) as rec:
            recordings.append(rec)
            yield net(x)
            yield net(x)

    before = process_facts()
    generator: Any = results()
    next(generator)
    generator.close()
    assert paths(recordings[0].graph.verify()) == ["", "enc", "dec"]
    after = process_facts()
    assert [key for key in before if after[key] != before[key]] == []


def test_a_block_ends_only_in_its_own_thread() -> None:
    rec, refused = trec.recording(), []

    def leave() -> None:
        try:
            rec.__exit__(None, None, None)
        except trec.CaptureError as error:
            refused.append(str(error))

    before = process_facts()
    with rec:
        torch.ones(2).sin()
        worker = threading.Thread(target=leave)
        worker.start()
        worker.join()
        torch.ones(2).cos()
    assert "still running there" in refused[0]
    assert ops(rec.graph.verify()) == ["ones", "sin", "ones", "cos"]
    after = process_facts()
    assert [key for key in before if after[key] != before[key]] == []


def test_workers_started_in_the_block_call_siblings() -> None:
    net, x = Net(), torch.ones(2, 3)
    with trec.recording(net) as rec:
        worker = threading.Thread(target=net, args=(x,))
        worker.start()
        worker.join()
        net(x)
    graph = rec.graph.verify()
    assert [scope.name for scope in graph.scopes if scope.parent == 0] == ["Net#1", "Net#2"]
    assert len(kinds(graph, "output")) == 2


# ---- what torch wraps


FIRST_COND = """
import sys, torch, trec
class Net(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda a: a.sin(), lambda a: a.cos(), (x,))
assert "torch._dynamo" not in sys.modules
finders = list(sys.meta_path)
net, x = Net(), torch.ones(2, 3)
with trec.recording(net) as rec:
    net(x)
print([node.op for node in rec.graph.verify().nodes])
print(rec.graph == trec.capture(net, args=(x,)), sys.meta_path == finders)
print(type(sys.modules["torch._dynamo"].__spec__.loader).__name__)
"""


def test_a_compiler_that_the_code_loads_is_kept_out_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_COND], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == [
        "['input', 'sum', 'gt', 'sin', 'higher_order.cond', 'output']",
        "True True",
        "SourceFileLoader",
    ]


@SCRIPTS
def test_scripted_and_compiled_modules_are_recorded_as_capture_does() -> None:
    script = torch.jit.script(Scale())
    compiled: Any = torch.compile(Net(), backend="eager")
    x = torch.ones(2, 3)
    with trec.recording() as rec:
        script(compiled(x))
    graph = rec.graph.verify()
    assert paths(graph)[0] == "<OptimizedModule>"
    assert [node.op for node in graph.nodes if node.kind == "op"][:3] == ["linear", "tanh", "linear"]
    assert connected(graph, "input:0", "output:0")


def test_the_bytes_are_the_same_every_time() -> None:
    def record() -> str:
        net, other = Net(), Scale()
        with trec.recording(net, level="aten") as rec:
            other(net(torch.ones(2, 3))).sum().backward()
        return rec.graph.to_json()

    assert record() == record()


# ---- methods of capture


def test_another_method_is_captured_with_its_own_inputs() -> None:
    class Coder(Net):
        def code(self, image: Tensor, *rest: Tensor, gain: Any = 1.0) -> Any:
            return self.encode(image) * gain + rest[0]

    given = tensors("image", "rest", "gain")
    net = Coder()
    graph = trec.capture(net, args=(given["image"], given["rest"]), kwargs={"gain": given["gain"]}, method="code")
    graph.verify()
    assert kinds(graph, "input") == ["image", "rest.0", "gain"]
    assert [node.op for node in graph.nodes if node.kind == "op"] == ["linear", "tanh", "mul", "add"]
    assert graph.scopes[0].cls == "Coder"
    assert [note.name for note in graph.notes] == ["dec", "aux"]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_another_method_runs_on_meta_wherever_the_model_lies(device: str) -> None:
    graph = trec.capture(Net().to(device), (2, 3), method="encode", device="meta").verify()
    assert ops(graph) == ["linear", "tanh"]
