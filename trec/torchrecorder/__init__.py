"""A drop-in for the package torchrecorder: its names, its pictures, on recordings of trec.

`import trec.torchrecorder as torchrecorder` is all that a script needs to change.
"""

from trec.torchrecorder.helpers import make_dot, record, render_network
from trec.torchrecorder.renderer import GraphvizStyler

__version__ = "1.0.3"
"""The version of torchrecorder whose calls these are."""

__all__ = ["GraphvizStyler", "make_dot", "record", "render_network"]
