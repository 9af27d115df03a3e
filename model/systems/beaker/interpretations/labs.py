"""Labs, and which systems suit a recipe (lines 80, 125, 138, 203)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from schedproof.model.lang import (
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    Event,
    Invariant,
    Property,
    Reading,
    Ref,
    Row,
    SetOf,
    StepInvariant,
    Term,
    Var,
    exists,
    forall,
    given,
    implies,
    me,
)
from schedproof.model.lang import terms as t
from schedproof.model.systems.beaker import events as ev
from schedproof.model.systems.beaker.events import AUTOMATED, QUIET, suits
from schedproof.model.systems.beaker.machines import RECIPE, UNFINISHED, Lab, Recipe, g, j, l, q, r, s
from schedproof.model.systems.beaker.variants import AS_WRITTEN

from .changes import o, x


def handled(can_take: Callable[[Var, Var], Term]) -> list[Action]:
    """The five actions of scheduling events, where ``can_take(system, recipe)`` is "suitable"."""

    def outranked(state: str) -> Term:
        return exists(q, q.is_(state) & can_take(s, q) & (q.recipe_set.priority > r.recipe_set.priority))

    open_recipe = (r.recipe_set == j) & r.is_("new", "assigned")
    return [
        replace(
            ev.find_idle,
            when=[r.is_("new", "assigned"), r.recipe_set.is_("in_hand"), s.is_("idle"), AUTOMATED, can_take(s, r)],
        ),
        replace(
            ev.search_ends,
            when=[j.is_("in_hand"), ~exists([r, s], open_recipe & s.is_("idle") & AUTOMATED & can_take(s, r))],
        ),
        replace(
            ev.give_to_assigned,
            when=[s.is_("pending"), r.is_("assigned"), can_take(s, r), ~outranked("assigned"), QUIET],
        ),
        replace(
            ev.give_to_queued,
            when=[
                s.is_("pending"),
                r.is_("queued"),
                can_take(s, r),
                ~exists(q, q.is_("assigned") & can_take(s, q)),
                ~outranked("queued"),
                QUIET,
            ],
        ),
        replace(
            ev.make_idle,
            when=[s.is_("pending"), ~exists(q, q.is_("assigned", "queued") & can_take(s, q)), QUIET],
        ),
    ]


def viable_in_any_lab(system: Var, recipe: Var) -> Term:
    """``system`` is viable for ``recipe``, whatever its lab."""
    return recipe.viable.has(system)


def in_a_lab_for_all(system: Var, recipe: Var) -> Term:
    """``system`` suits ``recipe``, and each sibling has a viable system in the lab of ``system``."""
    sibling = (o.recipe_set == recipe.recipe_set) & (o.host == NONE) & o.is_(*UNFINISHED)
    return suits(system, recipe) & forall(o, implies(sibling, exists(x, o.viable.has(x) & (x.lab == system.lab))))


def leaves_one_for_each_sibling(system: Var, recipe: Var) -> Term:
    """``system`` suits ``recipe``; each sibling without a system has another one in the lab that its set does not hold."""
    sibling = (
        (o.recipe_set == recipe.recipe_set) & (o != recipe) & (o.host == NONE) & o.is_("new", "queued", "assigned")
    )
    held = exists(g, (g.recipe_set == recipe.recipe_set) & g.is_("scheduled") & (g.system == x))
    left = exists(x, (x != system) & (x.lab == system.lab) & o.viable.has(x) & ~held)
    return suits(system, recipe) & forall(o, implies(sibling, left))


RECIPE_WITH_TREES = replace(
    RECIPE,
    attributes=[
        *RECIPE.attributes,
        Attribute("trees_gone", SetOf(Lab), durable=True, about="the labs from which its distro tree was removed"),
    ],
    events=[*RECIPE.events, Event("lose_tree", {"lab": Ref(Lab)})],
)
LOSES_ITS_TREE = Action(
    "remove_tree",
    [r, l],
    when=[
        r.is_(*UNFINISHED),
        ~r.trees_gone.has(l),
        exists(s, r.viable.has(s) & (s.lab == l) & s.adjustable),  # where users may change what is viable
        QUIET,
    ],
    fires=[r.fires("lose_tree", lab=l)],
    says="the distro tree of {r} is removed from {l}",
    line=60,
)


def with_trees(term: Term) -> Term:
    """``term``, where a system is viable for a recipe only while its lab has the distro tree of the recipe."""
    if isinstance(term, t.Has) and isinstance(term.set, t.Attr) and term.set.name == "viable":
        return term & ~t.Attr(term.set.of, "trees_gone").has(t.Attr(term.element, "lab"))
    return t.rebuilt(term, with_trees)


def of_trees(prop: Property) -> Property:
    """The property, of what is still viable."""
    parts: dict[str, Any] = {name: getattr(prop, name, None) for name in ("given", "then", "goal")}
    changed: dict[str, Any] = {name: with_trees(part) for name, part in parts.items() if part is not None}
    return replace(prop, **changed)


VIABLE_STILL = [
    of_trees(prop) for prop in AS_WRITTEN.properties if isinstance(prop, Invariant | StepInvariant | AlwaysCanReach)
]


def suits_still(system: Var, recipe: Var) -> Term:
    """``system`` suits ``recipe``, and its lab still has the distro tree of the recipe."""
    return suits(system, recipe) & ~recipe.trees_gone.has(system.lab)


def outranked_by(*states: str) -> Term:
    """Another recipe in one of ``states`` that the system suits has a higher priority."""
    return exists(q, q.is_(*states) & suits(s, q) & (q.recipe_set.priority > r.recipe_set.priority))


LABS = (
    Reading(
        "a-set-has-one-lab",
        125,
        "All recipes of a set are assigned to one lab controller.",
        "Recipes of a set may run in different labs.",
        adds=handled(viable_in_any_lab),
        breaks=["one-lab-for-a-set", "system-of-its-lab", "systems-of-begun-sets-are-in-one-lab"],
        question="Is a lab controller assigned to each recipe, or to the set?",
        why="Line 142 has one appropriate lab controller. Recipes of a set run together.",
    ),
    Reading(
        "the-first-system-decides-the-lab",
        138,
        "The set is assigned to the lab of the first system that one of its recipes gets, whatever the others need.",
        "A recipe takes a first system only in a lab where each of its siblings has a viable system.",
        adds=handled(in_a_lab_for_all),
        rests=["lab-can-serve-the-set"],
        breaks=["no-lost-wakeup", "no-system-idles-beside-a-waiting-recipe", "the-search-was-complete"],
        question="To which lab controller are the other recipes assigned?",
        why="The text has no condition on the other recipes.",
    ),
    Reading(
        "suitable-is-viable",
        203,
        "A recipe is suitable if the system is viable for it and in the lab of its set.",
        "It is suitable only if each sibling without a system also keeps one.",
        adds=handled(leaves_one_for_each_sibling),
        rests=["lab-can-serve-the-set", "no-set-blocks-itself"],
        breaks=["no-lost-wakeup", "no-system-idles-beside-a-waiting-recipe", "the-search-was-complete"],
        question="Which recipes are suitable for a system?",
        why="The text defines viable systems, and uses suitable without a definition.",
    ),
    Reading(
        "the-assigned-come-first",
        203,
        "A pending system goes to an assigned recipe before any queued one. Priority orders each of the two groups.",
        "Priority orders assigned and queued recipes together. Assigned ones come first only among equals.",
        adds=[
            replace(
                ev.give_to_assigned,
                when=[s.is_("pending"), r.is_("assigned"), suits(s, r), ~outranked_by("assigned", "queued"), QUIET],
            ),
            replace(
                ev.give_to_queued,
                when=[
                    s.is_("pending"),
                    r.is_("queued"),
                    suits(s, r),
                    ~exists(q, q.is_("assigned") & suits(s, q) & (q.recipe_set.priority >= r.recipe_set.priority)),
                    ~outranked_by("queued"),
                    QUIET,
                ],
            ),
        ],
        rests=["no-queue-jumping"],
        breaks=["assigned-before-queued"],
        question="Does a queued recipe of a higher priority come before an assigned one?",
        why="Lines 203 to 206 give the order of the two searches. Line 213 says solely by priority.",
    ),
    Reading(
        "what-suits-does-not-change",
        80,
        "The requirements of a recipe, and the distro trees that a lab has, never change.",
        "A distro tree may be removed from a lab. Then no system there is viable for the recipes that request it.",
        adds=[
            *[
                Row(Recipe, "lose_tree", now, now, line=60, trees_gone=me.trees_gone.with_(given("lab")))
                for now in UNFINISHED
            ],
            LOSES_ITS_TREE,
            *handled(suits_still),
            *VIABLE_STILL,
            replace(
                ev.abort_dead,
                when=[
                    r.is_("queued", "assigned"),
                    r.host == NONE,
                    ~exists(s, r.viable.has(s) & ~r.trees_gone.has(s.lab) & AUTOMATED),
                    QUIET,
                ],
            ),
        ],
        machines=[RECIPE_WITH_TREES],
        breaks=["system-of-its-lab"],
        question="Can a viable system stop to be one, other than by its condition?",
        why="The text has one such change, the removal of a distro tree, and only for the retained loop.",
    ),
)
