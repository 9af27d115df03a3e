"""Deadlocks of recipe sets as wait-for graphs: which set holds which system, and for which one it waits.

A set needs systems for all its recipes at once: it begins when all are scheduled (line 226; in the batch scheduler line
25). One recipe needs any one of the systems that suit it. A recipe that was cancelled while its siblings hold systems
is never scheduled. As written, its set waits for it for ever.
"""

from collections.abc import Mapping

from schedproof.model.lang import NONE, Term, exists
from schedproof.model.lang.waiting import Waiting

from .events import suits
from .machines import FINISHED, g, j, r, s

HOLDS = (r.recipe_set == j) & (r.system == s)
SIBLING_HOLDS = exists(g, (g.recipe_set == j) & g.is_("scheduled"))
NEVER_SCHEDULED = r.is_(*FINISHED) & SIBLING_HOLDS
AUTOMATED = s.condition == "Automated"


def waits(*open_states: str) -> Term:
    """``r`` of ``j`` is in one of ``open_states`` and needs a system of its own, as it is not a guest."""
    return (r.recipe_set == j) & (r.host == NONE) & r.is_(*open_states)


AS_WRITTEN = Waiting(
    owner=j,
    part=r,
    resource=s,
    holds=HOLDS,
    waits=waits("assigned", "queued") | ((r.recipe_set == j) & NEVER_SCHEDULED),
    serves=r.is_("assigned", "queued") & suits(s, r) & AUTOMATED,
    deadlocks=[
        "no-abba",
        "no-deadlock",
        "no-set-blocks-itself",
        "lab-can-serve-the-set",
        "no-finished-recipe-blocks-its-set",
    ],
)

REPAIRED = Waiting(
    owner=j,
    part=r,
    resource=s,
    holds=HOLDS,
    waits=waits("assigned", "queued"),  # finished recipes do not count
    serves=suits(s, r) & AUTOMATED,
    deadlocks=AS_WRITTEN.deadlocks,
)

BATCH = Waiting(
    owner=j,
    part=r,
    resource=s,
    holds=HOLDS,
    waits=(r.recipe_set == j) & (r.is_("queued") | NEVER_SCHEDULED),
    serves=r.is_("queued") & r.viable.has(s),
    deadlocks=["no-abba", "no-deadlock", "no-set-blocks-itself"],
)

WAITS: Mapping[str, Waiting] = {
    "as-written": AS_WRITTEN,
    "interleaved": AS_WRITTEN,
    "concurrent": AS_WRITTEN,
    "concurrent-checked": AS_WRITTEN,
    "repaired": REPAIRED,
    "repaired-concurrent": REPAIRED,
    "by-priority": REPAIRED,
    "strict": REPAIRED,
    "eager": REPAIRED,
    "batch": BATCH,
}
"""The waiting relation of each variant. ``shipped`` has no property about sets that wait for each other."""
