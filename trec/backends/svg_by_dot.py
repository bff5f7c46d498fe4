"""Draw with the program `dot` of Graphviz, where it is installed, and finish what it prints."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from trec.backends.dot import lines
from trec.backends.escape import printable
from trec.errors import DependencyError, TrecError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.backends.drawing import Drawing

_NOISE = re.compile(r"<!DOCTYPE[^>]*>\s*|<!--.*?-->\s*", re.DOTALL)
_TITLE = re.compile(r"<title>(n\d+|n\d+&#45;&gt;n\d+|cluster_\d+)</title>")
_FIRST_TITLE = re.compile(r"(<g id=\"graph0\"[^>]*>\s*)<title>.*?</title>", re.DOTALL)
_CLUSTER = re.compile(
    r'(<g id="clust\d+" class="cluster">.*?<path fill="(#\w+)"[^>]*>\s*)((?:<text[^>]*>[^<]*</text>\s*)+)', re.DOTALL
)
_FAMILY = re.compile(r' font-family="[^"]*"')


def draw(drawing: Drawing) -> str:
    """Return a drawing as the installed program `dot` of Graphviz draws it.

    Raises:
        DependencyError: the program is not there.

    Cost: more than linear; seconds at a thousand boxes.
    """
    program = shutil.which("dot")
    if program is None:
        raise DependencyError(
            'to_svg(engine="dot") needs Graphviz, whose program `dot` was not found; without engine= nothing is needed'
        )
    return _finish(_run(program, "\n".join(lines(drawing, tooltips=False))), drawing)


def _run(program: str, dot: str) -> str:
    done = subprocess.run([program, "-Tsvg"], input=dot.encode(), capture_output=True, check=False)
    if done.returncode or not done.stdout:
        reason = done.stderr.decode(errors="replace").strip()
        raise TrecError(f"{program} could not draw the graph: {reason[:500] or f'it ended with {done.returncode}'}")
    return done.stdout.decode()


def _finish(svg: str, drawing: Drawing) -> str:
    """Return the SVG of an engine without its comments, with the drawing's fonts and tooltips."""
    families = _escape(drawing.font)
    svg = _FAMILY.sub(lambda _: f' font-family="{families}"', _NOISE.sub("", svg))
    svg = _FIRST_TITLE.sub(lambda found: f"{found[1]}<title>{_escape(drawing.name)}</title>", svg, count=1)
    svg = _raise_titles(_TITLE.sub(_tooltips(drawing), svg))
    return svg.replace("<svg ", f'<svg role="img" aria-label="{_escape(drawing.name)}" ', 1)


def _raise_titles(svg: str) -> str:
    """Return the SVG with the titles of clusters on top, each on a halo, where no edge runs through them."""
    titles: list[str] = []

    def lift(found: re.Match[str]) -> str:
        halo = f'<g stroke="{found[2]}" stroke-width="3" stroke-linejoin="round" paint-order="stroke">'
        titles.append(f"{halo}\n{found[3]}</g>\n")
        return found[1]

    svg = _CLUSTER.sub(lift, svg)
    end = svg.rfind("</g>")
    return f"{svg[:end]}{''.join(titles)}{svg[end:]}"


def _tooltips(drawing: Drawing) -> Callable[[re.Match[str]], str]:
    edges: dict[tuple[int, int], list[str]] = {}
    for edge in reversed(drawing.edges):
        edges.setdefault((edge.source, edge.target), []).append(edge.tooltip)

    def tooltip(found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith("cluster_"):
            text = drawing.clusters[int(name[8:])].tooltip
        elif "&" in name:
            source, target = re.findall(r"\bn(\d+)", name.replace("&gt;", " "))
            text = edges[int(source), int(target)].pop()
        else:
            text = drawing.boxes[int(name[1:])].tooltip
        return f"<title>{_escape(text)}</title>"

    return tooltip


def _escape(text: str) -> str:
    text = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;").replace("\r", "&#13;")
