"""Record three models, and write for each its pictures, its graph and what networkx says about it.

Run: make demo, or python examples/demo.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import torch
from models import ResNet, SampleNet, t5, token_ids
from networkx_analysis import data_flow, longest_path, operators, report

import trec

if TYPE_CHECKING:
    from trec import Graph

ROW = "{:<8} {:>5} {:>10} {:>8} {:>11} {:>13} {:>8}   {}"


class Recording(NamedTuple):
    """A graph, and what is drawn of it, by title."""

    graph: Graph
    pictures: dict[str, Graph]


def sample() -> Recording:
    """Return two linear layers, joined into a third: whole, and with its ATen operators."""
    net = SampleNet()
    graph = trec.capture(net, [(4, 3), (4, 3)])
    return Recording(graph, {"whole": graph, "aten": trec.capture(net, [(4, 3), (4, 3)], level="aten")})


def resnet() -> Recording:
    """Return a small residual network: at three depths, and with one of its blocks open."""
    graph = trec.capture(ResNet().eval(), (1, 3, 32, 32))
    pictures = {f"depth{depth}": graph.collapse(depth=depth) for depth in (1, 2, 3)}
    return Recording(graph, {**pictures, "one-block-open": graph.collapse(depth=1, keep="stage2.0")})


def transformer() -> Recording:
    """Return a small T5, an encoder and a decoder: at three depths, and with one cross-attention open."""
    graph = trec.capture(t5(), kwargs={"input_ids": token_ids(16), "decoder_input_ids": token_ids(5)})
    pictures = {f"depth{depth}": graph.collapse(depth=depth) for depth in (1, 2, 3)}
    return Recording(graph, {**pictures, "one-attention-open": graph.collapse(depth=2, keep="decoder.block.0.layer.1")})


def write(folder: Path, name: str, recording: Recording) -> list[Path]:
    """Write all files of one model and return the paths of its pictures."""
    graph = recording.graph.verify()
    graph.save(folder / f"{name}.trec")
    graph.save(folder / f"{name}.json")
    (folder / f"{name}-networkx.txt").write_text(report(graph) + "\n", encoding="utf-8")
    paths = []
    for title, picture in recording.pictures.items():
        path = folder / f"{name}-{title}.svg"
        picture.write(path)
        picture.write(path.with_suffix(".dot"))
        paths.append(path)
    return paths


def row(name: str, graph: Graph, seconds: float) -> str:
    """Return one line of the table."""
    network = data_flow(graph)
    one_box = graph.collapse(depth=0)
    params = next(one_box.attrs_of(node)["params"] for node in one_box.nodes if node.kind == "module")
    common = ", ".join(f"{count} {op}" for op, count in operators(network).most_common(3))
    modules = sum(scope.kind == "module" for scope in graph.scopes)
    values = [
        name,
        len(graph.nodes),
        sum(operators(network).values()),
        modules,
        f"{params:,}",
        len(longest_path(network)),
    ]
    return ROW.format(*values, f"{seconds:.1f}", common)


def main() -> None:
    """Write everything and say where it is."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo")
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    print(ROW.format("model", "nodes", "operators", "modules", "parameters", "longest path", "seconds", "most called"))
    page = ["<!doctype html><meta charset=utf-8><title>trec</title><body style='font-family: sans-serif'>"]
    for name, record in (("sample", sample), ("resnet", resnet), ("t5", transformer)):
        start = perf_counter()
        recording = record()
        paths = write(folder, name, recording)
        print(row(name, recording.graph, perf_counter() - start))
        page += [f"<h2>{path.stem}</h2><img src='{path.name}'>" for path in paths]
    (folder / "index.html").write_text("\n".join(page), encoding="utf-8")
    print(f"\n{len(list(folder.iterdir()))} files; the pictures are {folder}/*.svg, all of them on {folder}/index.html")


if __name__ == "__main__":
    main()
