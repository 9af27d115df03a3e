"""The model language: sorts, machines and tables, actions, trigger rules, properties, variants."""

from .disposable import ended, new
from .document import Arrow, Chart, Contradiction, Flow, Reading
from .errors import ModelError, Place
from .machine import Attribute, Durability, Event, Machine, Row, State
from .model import ByConstruction, Change, Document, Mistake, Model, Rigid, crash
from .properties import (
    AlwaysCanReach,
    DeadlockFree,
    Invariant,
    InvariantAtScope,
    LeadsTo,
    LifeCycle,
    Property,
    Recovery,
    Restored,
    StepInvariant,
    StepInvariantAtScope,
)
from .rules import Action, Rule
from .terms import (
    EMPTY,
    NONE,
    Term,
    Var,
    after,
    count,
    each,
    exists,
    forall,
    given,
    iff,
    implies,
    length,
    me,
    set_variable,
    those,
    variable,
    variables,
)
from .types import BoolType, EnumType, Function, Int, Integer, IntRange, Nat, Ref, Relation, Sequence, SetOf, Sort, Type

__all__ = [
    "EMPTY", "NONE", "Action", "AlwaysCanReach", "Arrow", "Attribute", "BoolType", "ByConstruction", "Change", "Chart", "Contradiction",
    "DeadlockFree", "Document", "Durability", "EnumType", "Event", "Flow", "Function", "Int", "IntRange", "Integer", "Invariant", "InvariantAtScope", "LeadsTo", "LifeCycle", "Machine", "Mistake", "Model",
    "ModelError", "Nat", "Place", "Property", "Reading", "Recovery", "Ref", "Relation", "Restored", "Rigid", "Row", "Rule", "Sequence", "SetOf", "Sort", "State",
    "StepInvariant", "StepInvariantAtScope", "Term", "Type", "Var", "after", "count", "crash", "each", "ended", "exists", "forall", "given", "iff", "implies", "length", "me", "new",
    "set_variable", "those", "variable", "variables",
]  # fmt: skip
