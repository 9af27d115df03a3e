"""Counterexamples to induction: small, and shown as objects and changed fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3
from schedproof.model.lang import BoolType, EnumType, IntRange, Model, Ref, SetOf, Type

from ..verdict import Counterexample, FieldChange, TraceStep
from .obligations import INITIAL, Obligation, Proof
from .views import View, Z

SIZES = (1, 2, 3, 4)
"""Objects of each sort that are tried, fewest first."""

SECONDS = 1


def find(proof: Proof, obligation: Obligation, inductive: Iterable[str]) -> Counterexample | None:
    """The smallest counterexample to ``obligation`` of up to four objects a sort, if one is found."""
    solver = z3.Solver(ctx=proof.symbols.context)
    solver.set("timeout", SECONDS * 1000)
    solver.set("ctrl_c", False)
    solver.set("smt.ematching", False)
    solver.add(*obligation.context, z3.Not(obligation.goal))
    if obligation.inductive:
        solver.add(*[proof.assumed[name] for name in inductive])
    for size in SIZES:
        solver.push()
        universe: dict[str, list[Z]] = {}
        for name, sort in proof.symbols.sorts.items():
            universe[name] = [z3.Const(f"{name} {i}", sort) for i in range(size)]
            x = z3.Const("x", sort)
            solver.add(z3.ForAll([x], z3.Or(*[x == e for e in universe[name]])))
        if solver.check() == z3.sat:
            return _shown(proof, obligation, solver.model(), universe)
        solver.pop()
    return None


class _Reader:
    """Values of a z3 model as names and plain values."""

    def __init__(self, proof: Proof, found: Any, universe: dict[str, list[Z]]) -> None:
        self.model: Model = proof.model
        self.found = found
        self.objects: dict[str, dict[str, Z]] = {}
        for machine in self.model.machines:
            distinct: list[Z] = []
            for element in universe[machine.sort.name]:
                value = self.value(element)
                if not any(z3.eq(value, d) for d in distinct):
                    distinct.append(value)
            self.objects[machine.sort.name] = {f"{machine.sort.short}{i}": v for i, v in enumerate(distinct)}

    def value(self, expression: Z) -> Z:
        """The expression's value in the model."""
        return self.found.eval(expression, model_completion=True)

    def true(self, formula: Z) -> bool:
        """The formula is true in the model."""
        return bool(z3.is_true(self.value(formula)))

    def name(self, sort: str, expression: Z) -> str:
        """The name of the object that an expression denotes."""
        value = self.value(expression)
        return next(n for n, v in self.objects[sort].items() if z3.eq(v, value))

    def show(self, kind: Type, value: Any) -> object:
        """A value of ``kind`` in plain terms."""
        match kind:
            case Ref(sort):
                if hasattr(value, "defined"):
                    return self.name(sort.name, value.value) if self.true(value.defined) else None
                return self.name(sort.name, value)
            case SetOf(sort):
                return [n for n, v in self.objects[sort.name].items() if self.true(value(v))]
            case BoolType():
                return self.true(value)
            case IntRange():
                return self.value(value).as_long()
            case EnumType():
                return str(self.value(value)).split(".", 1)[-1]

    def describe(self, view: View) -> dict[str, dict[str, object]]:
        """Every object with its fields."""
        found: dict[str, dict[str, object]] = {}
        for machine in self.model.machines:
            sort = machine.sort.name
            for name, value in self.objects[sort].items():
                fields: dict[str, object] = {}
                if machine.states:
                    fields["state"] = str(self.value(view.state(sort, value))).split(".", 1)[-1]
                for attribute in machine.attributes:
                    fields[attribute.name] = self.show(attribute.type, view.value(sort, attribute.name, value))
                found[name] = fields
        return found


def _shown(proof: Proof, obligation: Obligation, model: Any, universe: dict[str, list[Z]]) -> Counterexample:
    reader = _Reader(proof, model, universe)
    before = reader.describe(proof.symbols)
    if obligation.action == INITIAL:
        return Counterexample((), f"{obligation.name}: not so in the initial state", start=before)
    cascade = proof.cascades[obligation.action]
    action = proof.model.action(obligation.action)
    chosen = {v.name: reader.show(v.type, cascade.parameters[v.name]) for v in action.parameters}
    after = reader.describe(cascade.after)
    changes = []
    for machine in proof.model.machines:
        for name, value in reader.objects[machine.sort.name].items():
            key = next(
                (k for k in cascade.fired if k[0] == machine.sort.name and reader.true(cascade.fires(*k, value))), None
            )
            if key is None:
                continue
            causes = [
                c
                for c, (way, _) in zip(cascade.causes[key], cascade.fired[key].ways(value), strict=True)
                if reader.true(way)
            ]
            by = causes[0].by if causes else action
            for field, new in after[name].items():
                if new != before[name][field]:
                    changes.append(
                        FieldChange(name, field, before[name][field], new, ".".join(key), f"rule {by.name}", by.line)
                    )
    shown = {n: "{" + ", ".join(map(str, v)) + "}" if isinstance(v, list) else v for n, v in chosen.items()}
    step = TraceStep(action.name, chosen, action.says.format(**shown), action.line, tuple(changes))
    problem = f"{obligation.name}: this step breaks it, from a state that the invariants allow"
    return Counterexample((step,), problem, start=before)
