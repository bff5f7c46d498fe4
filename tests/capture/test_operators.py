"""Operators of many results, recurrent layers, attention, autocast, randomness: nothing lost, no false paths."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import trec
from tests.capture.paths import Apply, check, check_function, connected, ends, flow, ops, record

TORCH: Any = torch
pytestmark = pytest.mark.torch

BROADCAST: Any = torch.broadcast_tensors
BLOCK_DIAG: Any = torch.block_diag

MANY: dict[str, Any] = {
    "topk": lambda x, y: torch.topk(x + y, 2),
    "sort": lambda x, y: torch.sort(x * y, dim=1),
    "max": lambda x, y: (x + y).max(1),
    "svd": lambda x, y: torch.linalg.svd(x @ y),
    "eigh": lambda x, y: torch.linalg.eigh(x @ x.t() + y @ y.t()),
    "lu": lambda x, y: torch.linalg.lu(x + y),
    "qr": lambda x, y: torch.linalg.qr(x + y),
    "slogdet": lambda x, y: torch.linalg.slogdet(x + y),
    "unique": lambda x, y: torch.unique((x + y).round(), return_counts=True)[0].sum(),
    "var_mean": lambda x, y: torch.var_mean(x + y),
    "aminmax": lambda x, y: torch.aminmax(x + y),
    "frexp": lambda x, y: torch.frexp(x + y),
    "einsum": lambda x, y: torch.einsum("ij,jk->ik", x, y),
    "einsum of three": lambda x, y: torch.einsum("ij,jk,kl->il", x, y, x),
    "max_pool": lambda x, y: nn.functional.max_pool1d(x + y, 2, return_indices=True)[0],
    "cdist": lambda x, y: torch.cdist(x, y),
    "where": lambda x, y: torch.where(x > 0, y, 2.0),
    "gather": lambda x, y: x.gather(1, y.argsort(1)),
    "histc": lambda x, y: torch.histc(x + y, 4),
    "stack and cat": lambda x, y: torch.cat([torch.stack([x, y]), x[None]]),
    "broadcast": lambda x, y: BROADCAST(x[0], y)[0] + y,
    "block_diag": lambda x, y: BLOCK_DIAG(x, y),
    "interpolate": lambda x, y: nn.functional.interpolate((x * y)[None, None], scale_factor=2.0, mode="bilinear"),
    "pad": lambda x, y: nn.functional.pad(x, (1, 1)) + nn.functional.pad(y, (1, 1), "reflect"),
    "grid_sample": lambda x, y: nn.functional.grid_sample(
        x[None, None], torch.stack([y, y], -1)[None].sigmoid(), align_corners=False
    ),
    "attention": lambda x, y: nn.functional.scaled_dot_product_attention(x[None], y[None], y[None]),
    "loss": lambda x, y: nn.functional.cross_entropy(x, y.softmax(1)),
    "special": lambda x, y: torch.special.xlogy(x.exp(), y.exp()),
    "reflected arithmetic": lambda x, y: 1 - x / (2 + y) ** 2 // 1 + 2 ** (-y) @ x,
}  # fmt: skip


@pytest.mark.parametrize("function", MANY.values(), ids=MANY.keys())
def test_flow_through_operators(function: Any) -> None:
    graph = record(Apply(function), torch.randn(4, 4), torch.randn(4, 4))
    outputs = ends(graph, "output:")
    assert flow(graph) == {(f"input:{index}", f"output:{port}") for index in (0, 1) for port in range(len(outputs))}
    assert ops(graph)


def test_only_the_result_that_is_used_is_read() -> None:
    graph = record(Apply(lambda x: torch.topk(x, 2).values * 2), torch.randn(4))
    node = graph.nodes[ends(graph, "op:topk")[0]]
    reader = graph.nodes[ends(graph, "op:mul")[0]]
    assert len(node.outputs) == 2
    assert reader.inputs == (node.outputs[0],)


def test_a_value_used_twice_is_two_uses() -> None:
    graph = record(Apply(lambda x: x * x), torch.randn(4))
    assert graph.nodes[ends(graph, "op:mul")[0]].inputs == (0, 0)


def test_the_results_of_meshgrid_and_split_stay_apart_where_operators_do() -> None:
    def forward(x: Tensor, y: Tensor) -> Any:
        return torch.meshgrid(x, y, indexing="ij")

    check_function(forward, (3,), (3,), whole_calls=False)


RECURRENT: dict[str, Any] = {
    "lstm": lambda: nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True),
    "projected lstm": lambda: nn.LSTM(3, 4, proj_size=2),
    "gru": lambda: nn.GRU(3, 4),
    "rnn": lambda: nn.RNN(3, 4, nonlinearity="relu"),
}


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("kind", RECURRENT.values(), ids=RECURRENT.keys())
def test_recurrent_layers_read_every_weight(kind: Any) -> None:
    def build() -> Any:
        torch.manual_seed(0)
        return kind(), (torch.randn(5, 2, 3),)

    net, args = build()
    graph = record(net, *args)
    assert {source for source, target in flow(graph) if target == "output:0"} == {
        "input:0", *(f"param:{name}" for name, _ in net.named_parameters()),
    }  # fmt: skip
    assert len(ends(graph, "op:")) == 0


def test_packed_sequences_are_followed() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(3, 4, batch_first=True)

        def forward(self, x: Tensor, lengths: Tensor, state: Any) -> Any:
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            result, (hidden, _) = self.lstm(packed, state)
            return pad_packed_sequence(result, batch_first=True)[0], hidden

    state = (torch.randn(1, 2, 4), torch.randn(1, 2, 4))
    graph = record(Net(), torch.randn(2, 5, 3), torch.tensor([3, 5]), state)
    found = flow(graph)
    assert {(f"input:{index}", f"output:{port}") for index in (0, 2, 3) for port in (0, 1)} <= found


def test_attention_reads_queries_keys_and_values() -> None:
    net, inputs = nn.MultiheadAttention(4, 2, batch_first=True), [torch.randn(1, 3, 4) for _ in range(3)]
    record(net, *inputs)
    found = flow(trec.capture(net, args=tuple(inputs), level="aten"))
    assert {end for end, port in found if end.startswith("input") and port == "output:0"} == {
        "input:0", "input:1", "input:2",
    }  # fmt: skip
    assert ("input:2", "output:1") not in found


@pytest.mark.parametrize("training", [True, False])
def test_a_transformer_layer_shows_its_operators(training: bool) -> None:
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2).train(training)
    with torch.set_grad_enabled(training):
        graph = record(net, torch.randn(1, 3, 4))
    assert {source for source, _ in flow(graph)} == {
        "input:0",
        *(f"param:{name}" for name, _ in net.named_parameters()),
    }
    assert ops(graph).count("layer_norm") == 4


# ---- autocast


class TwoUses(nn.Module):
    """One weight that autocast casts once and uses for two separate inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x: Tensor, y: Tensor) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return self.fc(x), self.fc(y), torch.mm(x, y)


