"""Files of every released version load, and mean what they meant."""

from __future__ import annotations

import json
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import trec
from tests.data.make import everything
from trec.errors import FormatError
from trec.ir import types
from trec.ir.serialize import VERSION, Format, decode, encode, schema

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
FILES = sorted(path for path in (ROOT / "tests/data").iterdir() if path.name.startswith("version-"))
SCHEMA = ROOT / "docs/schema.json"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_every_version_loads(path: Path, golden: Callable[[str, str], None]) -> None:
    graph = trec.load(path).verify()
    golden(f"{path.stem}.txt", f"{graph}\n")
    for result in (graph.collapse(depth=1), graph.fold(), graph.hide("kind:param")):
        result.verify()
    assert graph.to_networkx().number_of_nodes() == len(graph.nodes)


def test_there_are_files_of_the_present_version() -> None:
    assert {path.name for path in FILES} >= {f"version-{VERSION}.trec", f"version-{VERSION}.json"}


def test_the_files_have_everything_in_them() -> None:
    graph = everything()
    assert {node.kind for node in graph.nodes} == set(types.NODE_KINDS)
    for table, row in (
        ("scopes", types.Scope),
        ("nodes", types.Node),
        ("carried", types.Carried),
        ("notes", types.Note),
        ("derivatives", types.Derivative),
    ):
        for field in msgspec.structs.fields(row):
            assert any(getattr(item, field.name) for item in getattr(graph, table)), (table, field.name)


def unsealed(format: Format) -> Any:
    decoder = msgspec.msgpack.decode if format == "trec" else msgspec.json.decode
    return decoder(encode(everything(), format))


def sealed(envelope: Any, format: Format) -> bytes:
    return msgspec.msgpack.encode(envelope) if format == "trec" else msgspec.json.encode(envelope)


@pytest.mark.parametrize("format", ["trec", "json"])
def test_what_a_newer_trec_adds_is_refused_not_lost(format: Format) -> None:
    def changed(change: Callable[[Any], object]) -> bytes:
        envelope = unsealed(format)
        change(envelope)
        return sealed(envelope, format)

    with pytest.raises(FormatError, match=r"unknown field `written_by`.*a newer trec wrote it"):
        decode(changed(lambda envelope: envelope.update(written_by="9.0")))
    with pytest.raises(FormatError, match=r"unknown field `later`.*a newer trec wrote it"):
        decode(changed(lambda envelope: envelope["graph"].update(later=[1, 2])))
    for table in ("nodes", "values", "scopes", "types", "sources", "carried", "notes", "derivatives"):
        envelope = unsealed(format)
        envelope["graph"][table][0] = [*envelope["graph"][table][0], "later", None]
        with pytest.raises(FormatError, match=r"at most length.*a newer trec wrote it"):
            decode(sealed(envelope, format))


@pytest.mark.parametrize("format", ["trec", "json"])
def test_what_an_older_trec_left_out_is_as_it_was_then(format: Format) -> None:
    envelope = unsealed(format)
    del envelope["graph"]["carried"], envelope["graph"]["notes"], envelope["graph"]["derivatives"]
    envelope["graph"]["nodes"] = [row[:10] if row[9] >= 0 else row[:9] for row in envelope["graph"]["nodes"]]
    envelope["graph"]["scopes"] = [row[:11] for row in envelope["graph"]["scopes"]]
    graph = decode(sealed(envelope, format))
    assert (graph.carried, graph.notes, graph.derivatives) == ((), (), ())
    assert {(scope.repeats, scope.phase) for scope in graph.scopes} == {((), "forward")}
    assert [node.name for node in graph.nodes] == [node.name for node in everything().nodes]


def test_another_version_is_refused_with_what_to_do() -> None:
    envelope = unsealed("json")
    envelope["version"] = VERSION + 1
    envelope["written_by"] = "9.0"
    with pytest.raises(FormatError, match=f"format version {VERSION + 1}, expected {VERSION}; update trec"):
        decode(sealed(envelope, "json"))


def alike(data: Any) -> Any:
    """Return a schema as it is in any release of msgspec: they differ in the order of choices and in indentation."""
    if isinstance(data, dict):
        return {key: alike(value) for key, value in data.items()}
    if isinstance(data, list):
        return sorted(map(alike, data), key=json.dumps)
    return cleandoc(data) if isinstance(data, str) else data


def test_the_schema_is_current(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update"):
        SCHEMA.write_text(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    written = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert alike(json.loads(json.dumps(schema()))) == alike(written), "pytest --update writes docs/schema.json anew"
