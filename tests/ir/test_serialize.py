from __future__ import annotations

import gc
import json
import subprocess
import sys
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.ir.test_files import bomb
from tests.strategies import any_graph
from trec.errors import FormatError, OptionError, VerifyError
from trec.ir.builder import GraphBuilder
from trec.ir.compress import compress
from trec.ir.serialize import Format, decode, encode, load, save, schema, to_json

if TYPE_CHECKING:
    from trec.ir.graph import Graph

FORMATS: tuple[Format, ...] = ("trec", "json")
SUFFIXES = (".trec", ".json", ".trec.gz", ".json.gz")


def sample() -> Graph:
    """A graph with a value in every table."""
    builder = GraphBuilder("Net", (("level", "function"),))
    root = builder.scope("module", path="", cls="Net", attrs=(("bias", True), ("eps", 1e-5), ("size", (1, (2, "x")))))
    (x,) = builder.node("input", parent=root, name="x", results=[builder.tensor_type((2, "s0"), "float32")])
    builder.node("output", parent=root, inputs=[x])
    return builder.build()


def sealed(graph: object, version: object = 1, format: object = "trec") -> bytes:
    """Return any object in the envelope of a graph."""
    return msgspec.msgpack.encode({"format": format, "version": version, "graph": graph})


# ---- what is written is read


