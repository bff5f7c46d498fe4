"""One step of training, recorded on each rank of a job: DDP, FSDP, tensor parallel, pipelines and their combination."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import trec
from tests.distributed.job import BATCH, MICROBATCHES, PARAMETERS, WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trec.ir.graph import Graph

    Recorded = Callable[[str, int], list[Graph]]

pytestmark = pytest.mark.torch

FLOAT = 4
"""Bytes of an element."""
WHOLE = PARAMETERS * FLOAT
ACTIVATION = BATCH * WIDTH * FLOAT
SENT = ACTIVATION // MICROBATCHES

COUNTED_AS = {
    "all_gather": "c10d._allgather_base_",
    "reduce_scatter": "c10d._reduce_scatter_base_",
    "all_reduce": "c10d_functional.all_reduce",
}
"""What torch's counter calls what the jobs do."""

JOBS = [
    ("ddp", 2), ("ddp", 4), ("fsdp", 2), ("fsdp", 4), ("tensor_parallel", 2), ("tensor_parallel", 4), ("gpipe", 2),
    ("gpipe", 4), ("one_forward_one_backward", 4), ("mesh_of_fsdp_and_tensor_parallel", 4),
    ("mesh_of_pipeline_and_fsdp", 4),
]  # fmt: skip


def sums(graph: Graph) -> dict[str, tuple[int, int]]:
    """Return count and bytes by operation."""
    counts, sizes = Counter[str](), Counter[str]()
    for row in graph.communication().traffic:
        counts[row.operation] += row.count
        sizes[row.operation] += row.bytes
    return {operation: (counts[operation], sizes[operation]) for operation in counts}


def lanes(graph: Graph) -> list[tuple[str, int]]:
    """Return the ranks that a merged graph shows, and how many each stands for."""
    return [(scope.name, 1 + len(scope.repeats)) for scope in graph.scopes if scope.parent == 0]


@pytest.mark.parametrize(("scheme", "world"), JOBS)
def test_what_the_ranks_recorded_is_one_valid_program(scheme: str, world: int, recorded: Recorded) -> None:
    for fold in (True, False):
        merged = trec.merge(recorded(scheme, world), fold=fold).verify()
        assert sum([count for _, count in lanes(merged)]) == world


@pytest.mark.parametrize(("scheme", "world"), JOBS)
def test_folded_ranks_communicate_what_they_did_apart(scheme: str, world: int, recorded: Recorded) -> None:
    graphs = recorded(scheme, world)
    assert sums(trec.merge(graphs)) == sums(trec.merge(graphs, fold=False))


@pytest.mark.parametrize("world", [2, 4])
def test_ddp_reduces_all_gradients_once(world: int, recorded: Recorded) -> None:
    merged = trec.merge(recorded("ddp", world))
    assert lanes(merged) == [("rank 0", world)]
    assert sums(merged) == {"all_reduce": (1, WHOLE)}


@pytest.mark.parametrize("world", [2, 4])
def test_fsdp_gathers_all_parameters_twice_and_reduces_them_once(world: int, recorded: Recorded) -> None:
    merged = trec.merge(recorded("fsdp", world))
    assert lanes(merged) == [("rank 0", world)]
    assert sums(merged) == {"all_gather": (4, 2 * WHOLE), "reduce_scatter": (2, WHOLE)}


@pytest.mark.parametrize(("scheme", "forward", "backward"), [("ddp", 0, 1), ("fsdp", 2, 4), ("tensor_parallel", 2, 1)])
def test_communication_belongs_to_modules_and_phases(
    scheme: str, forward: int, backward: int, recorded: Recorded
) -> None:
    merged = trec.merge(recorded(scheme, 2))
    traffic = merged.communication().traffic
    counts = Counter[str]()
    for row in traffic:
        counts[row.phase] += row.count
    assert (counts["forward"], counts["backward"]) == (forward, backward)
    assert any(row.module for row in traffic if row.phase == "backward")
    assert merged.derivatives
    assert trec.merge(recorded(scheme, 2), fold=False).phase("forward").verify().communication().count == forward


@pytest.mark.parametrize("world", [2, 4])
def test_tensor_parallel_reduces_an_activation_per_block_and_direction(world: int, recorded: Recorded) -> None:
    """Nothing needs the gradient of the first block's input."""
    merged = trec.merge(recorded("tensor_parallel", world))
    assert lanes(merged) == [("rank 0", world)]
    assert sums(merged) == {"all_reduce": (3, 3 * ACTIVATION)}


