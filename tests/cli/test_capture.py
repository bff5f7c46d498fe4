from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import trec as package

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Trec
    from trec.ir.graph import Graph

pytestmark = pytest.mark.torch
NETS = Path(__file__).with_name("nets.py")


@pytest.fixture(autouse=True)
def nets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the models into the working directory, as `mynets.py` and in a package."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    shutil.copy(NETS, folder / "mynets.py")
    (folder / "mypackage" / "inner").mkdir(parents=True)
    (folder / "mypackage" / "__init__.py").touch()
    (folder / "mypackage" / "inner" / "__init__.py").write_text("from ..nets import Net as Inherited\n")
    shutil.copy(NETS, folder / "mypackage" / "nets.py")
    yield
    for name in [name for name in sys.modules if name.startswith(("mynets", "mypackage"))]:
        del sys.modules[name]


def captured(trec: Trec, words: str, *more: str) -> Graph:
    code, out, err = trec("capture", *words.split(), *more, "-o", "net.json")
    assert (code, out) == (0, ""), err
    return package.load("net.json")


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes if node.kind == "op"]


# ---- where a model comes from


@pytest.mark.parametrize(
    "spec",
    ["mynets.py:Net", "mynets:Net", "mynets:net", "./mynets.py:net", "mypackage.nets:Net", "mypackage/nets.py:Net",
     "mypackage/inner/__init__.py:Inherited", "mypackage.inner:Inherited"],
)  # fmt: skip
def test_a_model_is_named_by_module_or_file(spec: str, trec: Trec) -> None:
    from tests.cli.nets import Net

    found = captured(trec, f"{spec} --shape 2,4")
    assert not found.diff(package.capture(Net().eval(), (2, 4)))


def test_arguments_of_the_factory_are_literals(trec: Trec) -> None:
    assert ops(captured(trec, "mynets:Net --arg depth=3 --arg width=2 --shape 1,2")) == ["linear"] * 3
    assert ops(captured(trec, "torch.nn:Hardtanh --arg inplace=true --shape 1,2")) == ["hardtanh"]


def test_what_the_model_prints_is_no_result(trec: Trec) -> None:
    code, out, err = trec("capture", "mynets:net", "--shape", "1,4", "-o", "-", "--format", "json")
    assert code == 0
    assert json.loads(out)["format"] == "trec"
    assert "in forward" in err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("nothing_here:Net", "there is no module 'nothing_here'"),
        ("mynets:Nett", "mynets has no 'Nett'; did you mean Net?"),
        ("mynets:Zzz", "there are: Fails, Mode, Needs"),
        ("mynet.py:Net", "did you mean mynets.py?"),
        ("mynets.py", "say which model of it: mynets.py:Class"),
        ("mynets.Net", "did you mean mynets:Net?"),
        ("mynets:Needs", "missing a required argument: 'depth'; it takes (depth, width)"),
        ("mynets:Net --arg deep=1", "unexpected keyword argument 'deep'"),
        ("mynets:net --arg depth=1", "is a model already"),
        ("mynets:Net --arg depth", "is not of the form name=value"),
        ("mynets:number", "gives a value of type int"),
        ("mynets:raising", "ValueError when mynets:raising was called: no such width"),
        ("mynets:ending", "the program ended itself"),
        ("mynets:Net", "give a --shape for each tensor"),
        ("mynets:Net --shape 1,4 --method othr", "has no method 'othr'"),
        ("mynets:Net --shape 1,4 --level fine", "there are: module, function, aten"),
        ("mynets:Net --shape 1,4 --dtype int64 --dtype int64", "--dtype is given 2 times, but there are 1 shapes"),
        ("mynets:Fails --shape 1,3", "the model raised RuntimeError in Fails.forward"),
        ("hf:nothing", "takes a folder with a config.json, nothing is downloaded"),
    ],
)
def test_what_is_wrong_is_said_with_a_hint(words: str, hint: str, trec: Trec, folder: Path) -> None:
    code, out, err = trec("capture", *words.split(), "-o", "net.trec")
    assert (code, out) == (2, "")
    assert hint in err
    assert "Traceback" not in err
    assert not (folder / "net.trec").exists()


def test_the_hint_to_whole_numbers_names_the_option(trec: Trec) -> None:
    told = trec("capture", "mynets:Tokens", "--shape", "1,3", "-o", "net.trec").err
    assert "say so: --dtype int64, or behind the shape that it is of: --shape 1,16:int64\n" in told
    assert "dtypes=" not in told


def test_a_file_that_cannot_be_written_is_told_before_the_model_is_made(trec: Trec) -> None:
    _, _, err = trec("capture", "mynets:net", "--shape", "1,4", "-o", "nowhere/net.trec")
    assert err == "trec capture: there is no folder 'nowhere' to write 'net.trec' into\n"


def test_an_error_of_the_model_shows_its_traceback_when_asked(trec: Trec) -> None:
    err = trec("capture", "mynets:raising", "-o", "net.trec", "--traceback").err
    assert 'raise ValueError("no such width")' in err


# ---- what it is given


def test_inputs_have_the_types_that_are_asked_for(trec: Trec) -> None:
    wanted = captured(trec, "mynets:Tokens --shape 1,3:int64")
    assert captured(trec, "mynets:Tokens --shape 1,3 --dtype int64") == wanted
    assert captured(trec, "mynets:Tokens", "--input", '{"shape": [1, 3], "dtype": "long"}') == wanted


