"""Themes, colours that stand for something, labels, legends, titles and links, the same for every backend."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args

import pytest
from msgspec.structs import replace

from tests.backends.samples import aten, marks, sample
from trec.backends.dot import to_dot
from trec.backends.families import FAMILIES
from trec.backends.lower import lower
from trec.backends.options import DEFAULTS
from trec.backends.style import DARK, LIGHT, PAPER, Fact, Paint, Style, Theme
from trec.backends.svg import to_svg
from trec.errors import OptionError
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from trec.backends.drawing import Drawing, Look
    from trec.ir.graph import Graph
    from trec.ir.types import Node

THEMES = {"light": LIGHT, "dark": DARK, "paper": PAPER}


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def paints(theme: Theme) -> list[Paint]:
    return [theme.terminal, theme.state, theme.arithmetic, *theme.clusters, *theme.families.values()]


def look_of(drawing: Drawing, title: str) -> Look:
    return next(drawing.looks[box.look] for box in drawing.boxes if box.title == title)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_text_can_be_read_on_its_box(theme: Theme) -> None:
    for paint in paints(theme):
        assert contrast(paint.text, paint.fill) >= 4.5
        assert contrast(paint.muted, paint.fill) >= 4.5
    assert contrast(theme.text, theme.background) >= 4.5
    assert contrast(theme.label, theme.background) >= 4.5


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_families_look_different(theme: Theme) -> None:
    for one, other in combinations(FAMILIES, 2):
        assert theme.families[one] != theme.families[other]


def test_paper_is_white_with_black_and_grey() -> None:
    for paint in paints(PAPER):
        assert paint.fill in ("#ffffff", "#000000")
        assert paint.border[1:3] == paint.border[3:5] == paint.border[5:7]


@pytest.mark.parametrize("name", THEMES)
def test_a_theme_is_chosen_by_name(name: Any) -> None:
    assert lower(marks(), style=name) == lower(marks(), style=Style(theme=THEMES[name]))
    assert lower(marks(), style=name).background == THEMES[name].background


def test_a_wrong_theme_or_fact_is_answered_with_the_right_ones() -> None:
    wrong: Any = "sepia"
    number: Any = 3
    for style in (wrong, number):
        with pytest.raises(OptionError, match="themes are: 'light', 'dark', 'paper'"):
            lower(sample(), style=style)
    with pytest.raises(OptionError, match="'family', 'kind', 'class'"):
        lower(sample(), style=Style(colour_by=wrong))


def test_a_theme_in_a_style_is_no_name() -> None:
    name: Any = "dark"
    with pytest.raises(OptionError, match="style='dark' is enough"):
        lower(sample(), style=Style(theme=name))


def test_a_wrong_option_is_answered_with_all_there_are() -> None:
    options: dict[str, Any] = {"rank_dir": "LR"}
    with pytest.raises(OptionError, match=", ".join(DEFAULTS)):
        to_svg(sample(), **options)


@pytest.mark.parametrize("fact", get_args(Fact))
@pytest.mark.parametrize("graph", [sample(), marks(), aten()], ids=["sample", "marks", "aten"])
def test_colours_may_stand_for_every_fact(graph: Graph, fact: Fact) -> None:
    drawing = lower(graph, style=Style(colour_by=fact), legend=True)
    plain = lower(graph)
    assert [box.title for box in drawing.boxes] == [box.title for box in plain.boxes]
    for look in drawing.looks:
        assert contrast(look.text, look.fill) >= 4.5


def test_equal_names_have_equal_colours_and_a_line_in_the_legend() -> None:
    drawing = lower(sample(), style=Style(colour_by="class"))
    assert look_of(drawing, "linear_1").fill == look_of(drawing, "linear_2").fill
    assert look_of(drawing, "linear_1").fill != look_of(drawing, "my_special_relu").fill
    keys = {key.text: drawing.looks[key.look].fill for key in drawing.legend}
    assert keys["Linear"] == look_of(drawing, "linear_1").fill
    assert keys["ReLU"] == look_of(drawing, "my_special_relu").fill
    assert drawing.legend_title == "class"


def test_greater_numbers_are_darker_and_the_legend_is_a_scale() -> None:
    drawing = lower(sample(), style=Style(colour_by="params"))
    least, middle, most = (look_of(drawing, title).fill for title in ("cat", "linear_3", "linear_1"))
    assert luminance(least) >= luminance(middle) > luminance(most)
    shades = [luminance(drawing.looks[key.look].fill) for key in drawing.legend]
    assert shades == sorted(shades, reverse=True)
    assert [drawing.legend[0].text, drawing.legend[-1].text] == ["7", "12"]
    assert drawing.legend_title == "parameters"


def test_a_function_may_return_colours_names_numbers_or_nothing() -> None:
    def colour(graph: Graph, node: Node) -> Paint | str | float | None:
        colours: dict[str, Paint | str | float] = {
            "cat": Paint("#123456", "#654321", "#ffffff", "#ffffff"),
            "relu": 3.0,
            "linear": "layers",
        }
        return colours.get(node.op)

    drawing = lower(sample(), style=Style(colour_by=colour))
    assert look_of(drawing, "cat").fill == "#123456"
    assert [key.text for key in drawing.legend] == ["layers", "3"]
    assert look_of(drawing, "x") == look_of(lower(sample()), "x")


def test_a_legend_lists_the_families_on_the_picture() -> None:
    assert [key.text for key in lower(sample(), legend=True).legend] == ["linear", "activation", "view"]
    assert lower(sample()).legend == ()
    assert lower(sample(), style=Style(colour_by="class"), legend=False).legend == ()


def test_labels_are_filled_in() -> None:
    drawing = lower(sample(), style=Style(label_node="{class}/{op} {shape} {dtype}"))
    titles = [box.title for box in drawing.boxes]
    assert "SampleNet/cat 1×6 float32" in titles
    assert titles[0] == "x"
    with pytest.raises(OptionError, match=r"\{title\}, \{name\}, \{op\}"):
        lower(sample(), style=Style(label_node="{colour}"))


def test_links_lead_to_source_lines() -> None:
    link = "vscode://file/{file}:{line}"
    drawing = lower(sample(), links=link)
    assert {box.link for box in drawing.boxes} == {"", "vscode://file/net.py:7"}
    root = ElementTree.fromstring(to_svg(sample(), links=link))
    targets = [element.get("href") for element in root.iter("{http://www.w3.org/2000/svg}a")]
    assert targets == ["vscode://file/net.py:7"] * 3
    assert to_dot(sample(), links=link).count('URL="vscode://file/net.py:7"') == 3
    with pytest.raises(OptionError, match=r"\{file\}, \{line\}"):
        lower(sample(), links="{path}")


@pytest.mark.parametrize("draw", [to_svg, to_dot])
def test_title_caption_and_legend_stand_on_the_picture(draw: Any) -> None:
    text = draw(sample(), title="A <title> & more", caption=True, legend=True)
    assert "A &lt;title&gt; &amp; more" in text
    assert "SampleNet · depth 2 · 31 params" in text
    assert "activation" in text


def test_a_style_need_not_be_a_style() -> None:
    class Mine:
        def __getattr__(self, name: str) -> Any:
            return "paper" if name == "unknown" else getattr(Style(theme=DARK, colour_by="kind"), name)

    mine: Any = Mine()
    assert lower(marks(), style=mine) == lower(marks(), style=Style(theme=DARK, colour_by="kind"))


def test_colours_of_one_family_can_be_replaced() -> None:
    black = Paint("#000000", "#000000", "#ffffff", "#ffffff")
    style = Style(theme=replace(LIGHT, background="#fefefe"), colours={"linear": black})
    drawing = lower(sample(), style=style)
    assert look_of(drawing, "linear_1").fill == "#000000"
    assert drawing.background == "#fefefe"


def test_a_chain_of_layers_has_the_colour_of_what_matters_most_in_it() -> None:
    def drawn(*layers: str) -> str:
        builder = GraphBuilder("Net")
        root = builder.scope("module", path="", cls="Net")
        chain = builder.scope("module", path="body", cls="Sequential", parent=root, attrs=(("layers", layers),))
        builder.node("module", "Sequential", parent=root, scope=chain)
        return look_of(lower(builder.build()), "body").fill

    assert drawn("ReLU", "Conv2d", "BatchNorm2d") == LIGHT.families["convolution"].fill
    assert drawn("LayerNorm", "Dropout") == LIGHT.families["normalisation"].fill
    assert drawn("Block", "Block") == LIGHT.families["other"].fill


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_text_can_be_read_all_along_a_scale(theme: Theme) -> None:
    builder = GraphBuilder("Scale")
    root = builder.scope("module", path="", cls="Scale")
    for index in range(60):
        builder.node("op", "relu", parent=root, attrs=(("flops", 10**6 + index * 10**5),))
    drawing = lower(builder.build(), style=Style(theme=theme, colour_by="flops"))
    assert len({look.fill for look in drawing.looks}) > 40
    for look in drawing.looks:
        assert contrast(look.text, look.fill) >= 4.5
        assert contrast(look.muted, look.fill) >= 4.5