@given(any_graph(), st.sampled_from(FORMATS))
def test_what_is_encoded_is_decoded(graph: Graph, format: Format) -> None:
    data = encode(graph, format)
    again = decode(data)
    assert again == graph
    assert repr(again.attrs) == repr(graph.attrs)  # 1, 1.0 and True are equal, yet not the same
    assert encode(again, format) == data
    assert decode(compress(data)) == graph


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_saved_is_loaded(tiny: Graph, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"net{suffix}"
    tiny.save(path)
    first = path.read_bytes()
    assert load(path) == tiny
    assert str(load(str(path))) == str(tiny)
    save(tiny, str(path))
    assert path.read_bytes() == first
    assert [file.name for file in tmp_path.iterdir()] == [f"net{suffix}"]


@pytest.mark.parametrize("suffix", [".trec", ".json", ".bin", ""])
@pytest.mark.parametrize("format", FORMATS)
def test_the_content_decides_not_the_name(suffix: str, format: Format, tmp_path: Path) -> None:
    path = tmp_path / f"net{suffix}"
    path.write_bytes(encode(sample(), format))
    assert load(path) == sample()


def test_json_may_be_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    path.write_text("\n\n" + json.dumps(json.loads(sample().to_json()), indent=2, ensure_ascii=True))
    assert load(path) == sample()


def test_to_json_writes_what_it_returns(tmp_path: Path) -> None:
    for name in ("net.json", "net.json.gz"):
        path = tmp_path / name
        text = to_json(sample(), path)
        assert text == to_json(sample())
        assert load(path) == sample()
    assert (tmp_path / "net.json").read_text(encoding="utf-8") == text


@given(any_graph())
def test_json_is_strict(graph: Graph) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(to_json(graph), parse_constant=refuse)


def test_bytes_do_not_depend_on_the_seed_of_hashes() -> None:
    code = (
        "from tests.ir.test_serialize import sample; from trec.ir.serialize import encode; "
        "print(encode(sample()), encode(sample(), 'json'), sample())"
    )
    root = Path(__file__).parents[2]
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=root, env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(printed) == 1


def test_the_schema_describes_the_file() -> None:
    described = schema()
    names = set(described["$defs"])
    assert {"Envelope", "Graph", "Node", "Value", "Scope", "TensorType", "Source", "Carried"} <= names
    assert json.dumps(described)


def test_the_collector_is_as_before() -> None:
    before = gc.isenabled()
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            decode(encode(sample()))
            with pytest.raises(FormatError):
                decode(b"\x80")
            assert gc.isenabled() == enabled
        finally:
            (gc.enable if before else gc.disable)()


def test_what_is_frozen_stays_frozen() -> None:
    """In a process of its own: in a long one, what is frozen dies now and then, and counts no more."""
    source = (
        "import gc; from tests.ir.test_serialize import sample; from trec.ir import collector, serialize\n"
        "collector._MANY = 0; data = serialize.encode(sample())\n"
        "serialize.decode(data); print(gc.get_freeze_count())\n"
        "gc.freeze(); before = gc.get_freeze_count(); serialize.decode(data); print(before, gc.get_freeze_count())"
    )
    root = Path(__file__).parents[2]
    ran = subprocess.run([sys.executable, "-c", source], cwd=root, capture_output=True, check=True, text=True)
    thawed, frozen = ran.stdout.splitlines()
    assert thawed == "0"
    before, after = map(int, frozen.split())
    assert before - 100 < after <= before


# ---- what cannot be written


def test_an_unknown_suffix_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    for name in ("net.pickle", "net", "net.gz", "net.trec.zip"):
        with pytest.raises(OptionError, match=r"known are: \.trec, \.json, \.trec\.gz, \.json\.gz"):
            save(sample(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_path_is_refused(tmp_path: Path) -> None:
    for wrong, said in ((0, "not int"), (b"net.trec", "not bytes"), (None, "not NoneType"), ("a\0b", "null")):
        with pytest.raises(OptionError, match=said):
            load(wrong)  # type: ignore[arg-type]


def test_a_graph_that_no_file_can_hold_is_refused_by_name() -> None:
    for value in (2**70, "\ud800", object()):
        builder = GraphBuilder("Net")
        builder.scope("module", path="", cls="Net")
        builder.attrs._rows.append((("a", value),))  # type: ignore[arg-type]
        with pytest.raises(VerifyError, match="attr-values"):
            encode(builder.build())


# ---- bad files


def refused(data: bytes) -> str:
    """Return the message that the data is refused with."""
    with pytest.raises(FormatError) as caught:
        decode(data)
    return str(caught.value)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_cut_off_anywhere_is_refused(format: Format, compressed: bool) -> None:
    data = encode(sample(), format)
    data = compress(data) if compressed else data.rstrip()
    for end in range(len(data)):
        refused(data[:end])


DEEP = 1_000_000
BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "blank": (b" \n", "the file starts with b' \\n', expected a graph"),
    "zip": (b"PK\x03\x04", "the file starts with b'PK"),
    "png": (b"\x89PNG\r\n\x1a\n", "not msgpack as trec writes it"),
    "pickle": (b"\x80\x04\x95", "not msgpack as trec writes it"),
    "json array": (b"[1, 2]", "the file starts with b'[1, 2]'"),
    "json of another": (b'{"nodes": []}', "it is not JSON as trec writes it: Object missing required field `format`"),
    "json of another format": (b'{"format": "x", "version": 1, "graph": 1}', "of format 'x', expected 'trec'"),
    "json of another type": (b'{"format": "trec", "version": 1, "graph": 1}', "Expected `object`, got `int`"),
    "json with more": (b'{"format": "trec", "version": 1, "graph": {}}x', "trailing characters"),
    "json nan": (b'{"format": "trec", "version": NaN, "graph": {}}', "invalid character"),
    "json not utf-8": (b'{"format": "\xff", "version": 1, "graph": {}}', "damaged JSON"),
    "json in utf-16": ('{"format": "trec"}'.encode("utf-16"), "the file starts with b'\\xff\\xfe{"),
    "json deep": (b'{"format": "trec", "version": 1, "graph": ' + b"[" * DEEP, "nested deeper"),
    "json deep objects": (b'{"format": "trec", "version": 1, "graph": ' + b'{"a":' * DEEP, "nested deeper"),
    "json deep elsewhere": (b'{"other": ' + b"[" * DEEP, "nested deeper"),
    "json long number": (b'{"format": "trec", "version": ' + b"1" * DEEP + b"}", "out of range"),
    "future": (sealed({}, version=2), "format version 2, expected 1; update trec"),
    "version 0": (sealed({}, version=0), "format version 0, expected 1; the file is damaged"),
    "version of another type": (sealed({}, version="1"), "Expected `int`, got `str`"),
    "version true": (sealed({}, version=True), "Expected `int`, got `bool`"),
    "format of another type": (sealed({}, format=[]), "Expected `str`, got `array`"),
    "no graph": (b"\x80", "missing required field `format`"),
    "graph of another type": (sealed([]), "Expected `object`, got `array`"),
    "graph empty": (sealed({}), "missing required field `name`"),
    "msgpack array": (b"\xdd\xff\xff\xff\xff", "the file starts with"),
    "msgpack map": (b"\xdf\xff\xff\xff\xff", "truncated"),
    "msgpack huge array": (sealed(None)[:-1] + b"\xdd\xff\xff\xff\xff", "truncated"),
    "msgpack huge nested array": (sealed(None)[:-1] + b"\x81\xa5nodes\x91\xdd\xff\xff\xff\xff\x01", "truncated"),
    "msgpack huge text": (sealed(None)[:-1] + b"\x81\xa4name\xdb\xff\xff\xff\xff", "truncated"),
    "msgpack huge map": (sealed(None)[:-1] + b"\x81\xa4name\xdf\xff\xff\xff\xff", "truncated"),
    "msgpack deep": (sealed(None)[:-1] + b"\x91" * DEEP, "nested deeper"),
    "msgpack not utf-8": (sealed(None)[:-1] + b"\x81\xa4name\xa1\xff", "damaged a graph|UTF-8"),
    "msgpack unused byte": (sealed(None)[:-1] + b"\xc1", "damaged"),
    "gzip damaged": (b"\x1f\x8b\x08" + bytes(range(50)), "the gzip data is damaged"),
    "gzip of nothing": (compress(b""), "the file is empty"),
    "gzip of gzip": (compress(compress(encode(sample()))), "the file starts with b'\\x1f\\x8b"),
    "gzip with more": (compress(encode(sample())) + b"x", "1 bytes follow the end"),
    "gzip bomb": (bomb(200), "which no graph does"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_what_is_wrong(name: str, tmp_path: Path) -> None:
    data, message = BAD[name]
    path = tmp_path / "net.trec"
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        load(path)
    assert any(part in str(caught.value) for part in message.split("|"))
    assert str(path) in str(caught.value)


def changed(table: str, row: int, field: int, value: object, graph: Graph | None = None) -> bytes:
    """Return the JSON of a graph with one field of one row changed."""
    data: dict[str, Any] = json.loads(to_json(graph or sample()))
    data["graph"][table][row][field] = value
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed("nodes", 0, 3, 1), "`node-indices`"),
        (changed("nodes", 1, 5, [1]), "`inputs-earlier`"),
        (changed("nodes", 1, 5, [-1]), "`inputs-earlier`"),
        (changed("nodes", 0, 6, [7]), "`one-producer`"),
        (changed("values", 0, 0, 9), "`value-types`"),
        (changed("scopes", 0, 5, 0), "`one-root`"),
        (changed("scopes", 0, 7, 2**62), "`scope-indices`"),
        (changed("nodes", 0, 0, "operator"), "Invalid enum value 'operator' - at `$.nodes[0][0]`"),
        (changed("nodes", 0, 2, None), "Expected `str`, got `null` - at `$.nodes[0][2]`"),
        (changed("nodes", 0, 4, 10**30), "`node-depths`"),
        (changed("types", 0, 0, [10**30]), "`shapes`"),
        (changed("nodes", 0, 4, 1.5), "Expected `int`, got `float`"),
        (changed("attrs", 1, 0, ["a", 10**30]), "`attr-values`"),
        (changed("attrs", 1, 0, ["a", [[[[1]]]]]), "got `array`"),
        (changed("attrs", 1, 0, ["a", {}]), "got `object`"),
    ],
)
def test_a_graph_that_is_not_valid_is_refused(data: bytes, message: str) -> None:
    assert message in refused(data)


MANY = 20_000
DENSE: dict[str, dict[str, Any]] = {
    "rows of attributes": {"attrs": [[["", 0]]] * MANY},
    "pairs": {"attrs": [[["", 0]] * MANY]},
    "nested attributes": {"attrs": [[], [["", [[[0]]] * MANY]]]},
    "types": {"types": [[[], ""]] * MANY},
    "sizes": {"types": [[[1000] * MANY, ""]]},
    "inputs": {"nodes": [["op", "", "", 0, 0, [300] * MANY, []]]},
    "values": {"values": [[0, ""]] * MANY},
    "notes": {"notes": [["", "", ""]] * MANY},
    "what is not known": {"new": [[[[]]]] * MANY},
}
"""Tables whose rows take the most memory for their bytes."""


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", DENSE)
def test_no_file_takes_more_than_fifty_times_its_size(name: str, format: Format) -> None:
    scope = ["module", "", "", "", 0, -1, 0]
    graph = {"name": "", "nodes": [], "values": [], "scopes": [scope], "types": [], "attrs": [[]], **DENSE[name]}
    data = sealed(graph)
    if format == "json":
        data = msgspec.json.encode(msgspec.msgpack.decode(data))
    tracemalloc.start(1)
    with suppress(FormatError):
        decode(data)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50 * len(data)


@pytest.mark.parametrize("name", [name for name in BAD if "huge" in name])
def test_what_a_file_announces_takes_no_memory(name: str) -> None:
    data, _ = BAD[name]
    refused(data)  # what is made once is not counted
    tracemalloc.start(1)
    refused(data)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 100_000


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is a directory, expected a"):
        load(tmp_path)


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "net.trec")


