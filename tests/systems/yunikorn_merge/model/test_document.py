"""YuniKorn's cache and scheduler: the model beside its document, who reads and sends what, and which changes are needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

import pytest

from schedproof.model.lang import Action, Change, Invariant, Model, Rule, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import Stepper, instances
from schedproof.model.systems.yunikorn_merge import (
    MERGED,
    MERGED_PROPOSALS,
    MERGED_PROPOSALS_REPAIRED,
    TWO_COPY,
    TWO_COPY_REPAIRED,
)
from schedproof.model.systems.yunikorn_merge.cache import CACHE_RULES
from schedproof.model.systems.yunikorn_merge.configurations import CONFIGURATIONS, configurations
from schedproof.model.systems.yunikorn_merge.contradictions import CONTRADICTIONS
from schedproof.model.systems.yunikorn_merge.flows import CACHE, CHANNELS, FLOW_OF, FLOWS, KINDS, RM, SCHEDULER
from schedproof.model.systems.yunikorn_merge.machines import CACHE_MACHINES, RM_MACHINES, SCHEDULER_MACHINES
from schedproof.model.systems.yunikorn_merge.merged_machines import MERGED_CHANNELS
from schedproof.model.systems.yunikorn_merge.merged_properties import one_object
from schedproof.model.systems.yunikorn_merge.rm import RM_ACTIONS, RM_RULES
from schedproof.model.systems.yunikorn_merge.scheduler import SCHEDULER_ACTIONS, SCHEDULER_RULES
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Result, Verdict
from tests.support.needs import needs_shared
from tests.support.places import SHARED
from tests.support.rows import each_row
from tests.support.sample import thinned

VARIANTS = [TWO_COPY, TWO_COPY_REPAIRED, MERGED, MERGED_PROPOSALS, MERGED_PROPOSALS_REPAIRED]
DOCUMENT = SHARED / "documents" / TWO_COPY.document.name


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return DOCUMENT.read_text().splitlines()


def plain(text: str) -> str:
    return " ".join(text.split())


# --- The table of flows ------------------------------------------------------------------------------------------------


@needs_shared
def test_the_table_of_flows_is_the_documents(lines: list[str]) -> None:
    written = {}
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and "->" in line:
            written[number] = tuple(cells)
    assert written == {flow.line: flow.row for flow in FLOWS}


@needs_shared
def test_ten_of_nineteen_events_are_to_be_removed(lines: list[str]) -> None:
    """And these are those between cache and scheduler (line 36)."""
    assert "10 out of 19 events are only between cache and scheduler" in lines[35]
    assert len(FLOWS) == 19
    removed = [flow for flow in FLOWS if flow.remove]
    assert len(removed) == 10
    assert removed == [flow for flow in FLOWS if RM not in (*flow.senders, flow.receiver)]


def test_a_kind_of_message_stands_for_one_event() -> None:
    counted = Counter(kind for flow in FLOWS for kind in flow.kinds)
    assert set(counted.values()) == {1}
    assert {*KINDS} - {*counted} == {"RemovedNode"}, "what only a repair sends"
    assert all(flow.kinds for flow in FLOWS)


def test_one_queue_for_each_handler() -> None:
    """Facts 6: the scheduler has one queue, the cache two; messages to the resource manager wait in one of its own."""
    into = {(FLOW_OF[kind].receiver, CHANNELS.channel_of(kind)) for kind in FLOW_OF}
    assert into == {
        (SCHEDULER, "scheduler"),
        (CACHE, "cache_from_rm"),
        (CACHE, "cache_from_scheduler"),
        (RM, "rm"),
    }


# --- Who sends, reads and changes what -----------------------------------------------------------------------------------

COMPONENTS = {
    RM: (RM_RULES, RM_MACHINES),
    CACHE: (CACHE_RULES, CACHE_MACHINES),
    SCHEDULER: (SCHEDULER_RULES, SCHEDULER_MACHINES),
}
SORTS_OF = {component: {machine.sort.name for machine in machines} for component, (_, machines) in COMPONENTS.items()}


def parts(term: t.Term) -> Iterator[t.Term]:
    yield term
    for child in t.children(term):
        yield from parts(child)


def sent_kind(rule: Rule) -> str | None:
    """The kind of message that a rule sends."""
    if rule.fires.event != "send":
        return None
    kinds = [
        c.right.value
        for c in rule.when
        if isinstance(c, t.Equal)
        and isinstance(c.left, t.Attr)
        and c.left.name == "kind"
        and isinstance(c.right, t.Constant)
    ]
    assert len(kinds) == 1, rule.name
    return str(kinds[0])


def test_who_sends_what_in_the_model_is_as_in_the_table() -> None:
    """A kind is sent by all of its senders; where the table has two, each of them sends some kind of the event."""
    sends = {
        (component, kind) for component, (rules, _) in COMPONENTS.items() for rule in rules if (kind := sent_kind(rule))
    }
    for component, kind in sends:
        assert component in FLOW_OF[kind].senders, f"{component} sends {kind}"
    for flow in FLOWS:
        for kind in flow.kinds:
            assert any((component, kind) in sends for component in flow.senders), f"nobody sends {kind}"
        for component in flow.senders:
            assert any((component, kind) in sends for kind in flow.kinds), f"{component} sends no {flow.event}"


def test_a_component_handles_only_what_is_sent_to_it() -> None:
    for component, (rules, _) in COMPONENTS.items():
        for rule in rules:
            if isinstance(rule.on, Action) and rule.on.name.startswith("deliver_"):
                kind = next(kind for kind in KINDS if CHANNELS.delivery(kind, "").name == rule.on.name)
                assert FLOW_OF[kind].receiver == component, rule.name
            elif isinstance(rule.on, Action):
                assert rule.on in {RM: RM_ACTIONS, SCHEDULER: SCHEDULER_ACTIONS}.get(component, []), rule.name


def reads(model: Model, terms: Sequence[t.Term]) -> set[str]:
    """The sorts whose states are read, but for messages."""
    asked = [part for term in terms for part in parts(term) if isinstance(part, t.Is | t.Fires)]
    return {sort_of(model, part.of, {}) for part in asked} - {"Message", "EventQueue"}


def test_no_component_reads_or_changes_anothers_copy() -> None:
    """But for what is rigid, such as which node an allocation is for, or who is refused."""
    for component, (rules, _) in COMPONENTS.items():
        for rule in rules:
            on = [rule.on] if isinstance(rule.on, t.Fires) else []
            assert reads(TWO_COPY, [*on, *rule.when, rule.fires]) <= SORTS_OF[component], f"{component}: {rule.name}"
    for component, actions in {RM: RM_ACTIONS, SCHEDULER: SCHEDULER_ACTIONS}.items():
        for action in actions:
            assert reads(TWO_COPY, [*action.when, *action.fires]) <= SORTS_OF[component], action.name


# --- Quotations ----------------------------------------------------------------------------------------------------------

PROPERTIES = {(m.variant, prop.name): prop for m in VARIANTS for prop in m.properties if prop.line is not None}


@needs_shared
@each_row("which", PROPERTIES, ids=lambda which: "-".join(which))
def test_a_property_quotes_the_document_at_its_line(which: tuple[str, str], lines: list[str]) -> None:
    prop = PROPERTIES[which]
    assert prop.line is not None and prop.sentence
    text = plain("\n".join(lines[prop.line - 1 :][:4]))
    at = 0
    for part in prop.sentence.split(" ... " if "..." not in prop.sentence[:4] else "\0"):
        position = text.find(plain(part).removeprefix("... ").removesuffix(" ..."), at)
        assert position >= 0, f"{part!r} is not at line {prop.line}: {text[:100]}"
        at = position


@needs_shared
@each_row("contradiction", CONTRADICTIONS, ids=lambda c: c.name)
def test_a_contradiction_quotes_the_document(contradiction, lines: list[str]) -> None:
    assert len(contradiction.quotes) > 1 and contradiction.problem and contradiction.reading
    for number, words in contradiction.quotes:
        assert words in lines[number - 1], f"line {number}: {lines[number - 1]!r}"


def test_contradictions_have_names_of_their_own() -> None:
    assert len({c.name for c in CONTRADICTIONS}) == len(CONTRADICTIONS)


@needs_shared
def test_all_that_is_modelled_has_a_line_that_is_there(lines: list[str]) -> None:
    for model in VARIANTS:
        elements = [*model.rows, *model.actions, *model.rules, *[s for m in model.machines for s in m.states]]
        for element in elements:
            if element.line is not None:
                assert lines[element.line - 1].strip(), element
        for row in model.rows:
            assert row.line is not None, row.name
        for rule in model.rules:
            assert rule.line is not None or rule.fact, rule.name


# --- Verdicts ------------------------------------------------------------------------------------------------------------


@cache
def verdicts(variant: str) -> dict[str, Result]:
    """What exploration says of all that a variant properties."""
    model = next(model for model in VARIANTS if model.variant == variant)
    return {r.name: r for r in model_check(model, {})}


@pytest.mark.long
@pytest.mark.parametrize("model", thinned(VARIANTS, 3), ids=lambda model: model.variant)
def test_exploration_says_what_the_manifest_says(model: Model) -> None:
    """And nothing is vacuous: what is said of all is said of some."""
    results = verdicts(model.variant)
    assert {name for name, r in results.items() if r.verdict is Verdict.REFUTED} == model.refuted
    assert {name for name, r in results.items() if r.verdict is Verdict.UNDETERMINED} == set()
    assert set(results) == {WELL_FORMED, *(prop.name for prop in model.properties)}


def happened(model: Model) -> tuple[set[str], set[str]]:
    """The actions that are taken in some configuration, and the rules that fire something."""
    actions, rules = set(), set()
    for instance in instances(model, {}):
        stepper = Stepper(instance)
        exploration = explore(instance, symmetry=False)
        for state, edges in zip(exploration.states, exploration.edges, strict=True):
            for edge in edges:
                actions.add(edge.choice.action)
                causes: dict = {}
                stepper.firings(state, edge.choice, causes)
                rules |= {cause.name for cause in causes.values() if isinstance(cause, Rule)}
    return actions, rules


NEVER = {
    # A queue with room for one event is in a configuration; with more they are looked at in test_yunikorn_channel.
    "a queue with room for 2 overflows",
    "a queue with room for 3 overflows",
}
NEVER_REPAIRED = {
    *NEVER,
    # Nothing is sent past the cache any more.
    "RemovePartition: the partition is stopped",
    # Nothing is refused any more: see NOT_REFUSED.
    "a rejected proposal",
    "a rejected proposal is dropped",
    "the ask of a rejected proposal waits again",
    "the cache rejects an application",
    "the cache rejects a node",
    "NodeRejected is heard",
    # The scheduler has dropped an allocation before the cache asks for that.
    "ReleasedAllocation: the scheduler releases the allocation",
}


NOT_REFUSED = {"deliver_rejected_allocation", "deliver_node_rejected"}
"""Once everything is added to the cache first and removed from it last, the cache has no proposal to reject, and no node."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "never", "not_heard"),
    thinned(
        [
            (TWO_COPY, NEVER, set()),
            (
                TWO_COPY_REPAIRED,
                NEVER_REPAIRED,
                {"deliver_recover_allocation", "deliver_remove_partition", *NOT_REFUSED},
            ),
            (MERGED, set(), set()),
            (MERGED_PROPOSALS, set(), set()),
            (MERGED_PROPOSALS_REPAIRED, set(), set()),
        ],
        3,
    ),
    ids=lambda value: getattr(value, "variant", ""),
)
def test_everything_that_is_modelled_happens_somewhere(model: Model, never: set[str], not_heard: set[str]) -> None:
    actions, rules = happened(model)
    assert {a.name for a in model.actions} - actions == not_heard
    assert {rule.name for rule in model.rules} - rules == never


