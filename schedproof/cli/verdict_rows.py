"""The table of verdicts of a variant, and below it why a verdict is not the expected one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from schedproof.model.lang import Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.proofs.checking.model_check import ILL_FORMED
from schedproof.proofs.verdict import NOT_INDUCTIVE, Result, Verdict
from schedproof.proofs.verification.verify import CheckedProperty

from .tables import seconds
from .verdict_status import OPEN

COLUMNS = ("property", "kind", "verdict", "expected", "", "seconds")


def is_of_ill_formed(result: Result) -> bool:
    """Whether the verdict is missing only since the model is not well-formed, as that of most other properties is."""
    return result.verdict is Verdict.UNDETERMINED and result.note == ILL_FORMED


def rows(properties: Iterable[tuple[CheckedProperty, str]]) -> list[list[str]]:
    """The rows of the table: one for each property, but one for all that an ill-formed model leaves without a verdict.

    A cell has only the first words of why a verdict is undetermined: :func:`reasons` has the rest.

    Args:
        properties: each with how it stands to what is expected.
    """
    table, left_out = [], 0
    for checked, mark in properties:
        if is_of_ill_formed(checked.result):
            left_out += 1
        else:
            table.append(_row(checked, mark))
    if left_out:
        first = re.split("[,:;]", ILL_FORMED)[0]
        noun = "property" if left_out == 1 else "properties"
        table.append([f"{left_out} other {noun}", "", f"undetermined: {first}", "", OPEN, ""])
    return table


def _row(checked: CheckedProperty, mark: str) -> list[str]:
    result = checked.result
    reach = checked.reach
    if result.verdict is Verdict.UNDETERMINED:
        reach = f"undetermined: {re.split('[,:;]', result.note)[0]}"
    took = "cached" if checked.cached else seconds(result.seconds)
    return [result.name, result.kind, reach, str(checked.expected), mark, took]


def reasons(properties: Sequence[CheckedProperty]) -> list[tuple[str, CheckedProperty | None]]:
    """The line for each verdict that is not the expected one, and whose it is; None for a line about several."""
    lines: list[tuple[str, CheckedProperty | None]] = [
        (f"{each.result.name}: {each.reach}, expected {each.expected}", each)
        for each in properties
        if not is_of_ill_formed(each.result)
    ]
    if names := [each.result.name for each in properties if is_of_ill_formed(each.result)]:
        lines.append((f"{', '.join(names)}: undetermined: {ILL_FORMED}", None))
    return lines


def lemma_hint(model: Model, undetermined: Mapping[str, str]) -> list[str]:
    """The line that says what may find the lemmas of properties that are not inductive; none if there is no such property.

    It names well-formedness only if that is alone: a proof of any other property proves it, too.

    Args:
        undetermined: by property, why it is undetermined.
    """
    not_inductive = [name for name, note in undetermined.items() if NOT_INDUCTIVE in note]
    names = [name for name in not_inductive if name != WELL_FORMED] or not_inductive
    if not names:
        return []
    chosen = " ".join(f"--property {name}" for name in names)
    return [
        f"'schedproof strengthen {model.system} --variant {model.variant} {chosen}' may find what the induction lacks"
    ]
