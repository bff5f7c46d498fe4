from __future__ import annotations

import subprocess
import sys


def modules_after(code: str) -> set[str]:
    """Return the top-level modules that are loaded after running the code in a new process."""
    code = f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_trec_loads_no_library_but_msgspec() -> None:
    loaded = modules_after("import trec")
    assert "msgspec" in loaded
    assert loaded.isdisjoint({"torch", "numpy", "networkx", "graphviz", "pydot", "pyparsing"})


def test_importing_trec_does_not_look_for_plugins() -> None:
    code = "import trec\nassert 'importlib.metadata' not in sys.modules"
    modules_after(code)


def test_reading_checking_and_printing_a_graph_load_no_library_either() -> None:
    code = (
        "import trec, trec.ir.builder\n"
        "builder = trec.ir.builder.GraphBuilder('Net')\n"
        "builder.scope('module', path='', cls='Net')\n"
        "graph = builder.build().verify()\n"
        "str(graph), graph.to_json(), graph.to_dot(), graph.collapse(depth=1)\n"
    )
    assert modules_after(code).isdisjoint({"torch", "numpy", "networkx", "graphviz", "pydot"})


def test_the_function_capture_is_not_hidden_by_the_folder_of_that_name() -> None:
    modules_after("import trec, trec.capture.api\nassert trec.capture is trec.capture and callable(trec.capture)")