def survives(data: bytes) -> None:
    """Check that data gives a valid graph or an error of ours."""
    try:
        graph = decode(data)
    except FormatError:
        return
    graph.verify()
    assert decode(encode(graph)) == graph
    assert str(graph)


@given(st.binary(max_size=64), st.sampled_from((b"", b"{", b"\x83", sealed(None)[:-1], b"\x1f\x8b\x08")))
def test_any_bytes_survive(data: bytes, start: bytes) -> None:
    survives(start + data)


@given(any_graph(), st.sampled_from(FORMATS), st.data())
def test_a_file_with_bytes_changed_survives(graph: Graph, format: Format, data: st.DataObject) -> None:
    damaged = bytearray(encode(graph, format))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        edit = data.draw(st.sampled_from(("change", "insert", "remove", "cut")))
        if edit == "change":
            damaged[at] = data.draw(st.integers(0, 255))
        elif edit == "insert":
            damaged[at:at] = data.draw(st.binary(max_size=4))
        elif edit == "remove" and len(damaged) > 1:
            del damaged[at]
        elif len(damaged) > 1:
            del damaged[max(at, 1) :]
    survives(bytes(damaged))


json_like = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-2, 3), st.floats(allow_nan=False, allow_infinity=False), st.text()
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=5,
)


@given(any_graph(), st.data())
@example(sample(), None)
def test_a_graph_with_fields_changed_survives(graph: Graph, data: st.DataObject | None) -> None:
    rows: dict[str, Any] = json.loads(to_json(graph))
    if data is not None:
        for _ in range(data.draw(st.integers(1, 2))):
            _change(rows["graph"], data)
    survives(json.dumps(rows).encode())
    survives(msgspec.msgpack.encode(rows))


def _change(holder: Any, data: st.DataObject) -> None:
    while True:
        keys = sorted(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = data.draw(st.sampled_from(keys))
        inner = holder[key]
        if not inner or not isinstance(inner, dict | list) or data.draw(st.integers(0, 3)) == 0:
            holder[key] = data.draw(json_like)
            return
        holder = inner
