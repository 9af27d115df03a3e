"""Invariants as text of a model: what a person would write at the end of the model's file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from schedproof.model.lang import Invariant, Model, Ref, Sort
from schedproof.model.lang import terms as t

HEADING = "# Auxiliary invariants that `schedproof strengthen` inferred; `schedproof prove` checks them."


@dataclass(frozen=True)
class Names:
    """How the module of a model calls the model and its sorts.

    Attributes:
        model: the model's name.
        known: the values of all names in the module.
    """

    model: str
    known: Mapping[str, object]

    @classmethod
    def of(cls, model: Model) -> Names | None:
        """The names in the module whose file makes the model; None if no module calls the model by a name."""
        module = _module(model.place.file)
        known = vars(module) if module is not None else {}
        name = next((name for name, value in known.items() if isinstance(value, Model) and same(value, model)), None)
        return cls(name, known) if name is not None else None

    def sort(self, sort: Sort) -> str:
        """An expression for a sort."""
        known_as = next((name for name, value in self.known.items() if isinstance(value, Sort) and value == sort), None)
        return known_as or f'{self.model}.machine("{sort.name}").sort'

    def reuses(self, v: t.Var) -> bool:
        """Whether the module has this variable under its own name."""
        value = self.known.get(v.name)
        return isinstance(value, t.Var) and value.name == v.name and value.type == v.type


def same(one: Model, other: Model) -> bool:
    """Whether two models are one declaration: a manifest makes a copy with the violations that it expects."""
    return (one.place, one.system, one.variant) == (other.place, other.system, other.variant)


def _module(file: str) -> ModuleType | None:
    return next((each for each in list(sys.modules.values()) if getattr(each, "__file__", None) == file), None)


def text(names: Names, props: Sequence[Invariant], heading: str = HEADING) -> str:
    """The lines that add ``props`` to the model, below a comment, to be appended to its file."""
    every = [v for prop in props for v in _variables(prop)]
    chosen = _chosen(names, every)
    renamed = [_renamed(prop, chosen) for prop in props]
    imported = {"Invariant"}
    for prop in renamed:
        imported |= {name for part in _parts(prop) for name in _functions(part)}
    declared = [v for v in chosen.values() if not names.reuses(v)]
    imported |= {"variables"} if declared else set()
    lines = [heading, f"from schedproof.model.lang import {', '.join(sorted(imported))}", ""]
    lines += _declarations(names, declared)
    lines += [f"{names.model}.properties.extend(", "    ["]
    for prop in renamed:
        lines += [f"        {line}" for line in _invariant(prop)]
    return "\n".join([*lines, "    ]", ")", ""])


def _parts(prop: Invariant) -> list[t.Term]:
    return [part for part in (prop.given, prop.then) if part is not None]


def _variables(prop: Invariant) -> Iterator[t.Var]:
    """The variables of an invariant, and those that its formulas bind."""
    yield from prop.over
    for part in _parts(prop):
        yield from (v for each in t.subterms(part) for v in t.bound_by(each))


def _key(v: t.Var) -> tuple[str, str]:
    assert isinstance(v.type, Ref)
    return v.name, v.type.sort.name


def _chosen(names: Names, variables: Iterable[t.Var]) -> dict[tuple[str, str], t.Var]:
    """Another name for a variable where the module has something else of that name, or another variable has it."""
    chosen: dict[tuple[str, str], t.Var] = {}
    for v in variables:
        if _key(v) not in chosen:
            used_names, name = {each.name for each in chosen.values()}, v.name
            while name in used_names or (name in names.known and not names.reuses(t.Var(name, v.type))):
                name += "_"
            chosen[_key(v)] = t.Var(name, v.type)
    return chosen


def _renamed(prop: Invariant, by: Mapping[tuple[str, str], t.Var]) -> Invariant:
    """The invariant with all variables renamed, the bound ones too: so none of another name is captured."""

    def go(term: t.Term) -> t.Term:
        match term:
            case t.Var():
                return by[_key(term)]
            case t.Quantified(universal, variables, body):
                return t.Quantified(universal, tuple(by[_key(v)] for v in variables), go(body))
        return t.rebuilt(term, go) if t.children(term) else term

    given = go(prop.given) if prop.given is not None else None
    return Invariant(
        name=prop.name, says=prop.says, over=[by[_key(v)] for v in prop.over], given=given, then=go(prop.then)
    )


def _declarations(names: Names, variables: Iterable[t.Var]) -> Iterator[str]:
    by_sort: dict[str, list[str]] = {}
    for v in variables:
        assert isinstance(v.type, Ref)
        by_sort.setdefault(names.sort(v.type.sort), []).append(v.name)
    for sort, declared in by_sort.items():
        many = ", ".join(declared) if len(declared) > 1 else f"({declared[0]},)"
        yield f'{many} = variables({sort}, "{" ".join(declared)}")'


def _invariant(prop: Invariant) -> list[str]:
    over = f"[{', '.join(v.name for v in prop.over)}]"
    given = [f"    given={python(prop.given)},"] if prop.given is not None else []
    return [
        "Invariant(",
        f"    name={json.dumps(prop.name)},",
        f"    says={json.dumps(prop.says, ensure_ascii=False)},",
        f"    over={over},",
        *given,
        f"    then={python(prop.then)},",
        "),",
    ]


def _functions(term: t.Term) -> Iterator[str]:
    for part in t.subterms(term):
        match part:
            case t.Nothing():
                yield "NONE"
            case t.Implies():
                yield "implies"
            case t.Iff():
                yield "iff"
            case t.Quantified(universal):
                yield "forall" if universal else "exists"


def python(term: t.Term) -> str:
    """A formula as Python builds it."""
    match term:
        case t.Var(name):
            return name
        case t.Nothing():
            return "NONE"
        case t.Constant(value):
            return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
        case t.Attr(of, name):
            return f"{_inner(of)}.{name}"
        case t.Is(of, states):
            return f"{_inner(of)}.is_({', '.join(json.dumps(s) for s in states)})"
        case t.Has(base, element):
            parts = element.parts if isinstance(element, t.Tuple) else (element,)
            return f"{_inner(base)}.has({', '.join(python(part) for part in parts)})"
        case t.Not(t.Equal(left, right)):
            return f"{_inner(left)} != {_inner(right)}"
        case t.Equal(left, right):
            return f"{_inner(left)} == {_inner(right)}"
        case t.Less(left, right, or_equal):
            return f"{_inner(left)} {'<=' if or_equal else '<'} {_inner(right)}"
        case t.Sum(left, right, sign):
            return f"{_inner(left)} {'+' if sign > 0 else '-'} {_inner(right)}"
        case t.Not(part):
            return f"~{_inner(part)}"
        case t.And(parts):
            return " & ".join(_inner(part) for part in parts)
        case t.Or(parts):
            return " | ".join(_inner(part) for part in parts)
        case t.Implies(premise, conclusion):
            return f"implies({python(premise)}, {python(conclusion)})"
        case t.Iff(left, right):
            return f"iff({python(left)}, {python(right)})"
        case t.Quantified(universal, variables, body):
            over = variables[0].name if len(variables) == 1 else f"[{', '.join(v.name for v in variables)}]"
            return f"{'forall' if universal else 'exists'}({over}, {python(body)})"
    raise AssertionError(f"no inferred invariant has a {type(term).__name__}")


def _inner(term: t.Term) -> str:
    """A formula as an operand: in brackets if it has an operator itself."""
    shown = python(term)
    plain = isinstance(
        term, t.Var | t.Nothing | t.Constant | t.Attr | t.Is | t.Has | t.Implies | t.Iff | t.Quantified
    ) or (isinstance(term, t.Not) and not isinstance(term.part, t.Equal))
    return shown if plain else f"({shown})"
