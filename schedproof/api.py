"""The functions for programs: load systems, check properties, prove, validate logs, list findings.

Models are written with :mod:`schedproof.model.lang`, :mod:`schedproof.model.lang.coalescing` and
:mod:`schedproof.model.lang.orders`, tests with :mod:`schedproof.testing`. These five modules are the public interface. The changelog announces every change to a name in their ``__all__``.
All other modules may change without notice.
"""

from __future__ import annotations

from pathlib import Path

from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.player.run import Player, Run
from schedproof.model.errors import ArgumentError, SchedproofError, require
from schedproof.model.lang import Model, ModelError
from schedproof.model.lang.check import checked
from schedproof.model.registry.discovery import every, systems
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import LockFile, System
from schedproof.model.semantics import ScopeError
from schedproof.model.semantics.reasons import Counted
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check as model_check
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.exploration.limits import CheckpointError, Saving, TooWide
from schedproof.proofs.induction import Answer, Induction, Obligation, TimeLimit, prove
from schedproof.proofs.traces import (
    Candidate,
    Difference,
    ExplainingRow,
    FieldSince,
    Following,
    LogVerdict,
    NonconformanceReport,
    Origin,
    Requirement,
    Tally,
    TraceError,
    UnexplainedChange,
    ValidationReport,
    Violation,
    Way,
    check_records,
    check_trace,
)
from schedproof.proofs.verdict import (
    Counterexample,
    Disagreement,
    FieldChange,
    Method,
    ObjectFacts,
    Result,
    TraceStep,
    Unfired,
    Verdict,
)
from schedproof.proofs.verification.defect import Defect
from schedproof.proofs.verification.defects import defects
from schedproof.proofs.verification.findings import Finding, findings
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport, verify, verify_variant

__all__ = [
    "Answer",
    "ArgumentError",
    "Candidate",
    "CheckedProperty",
    "CheckpointError",
    "Counted",
    "Counterexample",
    "Defect",
    "DiagramError",
    "Difference",
    "Disagreement",
    "Engine",
    "ExplainingRow",
    "Exploring",
    "FieldChange",
    "FieldSince",
    "Finding",
    "Following",
    "Induction",
    "LockFile",
    "LogVerdict",
    "Method",
    "ModelError",
    "NonconformanceReport",
    "ObjectFacts",
    "Obligation",
    "Origin",
    "Player",
    "Requirement",
    "Result",
    "Run",
    "Saving",
    "SchedproofError",
    "ScopeError",
    "System",
    "Tally",
    "TimeLimit",
    "TooWide",
    "TraceError",
    "TraceStep",
    "UnexplainedChange",
    "Unfired",
    "UserError",
    "ValidationReport",
    "VariantReport",
    "Verdict",
    "Violation",
    "Way",
    "check_records",
    "check_trace",
    "checked",
    "counterexample_text",
    "defects",
    "findings",
    "load_system",
    "model_check",
    "prove",
    "systems",
    "verify",
    "verify_variant",
]


def load_system(name: str, folder: Path | str | None = None) -> System:
    """The system named ``name``, found in the same way as by every command.

    Args:
        name: a system in the manifest of ``folder``, of an installed package, or of schedproof itself.
        folder: the folder in which the search for ``schedproof.toml`` begins; by default the current folder.

    Raises:
        UserError: no system or more than one has this name, its model cannot be loaded, or the folder does not exist.
    """
    require("name", name, str, "the name of a system, for example load_system('hived')")
    if folder is not None:
        require("folder", folder, (Path, str), "a path, for example Path('models')")
    start = Path.cwd() if folder is None else Path(folder).absolute()
    if not start.is_dir():
        raise UserError(f"{folder} is not a folder; write the path of a folder that exists, or leave it out")
    return every(start).system(name)


def counterexample_text(model: Model, counterexample: Counterexample) -> str:
    """The steps of a ``counterexample`` of ``model`` as text, as ``schedproof explain`` prints them."""
    require("counterexample", counterexample, Counterexample, "the counterexample of a refuted result")
    return "\n".join(counterexample_lines(checked(model), counterexample))