@pytest.mark.parametrize(("scheme", "world"), [("gpipe", 2), ("gpipe", 4), ("one_forward_one_backward", 4)])
def test_a_pipeline_sends_each_microbatch_forth_and_its_gradient_back(
    scheme: str, world: int, recorded: Recorded
) -> None:
    merged = trec.merge(recorded(scheme, world))
    count = 2 * (world - 1) * MICROBATCHES
    assert len(lanes(merged)) == world
    assert sums(merged) == {"send": (count, count * SENT)}


def test_a_mesh_of_fsdp_and_tensor_parallel_is_one_program(recorded: Recorded) -> None:
    merged = trec.merge(recorded("mesh_of_fsdp_and_tensor_parallel", 4))
    assert lanes(merged) == [("rank 0", 4)]
    assert sums(merged) == {
        "all_gather": (8, 2 * WHOLE),
        "all_reduce": (6, 6 * ACTIVATION),
        "reduce_scatter": (4, WHOLE),
    }
    groups = {row.operation: row.groups for row in merged.communication().traffic}
    assert groups == {
        "all_gather": ((0, 2), (1, 3)),
        "all_reduce": ((0, 1), (2, 3)),
        "reduce_scatter": ((0, 2), (1, 3)),
    }


def test_a_mesh_of_a_pipeline_and_fsdp_is_one_program_for_each_stage(recorded: Recorded) -> None:
    """A whole stage is sharded as one, and such a root keeps what it has gathered for the backward pass."""
    merged = trec.merge(recorded("mesh_of_pipeline_and_fsdp", 4))
    assert lanes(merged) == [("rank 0", 2), ("rank 2", 2)]
    count = 2 * 2 * MICROBATCHES
    assert sums(merged) == {
        "all_gather": (2, WHOLE),
        "send": (count, count * SENT),
        "reduce_scatter": (2, WHOLE),
    }


@pytest.mark.parametrize(
    ("scheme", "world"),
    [("fsdp", 2), ("fsdp", 4), ("tensor_parallel", 2), ("tensor_parallel", 4), ("mesh_of_fsdp_and_tensor_parallel", 4)],
)
def test_each_rank_communicates_as_often_as_torch_counts(
    scheme: str, world: int, jobs: Path, recorded: Recorded
) -> None:
    for rank, graph in enumerate(recorded(scheme, world)):
        counts = json.loads((jobs / f"{scheme}{world}" / f"rank{rank}.json").read_text(encoding="utf-8"))
        assert {COUNTED_AS[operation]: count for operation, (count, _) in sums(graph).items()} == counts


@pytest.mark.parametrize("scheme", ["fsdp", "tensor_parallel", "mesh_of_fsdp_and_tensor_parallel"])
def test_sharded_parameters_are_what_a_rank_has_of_them(scheme: str, recorded: Recorded) -> None:
    for graph in recorded(scheme, 4):
        assert graph.stats().params == PARAMETERS // 4


def test_what_was_gathered_is_what_a_layer_reads(recorded: Recorded) -> None:
    """Each rank's part of a weight leads through the gathering to the layer that uses it, on every rank."""
    graph = trec.merge(recorded("fsdp", 2), fold=False)
    reached = {"rank 1.0.up.weight"}
    for node in graph.nodes:
        if any(graph.nodes[graph.producers[value]].name in reached for value in node.inputs):
            reached.add(node.name)
    assert "rank 0.0.up.linear" in reached


def test_ranks_of_different_schemes_do_not_fit(recorded: Recorded) -> None:
    mixed = [recorded("ddp", 2)[0], recorded("fsdp", 2)[1]]
    with pytest.raises(
        trec.MergeError,
        match=r"the operation \(all_reduce and all_gather\).*rank 0 .*job\.py:\d+, but rank 1 .* '0', job\.py:\d+",
    ):
        trec.merge(mixed)


def test_the_command_merges_files(jobs: Path, tmp_path: Path) -> None:
    ranks = sorted(map(str, (jobs / "gpipe2").glob("rank*.trec")))
    target = tmp_path / "all.trec"
    run = [sys.executable, "-m", "trec", "merge"]
    subprocess.run([*run, *ranks, "-o", str(target)], check=True)
    assert trec.load(target) == trec.merge([trec.load(path) for path in ranks])
    failed = subprocess.run([*run, ranks[0], "-o", str(target)], capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert "of 2 ranks these are missing: 1" in failed.stderr
