"""Tries interpretations of a document's locks the other way: which checks of its lock file pass or fail then."""

from __future__ import annotations

from collections.abc import Iterable

from schedproof.model.lang import Model, ModelError, Reading
from schedproof.model.locks import Locks, LocksError, parse, read
from schedproof.model.registry.system import LockFile, System
from schedproof.proofs.locks.checks import checks
from schedproof.proofs.verdict import Verdict


def lock_file(system: System, model: Model) -> LockFile | None:
    """The lock file of a variant that interpretations amend, the first of which all checks run; None if there is none."""
    return next((each for each in system.locks.get(model.variant, ()) if not each.only), None)


def required(file: LockFile | None, model: Model, reading: Reading) -> LockFile:
    """The lock file that an interpretation amends.

    Raises:
        ModelError: the variant has none.
    """
    if file is None:
        raise ModelError(
            f"interpretation {reading.name}",
            reading.place,
            f"locks amends a lock file, and {model.variant} has none",
            "name one in the manifest, or write the other answer under adds",
        )
    return file


def otherwise(file: LockFile, reading: Reading) -> Locks:
    """The locks of ``file`` with the other interpretation.

    Raises:
        ModelError: the interpretation amends what the file does not have; names the interpretation and its place.
    """
    text = f"amends: {file.file.name}\n{reading.locks}"
    try:
        return parse(text, str(file.file.with_name(f"{reading.name}.yaml")))
    except LocksError as error:
        problem = f"line {error.place.line - 1}: {error.problem}"
        raise ModelError(f"interpretation {reading.name}: locks", reading.place, problem, error.remedy) from None


def differences(file: LockFile, reading: Reading) -> tuple[frozenset[str], frozenset[str]]:
    """The checks that pass with the other interpretation only, and those that pass with this one only, as properties.

    A check of what only the other interpretation has is none of them.

    Raises:
        ModelError: see :func:`otherwise`.
    """
    from schedproof.proofs.locks.model_check import model_check  # loads the solver, which comparing names does not need

    locks = read(file.file)
    known, expected = {check.name for check in checks(locks)}, locks.refuted
    verdicts = {answer.check.name: answer.verdict for answer in model_check(otherwise(file, reading)).answers}
    held = [name for name in expected if verdicts.get(name) is Verdict.PROVED]
    broken = [name for name, verdict in verdicts.items() if verdict is Verdict.REFUTED and name in known - expected]
    return _properties(file, held), _properties(file, broken)


def properties(file: LockFile) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the properties of a lock file that are violated, and of those that hold."""
    locks = read(file.file)
    known = {check.name for check in checks(locks)}
    return _properties(file, locks.refuted), _properties(file, known - locks.refuted)


def _properties(file: LockFile, names: Iterable[str]) -> frozenset[str]:
    return frozenset(f"{file.name}.{name}" for name in names)