@pytest.mark.parametrize("grads", [True, False], ids=["grad", "no_grad"])
def test_the_cache_of_autocast_makes_no_false_paths(grads: bool) -> None:
    def build() -> Any:
        torch.manual_seed(0)
        return TwoUses(), (torch.randn(3, 3), torch.randn(3, 3))

    with torch.set_grad_enabled(grads):
        graph = check(build)
    assert {(end, port) for end, port in flow(graph) if end.startswith("input")} == {
        ("input:0", "output:0"), ("input:1", "output:1"), ("input:0", "output:2"), ("input:1", "output:2"),
    }  # fmt: skip


def test_casts_taken_out_of_their_call_keep_their_arguments() -> None:
    graph = record(TwoUses(), torch.randn(3, 3), torch.randn(3, 3))
    casts = [node for node in graph.nodes if node.op == "aten._to_copy.default"]
    assert [graph.attrs_of(node) for node in casts] == [{"dtype": "bfloat16"}] * 2


def test_autocast_around_the_capture_is_recorded_and_left_as_it_was() -> None:
    with torch.autocast("cpu", torch.bfloat16):
        graph = record(TwoUses(), torch.randn(3, 3), torch.randn(3, 3))
        assert torch.is_autocast_enabled("cpu")
    assert "bfloat16" in {type_.dtype for type_ in graph.types}


