"""The weaker forms, which the repaired core satisfies, of properties that it cannot satisfy as written."""

from functools import reduce
from operator import and_

from schedproof.model.lang import Invariant, implies

from .events import held
from .machines import HELD, TIMED, a, g, k, w, x

PHASES = [
    Invariant(
        name="time-outs-are-of-this-stay",
        says="a time-out under way belongs to the present stay of its application in its state",
        over=[w],
        given=w.is_("under_way"),
        then=(w.application.timer == "ran")
        & reduce(and_, [implies(w.of_state == now, w.application.is_(now)) for now in TIMED]),
    ),
    Invariant(
        name="failed-has-no-timer",
        says="no time-out is under way for a Failed application",
        over=[a],
        given=a.is_("Failed"),
        then=a.timer == "off",
    ),
    Invariant(
        name="gang-timers-are-of-placeholders",
        says="the time for the placeholders of a gang runs only while it has one",
        line=25,
        over=[g],
        given=~g.is_("off"),
        then=held(g.application, placeholder=True),
    ),
    Invariant(
        name="resuming-has-nothing-real",
        says="a Resuming application has no real allocation, and none is about to be confirmed",
        over=[k],
        given=k.application.is_("Resuming") & ~k.placeholder,
        then=~k.is_(*HELD, "swapping"),
    ),
]

WEAKER = [
    Invariant(
        name="accepted-has-no-real-allocation",
        says="an Accepted application has no allocation but placeholders",
        line=19,
        sentence="Accepted: ... On allocation of the first ask the application moves into a starting state.",
        over=[a],
        given=a.is_("Accepted"),
        then=~held(a, placeholder=False),
    ),
    Invariant(
        name="starting-has-at-most-one-real-allocation",
        says="a Starting application has at most one allocation that is no placeholder",
        line=20,
        sentence="Starting: The application has exactly one allocation confirmed this corresponds to one running container/pod.",
        over=[a, k, x],
        given=a.is_("Starting")
        & (k.application == a)
        & ~k.placeholder
        & k.is_(*HELD)
        & (x.application == a)
        & ~x.placeholder
        & x.is_(*HELD),
        then=k == x,
    ),
]
