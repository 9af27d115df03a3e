"""Checks JSON objects against a JSON Schema, and describes errors in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import jsonschema
from jsonschema.exceptions import best_match


class Checked(Protocol):
    """A JSON value with its place in a file, which makes errors that name the place."""

    @property
    def value(self) -> Any:
        """The JSON value."""

    def error(self, reason: str, *where: str | int) -> Exception:
        """An error that names the place of a part: keys and positions from the root."""


@dataclass(frozen=True)
class Shape:
    """One definition (``$defs``) of a JSON Schema."""

    validator: Any

    @staticmethod
    def load(schema_file: Path, definition: str) -> Shape:
        """The definition ``definition`` of ``schema_file``."""
        schema = json.loads(schema_file.read_text("utf-8"))
        chosen = {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": f"#/$defs/{definition}"}
        return Shape(jsonschema.Draft202012Validator(chosen))

    def check(self, line: Checked) -> None:
        """Checks that the line has this shape.

        Raises:
            TraceError: it does not. The message says where, what is there, and what to write.
        """
        problem = self.problem(line.value)
        if problem is not None:
            raise line.error(problem[1], *problem[0])

    def problem(self, value: object) -> tuple[tuple[str | int, ...], str] | None:
        """The first mismatch of ``value``, or None if it fits.

        Returns:
            The place (keys and positions), and what is wrong there, with what to write.
        """
        errors = list(self.validator.iter_errors(value))
        error = best_match(errors)
        if error is None:
            return None
        error = _first_alike(error, errors)
        where = ".".join(str(part) for part in error.absolute_path)
        at = f'"{where}": ' if where else ""
        known = error.schema.get("description", _REMEDIES.get(error.validator, ""))
        advice = known if error.validator != "additionalProperties" else ""
        return (*error.absolute_path, *_key(error)), f"{at}{_problem(error)}" + (f"; write {advice}" if advice else "")


def _first_alike(error: Any, errors: Sequence[Any]) -> Any:
    """Of several equal mistakes the first one: ``best_match`` takes any."""
    if not any(each is error for each in errors):
        return error
    alike = [e for e in errors if e.validator == error.validator and len(e.absolute_path) == len(error.absolute_path)]
    return min(alike, key=lambda e: [str(part).zfill(9) for part in e.absolute_path])


def _key(error: Any) -> list[str]:
    """The unknown key, if the error is about one."""
    return _unknown(error)[:1] if error.validator == "additionalProperties" else []


def _unknown(error: Any) -> list[str]:
    return [key for key in error.instance if key not in error.schema.get("properties", {})]


def _problem(error: Any) -> str:
    match error.validator:
        case "type":
            allowed = error.validator_value
            names = [allowed] if isinstance(allowed, str) else allowed
            return f"{kind_of(error.instance)} is not {' or '.join(_TYPES[n] for n in names)}"
        case "required":
            missing = [k for k in error.validator_value if k not in error.instance]
            return f'"{missing[0]}" is missing'
        case "additionalProperties":
            known = ", ".join(error.schema.get("properties", {}))
            return f'unknown field "{_unknown(error)[0]}"; choose from {known}'
        case "enum":
            return f"unknown value {_short(error.instance)}; choose from {', '.join(map(str, error.validator_value))}"
        case "dependentRequired":
            alone = next(k for k in error.validator_value if k in error.instance)
            return f'"{alone}" needs "{error.validator_value[alone][0]}" beside it'
        case "not":
            return f"{' and '.join(error.validator_value.get('required', ['these']))} exclude each other"
        case "minProperties":
            return "an empty object"
        case "minItems":
            return "an empty list"
        case "minLength":
            return "an empty text"
        case "anyOf" | "oneOf":
            return f"{kind_of(error.instance)} does not fit"
        case "const":
            return f"{_short(error.instance)} is not {json.dumps(error.validator_value)}"
        case _:
            return str(error.message)[:200].replace("\n", " ")


_REMEDIES = {"required": "it", "dependentRequired": "both", "not": "one of the two", "type": "that"}
"""What to write if the schema does not say it."""

_TYPES = {
    "object": "an object {...}",
    "array": "a list [...]",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def kind_of(value: object) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return _short(value)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else text[:57] + "..."