# ---- randomness and arguments


def test_random_operators_are_recorded_and_rewound() -> None:
    def forward(x: Tensor) -> Any:
        noise = torch.randn_like(x) + torch.rand(3) + torch.normal(0.0, 1.0, (3,)) + torch.randperm(3)
        return nn.functional.dropout(x + noise, 0.5), torch.bernoulli(x.sigmoid()), torch.multinomial(x.exp(), 2)

    graph = record(Apply(forward), torch.randn(3))
    assert {"randn_like", "rand", "normal", "randperm", "dropout", "bernoulli", "multinomial"} <= set(ops(graph))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: nn.functional.conv1d(x, torch.ones(2, 2, 3), None, 2, padding=1), {"stride": 2, "padding": 1}),
        (lambda x: x.view(4, -1), {"size": (4, -1)}),
        (lambda x: x.transpose(1, 2), {"dim0": 1, "dim1": 2}),
        (lambda x: torch.sum(x, dim=(0, 1), keepdim=True), {"dim": (0, 1), "keepdim": True}),
        (lambda x: nn.functional.softmax(x, -1), {"dim": -1}),
        (lambda x: x.to(torch.float64), {"dtype": "float64"}),
        (lambda x: x + 2.5, {"other": 2.5}),
        (lambda x: x.clamp(min=-1, max=float("inf")), {"min": -1, "max": "inf"}),
        (lambda x: torch.cat([x, x], dim=1), {"dim": 1}),
        (lambda x: x[0, ..., 1:], {}),
        (lambda x: torch.einsum("abc->ac", x), {"equation": "abc->ac"}),
        (lambda x: torch.einsum("abc,abd->ac", x, x), {"equation": "abc,abd->ac"}),
        (lambda x: torch.sort(x, -1, True), {"dim": -1, "descending": True}),
        (lambda x: x.sum(axis=1, keepdims=True), {"axis": 1, "keepdims": True}),
        (lambda x: nn.functional.max_pool1d(x, 2, 1), {"kernel_size": 2, "stride": 1}),
        (lambda x: x.to("cpu", torch.float64), {"device": "cpu", "dtype": "float64"}),
        (lambda x: x.expand(3, -1, -1), {"size": (3, -1, -1)}),
        (lambda x: x.permute(0, 2, 1), {"dims": (0, 2, 1)}),
        (lambda x: torch.zeros(2, 3) + 1, {"other": 1}),
        (lambda x: torch.pow(2, x), {"self": 2}),
        (lambda x: TORCH.atleast_2d(x[0, 0], x[0, 1])[0], {"tensors": None}),
        (lambda x: TORCH.block_diag(x[0], x[0]), {"tensors": None}),
    ],
)
def test_arguments_have_their_names(call: Any, expected: dict[str, Any]) -> None:
    graph = record(Apply(call), torch.randn(1, 2, 6))
    node = [node for node in graph.nodes if node.kind == "op"][-1]
    found = graph.attrs_of(node)
    assert {name: found.get(name) for name in expected} == expected
    assert not [name for name in found if name.startswith("arg")]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: torch.arange(3), {"end": 3}),
        (lambda: torch.arange(end=3), {"end": 3}),
        (lambda: torch.arange(0, 3), {"start": 0, "end": 3}),
        (lambda: torch.arange(0, end=3), {"start": 0, "end": 3}),
        (lambda: torch.arange(0, end=3, step=1), {"start": 0, "end": 3, "step": 1}),
        (lambda: torch.arange(0, 3, step=1), {"start": 0, "end": 3, "step": 1}),
        (lambda: torch.randint(3, (3,)), {"high": 3, "size": (3,)}),
        (lambda: torch.randint(1, 3, size=(3,)), {"low": 1, "high": 3, "size": (3,)}),
        (lambda: torch.full((3,), fill_value=2.0), {"size": (3,), "fill_value": 2.0}),
        (lambda: torch.linspace(0, 1, steps=3), {"start": 0, "end": 1, "steps": 3}),
        (lambda: torch.normal(0.0, std=1.0, size=(3,)), {"mean": 0.0, "std": 1.0, "size": (3,)}),
        (lambda: torch.empty(3, dtype=torch.float64).fill_(2), {"value": 2}),
        (lambda: torch.tensor([1, 2, 3]), {"data": (1, 2, 3)}),
    ],
)
def test_no_argument_is_named_twice(call: Any, expected: dict[str, Any]) -> None:
    found = record(Apply(lambda x: x + call()), torch.ones(3))
    node = [node for node in found.nodes if node.kind == "op"][-2]
    assert [(name, value) for name, value in found.attrs_of(node).items() if name != "dtype"] == list(expected.items())


