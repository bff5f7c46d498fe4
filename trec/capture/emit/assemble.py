"""From the log of a recording to the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.capture.arguments import freeze, name_arguments
from trec.capture.describe import describe
from trec.capture.emit.derivatives import derivatives
from trec.capture.emit.lifetimes import lifetimes
from trec.capture.emit.measured import measured
from trec.capture.emit.names import NAMED, Names
from trec.capture.emit.program import Program, plan
from trec.capture.emit.strands import order_strands
from trec.capture.emit.unread import drop_unread
from trec.capture.log import Origin
from trec.capture.naming import Description
from trec.capture.sources import resolve_place
from trec.ir.builder import GraphBuilder
from trec.ir.tables import clean
from trec.ir.types import SAVED, Node, Value

if TYPE_CHECKING:
    from trec.capture.log import ValueType
    from trec.capture.recorder import Recorder
    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow


def assemble(recorder: Recorder, name: str, outputs: list[tuple[str, int]], made: dict[int, Origin]) -> Graph:
    """Return the graph of a recording.

    Args:
        recorder: what was written down.
        name: name of the graph.
        outputs: name and value of each tensor that the model returned.
        made: parameters and buffers that came to be during the pass, by value.
    """
    log = recorder.log
    if recorder.heads:
        moved = order_strands(log, recorder.heads, [value for _, value in outputs])
        if recorder.failure is not None:
            recorder.failure = (moved[recorder.failure[0]], recorder.failure[1])
    log.events.extend(("output", key, 0, [value], [], index, None) for index, (key, value) in enumerate(outputs))
    drop_unread(log, recorder.memory, (*made, *(value for _, value in outputs)))
    recorder.memory.close()
    keep = recorder.level == "aten"
    program = plan(log, [value for _, value in outputs], made, recorder.facts, keep_operators=keep)
    return _Assembly(recorder, name, program).build()


class _Assembly:
    """Turns a program into rows, each kind of row through a cache of what was seen before."""

    def __init__(self, recorder: Recorder, name: str, program: Program) -> None:
        self.log, self.failure = recorder.log, recorder.failure
        self.program = program
        self.builder = GraphBuilder(name, meta=recorder.meta)
        self.types = [-1] * len(self.log.type_keys)
        self.rows = [-1] * len(self.log.argument_rows)
        self.described: dict[int, tuple[AttrRow, int]] = {}
        self.places: dict[tuple[int, int], int] = {}
        self.named: dict[AttrRow, int] = {}
        self.names = Names(self.log, program, self.builder.name)
        self.module_scopes: list[int] = []
        self.group_scopes: list[int] = []

    def build(self) -> Graph:
        numbers = [-1] * len(self.log.types)
        count = 0
        for step in self.program.steps:
            for value in step.outputs:
                numbers[value] = count
                count += 1
        self._add_scopes(numbers)
        self._add_nodes(numbers)
        self.builder.derivatives += derivatives(self.log, self.program)
        graph = self.builder.build()
        names = self.names
        if self.log.costs:
            graph = measured(graph, self.program, self.log.seconds, names.scopes, names.steps, names.groups)
        if self.log.followed:
            graph.__dict__["lifetimes"] = lifetimes(self.log, self.program, names.steps, numbers, graph.values)
        return graph

    # ---- scopes

    def _add_scopes(self, numbers: list[int]) -> None:
        for group in self.program.groups:
            self._add_modules(group.call.scope + 1)
            call = group.call
            self.group_scopes.append(
                self.builder.scope(
                    "function",
                    path=self.log.scopes[call.scope].path,
                    cls=self.names.op(call.function),
                    parent=self.module_scopes[call.scope],
                    name=self.names.groups[len(self.group_scopes)],
                    attrs=self._arguments(
                        call.function, call.arguments, () if call.error is None else (("error", call.error),)
                    ),
                    source=self._place(call.place, call.scope),
                    inputs=[numbers[value] for value in group.inputs],
                    outputs=[numbers[value] for value in group.outputs],
                    phase=self.log.scopes[call.scope].phase,
                )
            )
        self._add_modules(len(self.log.scopes))

    def _add_modules(self, count: int) -> None:
        builder, scopes = self.builder, self.module_scopes
        for position in range(len(scopes), count):
            record = self.log.scopes[position]
            attrs = self._described(record.module)
            if self.failure is not None and self.failure[0] == position:
                error = ("error", type(self.failure[1]).__name__)
                attrs = self.builder.attrs.add((*self.builder.attrs[attrs], error))
            parent = -1 if record.parent < 0 else scopes[record.parent]
            source = self._place(record.place, record.parent)
            name = self.names.scopes[position]
            row = builder.scope_row(
                record.kind, name, clean(record.path), record.cls, record.call, parent, attrs, source,
                phase=record.phase,
            )  # fmt: skip
            scopes.append(row)

    # ---- nodes

    def _add_nodes(self, numbers: list[int]) -> None:
        """Add the rows of nodes and values as they are: names are unique, and everything else is in the tables."""
        builder, module_scopes, group_scopes = self.builder, self.module_scopes, self.group_scopes
        nodes, values, scopes = builder.nodes, builder.values, builder.scopes
        held_by = [scopes[scope] for scope in module_scopes]
        depths = [row.depth + (row.kind == "module" or row.parent < 0) for row in held_by]
        log_types, types = self.log.types, self.types
        for step, name in zip(self.program.steps, self.names.steps, strict=True):
            kind, group = step.kind, step.group
            attrs, source = 0, -1
            if kind not in NAMED:
                op = self.names.op(step.what)
                facts: AttrRow = () if step.error is None else (("error", step.error),)
                if step.saved:
                    facts = (*facts, (SAVED, step.saved))
                attrs = self._arguments(step.what, step.detail, facts)
                source = self._place(step.place, step.scope) if kind != "link" else -1
            else:
                op = kind
                if isinstance(step.detail, Origin):
                    attrs = self._named(step.detail)
                elif step.detail is not None:
                    attrs = builder.attrs.add((("index", step.detail),))
            parent = module_scopes[step.scope] if group < 0 else group_scopes[group]
            depth = depths[step.scope] if group < 0 else scopes[parent].depth
            inputs = tuple([numbers[value] for value in step.inputs])
            first = len(values)
            outputs = step.outputs
            lone = len(outputs) - step.saved == 1
            for port, value in enumerate(outputs):
                type_ = types[log_types[value]]
                if type_ < 0:
                    type_ = types[log_types[value]] = self._type(self.log.type_keys[log_types[value]])
                values.append(Value(type_, name if lone and not port else f"{name}:{port}"))
            made = (first,) if len(outputs) == 1 else tuple(range(first, len(values)))
            nodes.append(Node(kind, op, name, parent, depth, inputs, made, attrs, source))

    # ---- what is looked up once

    def _described(self, module: Any) -> int:
        row = module.row if type(module) is Description else describe(module)
        found = self.described.get(id(row))
        if found is None:
            found = self.described[id(row)] = (row, self.builder.attrs.add(row))  # held, so the id stays its own
        return found[1]

    def _named(self, origin: Origin) -> int:
        """Return the index of the attributes of a parameter or buffer; several of one name came one after the other."""
        row = (*_names(origin.names), *origin.facts)
        found = self.named.get(row)
        if found is None:
            found = self.named[row] = self.builder.attrs.append(row)
        return found

    def _arguments(self, function: Any, index: Any, facts: AttrRow = ()) -> int:
        """Return the index of the attributes that name the arguments of a call: kept in the log, or only outlined.

        Args:
            function: what was called.
            index: where its arguments are kept, or their outline; None for none.
            facts: what is to be said of the call besides.
        """
        if index is None:
            return self.builder.attrs.add(facts)
        if type(index) is not int:
            return self.builder.attrs.add((*name_arguments(function, freeze(tuple(index[0]), index[1])[0]), *facts))
        if facts:
            return self.builder.attrs.add((*name_arguments(*self.log.argument_rows[index]), *facts))
        row = self.rows[index]
        if row < 0:
            row = self.rows[index] = self.builder.attrs.add(name_arguments(*self.log.argument_rows[index]))
        return row

    def _place(self, place: Any, scope: int) -> int:
        """Return the index of a source line: where the enclosing module was called if none of the user's is nearer."""
        while place is None and scope >= 0:
            record = self.log.scopes[scope]
            place, scope = record.place, record.parent
        if place is None:
            return -1
        key = (id(place[0]), place[1])
        index = self.places.get(key)
        if index is None:
            index = self.places[key] = self.builder.sources.add(resolve_place(place))
        return index

    def _type(self, key: ValueType) -> int:
        shape, dtype, device, layout = key
        sizes = tuple([size if type(size) is int else _symbol(size) for size in shape])
        return self.builder.tensor_type(
            sizes, str(dtype).removeprefix("torch."), str(device), str(layout).removeprefix("torch.")
        )


def _names(names: list[str]) -> AttrRow:
    """Return the attributes of a parameter or buffer: its first name, and the others if it is tied."""
    qualname = ("qualname", clean(names[0]))
    return (qualname,) if len(names) == 1 else (qualname, ("aliases", clean(",".join(names[1:]))))


def _symbol(size: Any) -> int | str:
    """Return the name of a symbolic size; a ragged one, which has no size of its own, is unknown."""
    if isinstance(size, str):
        return size
    text = str(size)
    try:
        return int(text)
    except ValueError:
        return "?" if text.startswith("j") and text[1:].isdigit() else text
