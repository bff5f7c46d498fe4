"""Tiny graphs by name, golden files, and what happens to tests whose program is not installed."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from trec.ir.builder import GraphBuilder
from trec.ir.types import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from trec.ir.graph import Graph

PROGRAMS = {
    "dot": ("dot",),
    "browser": ("chromium", "chromium-browser", "google-chrome"),
    "node": ("node",),
    "latex": ("lualatex", "pdflatex"),
}
"""For each marker, the programs of which one must be installed."""

LONGEST = 600
"""Seconds after which a program or a thread counts as hung, however slow the machine is."""

NEEDS_TORCH = re.compile(r"^(import|from) (torch\b|trec\.torchrecorder|tests\.(capture|torchrecorder)\b)", re.MULTILINE)

MISSING = pytest.StashKey[Counter[str]]()

settings.register_profile(
    "trec", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("trec")


# ---- markers: a missing program skips a test, and fails it where TREC_REQUIRE names its marker


def pytest_configure(config: pytest.Config) -> None:
    config.stash[MISSING] = Counter()


def is_installed(marker: str) -> bool:
    if marker == "torch":
        return find_spec("torch") is not None
    return any(shutil.which(program) for program in PROGRAMS[marker])


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
    """Look for examples in no test: one that cannot be imported would be passed over for its examples' sake."""
    config = parent.config
    if file_path.suffix == ".py" and not is_installed("torch") and NEEDS_TORCH.search(file_path.read_text("utf-8")):
        config.stash[MISSING]["torch"] += 1
        yield
        return []
    return [one for one in (yield) if type(one).__name__ != "DoctestModule"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if is_installed("torch"):
        return
    for item in items:  # examples lie outside this folder, so what follows does not see them
        if isinstance(item, pytest.DoctestItem) and any("import torch" in line.source for line in item.dtest.examples):
            config.stash[MISSING]["torch"] += 1
            item.add_marker(pytest.mark.skip("torch is not installed"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    required = os.environ.get("TREC_REQUIRE", "").replace(",", " ").split()
    for marker in (*PROGRAMS, "torch"):
        if item.get_closest_marker(marker) is None or is_installed(marker):
            continue
        item.config.stash[MISSING][marker] += 1
        reason = f"{' or '.join(PROGRAMS.get(marker, (marker,)))} is not installed"
        if marker in required:
            pytest.fail(f"{reason}, and TREC_REQUIRE names {marker}", pytrace=False)
        pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    missing = config.stash[MISSING]
    if missing:
        counts = ", ".join([f"{count} marked {marker}" for marker, count in sorted(missing.items())])
        terminalreporter.write_line(f"tests whose program is not installed: {counts}")


# ---- golden files


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden files anew instead of comparing them")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a function that compares a text with the golden file of that name beside the test."""

    def compare(name: str, text: str) -> None:
        path = Path(request.path).parent / "golden" / name
        if request.config.getoption("--update"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.exists(), f"{path} is missing; run pytest with --update to write it"
        assert text == path.read_text(encoding="utf-8"), f"differs from {path}; --update writes it anew"

    return compare


# ---- tiny graphs


def empty() -> Graph:
    """A model that does nothing."""
    builder = GraphBuilder("Empty")
    builder.scope("module", path="", cls="Empty")
    return builder.build()


def chain() -> Graph:
    """x -> relu -> output, without modules."""
    builder = GraphBuilder("Chain", (("level", "function"),))
    root = builder.scope("module", path="", cls="Chain")
    type_ = builder.tensor_type((2, 3), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_], attrs=(("index", 0),))
    source = Source("model.py", 7)
    (y,) = builder.node("op", "relu", parent=root, inputs=[x], results=[type_], source=source)
    builder.node("output", parent=root, inputs=[y], attrs=(("index", 0),))
    return builder.build()


def skip() -> Graph:
    """x + fc(x) * x: a parameter, a value used three times, an operator with arguments."""
    builder = GraphBuilder("Skip", (("level", "function"),))
    root = builder.scope("module", path="", cls="Skip")
    attrs = (("in_features", 3), ("out_features", 3), ("bias", False))
    fc = builder.scope("module", path="fc", cls="Linear", parent=root, attrs=attrs)
    type_ = builder.tensor_type((2, 3), "float32")
    square = builder.tensor_type((3, 3), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_], attrs=(("index", 0),))
    qualname = (("qualname", "fc.weight"),)
    (weight,) = builder.node("param", parent=fc, name="fc.weight", results=[square], attrs=qualname)
    (y,) = builder.node("op", "linear", parent=fc, inputs=[x, weight], results=[type_])
    (z,) = builder.node("op", "__mul__", parent=root, inputs=[y, x], results=[type_])
    (w,) = builder.node("op", "add", parent=root, inputs=[x, z], results=[type_], attrs=(("alpha", 2),))
    builder.node("output", parent=root, name="logits", inputs=[w], attrs=(("index", 0),))
    return builder.build()


def twice() -> Graph:
    """One block called twice with a module inside; an operator with two results; several outputs and devices."""
    builder = GraphBuilder("Twice", (("level", "function"),))
    root = builder.scope("module", path="", cls="Twice")
    float_ = builder.tensor_type((4, "s0"), "bfloat16", "cuda:0")
    long = builder.tensor_type((4, 1), "int64", "cuda:0")
    scale = builder.tensor_type((), "float64")
    first = builder.scope("module", path="block", cls="Block", parent=root)
    inner = builder.scope("module", path="block.act", cls="ReLU", parent=first)
    second = builder.scope("module", path="block", cls="Block", parent=root, call=1)
    again = builder.scope("module", path="block.act", cls="ReLU", parent=second, call=1)
    (x,) = builder.node("input", parent=root, name="x", results=[float_], attrs=(("index", 0),))
    tied = (("qualname", "scale"), ("aliases", "head.scale"))
    (s,) = builder.node("param", parent=root, name="scale", results=[scale], attrs=tied)
    for outer, act in ((first, inner), (second, again)):
        (h,) = builder.node("op", "mul", parent=outer, inputs=[x, s], results=[float_])
        (x,) = builder.node("op", "relu", parent=act, inputs=[h], results=[float_])
    top, index = builder.node(
        "op", "topk", parent=root, inputs=[x], results=[float_, long], attrs=(("k", 1), ("dim", -1), ("mode", "max"))
    )
    (number,) = builder.node("host", "item", parent=root, inputs=[index], results=[scale])
    builder.node("output", parent=root, name="output0", inputs=[top], attrs=(("index", 0),))
    builder.node("output", parent=root, name="output1", inputs=[number], attrs=(("index", 1),))
    return builder.build()


def aten() -> Graph:
    """One module whose function call holds operators, as level `aten` records it."""
    builder = GraphBuilder("Aten", (("level", "aten"),))
    root = builder.scope("module", path="", cls="Aten")
    fc = builder.scope("module", path="fc", cls="Linear", parent=root)
    linear = builder.scope(
        "function", path="fc", cls="linear", parent=fc, name="fc.linear", inputs=(0, 1), outputs=(3,)
    )
    type_ = builder.tensor_type((2, 3), "float32")
    square = builder.tensor_type((3, 3), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_], attrs=(("index", 0),))
    qualname = (("qualname", "fc.weight"),)
    (weight,) = builder.node("param", parent=fc, name="fc.weight", results=[square], attrs=qualname)
    (t,) = builder.node("op", "aten.t.default", parent=linear, inputs=[weight], results=[square])
    (y,) = builder.node("op", "aten.mm.default", parent=linear, inputs=[x, t], results=[type_])
    (z,) = builder.node("link", "pass", parent=fc, inputs=[y], results=[type_])
    builder.node("output", parent=root, inputs=[z], attrs=(("index", 0),))
    return builder.build()


def collapsed() -> Graph:
    """A module call that has become one node, and a folded function call beside it."""
    builder = GraphBuilder("Collapsed", (("level", "aten"),))
    root = builder.scope("module", path="", cls="Collapsed")
    body = builder.scope("module", path="body", cls="Body", parent=root)
    relu = builder.scope("function", path="", cls="relu", parent=root, name="relu")
    type_ = builder.tensor_type((2, 3), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_], attrs=(("index", 0),))
    sums = (("ops", 7), ("params", 1200), ("param_bytes", 4800))
    (y,) = builder.node(
        "module", "Body", parent=root, name="body", inputs=[x, x], results=[type_], attrs=sums, scope=body
    )
    (z,) = builder.node("op", "relu", parent=root, name="relu", inputs=[y], results=[type_], scope=relu)
    builder.node("output", parent=root, inputs=[z], attrs=(("index", 0),))
    return builder.build()