@pytest.mark.long
@pytest.mark.parametrize("model", thinned(VARIANTS, 3), ids=lambda model: model.variant)
def test_nothing_is_sent_that_is_still_under_way(model: Model) -> None:
    """A message that is sent again while it is under way would be one and the same: no release, no ask is swallowed so."""

    def always(rule: Rule) -> Rule:
        if rule.fires.event != "send":
            return rule
        return replace(rule, when=[c for c in rule.when if not (isinstance(c, t.Is) and c.states == ("free",))])

    loose = replace(model, rules=[always(rule) for rule in model.rules])
    assert any(one is not other for one, other in zip(loose.rules, model.rules, strict=True))
    for instance in instances(loose, {}):
        assert explore(instance, symmetry=False).ill_formed is None


def test_every_kind_is_said_in_some_configuration() -> None:
    assert {kind for configuration in CONFIGURATIONS for kind in configuration.kinds} == {*KINDS}


# --- The runs that the document's readers will look for ----------------------------------------------------------------


def run(model: Model, name: str) -> list[str]:
    """The actions of the shortest run that refutes a property."""
    result = verdicts(model.variant)[name]
    assert result.verdict is Verdict.REFUTED and result.counterexample is not None
    return [step.action for step in result.counterexample.steps]


@pytest.mark.long
def test_yunikorn_169() -> None:
    """Derived by hand, from line 71 backwards.

    The last step is the scheduler's: it handles an accepted proposal, and its ask is gone. So before it the ask was removed
    (by the message RemoveAsk), and the cache accepted the proposal: both put a message into the scheduler's queue, and RemoveAsk has
    to be the first of the two, while the cache has to accept (a third queue) before it is handled or after it. RemoveAsk needs
    the resource manager to withdraw and the cache to pass that on; the proposal needs the loop, which needs the ask in the
    scheduler: asked, passed on, added. That is ask, AddAsk, NewAsk, propose, ProposeAllocation; withdraw, ReleaseAsk, RemoveAsk;
    and AcceptedAllocation: nine steps, none of which can be spared. An application that goes, with its asks, takes as
    many: RemoveApplication for ReleaseAsk, ApplicationRemoved for RemoveAsk.
    """
    actions = run(TWO_COPY, "accepted-allocations-are-confirmed")
    assert len(actions) == 9 and actions[-1] == "deliver_accepted_allocation"
    asked = ["ask", "deliver_add_ask", "deliver_new_ask", "propose", "deliver_propose_allocation"]
    withdrawn = ["withdraw", "deliver_release_ask", "deliver_remove_ask"]
    assert sorted(actions) == sorted([*asked, *withdrawn, "deliver_accepted_allocation"])
    for order in (asked, withdrawn):
        assert [action for action in actions if action in order] == order
    assert actions.index("deliver_release_ask") < actions.index("deliver_propose_allocation")


