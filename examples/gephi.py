"""Write a residual network for Gephi: placed, coloured, with all that is known of each step as columns.

Run: python examples/gephi.py [folder]
"""

from __future__ import annotations

import networkx
from models import ResNet
from places import output

import trec


def main() -> None:
    """Write the file, and read it back as Gephi does: nodes, edges and columns."""
    path = output("resnet.gexf")
    graph = trec.capture(ResNet().eval(), (1, 3, 32, 32), costs=True)
    graph.hide("kind:param or kind:buffer").to_gexf(path, layout=True)
    network = networkx.read_gexf(path, version="1.3")
    columns = sorted({name for _, row in network.nodes(data=True) for name in row})
    print(f"{path.name}: {len(network)} nodes, {network.number_of_edges()} edges; columns: {', '.join(columns)}")


if __name__ == "__main__":
    main()
