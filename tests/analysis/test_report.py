"""What a report tells of a recording: cuts, regions, what was not used, and that it says nothing where all is well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from msgspec.structs import replace

import trec
from tests.strategies import any_graph
from trec.analysis.report import HEADINGS, Finding, report
from trec.ir.builder import GraphBuilder
from trec.ir.serialize import decode, encode
from trec.ir.types import Note, Source

if TYPE_CHECKING:
    from pathlib import Path

    from trec import Graph
    from trec.ir.types import Level


def built() -> Graph:
    """Return a graph with something of every kind."""
    builder = GraphBuilder("Net", meta=(("level", "function"),))
    root = builder.scope("module", path="", cls="Net")
    gate = builder.scope("module", path="gate", cls="Gate", parent=root)
    f32 = builder.tensor_type((2, 3), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[f32])
    (y,) = builder.node("op", "relu", parent=gate, inputs=[x], results=[f32], source=Source("net.py", 7))
    builder.node("host", "item", parent=gate, inputs=[y], source=Source("net.py", 8))
    (z,) = builder.node("host", "from_numpy", parent=gate, results=[f32])
    (kept,) = builder.node("host", "shared_memory", parent=gate, inputs=[z], results=[f32])
    builder.node("op", "sin", parent=gate, inputs=[kept], results=[f32])
    builder.node("op", "add_", parent=root, inputs=[x], results=[f32])
    builder.node("op", "__setitem__", parent=root, inputs=[x], results=[f32])
    builder.node("op", "aten._foreach_add_.List", parent=root, inputs=[x], results=[f32])
    (c,) = builder.node("region", "higher_order.cond", parent=root, inputs=[y], results=[f32])
    builder.node("output", parent=root, inputs=[c])
    builder.notes = [
        Note("uncalled_module", "head", "Linear with 12 parameters"),
        Note("unused_param", "scale", "float32[3]"),
        Note("from_the_future", "", "something new"),
        Note("not_restored", "", "a file was written"),
    ]
    return builder.build()


def test_every_kind_is_told_in_a_fixed_order() -> None:
    assert [(finding.kind, finding.name) for finding in report(built()).findings] == [
        ("unseen_region", "higher_order.cond"),
        ("cut", "gate.item"),
        ("cut", "gate.from_numpy"),
        ("unused_param", "scale"),
        ("uncalled_module", "head"),
        ("unused_result", "gate.sin"),
        ("not_restored", ""),
        ("from_the_future", ""),
    ]


def test_a_cut_says_where_by_what_and_which_value() -> None:
    found = built().report().of("cut")[0]
    assert found == Finding("cut", "gate.item", "gate", "net.py:8", "item of gate.relu: f32[2,3]")


def test_the_text_is_short_and_has_a_heading_for_each_kind() -> None:
    assert str(built().report()).split("\n")[:7] == [
        "Net: 8 findings",
        "  code whose operators were not seen",
        "    higher_order.cond: higher_order.cond is one node, what it runs is not seen",
        "  values that left torch, or came from outside it",
        "    gate.item: item of gate.relu: f32[2,3]  # gate net.py:8",
        "    gate.from_numpy: gate.from_numpy: f32[2,3] comes from from_numpy  # gate",
        "  parameters that no operator read",
    ]


def test_rows_are_plain_data_with_the_same_keys() -> None:
    rows = built().report().rows()
    assert {tuple(row) for row in rows} == {("kind", "name", "path", "source", "text")}
    assert all(type(value) is str for row in rows for value in row.values())
    assert len(rows) == len(built().report())


def test_notes_are_in_files_of_both_formats_and_in_the_text(tmp_path: Path) -> None:
    graph = built()
    for name in ("net.trec", "net.json"):
        graph.save(tmp_path / name)
        loaded = trec.load(tmp_path / name)
        assert loaded == graph
        assert loaded.report() == graph.report()
    assert "  note: unused_param scale float32[3]" in str(graph).split("\n")


def test_a_file_from_before_there_were_notes_loads() -> None:
    graph = replace(built(), notes=())
    old = encode(graph, "json").replace(b',"notes":[]', b"")
    assert b"notes" not in old
    assert decode(old) == graph


def test_passes_carry_notes_as_they_are() -> None:
    graph = built()
    assert graph.collapse(depth=1).notes == graph.collapse(depth=0).notes == graph.notes
    assert graph.level("module").notes == graph.notes


def test_of_a_collapsed_module_only_its_notes_are_told() -> None:
    kinds = [finding.kind for finding in built().collapse(depth=1).report().findings]
    assert kinds == ["unseen_region", "unused_param", "uncalled_module", "not_restored", "from_the_future"]


@pytest.mark.parametrize(
    ("notes", "part"),
    [
        ([Note("a", "b", "c")], "expected a tuple"),
        (((("a", "b", "c"),)), "expected Note"),
        ((Note("a", "b", 3),), "has text 3, expected str"),  # type: ignore[arg-type]
        ((Note("a", "\ud800", "c"),), "has name"),
        ((Note("\ud800", "b", "c"),), "has kind"),
    ],
)
def test_notes_are_verified(notes: Any, part: str) -> None:
    with pytest.raises(trec.VerifyError, match=part):
        replace(built(), notes=notes).verify()


@given(any_graph())
def test_every_graph_has_a_report(graph: Graph) -> None:
    found = report(graph)
    lines = str(found).split("\n")
    assert bool(found) == (len(found) > 0) == (len(lines) > 1)
    assert len(lines) == 1 + len(found) + len({finding.kind for finding in found.findings})
    assert {finding.kind for finding in found.findings} <= {*HEADINGS, *[note.kind for note in graph.notes]}
    assert report(graph) == found


# ---- of real recordings

LEVELS: tuple[Level, ...] = ("module", "function", "aten")


@pytest.mark.torch
class TestRecordings:
    def test_nothing_is_told_where_all_was_seen_and_used(self) -> None:
        import torch

        net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU())
        for level in LEVELS:
            found = trec.capture(net, (1, 1, 8, 8), level=level).report()
            assert not found, found
            assert str(found) == "Sequential: everything was seen and used"
            assert found.rows() == []

    def test_what_the_model_did_not_need_is_told_once(self) -> None:
        import torch
        from torch import Tensor, nn

        class Net(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.used, self.bare = nn.Linear(3, 3), nn.Linear(3, 3)
                self.head = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
                self.blocks = nn.ModuleList([nn.Linear(3, 3), nn.Tanh()])
                self.all_skipped, self.empty = nn.ModuleList([nn.Linear(3, 3)]), nn.ModuleList()
                self.lost, self.tied = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(2))
                self.twin, self.used_twin = self.tied, self.used.weight
                self.register_buffer("mask", torch.ones(3, dtype=torch.bool))
                self.lazy, self.weights = nn.LazyLinear(3), nn.ParameterList([torch.ones(1)])

            def forward(self, x: Tensor) -> Any:
                x.sin()
                return self.blocks[0](nn.functional.linear(self.used(x), self.bare.weight))

        for level in LEVELS:
            graph = trec.capture(Net(), (2, 3), level=level)
            told = [(finding.kind, finding.name, finding.text) for finding in graph.report().findings]
            assert told == [
                ("unused_param", "lost", "float32[3]"),
                ("unused_param", "tied", "float32[2]"),
                ("unused_param", "bare.bias", "float32[3]"),
                ("unused_param", "weights.0", "float32[1]"),
                ("unused_buffer", "mask", "bool[3]"),
                ("uncalled_module", "head", "Sequential with 21 parameters"),
                ("uncalled_module", "blocks.1", "Tanh"),
                ("uncalled_module", "all_skipped", "ModuleList with 12 parameters"),
                ("uncalled_module", "lazy", "LazyLinear with 0 parameters"),
                ("unused_result", "sin", "sin gives sin: f32[2,3]"),
            ]

    def test_levels_tell_the_same(self) -> None:
        import torch
        from torch import Tensor, nn

        class Net(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.fc, self.drop = nn.Linear(3, 3), nn.Dropout()

            def forward(self, x: Tensor) -> Any:
                y = self.fc(x)
                if y.sum() > -1e6:
                    y = y + y.detach().numpy().sum().item()
                repr(y)
                torch.lstm_cell(x, [y, y], *[torch.ones(12, 3)] * 2)
                return y * float(y.detach().max()) + len(y.nonzero())

        net = Net()
        graphs = [trec.capture(net, (2, 3), level=level) for level in LEVELS[1:]]
        first, second = [graph.report() for graph in graphs]
        assert first.findings == second.findings
        assert [finding.text.split()[0] for finding in first.of("cut")] == [
            "__bool__",
            "numpy",
            "__repr__",
            "__float__",
        ]
        assert [finding.name for finding in first.of("unused_result")] == ["lstm_cell", "nonzero"]
        assert [finding.name for finding in first.of("uncalled_module")] == ["drop"]

    def test_calls_in_a_thread_that_is_not_followed_are_told(self) -> None:
        import threading

        import torch

        net, ready, go = torch.nn.Sequential(torch.nn.Linear(3, 3)), threading.Event(), threading.Event()

        def work() -> None:
            ready.set()
            go.wait()
            net(torch.ones(2, 3))

        worker = threading.Thread(target=work)
        worker.start()
        ready.wait()
        with trec.recording(net) as rec:
            go.set()
            worker.join()
        told = rec.graph.report().of("unseen_thread")
        assert [(finding.name, finding.text) for finding in told] == [
            ("", "the model was called in a thread that had begun before")
        ]