LENGTHS = {
    # ask, AddAsk, NewAsk, propose, ProposeAllocation; the resource manager hears before the scheduler does
    "told-allocations-are-confirmed": 6,
    # decommission, DecommissionNode: "cache remove the node first (!!)"
    "nodes-are-removed-from-the-scheduler-first": 2,
    # what stands is preempted, ProposeRelease: the cache removes it, and notifies the scheduler afterwards
    "allocations-are-removed-from-the-scheduler-first": 2,
    # as told-allocations-are-confirmed up to the fifth step; meanwhile decommission, DecommissionNode; AcceptedAllocation
    "confirmed-allocations-are-there": 8,
    # registered, and removed past the cache; the cache hears of the first only then
    "removed-partitions-go": 3,
    # two asks, and the cache passes both on to a scheduler that has handled none
    "no-queue-overflows": 4,
    # add_node, AddNode, NodeAdded, RecoverAllocation, ProposeAllocation, (NodeAccepted before it,) NewAllocation
    "allocations-are-told-once": 7,
    # YUNIKORN-169, and the scheduler counts on
    "proposals-are-on-their-way": 9,
    # YUNIKORN-169, ReleaseFailed, ReleasedAllocation
    "allocations-in-both-copies": 11,
}


@pytest.mark.long
def test_the_shortest_runs_are_as_long_as_derived() -> None:
    assert {name: len(run(TWO_COPY, name)) for name in LENGTHS} == LENGTHS


