"""Text of a model means the invariant that it is made from."""

from __future__ import annotations

import pytest

from schedproof.model.lang import NONE, Invariant, Ref, exists, forall, implies
from schedproof.model.lang import terms as t
from schedproof.model.lang.wording import show_exactly
from schedproof.proofs.strengthen.source import Names, python, text
from tests.proofs.strengthen import protocols
from tests.proofs.strengthen.protocols import LEASES, Lease, Worker

w, v = t.variables(Worker, "w v")
l, m = t.variables(Lease, "l m")  # noqa: E741

FORMULAS = [
    w.is_("Idle", "Working"),
    ~w.is_("Idle"),
    ~(l.holder == NONE),
    ~(w.is_("Idle") & (l.holder == w)),
    (w.is_("Idle") | (l.holder == w)) & ~(m.holder == w),
    w.is_("Idle") | ((l.holder == w) & (m.holder == w)),
    implies(w.is_("Idle"), l.holder == m.holder),
    forall([l, m], (l.holder == m.holder) | (l == m)),
    exists(l, (l.holder == w) & l.is_("Held")) & w.is_("Idle"),
    (w.count <= v.count + 1) & ~(w.count == v.count - 2),
    ~((w.count < 3) | (v.mood == "calm")),
    w.seen.has(l, m) & ~w.tools.has(l),
]


@pytest.mark.parametrize("number", range(len(FORMULAS)))
def test_python_builds_the_formula_again(number: int) -> None:
    formula = FORMULAS[number]
    names = {"w": w, "v": v, "l": l, "m": m, "NONE": NONE, "forall": forall, "exists": exists, "implies": implies}
    assert show_exactly(eval(python(formula), names)) == show_exactly(formula)


def test_variables_that_the_module_has_are_used_or_renamed() -> None:
    other = t.Var("n", Ref(Worker))  # the module's own n is a Member
    prop = Invariant(name="works", says="works", over=[other, l], given=l.holder == other, then=other.is_("Working"))
    names = Names.of(LEASES)
    assert names is not None
    written = text(names, [prop])
    assert '(n_,) = variables(Worker, "n_")' in written
    namespace = dict(vars(protocols))
    exec(written.replace("LEASES.properties.extend(", "added = list("), namespace)
    [added] = namespace["added"]
    assert show_exactly(added.then) == show_exactly(t.Var("n_", Ref(Worker)).is_("Working"))
