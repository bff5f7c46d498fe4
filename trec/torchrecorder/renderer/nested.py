"""Renderers whose open modules are frames round what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.torchrecorder.nodes import LayerNode
from trec.torchrecorder.renderer.base import BaseRenderer

if TYPE_CHECKING:
    from trec.torchrecorder.nodes import BaseNode
    from trec.torchrecorder.recorder import Recorder


class NestedRenderer(BaseRenderer):
    """Draw each node once, where it belongs; all edges are drawn outside the frames, where they change none."""

    def __init__(self, rec: Recorder, render_depth: int = 256) -> None:
        super().__init__(rec, render_depth)
        self._drawn: set[BaseNode] = set()

    def __call__(self, dest: Any) -> Any:
        """Draw the recording and return what it was drawn into."""
        self._drawn.clear()
        return super().__call__(dest)

    def render_node(self, dest: Any, node: BaseNode) -> None:
        """Draw a node that is not there yet; an open module with what is in it.

        Args:
            dest: what to draw into.
            node: the node.
        """
        if node in self._drawn:
            return  # in the frame of its module
        self._drawn.add(node)
        if isinstance(node, LayerNode) and not self.is_closed(node):
            self.render_recursive_node(dest, node)
        else:
            self.render_box(dest, node)

    def render_box(self, dest: Any, node: BaseNode) -> None:
        """Draw a node that has nothing in it.

        Args:
            dest: what to draw into.
            node: the node.
        """
        raise NotImplementedError(f"{type(self).__name__} must say how a box is drawn")