# --- The changes ---------------------------------------------------------------------------------------------------------

EITHER = {"allocations-given-back-go"}
"""What more than one change repairs, each alone: without a confirmation nothing is sent, and so nothing is given back."""


ASIDE = {"two asks for one node", "an application comes and goes, and another is not taken"}
"""Configurations that no change is about; the long test looks at these, too."""


def less(*left_out: Change, aside: set[str] = ASIDE) -> Model:
    others = [change for change in TWO_COPY_REPAIRED.changes if change not in left_out]
    among = [configuration for configuration in CONFIGURATIONS if configuration.about not in aside]
    return TWO_COPY.amend("less", "", others, refuted=frozenset(), configurations=partial(configurations, among=among))


def broken(model: Model) -> set[str]:
    """What exploration refutes, of the properties that the document's two copies break."""
    names = [prop.name for prop in model.properties if prop.name in TWO_COPY.refuted]
    results = model_check(model, {}, only=names)
    return {r.name for r in results if r.verdict is Verdict.REFUTED} - TWO_COPY_REPAIRED.refuted


@pytest.mark.long
@pytest.mark.parametrize("change", thinned(TWO_COPY_REPAIRED.changes, 7, first=1), ids=lambda change: change.why[:30])
def test_without_one_change_just_what_it_repairs_is_broken_again(change: Change) -> None:
    required = {*change.repairs, *change.weakens} & TWO_COPY.refuted
    assert broken(less(change)) == required - EITHER


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("change", TWO_COPY_REPAIRED.changes, ids=lambda change: change.why[:30])
def test_without_a_change_the_same_breaks_in_all_configurations(change: Change) -> None:
    required = {*change.repairs, *change.weakens} & TWO_COPY.refuted
    assert broken(less(change, aside=set())) == required - EITHER


