"""What recording adds to a model of real size: `python benchmarks/real_size.py [runs]`.

The forward passes take over half a second, so what recording costs for each call is small beside them. Everything runs
in one thread without gradients, each subject in turn within every run, so that a busy machine is fair to all. Printed
are medians of the processor time of that thread, and the median of the ratios to the plain pass of the same run.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from statistics import median
from time import thread_time
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

import trec

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples.models import convolution, token_ids

if TYPE_CHECKING:
    from collections.abc import Callable


class Bottleneck(nn.Module):
    """Three convolutions, the middle one narrow, and a skip around them."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.reduce = nn.Sequential(nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.mix = convolution(width, width, stride)
        self.expand = nn.Sequential(nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width))
        self.skip: nn.Module = nn.Identity()
        if (channels, stride) != (4 * width, 1):
            self.skip = nn.Sequential(nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x: Tensor) -> Tensor:
        """Return the features of the next block."""
        return torch.relu(self.expand(self.mix(self.reduce(x))) + self.skip(x))


def resnet50() -> tuple[nn.Module, dict[str, Tensor]]:
    """Return a network of the shape of ResNet-50, and sixteen images."""
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    layers.append(nn.MaxPool2d(3, 2, 1))
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 * 2**stage
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, 2 if stage and not block else 1))
            channels = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000)]
    return nn.Sequential(*layers).eval(), {"input": torch.rand(16, 3, 224, 224)}


def gpt2() -> tuple[nn.Module, dict[str, Tensor]]:
    """Return a model of the size of GPT-2 small, and two texts of 512 tokens."""
    from transformers import GPT2Config, GPT2LMHeadModel

    model: nn.Module = GPT2LMHeadModel(GPT2Config(use_cache=False))
    return model.eval(), {"input_ids": token_ids(512).expand(2, -1).contiguous()}


MODELS = {"ResNet-50, batch 16": resnet50, "GPT-2 small, 2 x 512": gpt2}


def subjects(net: nn.Module, inputs: dict[str, Tensor]) -> dict[str, Callable[[], Any]]:
    """Return what is measured, by name."""
    return {
        "plain": lambda: net(**inputs),
        "function": lambda: trec.capture(net, kwargs=inputs),
        "aten": lambda: trec.capture(net, kwargs=inputs, level="aten"),
        "costs": lambda: trec.capture(net, kwargs=inputs, costs=True),
    }


def seconds(work: Callable[[], Any]) -> float:
    """Return the processor time that a call takes in this thread."""
    gc.collect()
    start = thread_time()
    work()
    return thread_time() - start


def main() -> None:
    """Print the figures of every model."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, medians of {runs} runs\n")
    for title, make in MODELS.items():
        measured = subjects(*make())
        with torch.no_grad():
            for work in measured.values():
                work()
            times = [{name: seconds(work) for name, work in measured.items()} for _ in range(runs)]
        print(title)
        for name in measured:
            ratio = median(turn[name] / turn["plain"] for turn in times)
            print(f"  {name:10} {median(turn[name] for turn in times):7.3f} s   {ratio:6.3f} x plain")
        print()


if __name__ == "__main__":
    main()
