"""Parameters and buffers: one node each at its first reading, under its first name, tied or made on the way."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize

import trec
from tests.capture.paths import Apply, check, connected, ends, flow, ops, paths, record

pytestmark = pytest.mark.torch


def seeded(kind: Any) -> Any:
    torch.manual_seed(3)
    return kind()


def qualnames(graph: Any, kind: str) -> list[str]:
    return [str(graph.attrs_of(graph.nodes[index])["qualname"]) for index in ends(graph, f"{kind}:")]


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.body = nn.Linear(3, 3, bias=False)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight
        self.twin = self.body

    def forward(self, ids: Tensor) -> Any:
        return self.head(self.twin(self.body(self.embed(ids))))


def test_a_tied_weight_is_one_node_that_knows_its_other_names() -> None:
    graph = check(lambda: (seeded(Tied), (torch.tensor([[0, 1, 1]]),)))
    assert qualnames(graph, "param") == ["embed.weight", "body.weight"]
    aliases = [graph.attrs_of(graph.nodes[index]).get("aliases") for index in ends(graph, "param:")]
    assert aliases == ["head.weight", "twin.weight"]


def test_a_shared_module_has_its_first_path_and_counts_its_calls() -> None:
    graph = record(Tied(), torch.tensor([[0, 1]]))
    assert [(scope.path, scope.call, scope.name) for scope in graph.scopes[1:]] == [
        ("embed", 0, "embed"), ("body", 0, "body"), ("body", 1, "body#2"), ("head", 0, "head"),
    ]  # fmt: skip


def test_a_parameter_stands_in_the_lowest_module_around_its_readers() -> None:
    graph = record(Tied(), torch.tensor([[0, 1]]))
    assert [graph.scopes[graph.nodes[index].parent].path for index in ends(graph, "param:")] == ["", ""]
    graph = record(nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))), torch.randn(1, 2))
    assert [graph.scopes[graph.nodes[index].parent].path for index in ends(graph, "param:")] == [
        "0.0", "0.0", "0.1", "0.1",
    ]  # fmt: skip


def test_views_of_one_storage_as_two_parameters_are_two() -> None:
    def build() -> Any:
        whole = torch.arange(6.0)
        return Apply(
            lambda net, x: (net.first * x, net.second * x),
            first=nn.Parameter(whole[:3]),
            second=nn.Parameter(whole[3:]),
        ), (torch.ones(3),)

    check(build)


def test_what_is_not_read_is_not_drawn() -> None:
    graph = record(Apply(lambda net, x: x + net.used, used=torch.ones(2), unused=torch.ones(2)), torch.ones(2))
    assert qualnames(graph, "buffer") == ["used"]


def test_buffers_that_are_not_saved_are_buffers_too() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("kept", torch.ones(2), persistent=False)

        def forward(self, x: Any) -> Any:
            return x + self.kept

    assert qualnames(record(Net(), torch.ones(2)), "buffer") == ["kept"]


def test_parameters_in_lists_and_dicts_have_their_full_names() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.many = nn.ParameterList([torch.ones(2), torch.full((2,), 2.0)])
            self.named = nn.ParameterDict({"a": torch.full((2,), 3.0)})

        def forward(self, x: Any) -> Any:
            for weight in self.many:
                x = x * weight
            return x * self.named["a"]

    assert qualnames(check(lambda: (Net(), (torch.ones(2),))), "param") == ["many.0", "many.1", "named.a"]


def test_plain_tensors_of_the_model_are_constants_with_the_name_of_their_attribute() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Apply(lambda x: x)
            self.inner.__dict__["scale"] = torch.full((2,), 2.0)
            self.table = {"key": torch.ones(2)}

        def forward(self, x: Any) -> Any:
            return x * self.inner.scale + self.table["key"]

    graph = record(Net(), torch.ones(2))
    assert [graph.nodes[index].name for index in ends(graph, "constant:")] == ["inner.scale", "constant"]
    assert connected(graph, "constant:inner.scale", "output:0")


# ---- reparametrised


class Symmetric(nn.Module):
    def forward(self, weight: Tensor) -> Tensor:
        return weight.triu() + weight.triu(1).mT


def symmetric() -> nn.Module:
    net = nn.Linear(3, 3)
    parametrize.register_parametrization(net, "weight", Symmetric())
    return net


REPARAMETRISED = {
    "own": symmetric,
    "weight norm": lambda: parametrizations.weight_norm(nn.Linear(3, 3)),
    "orthogonal": lambda: parametrizations.orthogonal(nn.Linear(3, 3)),
    "spectral norm": lambda: parametrizations.spectral_norm(nn.Linear(3, 3)).eval(),
    "old weight norm": lambda: torch.nn.utils.weight_norm(nn.Linear(3, 3)),
    "old spectral norm": lambda: torch.nn.utils.spectral_norm(nn.Linear(3, 3)).eval(),
}


@pytest.mark.filterwarnings("ignore:.*weight_norm")
@pytest.mark.parametrize("kind", REPARAMETRISED.values(), ids=REPARAMETRISED.keys())
def test_a_weight_that_is_computed_is_drawn_from_what_it_is_computed_of(kind: Any) -> None:
    graph = check(lambda: (seeded(kind), (torch.randn(2, 3, generator=torch.Generator().manual_seed(1)),)))
    assert qualnames(graph, "param")[-1] != "weight"
    assert not ends(graph, "param:weight")


def test_parametrization_modules_are_scopes() -> None:
    assert "parametrizations.weight.0" in paths(record(symmetric(), torch.randn(2, 3)))


def test_spectral_norm_in_training_updates_its_vectors_and_leaves_them_as_they_were() -> None:
    graph = record(parametrizations.spectral_norm(nn.Linear(3, 3)).train(), torch.randn(2, 3))
    assert connected(graph, "param:parametrizations.weight.original", "output:0")


# ---- made on the way


def test_lazy_parameters_are_named_and_made_once() -> None:
    net = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(2))
    graph = trec.capture(net, (3, 5)).verify()
    assert qualnames(graph, "param") == ["0.weight", "0.bias", "2.weight", "2.bias"]
    shapes = [graph.type_of(graph.nodes[index].outputs[0]).shape for index in ends(graph, "param:")]
    assert shapes == [(4, 5), (4,), (2, 4), (2,)]
    assert all(connected(graph, f"param:{name}", "output:0") for name in qualnames(graph, "param"))
    assert "linear" in ops(graph)


def test_a_module_made_in_forward_has_a_name_and_so_have_its_parameters() -> None:
    class Net(nn.Module):
        def forward(self, x: Any) -> Any:
            return nn.Linear(3, 2)(nn.Linear(3, 3)(x))

    graph = trec.capture(Net(), (1, 3)).verify()
    assert paths(graph) == ["", "<Linear>", "<Linear>2"]
    assert qualnames(graph, "param") == ["<Linear>.weight", "<Linear>.bias", "<Linear>2.weight", "<Linear>2.bias"]


def put_parameter(net: Any, w: Tensor) -> None:
    net.fc.weight = nn.Parameter(w * 2)


def put_into_table(net: Any, w: Tensor) -> None:
    net.fc._parameters["weight"] = nn.Parameter(w * 2)


def put_data(net: Any, w: Tensor) -> None:
    net.fc.weight.data = w * 2


def make_module(net: Any, w: Tensor) -> None:
    net.fc = nn.Linear(3, 3, bias=False)
    net.fc.weight = nn.Parameter(w * 2)


def set_storage(net: Any, w: Tensor) -> None:
    with torch.no_grad():
        net.fc.weight.set_(w * 2)


def copy_data(net: Any, w: Tensor) -> None:
    net.fc.weight.data.copy_(w * 2)


def copy_without_grad(net: Any, w: Tensor) -> None:
    with torch.no_grad():
        net.fc.weight.copy_(w * 2)


def replace_by_tensor(net: Any, w: Tensor) -> None:
    del net.fc.weight
    net.fc.weight = w * 2


@pytest.mark.parametrize(
    "change",
    [
        put_parameter,
        put_into_table,
        put_data,
        make_module,
        set_storage,
        copy_data,
        copy_without_grad,
        replace_by_tensor,
    ],
)
def test_weights_that_are_made_in_forward_lie_behind_what_they_are_made_of(change: Any) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(3, 3, bias=False)

        def forward(self, x: Tensor, w: Tensor) -> Any:
            change(self, w)
            return self.fc(x)

    graph = record(Net(), torch.ones(2, 3), torch.eye(3))
    assert {("input:0", "output:0"), ("input:1", "output:0")} <= flow(graph)


def test_a_weight_that_is_given_as_input_is_one_value_at_every_level() -> None:
    class Squared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            result: Tensor = self.linear(x) + x
            return result

    net = Squared()
    graph = record(net, net.linear.weight)
    assert connected(graph, "input:0", "output:0")
    assert connected(graph, "param:linear.weight", "output:0")


class Moving(nn.Module):
    """Puts a new buffer in place of the one that it read."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        self.mean = self.get_buffer("mean") * 0.9 + x.mean(0) * 0.1
        return x - self.mean


def test_a_buffer_that_is_replaced_by_what_is_made_of_it_has_two_nodes_of_one_name() -> None:
    graph = record(Moving(), torch.randn(2, 3))
    assert qualnames(graph, "buffer") == ["mean", "mean"]
    assert connected(graph, "input:0", "buffer:mean")
    assert flow(graph) == {("input:0", "output:0"), ("buffer:mean", "output:0")}
