"""Beaker's models as an interpretation of the document: tables, properties, repairs; findings replayed on the brute force.

The expected tables are written from the document, line by line, and not from the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

import networkx as nx
import pytest

from schedproof.model.lang import Change, Contradiction, Invariant, Model, StepInvariant
from schedproof.model.lang.terms import And, Implies, Or, Term
from schedproof.model.ledger.statements import statements
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Choice, Instance, Stepper, instances
from schedproof.model.systems.beaker import repairs as fix
from schedproof.model.systems.beaker import seatings
from schedproof.model.systems.beaker.batch import BATCH
from schedproof.model.systems.beaker.collisions import BY_PRIORITY, EAGER, STRICT
from schedproof.model.systems.beaker.configurations import CONFIGURATIONS, Configuration
from schedproof.model.systems.beaker.contradictions import CONTRADICTIONS
from schedproof.model.systems.beaker.phases import PHASES
from schedproof.model.systems.beaker.variants import AS_WRITTEN, ASSIGNED_COME_FIRST, INTERLEAVED, REPAIRED
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.verdict import Counterexample, Result, Verdict
from tests.support.mutants import Place
from tests.support.needs import needs_shared
from tests.support.places import SHARED
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.beaker.brute_force import scheduler as by_hand
from tests.systems.beaker.brute_force.deadlocks import deadlocks
from tests.systems.beaker.brute_force.graph import Graph
from tests.systems.beaker.brute_force.steps import graph, people_steps, scheduler_steps
from tests.systems.beaker.model.test_brute_force import brute_force_instance, label, translate

DOCUMENT = SHARED / "documents" / AS_WRITTEN.document.name
EVENT_DRIVEN = [AS_WRITTEN, INTERLEAVED, REPAIRED]

# --- The tables, from the document -----------------------------------------------------------------------------------

RECIPE_STATES = {
    # the current states (104 to 113) less "processed" (122), with "assigned" (124) and "installing" (234)
    "new", "queued", "assigned", "scheduled", "waiting", "installing", "running", "completed", "cancelled", "aborted",
}  # fmt: skip
USAGES = {"idle", "scheduled", "waiting", "installing", "running", "pending"}
"""Lines 165 to 170."""
ALIVE = RECIPE_STATES - {"completed", "cancelled", "aborted"}
IN_USE = {"scheduled", "waiting", "installing", "running"}

RECIPE_MOVES = {
    ("new", "scheduled"): 137,
    ("new", "assigned"): 139,
    ("assigned", "scheduled"): 141,
    ("new", "queued"): 145,
    ("queued", "scheduled"): 208,
    ("queued", "assigned"): 209,
    ("scheduled", "waiting"): 239,  # "provisioning of the allocated systems ... will begin" (227)
    ("waiting", "installing"): 240,
    ("installing", "running"): 240,
    ("running", "completed"): 116,
    # "from any state other than completed directly to cancelled or aborted": of the other finished states it is
    # not said that a recipe leaves them, and a cancelled one that is cancelled goes nowhere
    **{(now, end): 116 for now in ALIVE for end in ("cancelled", "aborted")},
}
SYSTEM_MOVES = {
    ("idle", "scheduled"): 238,
    ("pending", "scheduled"): 204,
    ("scheduled", "waiting"): 240,
    ("waiting", "installing"): 240,
    ("installing", "running"): 240,
    **{(now, "pending"): 199 for now in IN_USE},  # its recipe ends, or its condition becomes Automated
    ("idle", "pending"): 196,
    ("pending", "idle"): 210,
    ("running", "idle"): 176,  # given back; also Broken (172) and Manual (176), as the following
    **{(now, "idle"): 172 for now in USAGES},
    ("idle", "waiting"): 175,  # a reservation
}
GIVEN_BACK = {("scheduled", "queued"), ("assigned", "queued")}
"""What the repair adds to the recipes: a set that has not begun gives everything back."""


def moves(model: Model, sort: str, *, without: Sequence[str] = ()) -> set[tuple[str, str]]:
    """The arrows of a table."""
    return {(row.source, row.target) for row in model.table(sort) if row.event not in without}


@pytest.mark.parametrize("model", EVENT_DRIVEN, ids=lambda model: model.variant)
def test_the_states_and_arrows_are_the_documents(model: Model) -> None:
    assert {s.name for s in model.machine("Recipe").states} == RECIPE_STATES
    assert {s.name for s in model.machine("System").states} == USAGES
    assert model.machine("Recipe").states[0].name == "new"
    assert model.machine("System").states[0].name == "pending", "a new system is marked as pending (195)"
    assert moves(model, "Recipe", without=["requeue"]) == set(RECIPE_MOVES)
    assert moves(model, "Recipe") - set(RECIPE_MOVES) == (GIVEN_BACK if model is REPAIRED else set())
    assert moves(model, "System") == set(SYSTEM_MOVES)


def test_the_batch_scheduler_has_the_current_states() -> None:
    """Lines 104 to 113, "the full sequence of states", and from any but completed to cancelled or aborted."""
    sequence = ["new", "processed", "queued", "scheduled", "waiting", "running", "completed"]
    expected = {*pairwise(sequence)}
    expected |= {(now, end) for now in sequence[:-1] for end in ("cancelled", "aborted")}
    assert {s.name for s in BATCH.machine("Recipe").states} == {*sequence, "cancelled", "aborted"}
    assert moves(BATCH, "Recipe") == expected


def test_only_what_leads_to_a_system_or_away_from_it_writes_it() -> None:
    """A recipe gets its system when it is scheduled, and has none any more when it has ended or was given back."""
    for model in [*EVENT_DRIVEN, BATCH]:
        for row in model.table("Recipe"):
            sets = {name for name, _ in row.sets}
            gets, loses = row.target == "scheduled", row.target in RECIPE_STATES - ALIVE or row.event == "requeue"
            if gets:
                assert sets == {"system"}, row.name
            elif not loses:
                assert sets == set(), row.name
            elif row.source != "assigned" or row.event != "requeue":
                assert sets == {"system"}, row.name


def test_the_condition_is_written_by_its_three_changes_only() -> None:
    for model in EVENT_DRIVEN:
        written = {
            row.event: getattr(value, "value", None)
            for row in model.table("System")
            for name, value in row.sets
            if name == "condition"
        }
        assert written == {"automate": "Automated", "make_manual": "Manual", "break_down": "Broken"}
        of = {event: {row.source for row in model.table("System") if row.event == event} for event in written}
        assert of["make_manual"] == of["break_down"] == USAGES, "at any moment"
        if model is REPAIRED:
            assert of["automate"] == {"idle"}, "in use it is Automated, or its user's"
        else:
            assert of["automate"] == USAGES - {"pending"}, "a pending system is Automated"


def lines() -> list[str]:
    """The document, its first line as number 1."""
    return ["", *DOCUMENT.read_text().splitlines()]


@needs_shared
def test_the_states_stand_at_these_lines() -> None:
    text = lines()
    listed = {line.strip() for line in text[104:114] if line.strip()}
    assert listed - {"processed"} | {"assigned", "installing"} == RECIPE_STATES
    assert "``processed`` state is removed" in text[122] and "``assigned``" in text[124]
    assert "``installing``" in text[234]
    assert {line.strip() for line in text[165:171]} == USAGES
    assert listed == {s.name for s in BATCH.machine("Recipe").states}


@needs_shared
@pytest.mark.parametrize("moved", [RECIPE_MOVES, SYSTEM_MOVES], ids=["recipes", "systems"])
def test_each_arrow_has_its_line(moved: dict[tuple[str, str], int]) -> None:
    """The state that it leads to stands within two lines of the one noted here."""
    text = lines()
    for (source, target), number in moved.items():
        near = " ".join(text[number - 2 : number + 3])
        words = {"completed": "completed", "pending": "finishes", "idle": "idle"}
        expected = "condition" if (source, target) == ("idle", "pending") else words.get(target, target)
        assert expected in near, (source, target, number)


@needs_shared
@pytest.mark.parametrize("model", [AS_WRITTEN, REPAIRED, BATCH], ids=lambda model: model.variant)
def test_each_property_quotes_the_document_at_its_line(model: Model) -> None:
    text = lines()
    for prop in model.properties:
        assert prop.line is not None, prop.name
        if prop.sentence:
            near = " ".join(" ".join(text[prop.line - 6 : prop.line + 14]).split())
            at = 0
            for part in prop.sentence.split("..."):
                words = " ".join(part.replace("(", " ").replace(")", " ").split())
                plain = near.replace("(", " ").replace(")", " ")
                position = " ".join(plain.split()).find(words, at)
                assert position >= 0, f"{prop.name}: {part!r} is not at line {prop.line}"
                at = position


@needs_shared
@each_row("contradiction", CONTRADICTIONS, ids=lambda contradiction: contradiction.name)
def test_a_contradiction_quotes_the_document(contradiction: Contradiction) -> None:
    """In whole sentences: a reader sees each condition."""
    stated = {(each.line, each.text) for each in statements(DOCUMENT.read_text("utf-8"))}
    assert contradiction.quotes and contradiction.problem and contradiction.reading
    assert {*contradiction.quotes} <= stated


@each_row("model", systems()["beaker"].variants.values(), ids=lambda model: model.variant)
def test_what_is_wrong_is_said_in_short_sentences(model: Model) -> None:
    for change in model.changes:
        assert all(len(sentence.split()) <= 25 for sentence in re.split(r"(?<=[.:]) ", change.wrong)), change.name


def test_a_document_is_not_blamed_for_less_than_it_says() -> None:
    """Line 215 eliminates the queue jumping that is possible in the current design, and no other."""
    assert "line 215" not in ASSIGNED_COME_FIRST.wrong and "eliminate" not in ASSIGNED_COME_FIRST.wrong
    assert not [each.name for each in CONTRADICTIONS if "The finding is" in each.reading]


# --- No property is idle ----------------------------------------------------------------------------------------------


def inner_premises(term: Term) -> list[Term]:
    """The premises of the implications that ``term`` is a conjunction of."""
    if isinstance(term, And):
        return [premise for part in term.parts for premise in inner_premises(part)]
    return [term.premise] if isinstance(term, Implies) else []


def alternatives(term: Term) -> list[Term]:
    """The parts of nested disjunctions; none if it is none."""
    if not isinstance(term, Or):
        return []
    return [each for part in term.parts for each in (alternatives(part) or [part])]


def parts(model: Model) -> list[Invariant | StepInvariant]:
    """Each premise inside a conclusion, and each alternative of one, as a property whose premise must be met."""
    asked = []
    for prop in model.properties:
        if isinstance(prop, Invariant | StepInvariant):
            for n, part in enumerate([*inner_premises(prop.then), *alternatives(prop.then)]):
                given = part if prop.given is None else prop.given & part
                asked.append(replace(prop, name=f"{prop.name} {n}", given=given, then=part))
    return asked


NEEDED_LATER = {"no-lost-wakeup 1", "nothing-special-at-start-up 1"}
"""As written nothing is left idle beside who waits, so that nothing "was left so before": that is for the variants in
which the loops interleave."""


def never_met(model: Model) -> list[str]:
    """The parts of properties that are met nowhere in the configurations."""
    asked = parts(model)
    assert asked
    results = model_check(model.asking(asked), {}, only=[prop.name for prop in asked])
    return [r.name for r in results if r.verdict is not Verdict.PROVED]


@pytest.mark.parametrize(
    "model", [pytest.param(AS_WRITTEN, marks=pytest.mark.long), BATCH], ids=lambda model: model.variant
)
def test_every_alternative_of_a_property_happens(model: Model) -> None:
    """Else the property says less than it seems to, or a word of it is idle."""
    assert set(never_met(model)) == (NEEDED_LATER if model is AS_WRITTEN else set())


PROVED_ONLY = {"what-executes-is-aborted 0"}
"""No configuration has a guest and a system that people change, so only the proof speaks of a host that loses its system."""


@pytest.mark.long
@pytest.mark.parametrize("model", [INTERLEAVED, REPAIRED], ids=lambda model: model.variant)
def test_every_alternative_of_a_property_happens_at_any_time(model: Model) -> None:
    assert set(never_met(model)) == (PROVED_ONLY if model is REPAIRED else set())


def test_what_only_a_proof_speaks_of_can_happen() -> None:
    guest = Configuration("a host with its guest; a condition changes", [["A", 0]], [0], adjustable=[0])
    asked = [prop for prop in parts(REPAIRED) if prop.name in PROVED_ONLY]
    model = replace(REPAIRED.asking(asked), configurations=lambda sizes: [guest.rigid(with_seatings=True)])
    assert [r.verdict for r in model_check(model, {}, only=[prop.name for prop in asked])] == [Verdict.PROVED]


# --- The repairs -----------------------------------------------------------------------------------------------------

REPAIRS = [change for change in REPAIRED.changes if change.repairs]


def less(change: Change) -> Model:
    """The repaired variant without one of its changes."""
    # What they weaken may be kept by what is left out; it is not asked for.
    others = [replace(other, weakens={}) for other in REPAIRED.changes if other is not change]
    machines = [seatings.RECIPE_SET_WITH_SEATING, seatings.SEATING, seatings.SEAT]
    amended = AS_WRITTEN.amend("less", "", others, refuted=frozenset(), machines=machines)
    return replace(
        amended, axioms=REPAIRED.axioms, configurations=REPAIRED.configurations, default_scope=REPAIRED.default_scope
    )


WOVEN = (fix.give_to_assigned, seatings.seat)
APART = [change for change in REPAIRS if not any(added in change.adds for added in WOVEN)]
"""The order of assignment and the seatings are woven into who may take what; what they are good for is seen on the
brute force."""


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("change", APART, ids=lambda change: change.why[:30])
def test_without_one_change_just_what_it_repairs_is_broken_again(change: Change) -> None:
    """So no change is idle, and none keeps silent about a property that it is needed for."""
    model = less(change)
    kept = {p.name for p in REPAIRED.properties} | set(change.repairs)
    asked = [p.name for p in model.properties if p.name in kept & (AS_WRITTEN.refuted | INTERLEAVED.refuted)]
    broken = {result.name for result in model_check(model, {}, only=asked) if result.verdict is not Verdict.PROVED}
    assert broken == set(change.repairs)


COLLISIONS = [BY_PRIORITY, STRICT, EAGER]


@pytest.mark.parametrize(
    "variant",
    [pytest.param(BY_PRIORITY, marks=pytest.mark.long), *COLLISIONS[1:]],
    ids=[model.variant for model in COLLISIONS],
)
def test_a_collision_breaks_nothing_once_the_other_is_weakened(variant: Model) -> None:
    """Where it falls and where it is kept differ by that one change, in the same configuration."""
    weakened = replace(REPAIRED, configurations=variant.configurations)
    names = sorted(variant.refuted)
    assert {r.verdict for r in model_check(weakened, {}, only=names)} == {Verdict.PROVED}
    assert {r.verdict for r in model_check(variant, {}, only=names)} == {Verdict.REFUTED}


@pytest.mark.long
@pytest.mark.parametrize(
    ("variant", "name"), thinned([(BY_PRIORITY, "assigned-by-priority"), (STRICT, "queued-by-priority")], 2)
)
def test_a_collision_keeps_the_property_that_repaired_weakens(variant: Model, name: str) -> None:
    assert repr(variant.property(name)) == repr(AS_WRITTEN.property(name))
    assert name in {name for change in REPAIRED.changes for name in change.weakens}
    without = replace(REPAIRED, configurations=variant.configurations, properties=[AS_WRITTEN.property(name)])
    [result] = [r for r in model_check(without, {}) if r.name == name]
    assert result.verdict is Verdict.REFUTED, "repaired does not keep it: it is no property that holds anyhow"


def test_without_the_assignment_order_sets_wait_for_each_other() -> None:
    """The two sets of the finding, with all other changes: each holds what the other needs, and neither can begin."""
    configuration = CONFIGURATIONS[CONTENDED[1]]
    inst = brute_force_instance(configuration)
    assert not list(deadlocks(inst, graph(inst, by_hand.REPAIRED)))
    assert "ABBA" in {d.cause for d in deadlocks(inst, graph(inst, by_hand.REPAIRED.without(by_hand.ORDER)))}


def test_without_seatings_a_set_takes_what_its_own_recipe_needs() -> None:
    """A set of two on A or B, and A, with all other changes: the first takes A, and the second never gets it."""
    [configuration] = [s for s in CONFIGURATIONS if s.about.startswith("a set of two, and either")]
    inst, without = brute_force_instance(configuration), by_hand.REPAIRED.without(by_hand.SEATS)
    assert not list(deadlocks(inst, graph(inst, by_hand.REPAIRED)))
    assert "the set sits on what its own sibling needs" in {d.cause for d in deadlocks(inst, graph(inst, without))}


def test_every_broken_property_is_repaired_or_weakened() -> None:
    repaired = {name for change in REPAIRED.changes for name in change.repairs}
    weakened = {name for change in REPAIRED.changes for name in change.weakens}
    assert AS_WRITTEN.refuted | INTERLEAVED.refuted >= repaired
    assert not repaired & weakened
    for name in AS_WRITTEN.refuted | INTERLEAVED.refuted:
        lemma = name in {p.name for p in PHASES}  # no sentence of the document requires it, so it may just go
        assert name in repaired or name in weakened or lemma, f"the document requires {name}, but no change repairs it"


# --- Findings, replayed ----------------------------------------------------------------------------------------------

VARIANTS = {"as-written": (AS_WRITTEN, by_hand.AS_WRITTEN), "interleaved": (INTERLEAVED, by_hand.INTERLEAVED)}


def place_of(configuration: int, model: Model) -> Place:
    """A configuration as the only configuration."""
    rigid = CONFIGURATIONS[configuration].rigid(with_seatings=model is REPAIRED)
    return Place(CONFIGURATIONS[configuration].about, CONFIGURATIONS[configuration].sizes, rigid)


def sized(number: int) -> int:
    """What exploring a configuration costs, about."""
    configuration = CONFIGURATIONS[number]
    touched = len(configuration.endable) + len(configuration.rankable) + 2 * len(configuration.adjustable)
    return sum(map(len, configuration.sets)) * len(configuration.labs) + 3 * touched


@cache
def found_in(variant: str) -> dict[str, tuple[int, Result]]:
    """For each violated property the first configuration that breaks it, with the run."""
    model = VARIANTS[variant][0]
    missing, findings = set(model.refuted), {}
    for number in sorted(range(len(CONFIGURATIONS)), key=sized):
        if missing:
            place = place_of(number, model)
            for result in model_check(place.alone(model), place.sizes, only=sorted(missing)):
                if result.verdict is Verdict.REFUTED:
                    findings[result.name] = number, result
            missing -= set(findings)
    return findings


def choices(model: Model, instance: Instance, shown: Counterexample) -> Iterator[Choice]:
    """The steps of a run, read back from what is shown."""
    for step in shown.steps:
        types = {v.name: v.type for v in model.action(step.action).parameters}
        yield Choice(step.action, tuple((n, instance.read(types[n], v)) for n, v in step.parameters.items()))


def replayed(variant: str, configuration: Configuration, shown: Counterexample) -> list[by_hand.State]:
    """The run taken by the brute-force scheduler, which must come through the same states."""
    model, other = VARIANTS[variant]
    instance = Instance(model, configuration.sizes, configuration.rigid())
    stepper, inst = Stepper(instance), brute_force_instance(configuration)
    state, states = instance.initial(), [by_hand.initial(inst)]
    for choice in choices(model, instance, shown):
        state = stepper.step(state, choice).after
        steps = [*scheduler_steps(inst, states[-1], other, by_hand.EXACT), *people_steps(inst, states[-1], other)]
        after = [to for name, to in steps if name == label(choice)]
        if choice.action != "crash" or after:  # a crash that changes nothing is no step there
            assert translate(instance, state) in after, f"{label(choice)} does something else, or can not be done"
        states.append(translate(instance, state))
    return states


Bad = Callable[[by_hand.Instance, by_hand.State], bool]
B = by_hand


def pairs(inst: by_hand.Instance, state: by_hand.State) -> Iterator[tuple[int, int]]:
    """The recipes that have a system, with it."""
    return ((r, s) for r, s in enumerate(state.at) if s != B.NONE)


def automated(state: by_hand.State, s: int) -> bool:
    return state.condition[s] == B.AUTOMATED


def out_of_step(now: int) -> Bad:
    """An Automated system is in a state in which no recipe on it is, or the reverse."""
    return lambda inst, state: any(
        automated(state, s) and (usage == now) != any(at == s and state.recipe[r] == now for r, at in enumerate(state.at))
        for s, usage in enumerate(state.usage)
    )  # fmt: skip


def holds(inst: by_hand.Instance, state: by_hand.State, of: int) -> set[int]:
    """The systems of a set that has not begun."""
    return {state.at[r] for r in inst.members(of) if state.recipe[r] == B.SCHEDULED and state.at[r] != B.NONE}


def wants(inst: by_hand.Instance, state: by_hand.State, r: int) -> set[int]:
    """The systems that suit a recipe in the lab of its set."""
    return {s for s in range(len(state.usage)) if B.suits(inst, state, s, r)}


def abba(inst: by_hand.Instance, state: by_hand.State) -> bool:
    """Two sets; a recipe of each can run on one system only, which the other set holds."""
    needs = [
        (inst.set_of[r], s)
        for r, now in enumerate(state.recipe)
        if now == B.ASSIGNED and len(systems := wants(inst, state, r)) == 1
        for s in systems
    ]
    return any(
        one != two and s in holds(inst, state, two) and t in holds(inst, state, one)
        for one, s in needs
        for two, t in needs
    )


def waiting_beside_idle(inst: by_hand.Instance, state: by_hand.State) -> bool:
    return any(
        usage == B.IDLE and automated(state, s) and state.recipe[r] in (B.ASSIGNED, B.QUEUED)
        and B.suits(inst, state, s, r) and state.hand[inst.set_of[r]] != B.IN_HAND
        for s, usage in enumerate(state.usage)
        for r in range(len(state.recipe))
    )  # fmt: skip


BAD: dict[str, Bad] = {
    "idle-is-not-running": lambda i, x: any(x.recipe[r] == B.RUNNING and x.usage[s] == B.IDLE for r, s in pairs(i, x)),
    "pending-runs-nothing": lambda i, x: any(x.usage[s] == B.PENDING for _, s in pairs(i, x)),
    "manual-is-its-users": lambda i, x: any(x.condition[s] == B.MANUAL for _, s in pairs(i, x)),
    "running-with-its-recipe": out_of_step(B.RUNNING),
    "installing-with-its-recipe": out_of_step(B.INSTALLING),
    "waiting-with-its-recipe": out_of_step(B.WAITING),
    "scheduled-with-its-recipe": out_of_step(B.SCHEDULED),
    "recipe-and-system-in-step": lambda i, x: any(x.recipe[r] != x.usage[s] for r, s in pairs(i, x)),
    "one-recipe-per-system": lambda i, x: len({s for _, s in pairs(i, x)}) < len(list(pairs(i, x))),
    "no-abba": abba,
    "no-set-blocks-itself": lambda i, x: any(
        now == B.ASSIGNED and (suiting := wants(i, x, r)) and suiting <= holds(i, x, i.set_of[r])
        for r, now in enumerate(x.recipe)
    ),
    "lab-can-serve-the-set": lambda i, x: any(
        now == B.ASSIGNED and i.host_of[r] == B.NONE and not wants(i, x, r) for r, now in enumerate(x.recipe)
    ),
    "no-system-idles-beside-a-waiting-recipe": waiting_beside_idle,
    "idle-is-automated": lambda i, x: any(
        usage == B.IDLE and not automated(x, s) for s, usage in enumerate(x.usage)
    ),
    "no-lost-wakeup": waiting_beside_idle,
    "nothing-special-at-start-up": waiting_beside_idle,
}  # fmt: skip
"""What is wrong with the last state of the run, said again over the states of the brute force."""

AT_ITS_LAST_STEP = {"no-queue-jumping", "reserved-until-given-back", "pending-after-a-recipe"}
NO_WAY_ON = {"no-deadlock", "no-finished-recipe-blocks-its-set"}


@pytest.mark.parametrize("variant", [pytest.param(v, marks=pytest.mark.long) for v in ("as-written", "interleaved")])
def test_each_finding_happens_to_the_brute_force_scheduler_too(variant: str) -> None:
    model, findings = VARIANTS[variant][0], found_in(variant)
    assert set(findings) == model.refuted, "every entry of the manifest is needed"
    for name, (number, result) in findings.items():
        configuration, shown = CONFIGURATIONS[number], result.counterexample
        assert shown is not None
        states, inst = replayed(variant, configuration, shown), brute_force_instance(CONFIGURATIONS[number])
        last, before = states[-1], states[-2]
        if name in BAD:
            assert BAD[name](inst, last), name
            assert not any(BAD[name](inst, earlier) for earlier in states[:-1]), f"{name}: it was so before"
        elif name in NO_WAY_ON:
            dead = {
                (explored(number, variant).states[d.state], d.dead) for d in deadlocks(inst, explored(number, variant))
            }
            assert any((last, of) in dead for of in inst.sets), name
        elif name == "no-queue-jumping":
            s, r = jumped(
                label(list(choices(model, Instance(model, configuration.sizes, configuration.rigid()), shown))[-1])
            )
            rank = before.rank[inst.set_of[r]]
            assert any(
                now in (B.ASSIGNED, B.QUEUED) and B.suits(inst, before, s, q) and before.rank[inst.set_of[q]] > rank
                for q, now in enumerate(before.recipe)
            )
        elif name == "reserved-until-given-back":
            assert any(
                before.condition[s] == B.MANUAL and before.usage[s] != B.IDLE and last.usage[s] == B.PENDING
                for s in range(len(last.usage))
            )
        else:
            assert name == "pending-after-a-recipe"
            assert any(
                B.WAITING <= before.recipe[r] <= B.RUNNING and last.recipe[r] >= B.COMPLETED
                and automated(last, s) and last.usage[s] != B.PENDING
                for r, s in pairs(inst, before)
            )  # fmt: skip


def jumped(step: tuple[str | int, ...]) -> tuple[int, int]:
    """The system and the recipe of a step that puts one on the other."""
    name, first, second = step
    one, two = int(first), int(second)
    return (two, one) if name == "find_idle" else (one, two)


@cache
def explored(number: int, variant: str) -> Graph[by_hand.State]:
    """The brute-force scheduler's graph of a configuration."""
    return graph(brute_force_instance(CONFIGURATIONS[number]), VARIANTS[variant][1])


