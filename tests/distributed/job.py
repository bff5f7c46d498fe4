"""What one process of the tests' jobs does: `python job.py directory rank`.

It records one step of training with each scheme, first with all four ranks, then with two, and saves the graphs beside
what torch's own counter says of the same step.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

import trec

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH, HIDDEN, BATCH, MICROBATCHES = 4, 8, 8, 4
PARAMETERS = 2 * 2 * WIDTH * HIDDEN
"""Of two blocks, in elements."""

Step = tuple["Callable[[], Any]", nn.Module]
"""One step of training, and the model."""


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.down(self.up(x).relu())
        return result


def model(blocks: int = 2) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(*[Block() for _ in range(blocks)])


def training(net: nn.Module) -> Callable[[], Any]:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.ones(BATCH, WIDTH)

    def step() -> None:
        net(x).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def ddp(world: int) -> Step:
    net = DistributedDataParallel(model())
    return training(net), net


def fsdp(world: int) -> Step:
    return sharded(model(), init_device_mesh("cpu", (world,)))


def sharded(net: nn.Sequential, mesh: Any) -> Step:
    for block in net:
        fully_shard(block, mesh=mesh)
    fully_shard(net, mesh=mesh)
    return training(net), net


def split(net: nn.Sequential, mesh: Any) -> nn.Sequential:
    for block in net:
        parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return net


def tensor_parallel(world: int) -> Step:
    net = split(model(), init_device_mesh("cpu", (world,)))
    return training(net), net


def pipelined(world: int, schedule: Any, group: Any = None, stages: int = 0, wrap: Any = None) -> Step:
    stages = stages or world
    index = dist.get_rank(group)
    net = model(stages)[index]
    net = net if wrap is None else wrap(net)
    stage = PipelineStage(net, index, stages, torch.device("cpu"), group=group)
    run = schedule(stage, n_microbatches=MICROBATCHES, loss_fn=lambda y, target: (y - target).square().sum())
    x, target = torch.ones(BATCH, WIDTH), torch.zeros(BATCH, WIDTH)

    def step() -> None:
        if index == 0:
            run.step(x)
        elif index == stages - 1:
            run.step(target=target)
        else:
            run.step()

    return step, net


def gpipe(world: int) -> Step:
    return pipelined(world, ScheduleGPipe)


def one_forward_one_backward(world: int) -> Step:
    return pipelined(world, Schedule1F1B)


def mesh_of_fsdp_and_tensor_parallel(world: int) -> Step:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "tensor"))
    return sharded(split(model(), mesh["tensor"]), mesh["data"])


def mesh_of_pipeline_and_fsdp(world: int) -> Step:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("pipeline", "data"))

    def wrap(net: nn.Module) -> nn.Module:
        fully_shard(net, mesh=mesh["data"])
        return net

    return pipelined(world, ScheduleGPipe, mesh["pipeline"].get_group(), 2, wrap)


SCHEMES: dict[int, tuple[Callable[[int], Step], ...]] = {
    4: (
        ddp, fsdp, tensor_parallel, gpipe, one_forward_one_backward, mesh_of_fsdp_and_tensor_parallel,
        mesh_of_pipeline_and_fsdp,
    ),
    2: (ddp, fsdp, tensor_parallel, gpipe),
}  # fmt: skip
"""By number of ranks, the schemes that are recorded."""


COUNTED = (fsdp, tensor_parallel, mesh_of_fsdp_and_tensor_parallel)
"""Those that torch's own counter counts: it fails in pipelines and in DDP."""


def record(scheme: Callable[[int], Step], world: int, directory: Path) -> None:
    """Save the graph of one step, and what torch counts in the next."""
    rank = dist.get_rank()
    step, net = scheme(world)
    for _ in range(2):  # DDP and pipelines agree on sizes and buckets first
        step()
    with trec.recording(net) as recording:
        step()
    recording.graph.save(directory / f"rank{rank}.trec")
    counts = {}
    if scheme in COUNTED:
        with CommDebugMode() as counter:  # type: ignore[no-untyped-call]
            step()
        counts = {str(operator): count for operator, count in counter.get_comm_counts().items()}
    (directory / f"rank{rank}.json").write_text(json.dumps(counts))


def main(directory: Path, rank: int) -> None:
    for world, schemes in SCHEMES.items():
        if rank >= world:
            continue
        store = f"file://{directory / f'store{world}'}"
        dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world, timeout=timedelta(minutes=10))
        for scheme in schemes:
            place = directory / f"{scheme.__name__}{world}"
            place.mkdir(exist_ok=True)
            try:
                record(scheme, world, place)
            except Exception:
                (place / f"rank{rank}.error").write_text(traceback.format_exc())
                raise
        dist.destroy_process_group()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    main(Path(sys.argv[1]), int(sys.argv[2]))
