"""The functions for programs: load systems, check properties, prove, validate logs, list findings.

Models are written with :mod:`schedproof.model.lang`, tests with :mod:`schedproof.testing`.
These three modules are the public interface. The changelog announces every change to a name in their ``__all__``.
All other modules may change without notice.
"""

from __future__ import annotations

from pathlib import Path

from schedproof.model.lang import Model
from schedproof.model.lang.check import checked
from schedproof.model.registry.discovery import every, systems
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System
from schedproof.model.semantics import ScopeError
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check as model_check
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.induction import Induction, prove
from schedproof.proofs.traces import LogVerdict, TraceError, ValidationReport, check_records, check_trace
from schedproof.proofs.verdict import Counterexample, Disagreement, Method, Result, TraceStep, Verdict
from schedproof.proofs.verification.findings import Finding, findings
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport, verify, verify_variant

__all__ = [
    "CheckedProperty",
    "Counterexample",
    "Disagreement",
    "Engine",
    "Exploring",
    "Finding",
    "Induction",
    "LogVerdict",
    "Method",
    "Result",
    "ScopeError",
    "System",
    "TraceError",
    "TraceStep",
    "UserError",
    "ValidationReport",
    "VariantReport",
    "Verdict",
    "check_records",
    "check_trace",
    "checked",
    "counterexample_text",
    "findings",
    "load_system",
    "model_check",
    "prove",
    "systems",
    "verify",
    "verify_variant",
]


def load_system(name: str, folder: Path | None = None) -> System:
    """The system named ``name``, found in the same way as by every command.

    Args:
        name: a system in the manifest of ``folder``, of an installed package, or of schedproof itself.
        folder: the folder in which the search for ``schedproof.toml`` begins; by default the current folder.

    Raises:
        UserError: no system or more than one has this name, or its model cannot be loaded.
    """
    return every(folder or Path.cwd()).system(name)


def counterexample_text(model: Model, counterexample: Counterexample) -> str:
    """The steps of a counterexample as text, as ``schedproof explain`` prints them."""
    return "\n".join(counterexample_lines(model, counterexample))
