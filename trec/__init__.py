"""trec records what a PyTorch model does as a graph that can be saved, rewritten, analysed and drawn."""

from typing import TYPE_CHECKING, Any

from trec import registry
from trec.capture.api import capture as capture
from trec.capture.api import recording as recording
from trec.capture.frontends import from_export as from_export
from trec.capture.frontends import from_fx as from_fx
from trec.errors import (
    CaptureError,
    DependencyError,
    FormatError,
    MergeError,
    OptionError,
    StructureError,
    TraceWarning,
    TrecError,
    VerifyError,
)
from trec.ir.graph import Graph
from trec.ir.serialize import load

if TYPE_CHECKING:
    from trec.passes.merge import merge
    from trec.passes.symbolic import symbolic
    from trec.passes.union import union

__version__ = "0.1.0"
diff = Graph.diff
__all__ = [
    "CaptureError",
    "DependencyError",
    "FormatError",
    "Graph",
    "MergeError",
    "OptionError",
    "StructureError",
    "TraceWarning",
    "TrecError",
    "VerifyError",
    "__version__",
    "capture",
    "diff",
    "from_export",
    "from_fx",
    "load",
    "merge",
    "recording",
    "symbolic",
    "union",
]

_LATER = {
    "merge": "trec.passes.merge:merge",
    "symbolic": "trec.passes.symbolic:symbolic",
    "union": "trec.passes.union:union",
}
"""What is imported when it is first asked for: name and place."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = registry.load(_LATER[name])
    return found
