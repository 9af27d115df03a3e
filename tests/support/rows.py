"""One test of all rows of a table: each row is a fact of the same kind, and a test for each would cost more than what it tests."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

SHOWN = 5
"""So many rows that fail are shown in full; the message names all."""


def each_row(
    names: str | Sequence[str], rows: Iterable[Any], ids: Iterable[object] | Callable[[Any], object] | None = None
) -> Callable[..., Any]:
    """As ``pytest.mark.parametrize``, but one test: every row runs, also after one that fails.

    For rows of a few milliseconds: pytest and xdist take about five for each test. A row has a ``tmp_path`` and a ``monkeypatch`` of its own,
    and what is printed before it is not in its ``capsys`` or ``capfd``. It shares all other fixtures with the other rows. A test has its function of one row as ``.row``.

    Args:
        names: of the arguments that a row has; a text with commas, or several texts.
        rows: values of one argument, or tuples of several.
        ids: the names of the rows, or what names a value.

    Raises:
        ExceptionGroup: rows fail. It names them all, and has the errors of the first.
    """
    arguments = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    single = isinstance(names, str) and len(arguments) == 1
    table = [(row,) if single else tuple(row) for row in rows]
    assert table, "a table without rows tests nothing"
    assert all(len(row) == len(arguments) for row in table), f"each row has {len(arguments)} values"
    called = None if ids is None or callable(ids) else [str(name) for name in ids]
    assert called is None or len(called) == len(table), "each row has a name"

    def name_of(number: int) -> str:
        if called is not None:
            return called[number]
        return "-".join(str(ids(value) if callable(ids) else value)[:60] for value in table[number])

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def all_rows(*args: Any, **fixtures: Any) -> None:
            wrong: list[tuple[str, Exception]] = []
            for number, row in enumerate(table):
                with ExitStack() as ends:
                    given = {each: _of_row(each, value, number, ends) for each, value in fixtures.items()}
                    try:
                        test(*args, **given, **dict(zip(arguments, row, strict=True)))
                    except Exception as error:
                        error.add_note(f"in the row {name_of(number)}")
                        wrong.append((name_of(number), error))
            if wrong:
                message = f"{len(wrong)} of {len(table)} rows fail: {', '.join(name for name, _ in wrong)}"
                raise ExceptionGroup(message, [error for _, error in wrong[:SHOWN]])

        all_rows.row = test  # type: ignore[attr-defined]
        all_rows.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[each for name, each in signature.parameters.items() if name not in arguments]
        )
        return all_rows

    return decorated


def _of_row(name: str, value: Any, number: int, ends: ExitStack) -> Any:
    """The fixture ``name`` as a row has it."""
    if name == "tmp_path":
        folder = value / f"row{number}"
        folder.mkdir()
        return folder
    if name == "monkeypatch":
        return ends.enter_context(value.context())
    if name in ("capsys", "capfd"):
        value.readouterr()
    return value
