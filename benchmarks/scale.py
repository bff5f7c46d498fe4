"""How recording grows with the model: `python benchmarks/scale.py [factor]`.

Processor time for each layer or step of a small and of a large model of the same kind, in turn, and their ratio: 1 is
linear growth. At the end a program of a million operators, with its time and the greatest memory of the process.
A factor above 1 makes everything smaller by as much.
"""

from __future__ import annotations

import gc
import resource
import sys
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

import trec

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 5


class Loop(nn.Module):
    """Plain operators in a loop, each on the result of the one before."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps

    def forward(self, x: Tensor) -> Tensor:
        """Return x with as many ones added as there are steps."""
        for _ in range(self.steps):
            x = x + 1
        return x


class Cells(nn.Module):
    """One recurrent cell, called again and again."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.cell = nn.RNNCell(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        """Return the last state."""
        state = x
        for _ in range(self.steps):
            state = self.cell(x, state)
        return state


class Rows(nn.Module):
    """A table that is written row by row, each from the one before."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps

    def forward(self, x: Tensor) -> Tensor:
        """Return the table."""
        table = x.new_zeros(self.steps + 1, 4)
        for step in range(self.steps):
            table[step + 1] = table[step] + 1
        return table


class Residual(nn.Module):
    """Two linear layers, one of them in a container, and a skip around them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        """Return x and what the layers make of it."""
        result: Tensor = x + self.second(self.first(x))
        return result


def flat(layers: int) -> nn.Module:
    """Return linear layers in a row, each with an activation."""
    return nn.Sequential(*[module for _ in range(layers) for module in (nn.Linear(4, 4), nn.ReLU())])


def nested(layers: int) -> nn.Module:
    """Return blocks in groups of ten."""
    return nn.Sequential(*[nn.Sequential(*[Residual() for _ in range(10)]) for _ in range(layers // 10)])


KINDS: dict[str, tuple[Callable[[int], nn.Module], int, int]] = {
    "layers in a row": (flat, 1_000, 10_000),
    "nested blocks": (nested, 1_000, 10_000),
    "operators in a loop": (Loop, 1_000, 100_000),
    "a cell in a loop": (Cells, 1_000, 100_000),
    "rows of a table": (Rows, 1_000, 100_000),
}
"""For each kind of model how to make it, and the sizes that are compared."""


def seconds(net: nn.Module) -> float:
    """Return the processor time of one recording; what is freed afterwards is not part of it."""
    gc.collect()
    start = process_time()
    graph = trec.capture(net, (1, 4))
    elapsed = process_time() - start
    del graph
    return elapsed


def main() -> None:
    """Print the growth of each kind, and the figures of a million operators."""
    factor = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    torch.set_num_threads(1)
    with torch.no_grad():
        for title, (make, few, many) in KINDS.items():
            small, large = make(few // factor), make(many // factor)
            seconds(small)
            runs = [
                (min(seconds(small) for _ in range(3)), seconds(large)) for _ in range(RUNS if many < 50_000 else 2)
            ]
            each = [
                min(times) / count * factor * 1e6
                for times, count in zip(zip(*runs, strict=True), (few, many), strict=True)
            ]
            print(
                f"{title:20} {few:6,} to {many:7,}: {each[0]:6.1f} to {each[1]:6.1f} µs each, {each[1] / each[0]:.2f} x"
            )
        start, started = perf_counter(), process_time()
        graph = trec.capture(Loop(1_000_000 // factor), (1, 4))
        elapsed, used = perf_counter() - start, process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # Linux counts in KiB
    print(f"{len(graph.nodes):,} nodes in {elapsed:.1f} s ({used:.1f} s of processor time), peak memory {peak:.2f} GiB")


if __name__ == "__main__":
    main()
