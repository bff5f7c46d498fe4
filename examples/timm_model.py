"""Record a model of timm, with random weights and by its shapes alone.

Run: python examples/timm_model.py [folder]
"""

from __future__ import annotations

from places import need, output

need("timm", "timm")

import timm  # noqa: E402  (only where it is installed)

import trec  # noqa: E402


def main() -> None:
    """Draw a ConvNeXt with equal blocks folded, and write a table of its modules."""
    net = timm.create_model("convnext_tiny", pretrained=False).eval()
    graph = trec.capture(net, (1, 3, 224, 224), device="meta")
    folded = graph.fold()
    folded.collapse(depth=4).to_svg(output("timm-convnext.svg"), wrap=1100)
    graph.to_table(output("timm-convnext.csv"), depth=2)
    print(repr(graph))
    print(repr(folded))


if __name__ == "__main__":
    main()
