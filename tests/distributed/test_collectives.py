"""Operators that communicate are nodes that say what, with whom and how much; the other ranks are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.testing._internal.distributed.fake_pg import FakeStore

import trec
from tests.distributed.job import Block, split
from trec.ir.collectives import collective_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trec.ir.graph import Graph
    from trec.ir.types import Node

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::FutureWarning")]

RANK, WORLD = 1, 4


@pytest.fixture(autouse=True)
def group() -> Iterator[Any]:
    """A group of four ranks of which this process is one, and the others are not there."""
    dist.init_process_group("fake", rank=RANK, world_size=WORLD, store=FakeStore())
    yield dist.group.WORLD
    dist.destroy_process_group()


def recorded(code: Callable[[torch.Tensor], Any], level: Any = "function") -> Graph:
    x = torch.ones(4)
    with trec.recording(level=level) as recording:
        code(x)
    return recording.graph.verify()


def communicates(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if collective_of(graph, node) is not None]


def only(graph: Graph) -> dict[str, Any]:
    (node,) = communicates(graph)
    assert node.op == dict(graph.attrs[node.attrs])["collective"]
    return graph.attrs_of(node)


def reads(graph: Graph, op: str) -> list[str]:
    (node,) = [node for node in graph.nodes if node.op == op]
    return [graph.nodes[graph.producers[value]].op for value in node.inputs]


def everyone() -> Any:
    return dist.group.WORLD


def parts() -> list[torch.Tensor]:
    return [torch.zeros(4) for _ in range(WORLD)]


EVERYONE = tuple(range(WORLD))


@pytest.mark.parametrize(
    ("code", "operation", "size", "facts"),
    [
        (lambda x: dist.all_reduce(x), "all_reduce", 16, {"reduction": "sum"}),
        (lambda x: dist.all_reduce(x, dist.ReduceOp.MAX), "all_reduce", 16, {"reduction": "max"}),
        (lambda x: dist.all_gather(parts(), x), "all_gather", 64, {}),
        (lambda x: dist.all_gather_into_tensor(torch.zeros(16), x), "all_gather", 64, {}),
        (lambda x: dist.reduce_scatter(x, parts()), "reduce_scatter", 64, {"reduction": "sum"}),
        (
            lambda x: dist.reduce_scatter_tensor(x, torch.zeros(16), op=dist.ReduceOp.AVG),
            "reduce_scatter",
            64,
            {"reduction": "avg"},
        ),
        (lambda x: dist.all_to_all_single(torch.zeros(4), x), "all_to_all", 16, {}),
        (lambda x: dist.broadcast(x, 2), "broadcast", 16, {"root": 2}),
        (lambda x: dist.reduce(x, RANK), "reduce", 16, {"root": RANK, "reduction": "sum"}),
        (lambda x: dist.gather(x, parts(), dst=RANK), "gather", 64, {"root": RANK}),
        (lambda x: dist.scatter(x, parts(), src=RANK), "scatter", 64, {"root": RANK}),
        (lambda x: dist.send(x, 3, tag=5), "send", 16, {"peer": 3, "tag": 5}),
        (lambda x: dist.recv(x, 0), "recv", 16, {"peer": 0, "tag": 0}),
        (lambda x: dist.barrier(), "barrier", 0, {}),
        (lambda x: functional.all_reduce(x, "sum", everyone()), "all_reduce", 16, {"reduction": "sum"}),
        (lambda x: functional.all_gather_tensor(x, 0, everyone()), "all_gather", 64, {}),
        (
            lambda x: functional.reduce_scatter_tensor(x, "avg", 0, everyone()),
            "reduce_scatter",
            16,
            {"reduction": "avg"},
        ),
        (lambda x: functional.broadcast(x, 0, everyone()), "broadcast", 16, {"root": 0}),
        (lambda x: torch.ops._c10d_functional.broadcast_(x, RANK, "0"), "broadcast", 16, {"root": RANK}),
    ],
)
@pytest.mark.parametrize("level", ["function", "aten"])
def test_each_operation_says_what_it_communicates(
    code: Any, operation: str, size: int, facts: dict[str, Any], level: str
) -> None:
    attrs = only(recorded(code, level))
    assert attrs.pop("group_name")
    attrs.pop("blocking", None)
    assert attrs == {"collective": operation, "group": EVERYONE, "sequence": 0, "bytes": size, **facts}


def test_what_blocks_says_so() -> None:
    assert only(recorded(lambda x: dist.all_reduce(x)))["blocking"] is True
    assert "blocking" not in only(recorded(lambda x: dist.all_reduce(x, async_op=True).wait()))


def test_groups_are_numbered_each_on_its_own() -> None:
    pair = dist.new_group([1, 3])

    def code(x: torch.Tensor) -> None:
        dist.all_reduce(x)
        dist.all_reduce(x, group=pair)
        dist.all_reduce(x)
        dist.send(x, 3)
        dist.send(x, 3)
        dist.send(x, 0)

    graph = recorded(code)
    found = [(attrs["group"], attrs["sequence"]) for attrs in map(graph.attrs_of, communicates(graph))]
    assert found == [(EVERYONE, 0), ((1, 3), 0), (EVERYONE, 1), (EVERYONE, 0), (EVERYONE, 1), (EVERYONE, 0)]


def test_ranks_are_told_as_the_job_numbers_them() -> None:
    pair = dist.new_group([1, 3])
    assert only(recorded(lambda x: dist.broadcast(x, 3, group=pair)))["root"] == 3
    assert only(recorded(lambda x: dist.send(x, 3, group=pair)))["peer"] == 3


def test_a_group_that_torch_knows_nothing_of_numbers_its_own_ranks() -> None:
    made: Any = dist
    alone = made.ProcessGroup(made.HashStore(), 0, 1)
    backend = made.ProcessGroupGloo(made.HashStore(), 0, 1)
    alone._register_backend(torch.device("cpu"), made.ProcessGroup.BackendType.GLOO, backend)
    attrs = only(recorded(lambda x: alone.broadcast(x, 0).wait()))
    assert (attrs["group"], attrs["group_name"], attrs["root"]) == ((0,), "", 0)


def test_what_is_written_in_place_is_what_is_read_afterwards() -> None:
    def code(x: torch.Tensor) -> None:
        y = x.exp()
        dist.all_reduce(y)
        y.neg()

    graph = recorded(code)
    assert (reads(graph, "all_reduce"), reads(graph, "neg")) == (["exp"], ["all_reduce"])


def test_what_is_gathered_depends_on_nothing_that_stood_there() -> None:
    def code(x: torch.Tensor) -> None:
        whole = torch.zeros(16)
        dist.all_gather_into_tensor(whole, x.exp())
        whole.neg()

    graph = recorded(code)
    assert (reads(graph, "all_gather"), reads(graph, "neg")) == (["exp"], ["all_gather"])


def test_each_part_of_a_gathered_list_is_a_result() -> None:
    def code(x: torch.Tensor) -> None:
        found = parts()
        dist.all_gather(found, x)
        found[2].neg()

    assert reads(recorded(code), "neg") == ["all_gather"]


def test_a_root_keeps_what_it_broadcasts() -> None:
    def code(x: torch.Tensor) -> None:
        y = x.exp()
        dist.broadcast(y, RANK)
        y.neg()

    graph = recorded(code)
    assert (reads(graph, "broadcast"), reads(graph, "neg")) == (["exp"], ["exp"])


def test_others_read_nothing_of_their_own_in_a_broadcast() -> None:
    def code(x: torch.Tensor) -> None:
        y = x.exp()
        dist.broadcast(y, 0)
        y.neg()

    graph = recorded(code)
    assert (reads(graph, "broadcast"), reads(graph, "neg")) == ([], ["broadcast"])


def test_what_is_received_comes_from_nowhere_on_this_rank() -> None:
    def code(x: torch.Tensor) -> None:
        y = x.exp()
        requests = dist.batch_isend_irecv([dist.P2POp(dist.isend, y, 2), dist.P2POp(dist.irecv, x, 0)])
        for request in requests:
            request.wait()
        x.neg()

    graph = recorded(code)
    assert (reads(graph, "send"), reads(graph, "recv"), reads(graph, "neg")) == (["exp"], [], ["recv"])


def test_sends_stay_when_what_nobody_needs_is_pruned() -> None:
    graph = recorded(lambda x: dist.send(x.exp(), 0)).prune()
    assert reads(graph, "send") == ["exp"]


def test_the_graph_says_which_rank_it_is_of() -> None:
    graph = trec.capture(nn.ReLU(), (2, 3))
    assert dict(graph.meta) == {"level": "function", "rank": RANK, "world_size": WORLD}


# ---- tensors that are spread over ranks


def test_a_redistribution_is_what_it_communicates() -> None:
    mesh = init_device_mesh("cpu", (WORLD,))

    def code(x: torch.Tensor) -> None:
        spread = DTensor.from_local(x, mesh, [Shard(0)], run_check=False)
        spread.redistribute(mesh, [Replicate()]).to_local().neg()

    graph = recorded(code)
    attrs = only(graph)
    assert (attrs["collective"], attrs["bytes"]) == ("all_gather", 64)


def test_spread_tensors_are_what_this_rank_has_of_them() -> None:
    mesh = init_device_mesh("cpu", (WORLD,))
    weight = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])

    def code(x: torch.Tensor) -> None:
        (weight + 1).relu()

    graph = recorded(code)
    assert {type_.shape for type_ in graph.types} == {(2, 4)}
    assert [node.op for node in graph.nodes if node.kind == "op"] == ["add", "relu"]


def test_fsdp_names_the_parts_of_parameters_and_gathers_them() -> None:
    net = nn.Sequential(Block(), Block())
    for block in net:
        fully_shard(block)
    fully_shard(net)
    graph = trec.capture(net, (2, 4)).verify()
    weights = {node.name: graph.type_of(node.outputs[0]).shape for node in graph.nodes if node.kind == "param"}
    assert weights == {
        "0.up.weight": (2, 4), "0.down.weight": (1, 8), "1.up.weight": (2, 4), "1.down.weight": (1, 8),
    }  # fmt: skip
    attrs = graph.attrs_of(graph.nodes[graph.index_of["0.up.weight"]])
    assert (attrs["whole"], attrs["mesh"], attrs["placements"]) == ((8, 4), (WORLD,), ("S(0)",))
    assert [graph.scopes[node.parent].path for node in communicates(graph)] == ["0", "1"]
    assert not [node for node in graph.nodes if node.kind == "host"]


@pytest.mark.parametrize("shard", [lambda net: [fully_shard(block) for block in net], None])
def test_a_capture_of_a_sharded_model_changes_nothing(shard: Any) -> None:
    net = nn.Sequential(Block(), Block())
    if shard is None:
        split(net, init_device_mesh("cpu", (WORLD,)))
    else:
        shard(net)
    before = {name: value.to_local().clone() for name, value in net.state_dict().items()}
    first = trec.capture(net, (2, 4))
    after = net.state_dict()
    assert all(torch.equal(value, after[name].to_local()) for name, value in before.items())
    assert trec.capture(net, (2, 4)) == first
