"""Imports a module of the user and reports any failure in one line."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import traceback
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from schedproof.model import lang
from schedproof.model.lang import ModelError
from schedproof.model.lang.excerpt import Span, excerpt

from .errors import UserError


def imported(folder: Path | None, name: str, where: str) -> ModuleType:
    """The module ``name``, with ``folder`` first on Python's search path; None leaves the path as it is.

    ``folder`` stays on the search path: the module may import others from it later.

    Args:
        where: the place that names the module, for messages.

    Raises:
        UserError: the module does not exist or fails, or another of its name has been imported.
    """
    if folder is not None:
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
        importlib.invalidate_caches()  # the folder may be newer than Python's cache
        _unambiguous(folder, name.partition(".")[0], where)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # standard output is for results
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            searched = "installed" if folder is None else f"in {str(folder)!r}, nor is one installed"
            raise UserError(
                f"{where}: no module {error.name!r} is {searched}; "
                "write package.module:OBJECT for a file package/module.py there"
            ) from None
        raise _failed(folder, name, where, error) from None
    except ModelError as error:
        raise UserError(f"{where}: {name} has an error: {error}").with_excerpt(error.excerpt) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # user code may raise any exception
        raise _failed(folder, name, where, error) from None


def _failed(folder: Path | None, name: str, where: str, error: BaseException) -> UserError:
    """The error for an exception in the user's module, with the line of the user's code."""
    what, span = f"{type(error).__name__}: {error}", None
    if isinstance(error, SyntaxError) and error.filename is not None:
        file, line, what = error.filename, error.lineno, f"{type(error).__name__}: {error.msg}"
        span = _of_syntax(error)
    else:
        frames = traceback.extract_tb(error.__traceback__)
        outside = [
            f for f in frames if not f.filename.startswith("<") and Path(f.filename).parent != Path(__file__).parent
        ]
        users_frames = [f for f in outside if folder is not None and Path(f.filename).is_relative_to(folder)]
        last = (users_frames or outside)[-1]
        file, line = last.filename, last.lineno
        if None not in (last.lineno, last.colno, last.end_lineno, last.end_colno):
            span = Span(last.lineno, last.colno, last.end_lineno, last.end_colno)  # type: ignore[arg-type]
    path = Path(file)
    at = path.relative_to(folder) if folder is not None and path.is_relative_to(folder) else path
    remedy = "correct it there"
    if isinstance(error, NameError) and error.name in lang.__all__:
        remedy = f"import it: from schedproof.model.lang import {error.name}"
    failed = UserError(f"{where}: importing {name} fails in {at}, line {line}: {what}; {remedy}")
    return failed.with_excerpt(excerpt(file, line, span) if line is not None else "")


def _of_syntax(error: SyntaxError) -> Span | None:
    """Where Python finds the syntax wrong. It counts characters from 1, and may not know the end."""
    if error.lineno is None or not error.offset or error.text is None:
        return None
    known = error.end_lineno == error.lineno and error.end_offset is not None and error.end_offset > error.offset
    end = error.end_offset if known and error.end_offset is not None else error.offset + 1
    start, until = (len(error.text[: each - 1].encode()) for each in (error.offset, end))
    return Span(error.lineno, start, error.lineno, until)


def blamed(folder: Path, error: BaseException) -> UserError | None:
    """The error for an exception that code below ``folder`` raised when it was called; None for other code.

    An exception from a worker process carries its traceback as a note, which is searched too.
    """
    frames = re.findall(r'File "([^"]+)", line (\d+)', "".join(traceback.format_exception(error)))
    if not frames or not Path(frames[-1][0]).is_relative_to(folder):
        return None
    file, line = frames[-1]
    at = Path(file).relative_to(folder)
    failed = UserError(
        f"{at}, line {line}, which a model calls, fails: {type(error).__name__}: {error}; correct it there"
    )
    return failed.with_excerpt(excerpt(file, int(line), None))


def _unambiguous(folder: Path, top: str, where: str) -> None:
    """Refuses a package if a module of the same name has been imported from another place, because that hides it."""
    loaded, spec = sys.modules.get(top), PathFinder.find_spec(top, [str(folder)])
    if loaded is None or spec is None or loaded.__spec__ is None or _origin(loaded.__spec__) == _origin(spec):
        return
    raise UserError(
        f"{where}: {top!r} is also the name of a module in {_origin(loaded.__spec__)[0]!r}, which is imported already; "
        "give the package another name"
    )


def _origin(spec: ModuleSpec) -> tuple[str, ...]:
    return (
        (spec.origin,) if spec.has_location and spec.origin else tuple(spec.submodule_search_locations or ("Python",))
    )
