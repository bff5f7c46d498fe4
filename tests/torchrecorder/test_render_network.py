"""Pictures in files, with the program dot and without it."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ElementTree
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.torchrecorder.drawings import read
from tests.torchrecorder.models import MODELS, ResNet, SampleNet
from trec.errors import DependencyError
from trec.torchrecorder import make_dot, record, render_network

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch


@pytest.fixture
def no_dot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)


def words(path: Path) -> list[str]:
    """Return the texts on an SVG."""
    return ["".join(text.itertext()) for text in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.usefixtures("no_dot")
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["sample", "resnet", "transformer", "siamese", "nested", "several outputs"])
def test_svg_needs_no_graphviz_and_shows_the_same(name: str, depth: int, tmp_path: Path) -> None:
    make, shapes = MODELS[name]
    render_network(make(), name, shapes, str(tmp_path), render_depth=depth)
    shown = Counter(words(tmp_path / f"{name}-{depth}.svg"))
    nodes, clusters, _ = read(make_dot(record(make(), name, shapes), depth))
    assert shown[f"{name} at depth = {depth}"] == 1
    for label, count in Counter([label.split("\n")[0] for label, *_ in nodes.elements()]).items():
        assert sum(shown[text] for text in shown if text == label) >= count
    titles = Counter([titles[-1].replace("\n", " ") for titles in clusters.elements()])
    for title in titles:
        assert any(text.startswith(title.split(" ")[0]) for text in shown)


@pytest.mark.usefixtures("no_dot")
def test_attributes_of_nodes_reach_the_svg(tmp_path: Path) -> None:
    render_network(SampleNet(), "Net", (1, 3), str(tmp_path), fontname="Lato", color="red", penwidth="3")
    text = (tmp_path / "Net-1.svg").read_text()
    assert 'font-family="Lato, ' in text
    assert 'stroke="red"' in text
    assert 'stroke-width="3"' in text


@pytest.mark.usefixtures("no_dot")
def test_other_formats_need_graphviz(tmp_path: Path) -> None:
    with pytest.raises(DependencyError, match=r"fmt='png' needs the program dot .* svg does without"):
        render_network(SampleNet(), "Net", (1, 3), str(tmp_path), fmt="png")


@pytest.mark.dot
@pytest.mark.parametrize(
    ("fmt", "head"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("dot", b"digraph")]
)
def test_formats_of_dot(fmt: str, head: bytes, tmp_path: Path) -> None:
    render_network(SampleNet(), "Net", (1, 3), str(tmp_path), fmt=fmt)
    assert (tmp_path / f"Net-1.{fmt}").read_bytes().startswith(head)


@pytest.mark.parametrize("filename", ["picture", "picture.svg"])
def test_a_file_name_is_honoured_and_folders_are_made(filename: str, tmp_path: Path) -> None:
    render_network(SampleNet(), "Net", (1, 3), str(tmp_path / "a" / "b"), filename=filename)
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["picture.svg"]


@pytest.mark.parametrize("training", [True, False])
def test_the_model_keeps_its_mode_and_is_drawn_in_training_mode(training: bool, tmp_path: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout()).train(training)
    net[0].train(not training)
    render_network(net, "Net", (1, 3), str(tmp_path), render_depth=2)
    assert (net.training, net[0].training, net[1].training) == (training, not training, training)
    assert "MulBackward0" in (tmp_path / "Net-2.svg").read_text()


def test_the_model_keeps_its_device_and_its_mode_when_it_fails(tmp_path: Path) -> None:
    net = ResNet().to("meta").eval()
    render_network(net, "Net", (2, 3, 32, 32), str(tmp_path))
    assert {tensor.device.type for tensor in net.state_dict().values()} == {"meta"}
    net.fc = torch.nn.Linear(3, 3)
    with pytest.raises(Exception, match="fc"):
        render_network(net, "Net", (2, 3, 32, 32), str(tmp_path))
    assert not any(module.training for module in net.modules() if module is not net.fc)


def test_data_may_be_given_instead_of_shapes(tmp_path: Path) -> None:
    class Sum(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x + y

    render_network(Sum(), "Net", None, str(tmp_path), input_data=(torch.ones(2), torch.ones(2)))
    assert {"Input-1", "Input-2"} <= set(words(tmp_path / "Net-1.svg"))
