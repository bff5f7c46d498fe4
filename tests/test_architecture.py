from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "architecture.md"
START, END = "<!-- files -->\n", "<!-- end of files -->"


def first_line(path: Path) -> str:
    """Return the first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def listing() -> str:
    """Return the list of all folders and files of the package with what they say of themselves."""
    lines = []
    for folder in sorted({path.parent for path in (ROOT / "trec").rglob("*.py")}):
        about = first_line(folder / "__init__.py")
        lines += [f"### `{folder.relative_to(ROOT).as_posix()}/`", "", about, ""]
        files = [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]
        lines += [f"- `{path.name}`: {first_line(path)}" for path in files]
        lines += [""] if files else []
    return "\n".join(lines)


def test_the_list_of_files_is_true(request: pytest.FixtureRequest) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    true = f"{before}{START}\n{listing()}{END}{after}"
    if request.config.getoption("--update"):
        DOCUMENT.write_text(true, encoding="utf-8", newline="\n")
    assert DOCUMENT.read_text(encoding="utf-8") == true, "pytest --update tests/test_architecture.py writes it anew"


def test_every_file_says_what_it_is() -> None:
    assert [path for path in (ROOT / "trec").rglob("*.py") if not first_line(path)] == []


def test_a_file_above_300_lines_has_its_reason_in_the_document() -> None:
    text = DOCUMENT.read_text(encoding="utf-8").partition("\n## Files above 300 lines\n")[2].partition("\n## ")[0]
    viewer = ROOT / "trec" / "backends" / "html" / "viewer"
    files = {path: path.relative_to(ROOT) for path in (ROOT / "trec").rglob("*.py")}
    files |= {path: path.relative_to(viewer) for path in viewer.rglob("*.js")}
    for path, name in files.items():
        if len(path.read_text(encoding="utf-8").splitlines()) > 300:
            assert f"`{name.as_posix()}`" in text, "give the reason for its length"
