"""Record a graph network of PyTorch Geometric on a small graph.

Run: python examples/pyg_model.py [folder]
"""

from __future__ import annotations

import re

from msgspec.structs import replace
from places import need, output

need("torch_geometric", "torch_geometric")

import torch  # noqa: E402
from torch_geometric.nn import GCN  # noqa: E402  (only where it is installed)

import trec  # noqa: E402


def main() -> None:
    """Draw a net of two graph convolutions: five vertices in a ring, four features each."""
    net = GCN(in_channels=4, hidden_channels=8, num_layers=2, out_channels=3).eval()
    ring = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
    graph = trec.capture(net, args=(torch.zeros(5, 4), ring))
    # PyTorch Geometric writes the code of `propagate` into files whose names are random
    sources = tuple(replace(row, file=re.sub(r"_propagate_\w+", "_propagate", row.file)) for row in graph.sources)
    replace(graph, sources=sources).to_svg(output("pyg-gcn.svg"))
    print(graph.collapse(depth=1))
    print(graph.report())


if __name__ == "__main__":
    main()
