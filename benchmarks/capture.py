"""Time to record a model, beside what recording cannot do without: `python benchmarks/capture.py [runs]`.

For each model, in turn within every run, so that a busy machine is fair to all:

- `plain`: the forward pass alone;
- `modes`: the forward pass under two modes of PyTorch that only pass on what they see, one for functions and one for
  operators, which is how trec looks on;
- `function`, `aten`: `trec.capture` at that level, from the call to the finished graph;
- `torchview`: what torchview records before it draws, at its default depth, if it is installed. It records neither
  operators nor parameters, and its picture, which takes longer still, is not counted.

Everything runs in one thread without gradients. Printed are medians of the processor time of that thread, the ratio to
`modes`, and for trec the microseconds for each recorded node.
"""

from __future__ import annotations

import gc
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import thread_time
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import trec

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples.models import gpt2, llama, multilayer_perceptron, token_ids

if TYPE_CHECKING:
    from collections.abc import Callable

Inputs = dict[str, torch.Tensor]

MODELS: dict[str, Callable[[], tuple[torch.nn.Module, Inputs]]] = {
    "GPT-2, 12 layers": lambda: (gpt2(layers=12), {"input_ids": token_ids(16)}),
    "Llama, 32 layers": lambda: (llama(layers=32), {"input_ids": token_ids(16)}),
    "MLP, 2,000 layers": lambda: (multilayer_perceptron(2000), {"input": torch.ones(1, 8)}),
}


class Functions(TorchFunctionMode):
    """Pass every call of a torch function on."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function."""
        return func(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Pass every operator on."""

    def _handle(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


# Assigned later, because a handler in the class body is wrapped in one that loads the compiler.
Operators.__torch_dispatch__ = Operators._handle  # type: ignore[assignment]


def subjects(net: torch.nn.Module, inputs: Inputs) -> dict[str, Callable[[], Any]]:
    """Return what is measured, by name."""

    def modes() -> None:
        with Operators(), Functions():  # type: ignore[no-untyped-call]
            net(**inputs)

    found: dict[str, Callable[[], Any]] = {
        "plain": lambda: net(**inputs),
        "modes": modes,
        "function": lambda: trec.capture(net, kwargs=inputs),
        "aten": lambda: trec.capture(net, kwargs=inputs, level="aten"),
    }
    if find_spec("torchview"):
        found["torchview"] = lambda: torchview_recording(net, inputs)
    return found


def torchview_recording(net: torch.nn.Module, inputs: Inputs) -> Any:
    """Return what torchview records, before it is made into a picture."""
    import graphviz
    from torchview.computation_graph import ComputationGraph
    from torchview.torchview import forward_prop, process_input

    prepared, named, roots = process_input(dict(inputs), None, {}, "cpu")
    graph = ComputationGraph(graphviz.Digraph(), roots, True, False, True, True, False, 3)
    forward_prop(net, prepared, "cpu", graph, "eval", **named)
    return graph


def milliseconds(work: Callable[[], Any]) -> float:
    """Return the processor time that a call takes in this thread."""
    gc.collect()
    start = thread_time()
    result = work()
    elapsed = (thread_time() - start) * 1000
    del result
    return elapsed


def main() -> None:
    """Print the figures of every model."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, medians of {runs} runs\n")
    for title, make in MODELS.items():
        net, inputs = make()
        with torch.no_grad():
            measured = subjects(net, inputs)
            for work in measured.values():
                work()
            times = [{name: milliseconds(work) for name, work in measured.items()} for _ in range(runs)]
            nodes = {level: len(measured[level]().nodes) for level in ("function", "aten")}
        print(title)
        middle = {name: median(run[name] for run in times) for name in measured}
        for name, time in middle.items():
            each = f"   {time * 1000 / nodes[name]:5.1f} µs a node, {nodes[name]:,} nodes" if name in nodes else ""
            print(f"  {name:10} {time:8.1f} ms   {time / middle['modes']:6.2f} x modes{each}")
        print()


if __name__ == "__main__":
    main()
