"""Why a condition is false: which one, for which objects, and the values that it reads."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import NONE, Term, after, count, exists, forall, implies, variable, variables
from schedproof.model.semantics import Instance, Moment
from schedproof.model.semantics.reasons import FieldRead, configuration_text, counted_text, first_false
from tests.model.lang import wrong_models as w
from tests.support.rows import each_row

j, k, n = w.j, w.k, w.n
m = variable(w.Job, "m")
SCOPE = {"j": j, "k": k, "n": n}
STATES = {"Job": ["Waiting", "Running", "Done"], "Node": ["Idle", "Busy"]}


def instance() -> Instance:
    return Instance(w.model(), {"Job": 2, "Node": 2}, {("Job", "urgent"): (False, True)})


def moment() -> Moment:
    """j0 runs on n1 after two tries; j1 waits, and is urgent. j stands for j0, k for j1, and n for n1."""
    at = instance()
    state = list(at.initial())
    state[at.slot("Job")] = STATES["Job"].index("Running")
    state[at.slot("Job", "on")] = 1
    state[at.slot("Job", "tries")] = 2
    state[at.slot("Node") + 1] = STATES["Node"].index("Busy")
    state[at.slot("Node", "holds") + 1] = 0b01
    return Moment(tuple(state), {"j": 0, "k": 1, "n": 1})


@each_row(
    ("terms", "met", "because"),
    [
        ([j.is_("Running"), j.is_("Done")], 1, "j0.state is Running (j = j0)"),
        ([j.is_("Running") & j.is_("Done")], 1, "j0.state is Running (j = j0)"),
        ([~(j.is_("Done") | j.is_("Running"))], 1, "j0.state is Running (j = j0)"),
        ([j.tries < 2], 0, "j0.tries is 2 (j = j0)"),
        ([j.on.is_("Idle")], 0, "j0.on is n1, n1.state is Busy (j = j0)"),
        ([k.on.is_("Idle")], 0, "j1.on is none (k = j1)"),
        ([~k.urgent], 0, "j1.urgent is true (k = j1)"),
        ([n.holds.has(k)], 0, "n1.holds is {j0} (k = j1, n = n1)"),
        ([forall(k, k.urgent)], 0, "j0.urgent is false (k = j0)"),
        ([forall(k, implies(k.urgent, k.on == n))], 0, "j1.urgent is true, j1.on is none (k = j1, n = n1)"),
        ([~exists(k, k.on == n)], 0, "j0.on is n1 (k = j0, n = n1)"),
        ([exists(k, k.on == NONE), exists(k, k.is_("Done"))], 1, ""),
        ([count(m, m.on == NONE) < 1], 0, "1 counted: j1"),
        ([implies(n.holds.has(j), count(m, m.is_("Done")) > 0)], 0, "n1.holds is {j0}; 0 counted (j = j0, n = n1)"),
        (
            [count([m, n], m.on == n) + count(m, m.urgent) == j.tries + 1],
            0,
            "j0.tries is 2; 1 counted: (j0, n1); 1 counted: j1 (j = j0)",
        ),
        ([forall(n, count(m, m.on == n) == 0)], 0, "1 counted: j0 (n = n1)"),
        (
            [implies(count(m, ~m.is_("Done")) <= 2, count(m, m.tries < 5) < 2)],
            0,
            "2 counted: j0, j1; 2 counted: j0, j1",
        ),
    ],
)
def test_the_first_false_condition_has_its_values(terms: list[Term], met: int, because: str) -> None:
    false = first_false(instance(), moment(), terms, SCOPE)
    assert false is not None
    assert (false.met, false.because) == (met, because)


def test_a_count_after_the_step_is_of_the_state_after() -> None:
    """j1 runs, too, after the step."""
    at, then = instance(), list(moment().state)
    then[at.slot("Job") + 1] = STATES["Job"].index("Running")
    stepped = replace(moment(), after=tuple(then))
    running = count(m, m.is_("Running"))
    text = counted_text(at, stepped, [after(running <= 1) | (running > 1)], SCOPE)
    assert text == "2 counted: j0, j1; 1 counted: j0"


def test_a_long_count_is_cut() -> None:
    many = Instance(w.model(), {"Job": 15, "Node": 1}, {("Job", "urgent"): (False,) * 15})
    text = counted_text(many, Moment(many.initial()), [count(m, ~m.urgent) < 3], {})
    assert text == f"15 counted: {', '.join(f'j{number}' for number in range(12))}, and 3 more"


def test_a_count_of_what_is_undefined_is_left_out() -> None:
    assert counted_text(instance(), moment(), [count(m, m.on.is_("Busy")) < 1], SCOPE) == ""


def test_conditions_that_hold_have_no_reason() -> None:
    assert first_false(instance(), moment(), [j.is_("Running"), n.holds.has(j), k.urgent], SCOPE) is None


def test_a_field_is_read_once() -> None:
    false = first_false(instance(), moment(), [implies(j.is_("Running"), j.is_("Done"))], SCOPE)
    assert false is not None and false.reads == (FieldRead("j0", "state", "Running"),)


def test_a_configuration_in_words_has_what_a_term_reads() -> None:
    assert configuration_text(instance(), forall(j, j.urgent)) == "Job=2,Node=2 (j0.urgent false, j1.urgent true)"
    assert configuration_text(instance(), forall(j, j == j)) == "Job=2,Node=2"


def test_a_large_configuration_is_cut() -> None:
    (x,) = variables(w.Job, "x")
    many = Instance(w.model(), {"Job": 30, "Node": 1}, {("Job", "urgent"): (False,) * 30})
    assert configuration_text(many, forall(x, x.urgent)).endswith("j23.urgent false, and 6 more)")
