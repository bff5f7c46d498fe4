"""Record a model at the three levels, and get the coarse ones from the finest.

Run: python examples/compare_levels.py
"""

from __future__ import annotations

from collections import Counter
from typing import get_args

from models import SampleNet

import trec
from trec.ir.types import Level


def main() -> None:
    """Print the steps at each level, and whether folding the finest gives the others."""
    net = SampleNet()
    graphs = {level: trec.capture(net, [(4, 3), (4, 3)], level=level) for level in get_args(Level)}
    for level, graph in graphs.items():
        steps = Counter(node.op for node in graph.nodes if node.kind in ("op", "module"))
        print(f"{level:9} {len(graph.nodes):3} nodes:", ", ".join(f"{count} {op}" for op, count in steps.items()))
    print()
    print(graphs["aten"])
    print()
    for level in get_args(Level)[:2]:
        print(f"the aten graph folded to {level} is the {level} graph:", graphs["aten"].level(level) == graphs[level])


if __name__ == "__main__":
    main()
