"""Beaker's pictures: arrows by hand from the document, boxes for many states, pairs of states, the command's mistakes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.cli import main
from schedproof.diagrams.deadlock import deadlock
from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.fold import unfolded
from schedproof.diagrams.from_model import diagram
from schedproof.diagrams.gallery import FOLDER, pictures
from schedproof.diagrams.pairing import Pairing, changing_pairings, observed, pairing, pairing_names
from schedproof.diagrams.representation import EdgeKind, Mark, NodeKind
from schedproof.model.lang import Model
from schedproof.model.registry.discovery import systems
from schedproof.model.systems.beaker import AS_WRITTEN, BATCH, REPAIRED, SHIPPED
from schedproof.model.systems.beaker.waits import WAITS
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from tests.support.needs import needs_dot
from tests.support.picture_readers import Arrow, arrows, blemishes, laid_out, mermaid_arrows, stretch, text
from tests.support.rows import each_row

BEGUN = ["waiting", "installing", "running"]
UNFINISHED = ["new", "queued", "assigned", "scheduled", *BEGUN]
USAGES = ["pending", "idle", "scheduled", *BEGUN]

# Lines 129 to 145, 201 to 210 and 224 to 241 of the document, arrow by arrow.
RECIPE: set[Arrow] = {
    ("new", "queue", "queued"),
    ("new", "assign", "assigned"),
    ("queued", "assign", "assigned"),
    ("new", "schedule", "scheduled"),
    ("assigned", "schedule", "scheduled"),
    ("queued", "schedule", "scheduled"),
    ("scheduled", "provision", "waiting"),
    ("waiting", "install", "installing"),
    ("installing", "run", "running"),
    ("running", "complete", "completed"),
    *((state, "cancel", "cancelled") for state in UNFINISHED),
    *((state, "abort", "aborted") for state in UNFINISHED),
}
# Lines 159 to 210, with the conditions of lines 172 to 199.
SYSTEM: set[Arrow] = {
    ("idle", "schedule", "scheduled"),
    ("pending", "schedule", "scheduled"),
    ("scheduled", "provision", "waiting"),
    ("waiting", "install", "installing"),
    ("installing", "run", "running"),
    *((state, "release", "pending") for state in ("scheduled", *BEGUN)),
    ("pending", "make_idle", "idle"),
    *((state, "automate", "pending") for state in USAGES if state != "pending"),
    *((state, "make_manual", "idle") for state in USAGES),
    *((state, "break_down", "idle") for state in USAGES),
    ("idle", "reserve", "waiting"),
    ("running", "give_back", "idle"),
}
PLACES = ["at_rest", "in_hand", "searched"]
RECIPE_SET: set[Arrow] = {
    ("at_rest", "take_up", "in_hand"),
    ("in_hand", "search_ends", "searched"),
    ("searched", "settle", "at_rest"),
    ("in_hand", "crash", "at_rest"),
    ("searched", "crash", "at_rest"),
    *((place, event, place) for place in PLACES for event in ("assign", "reprioritize")),
}
MACHINES = {"Recipe": RECIPE, "System": SYSTEM, "RecipeSet": RECIPE_SET}


@pytest.mark.parametrize("sort", MACHINES)
def test_a_machine_has_exactly_the_documents_arrows(sort: str) -> None:
    drawn = diagram(AS_WRITTEN, sort)
    assert arrows(drawn) == MACHINES[sort]
    assert mermaid_arrows(text(drawn, "mermaid")) == MACHINES[sort]
    assert arrows(unfolded(drawn)) == MACHINES[sort]
    assert not any(node.kind is NodeKind.GROUP for node in unfolded(drawn).nodes)


@needs_dot
@pytest.mark.parametrize("sort", MACHINES)
def test_dot_has_the_arrows_of_the_picture(sort: str) -> None:
    drawn = diagram(AS_WRITTEN, sort)
    edges = laid_out(text(drawn, "dot")).edges
    assert sorted((a, b, label) for a, b, label, *_ in edges) == sorted(
        (e.source, e.target, ", ".join(e.labels)) for e in drawn.edges
    )


def test_the_batch_scheduler_takes_recipes_through_all_states() -> None:
    path = ["new", "processed", "queued", "scheduled", "waiting", "running", "completed"]
    events = ["process", "queue", "schedule", "provision", "run", "complete"]
    expected = set(zip(path, events, path[1:], strict=False))
    expected |= {(state, f"{end[:5]}", f"{end}ed") for state in path[:-1] for end in ("abort",)}
    expected |= {(state, "cancel", "cancelled") for state in path[:-1]}
    assert arrows(diagram(BATCH, "Recipe")) == expected


def test_what_the_repaired_variant_adds_is_marked() -> None:
    def marked(sort: str) -> set[Arrow]:
        drawn = unfolded(diagram(REPAIRED, sort, since=AS_WRITTEN))
        removed = arrows(replace(drawn, edges=tuple(e for e in drawn.edges if e.mark is Mark.REMOVED)))
        in_use = ("scheduled", "waiting", "installing", "running")  # there a system is Automated, or its user's
        assert removed == ({(usage, "automate", "pending") for usage in in_use} if sort == "System" else set())
        return arrows(replace(drawn, edges=tuple(e for e in drawn.edges if e.mark is Mark.ADDED)))

    assert marked("Recipe") == {("scheduled", "requeue", "queued"), ("assigned", "requeue", "queued")}
    assert marked("System") == {("idle", "wake", "pending")}
    assert marked("RecipeSet") == {(p, event, p) for p in PLACES for event in ("forget", "begin", "seat", "requeue")}


# --- Many states as one box -------------------------------------------------------------------------------------------


def test_a_cancellation_from_seven_states_is_one_arrow() -> None:
    drawn = diagram(AS_WRITTEN, "Recipe")
    (box,) = [node for node in drawn.nodes if node.kind is NodeKind.GROUP]
    assert box.members == tuple(UNFINISHED) and box.label == "any of 7 states"
    assert {(e.target, e.labels) for e in drawn.edges if e.source == box.name} == {
        ("cancelled", ("cancel",)),
        ("aborted", ("abort",)),
    }
    # Three arrows of one event are few enough to stay: they show the way to "scheduled".
    assert len([e for e in drawn.edges if e.target == "scheduled"]) == 3


def test_condition_changes_start_at_any_state_and_stay_there() -> None:
    drawn = diagram(AS_WRITTEN, "System")
    assert {(n.label, n.members) for n in drawn.nodes if n.kind is NodeKind.GROUP} == {
        ("any state", tuple(USAGES)),
        ("any of 5 states", tuple(USAGES[1:])),
        ("any of 4 states", tuple(USAGES[2:])),
    }
    sets = diagram(AS_WRITTEN, "RecipeSet")
    (box,) = [node for node in sets.nodes if node.kind is NodeKind.GROUP]
    assert box.label == "each state"
    assert [(e.source, e.target) for e in sets.edges if box.name in (e.source, e.target)] == [(box.name, box.name)]


def test_hived_has_too_few_arrows_of_one_event_for_a_box() -> None:
    assert not [n for sort in ("PodGroup", "Cell") for n in diagram(HIVED, sort).nodes if n.kind is NodeKind.GROUP]


def test_the_legend_explains_the_box() -> None:
    assert "its arrow starts at each of the states named" in text(diagram(AS_WRITTEN, "Recipe"), "dot")
    assert "any of 7 states (new, queued," in text(diagram(AS_WRITTEN, "Recipe"), "mermaid").replace("#40;", "(")


FOLDED = [row for row in AS_WRITTEN.rows if row.event in ("cancel", "abort", "make_manual", "reprioritize")]


@each_row("row", FOLDED, ids=lambda row: f"{row.event}-{row.source}")
def test_a_forgotten_row_is_seen_though_its_arrow_is_in_a_box(row: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedproof.model.lang.check._check", lambda model: None)
    wrong = replace(AS_WRITTEN, rows=[other for other in AS_WRITTEN.rows if other is not row])
    sort = row.sort.name  # type: ignore[attr-defined]
    lost = {(row.source, row.event, row.target)}  # type: ignore[attr-defined]
    assert MACHINES[sort] - arrows(diagram(wrong, sort)) == lost
    assert MACHINES[sort] - mermaid_arrows(text(diagram(wrong, sort), "mermaid")) == lost


# --- Pairs of states --------------------------------------------------------------------------------------------------

SMALL = {"Lab": 1, "RecipeSet": 2, "Recipe": 2, "System": 2}
IN_STEP = {(state, state) for state in ("scheduled", *BEGUN)}


@pytest.fixture(scope="module")
def written() -> Pairing:
    return observed(AS_WRITTEN, "Recipe.system", SMALL)


@pytest.fixture(scope="module")
def repaired() -> Pairing:
    return observed(REPAIRED, "Recipe.system", SMALL)


def test_references_between_machines_with_states_have_a_pairing() -> None:
    assert pairing_names(AS_WRITTEN) == ("Recipe.recipe_set", "Recipe.host", "Recipe.system")  # labs have no states
    assert changing_pairings(AS_WRITTEN) == changing_pairings(SHIPPED) == ("Recipe.system",)
    assert changing_pairings(HIVED) == ("Cell.user", "Cell.reserver")


def test_as_written_a_property_forbids_every_pair_out_of_step(written: Pairing) -> None:
    """A change of condition takes the system anywhere while its recipe stays: 6 usages for each of 4 states."""
    assert set(written.breaks) == {(recipe, usage) for recipe in ("scheduled", *BEGUN) for usage in USAGES}
    for pair, broken in written.breaks.items():
        assert ("recipe-and-system-in-step" in broken) == (pair not in IN_STEP), pair
        assert ("idle-is-not-running" in broken) == (pair == ("running", "idle"))
        assert ("pending-runs-nothing" in broken) == (pair[1] == "pending")
    # A Manual system may be running, and with a recipe on it too: what breaks is not the pair.
    assert not any("manual-is-its-users" in broken for broken in written.breaks.values())


def test_repaired_only_pairs_in_step_occur_and_none_is_forbidden(repaired: Pairing) -> None:
    assert repaired.breaks == {pair: frozenset() for pair in IN_STEP}
    ends = {("aborted", None): {"abort", "abort_set"}, ("cancelled", None): {"cancel", "cancel_set"}}
    leaves = {"make_manual", "break_down"}
    expected = {
        (("new", None), ("scheduled", "scheduled")): {"find_idle"},
        (("assigned", None), ("scheduled", "scheduled")): {"find_idle", "give_to_assigned"},
        (("queued", None), ("scheduled", "scheduled")): {"give_to_queued"},
        (("scheduled", "scheduled"), ("waiting", "waiting")): {"begin"},
        (("waiting", "waiting"), ("installing", "installing")): {"install"},
        (("installing", "installing"), ("running", "running")): {"run"},
        (("running", "running"), ("completed", None)): {"complete"},
        (("scheduled", "scheduled"), ("queued", None)): leaves,  # the set gives back what it holds
        **{(pair, end): set(by) for pair in IN_STEP for end, by in ends.items()},
    }
    for state in BEGUN:  # what executes on the system is aborted
        expected[(state, state), ("aborted", None)] |= leaves
    assert {step: set(actions) for step, actions in repaired.steps.items()} == expected


def test_the_picture_has_the_pairs_and_steps_that_were_seen(repaired: Pairing) -> None:
    drawn = pairing(REPAIRED, repaired)
    assert not drawn.alarm or not any(node.alarm for node in drawn.nodes)
    assert "#b3261e" not in text(drawn, "dot") + text(drawn, "mermaid")

    def name(pair: tuple[str, str | None]) -> str:
        return f"{pair[0]} / {pair[1] or 'none'}"

    assert arrows(drawn) == {(name(a), by, name(b)) for (a, b), actions in repaired.steps.items() for by in actions}


def test_forbidden_pairs_are_red_their_exits_counted_or_drawn(written: Pairing) -> None:
    drawn = pairing(AS_WRITTEN, written)
    red = {name for node in drawn.nodes if node.alarm for name in (node.members or (node.name,))}
    assert red == {f"{a} / {b}" for a, b in written.breaks if a != b}
    left = sum(before in written.breaks and before not in IN_STEP for before, _ in written.steps)
    assert left > 50 and f"{left} arrows that start at one are not drawn" in drawn.alarm
    assert {e.alarm for e in drawn.edges if e.target in red} == {True}
    assert {e.alarm for e in drawn.edges if e.target not in red} == {False}
    full = pairing(AS_WRITTEN, written, every_step=True)
    assert "not drawn" not in full.alarm
    assert len(arrows(full)) == sum(len(actions) for actions in written.steps.values())


def test_a_rule_that_leaves_the_system_behind_is_seen() -> None:
    rules = [rule for rule in REPAIRED.rules if rule.name != "run moves the system"]
    assert len(rules) == len(REPAIRED.rules) - 1
    seen = observed(
        replace(REPAIRED, rules=rules), "Recipe.system", {**SMALL, "RecipeSet": 1, "Recipe": 1, "System": 1}
    )
    assert {pair for pair, broken in seen.breaks.items() if broken} == {("running", "installing")}
    assert seen.breaks["running", "installing"] >= {"recipe-and-system-in-step"}


def test_rigid_references_are_read_from_the_configuration() -> None:
    seen = observed(AS_WRITTEN, "Recipe.recipe_set", {**SMALL, "RecipeSet": 1, "Recipe": 1, "System": 1})
    assert ("new", "at_rest") in seen.breaks and ("new", "in_hand") in seen.breaks
    assert (("new", "at_rest"), ("new", "in_hand")) in seen.steps
    assert not [pair for pair in seen.breaks if pair[1] is None]


def test_an_unknown_pairing_is_refused_with_the_others_names() -> None:
    with pytest.raises(DiagramError, match=r"no pairing 'Recipe\.lab', .* choose from Recipe\.recipe_set, "):
        observed(AS_WRITTEN, "Recipe.lab")


# --- Deadlocks --------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(("model", "waiting_state"), [(AS_WRITTEN, "assigned"), (BATCH, "queued")])
def test_abba_is_a_circle_of_two_sets_and_two_systems(model: Model, waiting_state: str) -> None:
    drawn = deadlock(model, WAITS[model.variant], "no-abba")
    circle = [(e.source, e.target, e.kind) for e in drawn.edges if e.alarm]
    assert len(circle) == 4
    assert {a[0] + b[0] for a, b, kind in circle if kind is EdgeKind.WAITS_FOR} == {"js"}
    assert {a[0] + b[0] for a, b, kind in circle if kind is EdgeKind.HELD_BY} == {"sj"}
    assert len({a for a, _, _ in circle}) == len({b for _, b, _ in circle}) == 4
    for edge in drawn.edges:
        label = r"held by r\d \(scheduled\)" if edge.kind is EdgeKind.HELD_BY else rf"r\d \({waiting_state}\) waits"
        assert re.fullmatch(label, ", ".join(edge.labels))


def test_a_set_that_blocks_itself_is_a_circle_of_one() -> None:
    small = {"Lab": 1, "RecipeSet": 1, "Recipe": 2, "System": 2}
    drawn = deadlock(AS_WRITTEN, WAITS["as-written"], "no-set-blocks-itself", small)
    assert {(e.source, e.target, e.alarm) for e in drawn.edges} == {("s0", "j0", True), ("j0", "s0", True)}


def test_what_is_not_refuted_has_no_state_to_draw() -> None:
    small = {"Lab": 1, "RecipeSet": 1, "Recipe": 2, "System": 2}
    with pytest.raises(
        DiagramError, match=r"does not refute no-abba in beaker \(repaired\) at .*, so no state can be drawn"
    ):
        deadlock(REPAIRED, WAITS["repaired"], "no-abba", small)
    with pytest.raises(DiagramError, match=r"does not refute broken-is-idle in .* choose from no-abba, no-deadlock, "):
        deadlock(AS_WRITTEN, WAITS["as-written"], "broken-is-idle", small)
    with pytest.raises(DiagramError, match=r"no property 'no-abab'"):
        deadlock(AS_WRITTEN, WAITS["as-written"], "no-abab", small)


# --- Legible ----------------------------------------------------------------------------------------------------------

DENSE = {"beaker/batch-restarted/Scheduler", "beaker/shipped-concurrent/System", "beaker/shipped-repaired/System"}
"""A state with three arrows to itself or more: a label touches another arrow there."""

GALLERY = sorted(
    name
    for path in (FOLDER / "beaker").rglob("*.svg")
    if (name := path.relative_to(FOLDER).with_suffix("").as_posix()) not in DENSE
)


@needs_dot
@pytest.mark.long(seconds=15, one_in=9)
def test_every_label_is_legible() -> None:
    drawn = {picture.stem: picture.dot for picture in pictures({"beaker": systems()["beaker"]})}
    laid = {name: laid_out(drawn[name]) for name in GALLERY}
    assert {name: blemishes(each) for name, each in laid.items() if blemishes(each)} == {}
    assert [name for name, each in laid.items() if each.width >= 1700 * max(1, stretch())] == [], "points"


# --- The command ------------------------------------------------------------------------------------------------------

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(["diagram", "beaker", *arguments, "--format", "mermaid", "-o", "-"])
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("Recipes", "unknown picture 'Recipes'; choose from RecipeSet, Recipe, System, triggers, Recipe.recipe_set, "),
        ("Recipe.lab", "no pairing 'Recipe.lab'"),
        ("Recipe.system --compare-to batch", "--compare-to: has no effect on Recipe.system"),
        ("Recipe --scope Lab=1", "--scope: has no effect on Recipe"),
        ("--every-step", "--every-step: has no effect on triggers"),
        ("wait-for --every-step --property no-abba", "--every-step: has no effect on wait-for"),
        ("Recipe.system --property no-abba", "--property: has no effect on Recipe.system"),
        ("Recipe.system --scope Lab=x", "is not of the form SORT=N"),
        (
            "wait-for",
            "wait-for: no --property is given; violated in as-written, to choose from: no-abba, no-deadlock, ",
        ),
        (
            "wait-for --property no-abba --variant shipped",
            "beaker shipped: the model does not say what its objects hold",
        ),
        ("wait-for --property no-abab", "unknown property 'no-abab' of beaker; did you mean no-abba"),
        ("wait-for --property no-abba --scope RecipeSet=1", "does not refute no-abba in beaker (as-written) at"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(run: Run, arguments: str, message: str) -> None:
    code, out, err = run(*arguments.split())
    assert code == 2 and out == ""
    assert message in err and err.count("\n") == 1


def test_the_command_draws_pairs_and_deadlocks(run: Run) -> None:
    scope = ["--scope", "Lab=1,RecipeSet=1,Recipe=2,System=2"]
    code, out, err = run("Recipe.system", "--variant", "repaired", *scope)
    assert (code, err) == (0, "") and "the pairs of Recipe.system" in out
    code, out, err = run("wait-for", "--property", "no-set-blocks-itself", *scope)
    assert (code, err) == (0, "") and '-.->|"r1 #40;assigned#41; waits"| s0' in out


def test_the_help_names_every_kind_of_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["diagram", "--help"]) == 0
    help_text = capsys.readouterr().out
    for word in ("SORT.ATTRIBUTE", "wait-for", "triggers", "--property", "--every-step"):
        assert word in help_text
