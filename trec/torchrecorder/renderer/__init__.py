"""From the live view to a picture."""

from trec.torchrecorder.renderer.gv import GraphvizRenderer, GraphvizStyler

__all__ = ["GraphvizRenderer", "GraphvizStyler"]