# --- Deadlock is what it is defined as ---------------------------------------------------------------------------------


@pytest.mark.parametrize("number", thinned(range(len(CONFIGURATIONS)), 8), ids=[s.about for s in CONFIGURATIONS])
def test_a_deadlock_of_the_model_is_as_near_by_brute_force(number: int) -> None:
    """ "A set that holds a system and can never start by any sequence of scheduler steps and completions" in both."""
    place, brute_force_graph = place_of(number, AS_WRITTEN), explored(number, "as-written")
    inst = brute_force_instance(CONFIGURATIONS[number])
    nearest = min((len(brute_force_graph.trace(d.state)) for d in deadlocks(inst, brute_force_graph)), default=None)
    [result] = model_check(place.alone(AS_WRITTEN), place.sizes, only=["no-deadlock"])
    shown = result.counterexample
    assert (len(shown.steps) if shown else None) == nearest
    assert (result.verdict is Verdict.REFUTED) == (nearest is not None)


# --- Waiting ---------------------------------------------------------------------------------------------------------


def circles(inst: by_hand.Instance, state: by_hand.State) -> list[list[int]]:
    """Circles of sets, each of which has an assigned recipe that a system held by the next one suits."""
    waits: nx.DiGraph[int] = nx.DiGraph()
    for r, now in enumerate(state.recipe):
        if now == B.ASSIGNED:
            of = inst.set_of[r]
            waits.add_edges_from(
                (of, other) for other in inst.sets if other != of and wants(inst, state, r) & holds(inst, state, other)
            )
    return list(nx.simple_cycles(waits))


