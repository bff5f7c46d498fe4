"""trec records what a PyTorch model does as a graph that can be saved, rewritten, analysed and drawn."""

from trec.capture.api import capture as capture
from trec.capture.api import recording as recording
from trec.errors import CaptureError, DependencyError, FormatError, OptionError, TrecError, VerifyError
from trec.ir.graph import Graph
from trec.ir.serialize import load

__version__ = "0.1.0"
__all__ = [
    "CaptureError",
    "DependencyError",
    "FormatError",
    "Graph",
    "OptionError",
    "TrecError",
    "VerifyError",
    "__version__",
    "capture",
    "load",
    "recording",
]
