from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
from tests.backends.samples import aten, marks, sample
for graph in (sample(), marks(), aten()):
    print(graph.to_dot(params=True, tensors="nodes"))
    print(graph.to_graphviz().source)
    print(graph.to_pydot().to_string())
    print(graph.to_svg())
    print(graph.to_html())
    print(graph.to_gexf(scopes=True, layout=True), graph.to_graphml(), graph.to_mermaid(), graph.to_tikz())
    print(graph.to_sigma(), graph.to_cytoscape(layout=True), graph.to_model_explorer(), graph.to_table().rows())
    network = graph.to_networkx()
    print(list(network.nodes(data=True)), list(network.edges(data=True)), network.graph)
"""


def test_the_same_in_every_process() -> None:
    texts = set()
    for seed in ("0", "1", "12345"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            capture_output=True,
            check=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
        )
        texts.add(done.stdout)
    assert len(texts) == 1
    assert len(texts.pop()) > 10_000


def test_the_libraries_of_the_backends_are_loaded_by_their_own_files_only() -> None:
    program = """
import sys
import trec.backends.dot, trec.backends.svg, trec.backends.networkx, trec.backends.graphviz, trec.backends.pydot
import trec.backends.notebook, trec.backends.write, trec.backends.gexf, trec.backends.graphml, trec.backends.sigma
import trec.backends.cytoscape, trec.backends.model_explorer, trec.backends.mermaid, trec.backends.tikz
import trec.backends.table
assert not {"torch", "networkx", "graphviz", "pydot", "rich"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[2])