def test_keyword_arguments_are_tensors_and_json(trec: Trec) -> None:
    words = ["--kwargs", "mask=2,4", "--kwargs", '{"twice": true}']
    graph = captured(trec, "mynets:net --shape 2,4", *words)
    assert [node.name for node in graph.nodes if node.kind == "input"] == ["x", "mask"]
    assert ops(graph) == ["linear", "mul", "add"]


def test_containers_and_numbers_are_json(trec: Trec) -> None:
    graph = captured(trec, "mynets:Pictures", "--input", '[{"shape": [3, 4]}, {"shape": [3, 5]}]', "--input", "2")
    shapes = [graph.type_of(node.outputs[0]).shape for node in graph.nodes if node.kind == "input"]
    assert shapes == [(3, 4), (3, 5)]


def test_another_method_and_another_name(trec: Trec) -> None:
    graph = captured(trec, "mynets:net --shape 2,4 --method other --name Other")
    assert (graph.name, ops(graph)) == ("Other", ["tanh"])


def test_the_mode_is_eval_unless_said(trec: Trec) -> None:
    assert ops(captured(trec, "mynets:Mode --shape 2")) == ["mul", "log"]
    assert ops(captured(trec, "mynets:Mode --shape 2 --train")) == ["mul", "exp"]


def test_levels_and_costs(trec: Trec) -> None:
    assert "aten.addmm.default" in ops(captured(trec, "mynets:net --shape 2,4 --level aten"))
    assert captured(trec, "mynets:net --shape 2,4 --costs").stats().flops == 2 * 2 * 4 * 4


def test_shapes_alone_are_enough(trec: Trec) -> None:
    graph = captured(trec, "mynets:Mode --shape 2 --meta")
    assert {type_.device for type_ in graph.types} == {"meta"}
    code, _, err = trec("capture", "mynets:Numbers", "--shape", "2", "--meta", "-o", "net.json")
    assert code == 0
    assert "could not be made by shapes alone, so it was made with memory: " in err


def test_what_ran_until_a_model_raised_is_kept_when_asked(trec: Trec) -> None:
    code, _, err = trec("capture", "mynets:Fails", "--shape", "1,3", "--partial", "-o", "net.json")
    assert code == 0
    assert "the model raised RuntimeError" in err
    assert "linear" in ops(package.load("net.json"))


def test_every_command_takes_a_model(trec: Trec) -> None:
    words = ["mynets:Net", "--arg", "depth=2", "--shape", "1,4"]
    captured(trec, " ".join(words))
    assert trec("show", *words).out == trec("show", "net.json").out
    assert trec("diff", "net.json", *words).code == 0
    assert trec("diff", "net.json", "mynets:Net", "--arg", "depth=1", "--shape", "1,4").code == 1
    assert trec("render", *words, "-o", "net.svg", "--fold", "--depth", "2").code == 0


# ---- Hugging Face


def config(folder: Path, name: str, cls: str | None, **values: Any) -> None:
    (folder / name).mkdir()
    facts = {"model_type": name, **values, **({"architectures": [cls]} if cls else {})}
    (folder / name / "config.json").write_text(json.dumps(facts))


SMALL = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 50}
KINDS: dict[str, tuple[str | None, dict[str, Any], list[str]]] = {
    "bert": ("BertForMaskedLM", SMALL, ["input_ids"]),
    "llama": ("LlamaForCausalLM", SMALL, ["input_ids"]),
    "t5": (
        "T5ForConditionalGeneration",
        {"d_model": 8, "d_ff": 8, "d_kv": 4, "num_layers": 1, "num_heads": 2, "vocab_size": 50},
        ["input_ids", "decoder_input_ids"],
    ),
    "vit": ("ViTModel", {**SMALL, "image_size": 16, "patch_size": 8}, ["pixel_values"]),
    "distilbert": (None, {"dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 8, "vocab_size": 50}, ["input_ids"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_of_hugging_face_is_enough(kind: str, trec: Trec, folder: Path) -> None:
    pytest.importorskip("transformers")
    cls, values, inputs = KINDS[kind]
    config(folder, kind, cls, **values)
    graph = captured(trec, f"hf:{kind}")
    assert graph.name == (cls or "DistilBertModel")
    assert [node.name for node in graph.nodes if node.kind == "input"] == inputs
    assert captured(trec, f"hf:./{kind}/config.json") == graph


def test_values_of_a_configuration_can_be_others(trec: Trec, folder: Path) -> None:
    pytest.importorskip("transformers")
    config(folder, "bert", "BertModel", **SMALL)
    graph = captured(trec, "hf:bert --arg num_hidden_layers=1 --shape 2,5:int64")
    assert sum(scope.cls == "BertLayer" for scope in graph.scopes) == 1
    assert graph.type_of(graph.nodes[0].outputs[0]).shape == (2, 5)


def test_a_device_that_there_is_not_is_refused(trec: Trec, folder: Path) -> None:
    for device in ("abacus", "vulkan"):
        code, _, err = trec("capture", "mynets:Net", "--shape", "2,4", "--device", device, "-o", "net.json")
        assert code == 2
        assert err.startswith(f"trec capture: --device {device} cannot be used: ")


def test_a_model_without_parameters_is_given_inputs_on_the_device_that_is_named(trec: Trec, folder: Path) -> None:
    graph = captured(trec, "torch.nn:ReLU --shape 2,4 --device meta")
    assert {type_.device for type_ in graph.types} == {"meta"}


def test_a_configuration_that_describes_nothing_is_refused(trec: Trec, folder: Path) -> None:
    pytest.importorskip("transformers")
    config(folder, "nonsense", None)
    code, _, err = trec("capture", "hf:nonsense", "-o", "net.json")
    assert code == 2
    assert err.startswith("trec capture: transformers makes no model of 'nonsense/config.json'")
