"""A drop-in for the package torchrecorder: its names, its pictures, on recordings of trec.

`import trec.torchrecorder as torchrecorder` is all that a script needs to change.
"""

from trec.errors import DependencyError

try:
    from trec.torchrecorder.helpers import make_dot, record, render_network
    from trec.torchrecorder.renderer import GraphvizStyler
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise DependencyError(
        "trec.torchrecorder needs PyTorch, which is not installed: pip install 'trec[torch]'"
    ) from error

__version__ = "1.0.3"
"""The version of torchrecorder whose calls these are."""

__all__ = ["GraphvizStyler", "make_dot", "record", "render_network"]
