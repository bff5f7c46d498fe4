"""Put a graph into tables of pandas: by module, and by operator.

Run: python examples/pandas_table.py [folder]
"""

from __future__ import annotations

from models import ResNet
from places import need, output

import trec

need("pandas", "pandas")

import pandas  # noqa: E402  (only where it is installed)


def main() -> None:
    """Write both tables and print the second."""
    graph = trec.capture(ResNet().eval(), (1, 3, 32, 32), costs=True)
    modules = pandas.DataFrame(graph.stats().rows())
    modules.to_csv(output("resnet-modules.csv"), index=False, lineterminator="\n")

    costs = graph.costs().nodes
    steps = pandas.DataFrame(
        [(node.op, graph.scopes[node.parent].cls, cost.flops or 0, cost.output_bytes) for node, cost in zip(
            graph.nodes, costs, strict=True) if node.kind == "op"],
        columns=["op", "module", "flops", "output_bytes"],
    )  # fmt: skip
    table = steps.groupby("op").agg(calls=("op", "size"), flops=("flops", "sum"), output_bytes=("output_bytes", "sum"))
    table = table.sort_values(["flops", "output_bytes"], ascending=False)
    table.to_csv(output("resnet-operators.csv"), lineterminator="\n")
    print(table)


if __name__ == "__main__":
    main()
