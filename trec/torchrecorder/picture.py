"""Draw a recording as SVG without Graphviz."""
from typing import Any
def to_svg(rec: Any, render_depth: int, title: str, **styler_args: Any) -> str: return ""
