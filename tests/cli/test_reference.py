"""The reference in `docs/cli.md` says what the parsers do."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from tests.documents import ROOT
from trec.cli.parser import COMMANDS, Parser, command_parser

if TYPE_CHECKING:
    from collections.abc import Iterable

DOCUMENT = ROOT / "docs" / "cli.md"
START, END = "<!-- commands -->\n", "<!-- end of commands -->"
OWN = {"positional arguments", "options"}


def usage(action: argparse.Action) -> str:
    """Return an argument or option as it is typed."""
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    if not action.option_strings:
        return str(value)
    return ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {value}")


def told(actions: Iterable[argparse.Action]) -> list[str]:
    return [f"- `{usage(action)}`: {action.help}" for action in actions if action.help != argparse.SUPPRESS]


def section(name: str, shared: dict[str, list[str]]) -> list[str]:
    """Return what is said of a command; options of a group that several commands have are left to `shared`."""
    parser, _ = command_parser(name)
    text, _, examples = (parser.description or "").partition("\n\nFor example:\n\n")
    lines = [f"### `{f'trec {name} {parser.positional()}'.strip()}`", "", text, ""]
    if examples:
        lines += ["```console", *[f"$ {line.strip()}" for line in examples.splitlines()], "```", ""]
    groups = []
    for group in parser._action_groups:
        rows = told(action for action in group._group_actions if action.dest not in ("help", "traceback"))
        if group.title in OWN:
            lines += rows
        elif rows:
            shared.setdefault(str(group.title), rows)
            groups.append(f"[{group.title}](#{str(group.title).replace(' ', '-')})")
        elif group.description and group._group_actions:
            groups.append("where a graph is a model, [how the model is made and run](#how-the-model-is-made-and-run)")
    lines += [""] if lines[-1].startswith("-") else []
    return [*lines, *([f"Further options: {', '.join(groups)}.", ""] if groups else [])]


def reference() -> str:
    shared: dict[str, list[str]] = {}
    sections = [line for name in COMMANDS for line in section(name, shared)]
    groups = [line for title, rows in shared.items() for line in (f"### {title[0].upper()}{title[1:]}", "", *rows, "")]
    return "\n".join(["## Commands", "", *sections, "## Options of several commands", "", *groups])


def test_the_reference_is_what_the_parsers_take(request: pytest.FixtureRequest) -> None:
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(START)
    true = f"{before}{START}\n{reference()}{END}{rest.partition(END)[2]}"
    if request.config.getoption("--update"):
        DOCUMENT.write_text(true, encoding="utf-8", newline="\n")
    assert DOCUMENT.read_text(encoding="utf-8") == true, "pytest --update tests/cli/test_reference.py writes it anew"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does_and_what_its_options_do(name: str) -> None:
    parser, _ = command_parser(name)
    assert isinstance(parser, Parser)
    assert parser.description
    assert parser.description[0].isupper()
    assert all(action.help for action in parser.actions())
    assert max(map(len, parser.description.splitlines())) <= 100
