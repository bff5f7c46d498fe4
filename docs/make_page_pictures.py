"""Take the pictures of the page that the documentation shows: `python docs/make_page_pictures.py [folder]`.

Needs Chromium and `npm install --prefix tests/node`. What comes out depends on the fonts of the machine.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torchvision.models import densenet201
from transformers import MixtralConfig, MixtralForCausalLM

import trec

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples.models import ResNet, gpt2, llama, t5, token_ids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.analysis.diff import Diff
    from trec.ir.graph import Graph

FOLDER = Path(__file__).parent / "gallery" / "page"
BROWSE = Path(__file__).parents[1] / "tests" / "node" / "browse.mjs"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

SEARCH = """const input = document.querySelector("input[type=search]");
    input.value = "op:linear";
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));"""
LAYER = 'trec.toggle(trec.graph.find("model.layers.0")); trec.toggle(trec.graph.find("model.layers.0.self_attn"));'


def pages() -> Iterator[tuple[Graph | Diff, dict[str, str]]]:
    """Yield graphs, and for each picture by its name what is done before it is taken; dark ones are named so."""
    yield (
        trec.capture(llama(layers=32), args=(token_ids(16),), costs=True),
        {
            "llama": "",
            "llama-chosen": 'trec.select(trec.graph.find("model.layers.0"));',
            "llama-attention": f"{LAYER} trec.lookAt(trec.graph.find('model.layers.0.self_attn'));",
            "llama-unfolded": "trec.change({ folded: false, columns: true }); await trec.openTo(3);",
        },
    )
    inputs = {"input_ids": token_ids(16), "decoder_input_ids": token_ids(5)}
    yield (
        trec.capture(t5(layers=6), kwargs=inputs, costs=True),
        {
            "t5": "await trec.openTo(2);",
            "t5-parameters-dark": 'await trec.openTo(2); trec.store.set({ colourBy: "params" });',
        },
    )
    yield (
        trec.capture(mixtral(), args=(token_ids(16),), costs=True),
        {
            "mixtral-open": "await trec.openTo(Infinity);",
            "mixtral-searched-dark": SEARCH,
        },
    )
    yield (
        trec.capture(densenet201().eval(), (1, 3, 64, 64), costs=True),
        {
            "densenet": "await trec.openTo(2);",
            "densenet-block": 'await trec.openTo(2); trec.toggle(trec.graph.find("features.denseblock1"));'
            ' trec.lookAt(trec.graph.find("features.denseblock1"));',
        },
    )
    yield trec.capture(gpt2(), args=(token_ids(16),), backward=True), {"training": "await trec.openTo(2);"}
    yield changed(), {"diff": "await trec.openTo(2);", "diff-dark": "await trec.openTo(2);"}


def mixtral() -> torch.nn.Module:
    """Return a small Mixtral."""
    config = MixtralConfig(
        vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=8, num_attention_heads=4,
        num_key_value_heads=2, num_local_experts=8, use_cache=False,
    )  # fmt: skip
    return MixtralForCausalLM(config).eval()


def changed() -> Diff:
    """Return what a few exchanged layers make of a residual network."""
    before = trec.capture(ResNet().eval(), (1, 3, 64, 64))
    model = ResNet().eval()
    model.stage2[1].norm1 = torch.nn.GroupNorm(4, 32)
    model.stage3[0].relu = torch.nn.GELU()
    model.stage2.append(torch.nn.Dropout())
    return trec.diff(before, trec.capture(model.eval(), (1, 3, 64, 64)))


def order(page: Path, name: str, act: str, folder: Path) -> str:
    """Return what `tests/node/browse.mjs` is told to take a picture of a page after something was done on it."""
    scheme = "dark" if "dark" in name else "light"
    options = {"viewport": {"width": 1280, "height": 800}, "media": {"colorScheme": scheme}}
    script = f"""await page.evaluate(async () => {{ {act} }});
        await page.waitForTimeout(800);
        await page.screenshot({{ path: {json.dumps(str(folder / name))} + ".png" }});"""
    return json.dumps([str(page), options, script])


def main() -> None:
    """Take the pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(exist_ok=True)
    torch.manual_seed(0)
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "page.html"
        for graph, pictures in pages():
            graph.to_html(path)
            orders = "".join([f"{order(path, name, act, folder)}\n" for name, act in pictures.items()])
            done = subprocess.run(
                ["node", str(BROWSE), browser], input=orders.encode(), capture_output=True, check=True
            )
            if b'"error"' in done.stdout:
                raise RuntimeError(done.stdout.decode())


if __name__ == "__main__":
    main()
