"""How the page fares beside those of torchvista and Model Explorer on the same Llama, in one browser, by one driver.

Run: npm install --prefix tests/node; pip install torchvista; python benchmarks/page_peers.py [layers] [explorer]

Args:
    layers: how many layers the Llama has, 32 by default.
    explorer: the program `model-explorer` of the package `ai-edge-model-explorer`; left out if it is not given.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[1]))

import torchvista

import trec
from examples.models import llama, token_ids

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPEN = "await page.evaluate(() => { trec.change({ folded: false }); return trec.openTo(Infinity); });"
EXPAND = "await page.locator('mat-icon', { hasText: 'unfold_more_double' }).first().click();"
"""What opens everything on a page, each block on its own."""


@contextlib.contextmanager
def served(explorer: str, file: Path) -> Iterator[str]:
    """Run a server of Model Explorer for a file and give the address of its picture."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [explorer, str(file), "--host", "localhost", "--port", str(port), "--no_open_in_browser"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("localhost", port), 1):
                break
            time.sleep(0.1)
        data = quote(json.dumps({"models": [{"url": str(file)}]}), safe="")
        yield f"http://localhost:{port}/?data={data}&renderer=webgl&show_open_in_new_tab=0"
    finally:
        server.terminate()
        server.wait(20)


def main(layers: int, explorer: str) -> None:
    """Print a row of figures for each page."""
    model, ids = llama(layers=layers), token_ids(16)
    graph = trec.capture(model, args=(ids,), costs=True)
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        own, other, whole, nodes = (
            Path(folder) / name for name in ("trec.html", "vista.html", "all.html", "llama.json")
        )
        graph.to_html(own)
        # torchvista walks through the graph by recursion, deeper than Python allows of itself.
        sys.setrecursionlimit(100_000)
        with contextlib.redirect_stdout(io.StringIO()):
            torchvista.trace_model(model, ids, export_path=str(other))
            torchvista.trace_model(model, ids, export_path=str(whole), collapse_modules_after_depth=100)
        graph.to_model_explorer(nodes)
        pages = {
            "trec": (own.as_uri(), OPEN),
            "torchvista": (other.as_uri(), f"await page.goto('{whole.as_uri()}', {{ waitUntil: 'commit' }});"),
        }
        if explorer:
            pages["Model Explorer"] = (stack.enter_context(served(explorer, nodes)), EXPAND)
        command = ["node", str(HERE / "page_peers.mjs"), browser, *map(json.dumps, pages.values())]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    print(f"a Llama of {layers} layers, {len(graph.nodes)} nodes")
    for name, row in zip(pages, json.loads(done.stdout), strict=True):
        for what, time_, (middle, most) in (
            ("first picture", row["first"], row["frames"]),
            ("all open", row["all"], row["framesOfAll"]),
        ):
            print(f"{name}, {what}: {time_:.0f} ms; a frame while dragged {middle:.0f}, 95 of 100 within {most:.0f}")
        print(f"{name}: {row['bytes'] / 1e6:.2f} MB {' '.join(row['messages'])}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 32, sys.argv[2] if len(sys.argv) > 2 else "")
