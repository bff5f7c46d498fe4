"""Steps of training that are recorded: the phase of each operator, and that the step happens as it would."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import networkx
import pytest
import torch
from torch import Tensor, nn

import trec
from tests.capture.paths import connected, ops

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec import Graph

pytestmark = pytest.mark.torch

LEVELS = pytest.mark.parametrize("level", ["function", "aten"])
X, T = torch.linspace(-1, 1, 12).view(4, 3), torch.ones(4, 2)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Any:
        return self.b(torch.tanh(self.a(x)))


def loss(net: nn.Module, part: slice = slice(None)) -> Any:
    return nn.functional.mse_loss(net(X[part]), T[part])


def sgd(net: nn.Module) -> Any:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        loss(net).backward()
        optimizer.step()
    return optimizer


def adam(foreach: bool) -> Callable[[nn.Module], Any]:
    def step(net: nn.Module) -> Any:
        optimizer = torch.optim.Adam(net.parameters(), foreach=foreach)
        loss(net).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        return optimizer

    return step


def accumulated(net: nn.Module) -> Any:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for part in (slice(0, 2), slice(2, 4)):
        loss(net, part).backward()
    optimizer.step()
    return optimizer


def clipped(net: nn.Module) -> Any:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss(net).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    optimizer.step()
    return optimizer


def scaled(net: nn.Module) -> Any:
    optimizer, scaler = torch.optim.SGD(net.parameters(), lr=0.1), torch.amp.GradScaler("cpu", init_scale=4.0)
    with torch.autocast("cpu", torch.bfloat16):
        result = loss(net)
    scaler.scale(result).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return optimizer


def by_closure(net: nn.Module) -> Any:
    optimizer: Any = torch.optim.LBFGS(net.parameters(), max_iter=2)

    def closure() -> Any:
        optimizer.zero_grad()
        result: Any = (net(X) - T).square().mean()
        result.backward()
        return result

    optimizer.step(closure)
    return optimizer


def in_hooks(net: nn.Module) -> Any:
    optimizers = {parameter: torch.optim.SGD([parameter], lr=0.1) for parameter in net.parameters()}

    def step(parameter: Any) -> None:
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    parameter: Any
    for parameter in net.parameters():
        parameter.register_post_accumulate_grad_hook(step)
    loss(net).backward()
    return None


def by_hand(net: nn.Module) -> Any:
    gradients = torch.autograd.grad(loss(net), [*net.parameters()])
    with torch.no_grad():
        for parameter, gradient in zip(net.parameters(), gradients, strict=True):
            parameter.sub_(0.1 * gradient)
    return None


def penalised(net: nn.Module) -> Any:
    x = X.clone().requires_grad_()
    y = net(x).sum()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    (y + (gradient.norm() - 1) ** 2).backward()
    return None


def kept(net: nn.Module) -> Any:
    result = loss(net)
    result.backward(retain_graph=True)
    result.backward()
    return None


STEPS: dict[str, Callable[[nn.Module], Any]] = {
    "SGD": sgd,
    "Adam": adam(foreach=False),
    "Adam at once": adam(foreach=True),
    "micro-batches": accumulated,
    "clipped": clipped,
    "scaled": scaled,
    "closure": by_closure,
    "in hooks": in_hooks,
    "by hand": by_hand,
    "penalty": penalised,
    "kept graph": kept,
}


def recorded(step: Callable[[nn.Module], Any], level: Any = "function") -> Graph:
    net = Net()
    with trec.recording(net, level=level) as rec:
        step(net)
    return rec.graph.verify()


@pytest.mark.parametrize("name", STEPS)
@LEVELS
def test_a_step_happens_as_it_would(name: str, level: Any) -> None:
    plain, watched = Net(), Net()
    torch.manual_seed(0)
    optimizer = STEPS[name](plain)
    torch.manual_seed(0)
    with trec.recording(watched, level=level) as rec:
        other = STEPS[name](watched)
    rec.graph.verify()
    for one, two in zip(plain.parameters(), watched.parameters(), strict=True):
        assert torch.equal(one, two)
        assert (one.grad is None) == (two.grad is None)
        assert one.grad is None or (two.grad is not None and torch.equal(one.grad, two.grad))
    if optimizer is not None:
        torch.testing.assert_close(
            [*optimizer.state_dict()["state"].values()], [*other.state_dict()["state"].values()], rtol=0, atol=0
        )


@pytest.mark.parametrize("name", STEPS)
def test_levels_agree_and_every_part_stands_alone(name: str) -> None:
    graph, fine = recorded(STEPS[name]), recorded(STEPS[name], "aten")
    folded = fine.level("function").verify()
    assert [node.name for node in folded.nodes] == [node.name for node in graph.nodes]
    assert folded.derivatives == graph.derivatives
    assert networkx.is_directed_acyclic_graph(fine.to_networkx())
    for phase in graph.phases:
        graph.phase(phase).verify()
    for depth in range(3):
        graph.collapse(depth=depth).verify()


def phases(graph: Graph, op: str) -> set[str]:
    return {graph.phase_of(node) for node in graph.nodes if node.op == op}


@pytest.mark.parametrize("name", STEPS)
def test_each_operator_is_in_its_phase(name: str) -> None:
    graph = recorded(STEPS[name])
    assert phases(graph, "linear") == phases(graph, "tanh") == {"forward"}
    assert phases(graph, "TanhBackward0") == {"backward"}
    assert phases(graph, "mse_loss") <= {"forward"}
    written = {"add_", "sub_", "_foreach_addcdiv_", "addcdiv_", "_foreach_mul_", "aten.add_.Tensor", "_foreach_zero_"}
    assert {graph.phase_of(node) for node in graph.nodes if node.op in written} <= {"optimizer"}
    assert ("optimizer" in graph.phases) == (name not in ("penalty", "kept graph"))


def test_a_step_of_an_optimizer_is_a_region_among_what_is_done_to_gradients() -> None:
    graph = recorded(clipped)
    regions = [(scope.name, scope.cls, scope.phase) for scope in graph.scopes if scope.kind == "region"]
    assert regions == [
        ("Net", "recording", "forward"),
        ("backward", "backward", "backward"),
        ("optimizer", "optimizer", "optimizer"),
        ("SGD", "SGD", "optimizer"),
    ]
    assert phases(graph, "_foreach_norm") == {"optimizer"}
    for name in ("a.weight", "b.bias"):
        assert connected(graph, f"param:{name}", "op:_foreach_norm")
    assert connected(graph, "op:mse_loss", "op:add_")


def test_gradients_of_micro_batches_are_added_up() -> None:
    graph = recorded(accumulated)
    first, second = [graph.nodes[graph.index_of[name]] for name in ("a.weight.grad", "a.weight.grad_1")]
    assert first.outputs[0] in second.inputs
    assert [graph.scopes[node.parent].name for node in (first, second)] == ["a.backward", "a#2.backward"]


def test_the_second_forward_reads_what_the_first_step_wrote() -> None:
    graph = recorded(sgd)
    names = [scope.name for scope in graph.scopes if scope.parent == 0]
    assert names == ["Net#1", "backward", "optimizer", "Net#2", "backward#2", "optimizer#2"]
    forward = graph.phase("forward")
    updated = [node.name for node in forward.nodes if node.kind == "input" and node.name.startswith("SGD.")]
    assert len(updated) == 4


def test_a_second_differentiation_names_operators_of_the_first() -> None:
    graph = recorded(penalised)
    found = {graph.nodes[row.node].name: graph.nodes[row.forward].name for row in graph.derivatives}
    assert found["Net#1.backward.backward.TanhBackwardBackward0"] == "Net#1.backward.TanhBackward0"
    assert found["Net#1.backward_1.TanhBackward0"] == "Net#1.tanh"
    assert phases(graph, "norm") == {"forward"}


def test_a_backward_pass_in_a_forward_is_part_of_it() -> None:
    class Energy(Net):
        def forward(self, x: Tensor) -> Any:
            x = x.clone().requires_grad_()
            return torch.autograd.grad(super().forward(x).sum(), x, create_graph=True)[0]

    net = Energy()
    with trec.recording(net) as rec:
        net(X)
    assert rec.graph.phases == ("forward",)
    assert rec.graph == trec.capture(net, args=(X,))
    joint = trec.capture(net, args=(X,), backward=True).verify()
    assert joint.phase("forward") == rec.graph


def test_what_a_loss_is_and_what_leaves_a_step() -> None:
    net, criterion = Net(), nn.MSELoss()
    with trec.recording(net) as rec:
        result = criterion(net(X), T)
        result.backward()
    graph = rec.graph.verify()
    outputs = [node for node in graph.nodes if node.kind == "output"]
    assert [graph.nodes[graph.producers[node.inputs[0]]].op for node in outputs] == ["mse_loss"]


def test_pruning_leaves_what_a_step_is_for() -> None:
    graph = recorded(clipped)
    pruned = graph.prune().verify()
    assert ops(pruned).count("AccumulateGrad") == 4
    assert [node.name for node in pruned.nodes if graph.phase_of(node) == "optimizer"] == [
        node.name for node in graph.nodes if graph.phase_of(node) == "optimizer"
    ]
    capture = trec.capture(Net(), args=(X,), backward=True)
    assert ops(capture.prune()).count("AccumulateGrad") == 4


def test_hooks_of_steps_are_gone_afterwards() -> None:
    hooks = vars(sys.modules[torch.optim.Optimizer.__module__])
    tables = [hooks["_global_optimizer_pre_hooks"], hooks["_global_optimizer_post_hooks"]]
    before = [list(table) for table in tables]
    recorded(sgd)
    with pytest.raises(ZeroDivisionError), trec.recording():
        raise ZeroDivisionError
    assert [list(table) for table in tables] == before


def test_data_and_text_tell_the_phases() -> None:
    graph = recorded(clipped)
    network = graph.to_networkx()
    by_name = {row["name"]: row for _, row in network.nodes(data=True)}
    assert by_name["a.weight.grad"]["phase"] == "backward"
    assert by_name["a.weight.grad"]["differentiates"] == "a.weight"
    assert "differentiates" not in by_name["a.linear"]
    assert [row["phase"] for row in network.graph["scopes"] if row["name"] == "SGD"] == ["optimizer"]
    assert any(
        "AccumulateGrad(" in line and line.endswith("# b.backward of b.weight") for line in str(graph).split("\n")
    )
    assert "<attvalue" in graph.to_gexf()
    assert 'differentiates"' in graph.to_graphml()
    counts = Counter(graph.phase_of(node) for node in graph.nodes if node.kind == "op")
    assert {row.phase: row.ops for row in graph.stats().phases} == counts
    assert "optimizer: " in str(graph.to_table())
    plain = trec.capture(Net(), args=(X,))
    assert "phase" not in plain.to_networkx().nodes[0]
    assert "forward" not in str(plain.stats())