def hostile() -> Graph:
    """Names, attributes and operators with characters that mean something in some format."""
    builder = GraphBuilder('Ho"st\\ile\n<b>', (("level", "function"), ("note", "a\nb")))
    root = builder.scope("module", path="", cls="<b>")
    inner = builder.scope("module", path="a|b {c}: 😀\n\0", cls='"', parent=root)
    type_ = builder.tensor_type(("a b", 2, "?"), "my type", "cpu\n")
    (x,) = builder.node("input", parent=root, name="1", results=[type_], attrs=(("index", 3),))
    (y,) = builder.node("input", parent=root, name="x y\n", results=[type_], attrs=(("index", 1),))
    attrs = (("a b", "c\nd"), ("inf", float("inf")), ("big", 2**70), ("nested", ((1, ("x", None)), True, 1.0)))
    (z,) = builder.node("op", "</b>\u2028", parent=inner, inputs=[x, y, x], results=[type_], attrs=attrs)
    builder.node("region", "\ud800", parent=inner, inputs=[z])
    builder.node("output", parent=root, name='a="b"', inputs=[z], attrs=(("index", 0),))
    return builder.build()


TINY: dict[str, Callable[[], Graph]] = {
    function.__name__: function for function in (empty, chain, skip, twice, aten, collapsed, hostile)
}


@pytest.fixture(params=TINY)
def tiny(request: pytest.FixtureRequest) -> Graph:
    """Each tiny graph in turn."""
    return TINY[request.param]()


def _fixture(name: str) -> Callable[[], Graph]:
    return pytest.fixture(TINY[name], name=name)


for _name in TINY:
    globals()[f"{_name}_fixture"] = _fixture(_name)
