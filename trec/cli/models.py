"""From the name of a model to the model: this imports and runs the code that the user names."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trec.cli.words import meant
from trec.errors import OptionError, TrecError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

HUGGING_FACE = "hf:"
FORMS = "a model is package.module:factory, path/to/file.py:Class or hf:folder"
_FORM = re.compile(r"(?P<place>.+):(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")


def is_model(text: str) -> bool:
    """Tell whether a text names a model, and not a file with a graph."""
    if os.path.exists(text):
        return False
    match = _FORM.fullmatch(text)
    return text.startswith(HUGGING_FACE) or (match is not None and _is_place(match["place"]))


def load(spec: str) -> Any:
    """Return what `package.module:name` or `path/to/file.py:name` names; its module is imported.

    Modules are looked for where Python finds them, and in the working directory.

    Raises:
        OptionError: there is no such module, file or name; the message says what was meant.
        TrecError: the code raised while it was imported.
    """
    match = _FORM.fullmatch(spec)
    if match is None or not _is_place(match["place"]):
        raise OptionError(_no_model(spec))
    place, name = match["place"], match["name"]
    module = _from_file(Path(place)) if place.endswith(".py") else _from_path(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise OptionError(f"{place} has no {part!r}; {meant(part, _names(found))}")
        found = getattr(found, part)
    return found


def made(found: Any, spec: str, arguments: dict[str, Any]) -> Any:
    """Return the model that was found, or that what was found makes when it is called.

    Args:
        found: a model, its class, or a function that returns it.
        spec: what the user wrote, for messages.
        arguments: what the class or function is given.

    Raises:
        OptionError: it takes other arguments, or is nothing that can be called.
        TrecError: it raised.
    """
    if not callable(found) or (hasattr(found, "forward") and not isinstance(found, type)):
        if arguments:
            raise OptionError(f"{spec} is a model already, so --arg has nothing to be given to")
        return found
    try:
        inspect.signature(found).bind(**arguments)
    except TypeError as error:
        raise OptionError(
            f"{spec} cannot be called so: {error}; it takes {taken(found)}, give them as --arg name=value"
        ) from error
    except ValueError:  # written in C, so it does not tell what it takes
        pass
    with _users_code(f"{spec} was called"):
        return found(**arguments)


def taken(function: Any) -> inspect.Signature:
    """Return what a function takes, without types."""
    signature = inspect.signature(function)
    bare = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return signature.replace(parameters=bare, return_annotation=signature.empty)


def _from_path(place: str) -> ModuleType:
    _look_in(Path.cwd())
    with _users_code(f"{place} was imported"):
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{place}.".startswith(f"{error.name}."):
                raise
            raise OptionError(
                f"there is no module {error.name!r}; is it installed in this environment ({sys.prefix}), "
                "or below the working directory?"
            ) from error


def _from_file(path: Path) -> ModuleType:
    """Import a file, as part of its package if it is in one."""
    if not path.is_file():
        near = [str(other) for other in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise OptionError(f"there is no file {str(path)!r}; {meant(str(path), sorted(near))}")
    folder, parts = path.resolve().parent, [path.stem]
    while (folder / "__init__.py").is_file():
        folder, parts = folder.parent, [folder.name, *parts]
    _look_in(folder)
    if len(parts) > 1:
        return _from_path(".".join(parts))
    name = path.stem if path.stem not in sys.modules and path.stem.isidentifier() else f"_of_file_{path.stem}"
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise OptionError(f"{str(path)!r} is no file of Python")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # what is defined in it looks there for its module
    with _users_code(f"{path} was imported"):
        specification.loader.exec_module(module)
    return module


def _look_in(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@contextmanager
def _users_code(when: str) -> Iterator[None]:
    """Turn what the user's code raises into an error that says so."""
    try:
        yield
    except TrecError:
        raise
    except SystemExit as end:
        raise TrecError(f"the program ended itself when {when}; what it runs belongs below __name__") from end
    except Exception as error:
        raise TrecError(f"{type(error).__name__} when {when}: {error} (--traceback shows where)") from error


def _is_place(text: str) -> bool:
    return text.endswith(".py") or _is_dotted(text)


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _names(found: Any) -> list[str]:
    """Return the names of what can be called in a module: of what it defines itself, if there is any, else of all."""
    names = [name for name in dir(found) if not name.startswith("_") and callable(getattr(found, name, None))]
    here = getattr(found, "__name__", None)
    own = [name for name in names if getattr(getattr(found, name), "__module__", "") == here]
    return own or names


def _no_model(spec: str) -> str:
    if spec.endswith(".py"):
        return f"{spec!r} is a file; say which model of it: {spec}:Class"
    module, _, name = spec.rpartition(".")
    guess = f"; did you mean {module}:{name}?" if module and _is_dotted(spec) else ""
    return f"{spec!r} names no model: {FORMS}{guess}"
