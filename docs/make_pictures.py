"""Draw the pictures of the documentation anew: `python docs/make_pictures.py [folder]`.

They are the same on every machine.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import torch

import trec

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

from custom_style import STYLE
from models import ResNet, SampleNet, UNet, gpt2, t5, token_ids

from trec.backends.style import DARK, Style
from trec.torchrecorder import record
from trec.torchrecorder.picture import to_svg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.analysis.diff import Diff

FOLDER = Path(__file__).parent / "pictures"


def pictures() -> Iterator[tuple[str, str]]:
    """Yield the name and the SVG of every picture."""
    torch.manual_seed(0)
    unet = trec.capture(UNet().eval(), (1, 3, 64, 64))
    yield "unet-depth1", unet.collapse(depth=1).to_svg()
    yield "unet-mix-open", unet.collapse(depth=1, keep="up2.mix").to_svg()
    yield "unet-style", unet.collapse(depth=1).to_svg(style=STYLE, caption=True)
    words = {"Sequential": "convolution, norm, ReLU", "Up": "upsampling", "Conv2d": "classifier"}
    yield "unet-paper", unet.collapse(depth=1).relabel(words).to_svg(style="paper", rankdir="LR")
    yield "unet-failed", failed().collapse(depth=1).to_svg()

    sample = trec.capture(SampleNet(), [(4, 3), (4, 3)])
    yield "sample", sample.to_svg(rankdir="LR")
    yield "sample-params", sample.to_svg(params=True)
    yield "sample-tensors", sample.to_svg(tensors="nodes")

    yield "sequential-diff", changed().to_svg()

    live = record(SampleNet(), "Sample Net", [(4, 3), (4, 3)])
    yield "sample-torchrecorder", to_svg(live, 2, "Sample Net at depth = 2")

    inputs = {"input_ids": token_ids(16), "decoder_input_ids": token_ids(5)}
    block = trec.capture(gpt2(layers=1).transformer.h[0].eval(), (1, 5, 64), backward=True)
    yield "block-backward", block.collapse(depth=2).to_svg()
    gpt = trec.capture(gpt2(layers=12), args=(token_ids(16),))
    yield "gpt2-folded", gpt.fold().collapse(depth=3).to_svg()
    resnet = trec.capture(ResNet().eval(), (1, 3, 64, 64)).collapse(depth=2)
    yield "resnet-params", resnet.to_svg(style=Style(theme=DARK, colour_by="params"), title="ResNet", caption=True)
    yield "t5-depth2", trec.capture(t5(), kwargs=inputs).collapse(depth=2).to_svg()


def changed() -> Diff:
    """Return what an exchanged activation, an inserted norm and a removed layer make of a model."""
    nn = torch.nn
    before = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.Dropout(), nn.Linear(8, 2))
    after = nn.Sequential(before[0], nn.GELU(), nn.LayerNorm(8), before[2], before[4])
    return trec.diff(trec.capture(before.eval(), (1, 4)), trec.capture(after.eval(), (1, 4)))


def failed() -> trec.Graph:
    """Return what was recorded of a model until it failed."""
    try:
        return trec.capture(UNet().eval(), (1, 3, 63, 63))
    except trec.CaptureError as error:
        if error.graph is None:
            raise
        return error.graph


def main() -> None:
    """Write the pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in pictures():
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
