"""Runs to play: refuted properties at the scope of their model, and a long one."""

from __future__ import annotations

from functools import cache

from schedproof.diagrams.player.build import DEPTH
from schedproof.diagrams.player.data import About
from schedproof.diagrams.player.page import page
from schedproof.model.lang import Model
from schedproof.model.semantics import Choice, Instance
from schedproof.model.systems.beaker import AS_WRITTEN as BEAKER
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.model.systems.jobmon import AS_WRITTEN as JOBMON
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.runs import counterexample_of
from schedproof.proofs.verdict import Counterexample
from tests.support.lamps import lamps
from tests.support.toys import MUTEX, WORKSHOP

RUNS = [
    (HIVED, "placements-are-disjoint"),
    (HIVED, "cell-e2-preempts-an-allocated-group"),
    (HIVED, "recovery-from-durable"),
    (BEAKER, "no-abba"),
    (BEAKER, "no-deadlock"),
    (JOBMON, "somebody-can-go-on"),
    (JOBMON, "resources-grow-on-resource-errors"),
    (WORKSHOP, "never-tired"),
    (MUTEX, "weakly-fair-entry"),
]
"""Of every kind of property with a formula."""

_REFUTED: dict[tuple[str, str, str], Counterexample] = {}
_PAGES: dict[tuple[str, str, str, int], str] = {}


def refuted(model: Model, name: str) -> Counterexample:
    """The counterexample of a property, computed once."""
    key = model.system, model.variant, name
    if key not in _REFUTED:
        (result,) = model_check(model, model.default_scope, only=[name])
        assert result.counterexample is not None
        _REFUTED[key] = result.counterexample
    return _REFUTED[key]


def page_of(model: Model, name: str, *, depth: int = DEPTH) -> str:
    """The page that plays the counterexample of a property, computed once."""
    key = model.system, model.variant, name, depth
    if key not in _PAGES:
        prop = model.property(name)
        about = About(name, "refuted", prop.says, prop.line, prop.sentence)
        _PAGES[key] = page(model, refuted(model, name), about, prop, depth=depth)
    return _PAGES[key]


@cache
def blinking(steps: int) -> Counterexample:
    """A run of one lamp, which is switched on and off."""
    switches = [Choice(("switch_on", "switch_off")[n % 2], (("x", 0),)) for n in range(steps)]
    return counterexample_of(Instance(lamps(), {"Lamp": 2}), switches, "a lamp blinks")