CONTENDED = [n for n, s in enumerate(CONFIGURATIONS) if len(s.sets) > 1 and any(len(of) > 1 for of in s.sets)]
"""Several sets, one of them of several recipes: else there is no holding while waiting."""


@pytest.mark.parametrize("number", thinned(CONTENDED, 3), ids=[CONFIGURATIONS[n].about for n in CONTENDED])
def test_repaired_no_sets_wait_in_a_circle_of_any_length(number: int) -> None:
    """Each waits only for sets that were assigned before it, and these are in an order: so there is no way back.

    That a set waits only for earlier ones (``waits-only-for-earlier-sets``) and that "earlier" is a strict
    order (``assigned-sets-are-in-order``, ``order-is-transitive``, ``no-set-is-behind-itself``) is proved for
    any number. A circle j1, j2, ..., jn, j1 would be of assigned sets (each holds a system, so it has a lab),
    each behind the next; by transitivity j1 would be behind itself. Waiting for oneself, a circle of one, is
    excluded by the seatings (``assigned-have-a-seat``, ``seats-are-left-free``).
    """
    inst, place = brute_force_instance(CONFIGURATIONS[number]), place_of(number, REPAIRED)
    [instance] = instances(place.alone(REPAIRED), place.sizes)
    states = [translate(instance, state) for state in explore(instance, symmetry=False).states]
    assert any(holds(inst, state, of) for state in states for of in inst.sets)
    assert not any(circles(inst, state) for state in states)


def test_as_written_they_do() -> None:
    """Else the search for circles would show nothing."""
    [number] = [n for n, s in enumerate(CONFIGURATIONS) if "a set of three need the same" in s.about]
    inst = brute_force_instance(CONFIGURATIONS[number])
    assert any(circles(inst, state) for state in explored(number, "as-written").states)
