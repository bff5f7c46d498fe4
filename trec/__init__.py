"""trec records what a PyTorch model does as a graph that can be saved, rewritten, analysed and drawn."""

from trec.capture.api import capture as capture
from trec.capture.api import recording as recording
from trec.capture.frontends import from_export as from_export
from trec.capture.frontends import from_fx as from_fx
from trec.errors import (
    CaptureError,
    DependencyError,
    FormatError,
    OptionError,
    TraceWarning,
    TrecError,
    VerifyError,
)
from trec.ir.graph import Graph
from trec.ir.serialize import load

__version__ = "0.1.0"
diff = Graph.diff
__all__ = [
    "CaptureError",
    "DependencyError",
    "FormatError",
    "Graph",
    "OptionError",
    "TraceWarning",
    "TrecError",
    "VerifyError",
    "__version__",
    "capture",
    "diff",
    "from_export",
    "from_fx",
    "load",
    "recording",
]
