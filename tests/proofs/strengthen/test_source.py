"""Text of a model means the invariant that it is made from."""

from __future__ import annotations

from keyword import iskeyword

import pytest

from schedproof.model.lang import NONE, Invariant, Ref, Sort, exists, forall, implies
from schedproof.model.lang import terms as t
from schedproof.model.lang.wording import show_exactly
from schedproof.proofs.strengthen.features import named
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


def test_no_renamed_variable_is_captured() -> None:
    """The module's own w is something else, and the invariant binds w_ already."""
    bound = t.Var("w_", Ref(Worker))
    prop = Invariant(name="x", says="x", over=[w, l], given=l.holder == w, then=exists(bound, bound.peer == w))
    written = text(Names("M", {"w": 3, "Worker": Worker, "Lease": Lease}), [prop])
    assert written.count("over=[w_, l]") == 1
    assert "then=exists(w__, w__.peer == w_)" in written


def test_a_name_in_the_text_has_one_sort() -> None:
    """Two formulas of an author may bind one name for objects of two sorts."""
    worker, lease = t.Var("m_", Ref(Worker)), t.Var("m_", Ref(Lease))
    props = [
        Invariant(name="x", says="x", over=[], then=exists(worker, worker.is_("Idle"))),
        Invariant(name="y", says="y", over=[], then=exists(lease, lease.is_("Free"))),
    ]
    written = text(Names("M", {"Worker": Worker, "Lease": Lease}), props)
    assert '(m_,) = variables(Worker, "m_")' in written
    assert '(m__,) = variables(Lease, "m__")' in written
    assert 'then=exists(m__, m__.is_("Free"))' in written


@pytest.mark.parametrize(
    ("letters", "shown"),
    [(("is",), "is_ is_2"), (("w", "w2"), "w w2 w2_ w2_2"), (("my l",), "my_l my_l2"), (("0",), "s0__ s0__2")],
)
def test_a_variable_has_a_name_of_python(letters: tuple[str, ...], shown: str) -> None:
    sorts = [Sort(f"S{n}", letter) for n, letter in enumerate(letters)]
    names = [v.name for v in named([sort for sort in sorts for _ in range(2)])]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() and not iskeyword(name) for name in names)
    assert names == shown.replace("s0__", "s_0_").split()