@pytest.mark.long
def test_what_two_changes_repair_is_broken_without_both() -> None:
    naming = [change for change in TWO_COPY_REPAIRED.changes if EITHER & {*change.repairs}]
    assert naming
    confirming = next(c for c in TWO_COPY_REPAIRED.changes if "told-allocations-are-confirmed" in c.weakens)
    assert broken(less(*naming, confirming)) >= EITHER


def test_every_broken_property_is_repaired_weakened_or_given_up() -> None:
    named = {name for change in TWO_COPY_REPAIRED.changes for name in (*change.repairs, *change.weakens)}
    assert TWO_COPY.refuted <= named and TWO_COPY_REPAIRED.refuted == set()
    given_up = {name for c in TWO_COPY_REPAIRED.changes for name, weaker in c.weakens.items() if not weaker}
    assert given_up & TWO_COPY.refuted == {"no-queue-overflows"}


# --- Merged --------------------------------------------------------------------------------------------------------------


def test_merged_only_events_that_stay_go_to_the_resource_manager() -> None:
    stay = {kind for flow in FLOWS if not flow.remove and flow.receiver == RM for kind in flow.kinds}
    assert {kind.name for kind in MERGED_CHANNELS.kinds} == stay
    assert {kind for rule in MERGED.rules if (kind := sent_kind(rule))} == stay


def test_by_construction_there_is_one_object() -> None:
    assert one_object(MERGED) and not one_object(TWO_COPY)


def test_the_properties_of_the_two_copies_hold_of_the_merge_too() -> None:
    """All but those that only speak of two copies' states, or of what their repair weakens."""
    missing = {p.name for p in TWO_COPY.properties} - {p.name for p in MERGED.properties}
    assert missing == {
        "told-allocations-are-confirmed",  # the merged design has one copy, which needs no confirmation
        "recovered-allocations-are-kept",  # weakened: recovered-allocations-come-with-their-node
        "no-queue-overflows",  # messages to the resource manager wait in one
        "life-of-a-scheduled-allocation",
        "life-of-a-dropped-allocation",
        "life-of-a-cached-allocation",
    }


@pytest.mark.long
def test_all_of_the_merge_is_proved() -> None:
    induction = prove(MERGED, every=False)
    claims = [p.name for p in MERGED.properties if isinstance(p, Invariant | StepInvariant)]
    assert {name for name in claims if not induction.proved(name)} == MERGED.refuted == set()
    assert induction.proved(WELL_FORMED)
