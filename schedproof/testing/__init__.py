"""Tests of a Python implementation against a model, step by step or by its log; and of a model, by a run.

With Hypothesis, and the model that ``schedproof init lease`` writes::

    from schedproof.testing import lockstep
    from lease.model import FENCED

    TestLeases = lockstep(FENCED, Leases).TestCase
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedproof.model.errors import ArgumentError, require, shown
from schedproof.model.lang import Model, Rigid
from schedproof.model.lang.check import checked
from schedproof.model.registry.errors import UserError, require_known
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, check_scope, fitted, instances
from schedproof.proofs.traces import LogVerdict, ValidationReport, check_trace

from .lockstep import Agreement
from .replay import Replay, replay
from .world import OutOfStep, World

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine

__all__ = ["OutOfStep", "Refused", "Replay", "World", "conforms", "lockstep", "replay"]


class Refused(Exception):
    """An implementation raises this when it refuses an action, unless ``refused`` names another exception."""


def lockstep(
    model: Model,
    implementation_factory: Callable[[World], Any],
    *,
    scope: Mapping[str, int] | None = None,
    configuration: Rigid | None = None,
    without: Collection[str] = (),
    chooses: Mapping[str, Sequence[str]] | None = None,
    refused: type[Exception] | tuple[type[Exception], ...] = Refused,
    may_refuse: Collection[str] = (),
    refusals: bool = False,
) -> type[RuleBasedStateMachine]:
    """A ``hypothesis.stateful.RuleBasedStateMachine`` that runs an implementation in lockstep with a model.

    The machine has one rule for each action of the model. It draws parameters for which the model allows the action in
    the current state. Both sides take the action; then the state that the implementation shows must equal the model's.
    ``lockstep(...).TestCase`` is a test for pytest and unittest.

    The implementation needs these methods:

    - One for each action, with the action's name. It gets the action's parameters as keywords: names of objects,
      lists of names, values.
    - ``observe()`` returns ``{sort: {object: {field: value}}}``, as much of the state as the implementation knows.
      The field ``state`` is the state of an object. None means no object. Sets are lists, tuples or sets of names.
    - ``close()`` is optional. The machine calls it at the end.

    Args:
        model: the model that the implementation must follow.
        implementation_factory: makes a new implementation from a :class:`World`, which has the names of all objects and
            their rigid values.
        scope: sort name -> number of objects; overrides the model's default.
        configuration: the rigid values; by default the machine draws one of the model's configurations.
        without: actions that are not taken.
        chooses: by action, the parameters that the implementation chooses itself. Its method does not get these; it
            returns them as ``{name: value}``. The model must allow them.
        refused: the exceptions by which the implementation refuses an action. To refuse what the model allows is a
            failure.
        may_refuse: actions that the implementation may refuse even where the model allows them.
        refusals: also ask for actions that the model does not allow; the implementation must refuse these.

    Raises:
        ModuleNotFoundError: Hypothesis is not installed.
        ArgumentError: an argument has the wrong type.
        UserError: an argument names an action or parameter that the model does not have, or no action is left.
        ScopeError: the scope or the configuration is impossible.

    The machine fails with :class:`OutOfStep`. The message has both states, the steps so far, and the violated
    property of the model.
    """
    try:
        from .driver import machine
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "hypothesis":
            raise
        raise ModuleNotFoundError(
            "schedproof.testing.lockstep needs Hypothesis; install it: pip install hypothesis",
            name=error.name,
        ) from None
    checked(model)
    if not callable(implementation_factory):
        raise ArgumentError(
            f"implementation_factory is {shown(implementation_factory)}; write the class of your implementation"
        )
    require("refusals", refusals, bool, "True or False")
    for argument, value in (("chooses", chooses), ("configuration", configuration), ("scope", scope)):
        require(argument, value, (Mapping, type(None)), "a dictionary, or leave it out")
    if refused == ():
        raise ArgumentError("refused is empty; write an exception class, or leave it out")
    for kind in refused if isinstance(refused, tuple) else (refused,):
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise ArgumentError(
                f"refused is {shown(kind)}; write an exception class, or several in a tuple: refused=ValueError"
            )
    chosen = {name: tuple(parameters) for name, parameters in (chooses or {}).items()}
    actions = [action.name for action in model.actions]
    for argument, names in (("without", without), ("may_refuse", may_refuse), ("chooses", [*chosen])):
        require_known(argument, f"action of {model.system}", names, actions)
    for name, parameters in (chooses or {}).items():
        known = [v.name for v in model.action(name).parameters]
        require_known(f"chooses[{name!r}]", f"parameter of {name}", parameters, known)
    to_take = [action for action in model.actions if action.name not in without]
    if not to_take:
        advice = "name fewer in without" if without else "add an action to the model"
        raise UserError(f"no action of {model.system} is left, so nothing would be tested; {advice}")
    for action in to_take:
        if not action.name.isidentifier() or action.name in ("observe", "close"):
            problem = f"no method for the action {action.name!r} can have its name"
            raise UserError(f"{problem}; leave it out: without=[{action.name!r}]")
    agreement = Agreement(
        model,
        implementation_factory,
        to_take,
        chosen,
        frozenset(may_refuse),
        refused if isinstance(refused, tuple) else (refused,),
    )
    return machine(agreement, _instances(model, scope or {}, configuration), refusals=refusals)


def _instances(model: Model, scope: Mapping[str, int], configuration: Rigid | None) -> list[Instance]:
    if configuration is None:
        return list(instances(model, scope, with_history=True))
    for key in configuration:
        if not (isinstance(key, tuple) and [type(part) for part in key] == [str, str]):
            example = '{("Job", "urgent"): [True, False]}'
            raise ArgumentError(f"a key of configuration is {shown(key)}; write a sort and an attribute: {example}")
    return [Instance(model, fitted(check_scope(model, scope), configuration), configuration, with_history=True)]


def conforms(
    model: Model, log: Path | str, *, format: str | None = None, mapping: Path | str | None = None
) -> ValidationReport:
    """Asserts that a log conforms to ``model``, as ``schedproof validate`` checks it.

    A log conforms if it is a run of the model. If the model violates a property, a log that conforms may violate it too.

    Args:
        model: the model that the log must conform to.
        log: the path of the log.
        format: the log's format; by default recognised by its content.
        mapping: the path of a mapping, for a log of no known format: it says how to read the log's lines.

    Raises:
        AssertionError: the log violates the model, or the verdict is undetermined; with the validator's report.
        TraceError: the file is not a log, or the mapping is not valid.
    """
    __tracebackhide__ = True
    system = System.of(model)
    require("log", log, (Path, str), "the path of a log, for example Path('run.jsonl')")
    report = check_trace(system, log, model.variant, format, mapping=mapping)
    if report.verdict is not LogVerdict.CONFORMS:
        raise AssertionError("\n".join([f"{log}:", *report.text()]))
    return report