@pytest.mark.filterwarnings("ignore")
def test_arguments_of_all_that_torch_tests_itself_with_have_distinct_names() -> None:
    pytest.importorskip("expecttest")
    op_db = pytest.importorskip("torch.testing._internal.common_methods_invocations").op_db
    unnamed = set()
    for case in op_db:
        kinds = [kind for kind in (torch.float32, torch.int64) if kind in case.dtypes]
        samples = islice(case.sample_inputs("cpu", kinds[0]), 2) if kinds else ()
        for sample in samples:
            net = Apply(lambda case, sample: case.op(sample.input, *sample.args, **sample.kwargs))
            try:
                graph = trec.capture(net, args=(case, sample)).verify()
            except trec.CaptureError:  # it needs a device that is not here
                continue
            for node in graph.nodes:
                names = [name for name, _ in graph.attrs[node.attrs]]
                assert len(set(names)) == len(names)
                if any(name.startswith("arg") and name[3:].isdigit() for name in names):
                    unnamed.add(node.op)
    assert not unnamed


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (nn.Linear(3, 6), {"in_features": 3, "out_features": 6, "bias": True}),
        (nn.Conv2d(1, 2, (3, 3), padding="same"), {"kernel_size": (3, 3), "stride": (1, 1), "padding": "same"}),
        (nn.Dropout(0.25), {"p": 0.25, "inplace": False}),
        (nn.LayerNorm(4), {"normalized_shape": (4,), "eps": 1e-05, "elementwise_affine": True}),
        (nn.LSTM(3, 4, batch_first=True), {"batch_first": True}),
        (nn.Embedding(5, 3, padding_idx=0), {"num_embeddings": 5, "embedding_dim": 3, "padding_idx": 0}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_modules_have_their_constructor_arguments(module: nn.Module, expected: dict[str, Any]) -> None:
    shapes = {"Linear": (1, 3), "Conv2d": (1, 1, 4, 4), "LSTM": (1, 2, 3), "LayerNorm": (1, 4)}
    kind = torch.int64 if isinstance(module, nn.Embedding) else torch.float32
    graph = trec.capture(nn.Sequential(module), shapes.get(type(module).__name__, (2,)), dtypes=kind)
    found = graph.attrs_of(graph.scopes[1])
    assert {name: found.get(name) for name in expected} == expected


def test_a_module_of_the_user_shows_plain_attributes_named_as_arguments() -> None:
    class Net(nn.Module):
        def __init__(self, width: int, kind: str, table: Any, hidden: int = 3) -> None:
            super().__init__()
            self.width, self.kind, self.table, self._hidden = width, kind, table, hidden

        def forward(self, x: Tensor) -> Any:
            return x * self.width

    graph = record(Net(4, "wide", object()), torch.ones(2))
    assert graph.attrs_of(graph.scopes[0]) == {"width": 4, "kind": "wide"}


def test_connected_needs_its_ends() -> None:
    graph = record(Apply(lambda x: x + 1), torch.ones(2))
    with pytest.raises(AssertionError, match="no op:sin"):
        connected(graph, "op:sin", "output:0")
