"""A time-out of v0.12.2 in two steps: its function compares the state of the application, and acts later.

The function of a state's timer takes no lock of the application. It reads the state under one lock of the state
machine, and fires its event under another (facts 1.1, 1.3 and 5.1). Whatever holds the lock of the application can
change it between the two: the resource manager adds an ask, a container ends, the scheduler allocates. ``v0.12.2`` has
both in one step. Release 1.0.0 takes the lock of the application for both (YUNIKORN-1164).

The timer of a gang holds the lock of the application for both, so it keeps its one step.

Three properties hold in one step and are violated in two:

- ``time-outs-end-their-own-state``: the function finds Completing, an ask makes the application Running, and the
  function fires complete.
- ``completing-ends``: the function finds a placeholder in Completing. The placeholder goes by itself, and then the
  function clears the timer: nothing completes the application any more.
- ``completed-expires``: the same when the application is Completed meanwhile: the timer that would let it expire is
  cleared.

With all other repairs in place, so are four that v0.12.2 violates for other reasons: ``completing-has-nothing`` and
``completed-has-nothing`` (the first run, and a second time-out), ``completed-after-its-time`` (the ask of the first run
is removed before the function fires), and ``nothing-left-completes`` (the function finds Starting, the only container
ends, and run takes the application from Completing to Running with nothing left). A queue that is removed waits for
that application until the resource manager removes it.

The function reads the state twice, and the placeholders of a Completing application once. The model reads all at the
same time. This hides that an application may leave Completing between the first reading and the second: then the
function fires complete although placeholders were left.
"""

from dataclasses import replace
from functools import partial, reduce
from operator import or_

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Change,
    Event,
    Invariant,
    LeadsTo,
    Row,
    Rule,
    State,
    given,
)

from . import events as ev
from .configurations import CONFIGURATIONS, FAILS_LATE, configurations
from .core_v0_12_2 import RUNS
from .events import held
from .machines import SCHEDULED, TIMED, WAKEUP, k, w
from .properties import APPLICATIONS, PHASES
from .sorts import Application, Wakeup
from .variants import OF_THE_CORE, REPAIRED, V0_12_2

COMPARES = "1.3, application.go:251-255"
ACTS = "1.3, application.go:259-274"

WAKEUP_UNLOCKED = replace(
    WAKEUP,
    states=[*WAKEUP.states, State("compared", about="its function has found the state, and has not acted yet")],
    attributes=[
        *WAKEUP.attributes,
        Attribute("cleans_up", BoolType(), about="its function has found placeholders in Completing"),
    ],
    events=[*WAKEUP.events, Event("compare", {"cleans_up": BoolType()})],
)

ROWS = [
    Row(Wakeup, "compare", "under_way", "compared", fact=COMPARES, cleans_up=given("cleans_up")),
    Row(Wakeup, "miss", "under_way", "free", fact=COMPARES, application=NONE, of_state="Starting"),
    Row(Wakeup, "arrive", "compared", "free", fact=ACTS, application=NONE, of_state="Starting", cleans_up=False),
    # The function clears whatever timer the application has by then.
    *[Row(Application, "timer_off", now, now, fact=ACTS, timer="off") for now in ("Completed", "Failed")],
]

FINDS_ITS_STATE = reduce(or_, [(w.of_state == now) & w.application.is_(now) for now in TIMED])

compare = Action(
    "compare",
    [w],
    when=[w.is_("under_way"), FINDS_ITS_STATE],
    fires=[w.fires("compare", cleans_up=(w.of_state == "Completing") & held(w.application, placeholder=True))],
    says="the time-out {w} finds its application in the state that it was set for",
    fact=COMPARES,
)
miss = Action(
    "miss",
    [w],
    when=[w.is_("under_way"), ~FINDS_ITS_STATE],
    fires=[w.fires("miss")],
    says="the time-out {w} finds its application in another state, and does nothing",
    fact=COMPARES,
)
wake = replace(ev.wake, when=[w.is_("compared")], line=None, fact=ACTS)

RULES = [
    Rule(
        "a time-out that has found Starting fires run",
        w.fires("arrive"),
        [w.of_state == "Starting", w.application.is_(*RUNS)],
        w.application.fires("run"),
        fact=ACTS,
    ),
    Rule(
        "a time-out that has found Completing fires complete",
        w.fires("arrive"),
        [w.of_state == "Completing", ~w.cleans_up, w.application.is_(*SCHEDULED, "Completing")],
        w.application.fires("complete"),
        fact=ACTS,
    ),
    # These two replace those of v0.12.2.
    Rule(
        "a time-out of Completing waits for placeholders",
        w.fires("arrive"),
        [w.of_state == "Completing", w.cleans_up, w.application.is_("Completing", "Completed", "Failed")],
        w.application.fires("timer_off"),
        fact=ACTS,
    ),
    Rule(
        "a time-out of Completing releases placeholders",
        w.fires("arrive"),
        [w.of_state == "Completing", w.cleans_up, k.application == w.application, k.placeholder, k.is_("allocated")],
        k.fires("release", dropped=False),
        fact=ACTS,
    ),
]

STARTING_TIMES_OUT = next(prop for prop in APPLICATIONS if isinstance(prop, LeadsTo))
OF_APPLICATIONS = next(prop for prop in PHASES if prop.name == "time-outs-are-of-applications")

OF_KNOWN_ONES = Invariant(
    name="time-outs-are-of-known-applications",
    says="a time-out that is under way, or has found its state, is of an application that has been added",
    over=[w],
    given=w.is_("under_way", "compared"),
    then=w.application.known,
)

WITHOUT_THE_LOCK = Change(
    why=(
        "The function of a state's timer compares the state without the lock of the application, and acts in a later "
        "step (facts 1.1, 1.3 and 5.1)."
    ),
    repairs=[],
    drops=["Wakeup.arrive from under_way", "a time-out ends Starting", "a time-out ends Completing"],
    adds=[
        *ROWS,
        compare,
        miss,
        wake,
        *RULES,
        replace(OF_APPLICATIONS, given=w.is_("under_way", "compared")),
        OF_KNOWN_ONES,
        replace(STARTING_TIMES_OUT, weak=[*STARTING_TIMES_OUT.weak, compare.name]),
    ],
)

# With one, the time-out of a later state would have to wait until that of the earlier one has acted. These are enough for
# every premise to be met, and for every property that falls to fall; all of them take three times as long.
SEVERAL_TIME_OUTS = [replace(CONFIGURATIONS[n], wakeups=2) for n in (4, 5, 6, 10, 11, 13)]

UNLOCKED_TIMERS = V0_12_2.amend(
    "unlocked-timers",
    "v0.12.2 with time-outs in two steps: a timer's function compares the state without a lock, and acts later",
    [WITHOUT_THE_LOCK],
    refuted=V0_12_2.refuted | {"time-outs-end-their-own-state", "completing-ends", "completed-expires"},
    machines=[WAKEUP_UNLOCKED],
    configurations=partial(configurations, shipped=True, among=SEVERAL_TIME_OUTS),
)

IN_ONE_STEP = {rule.name: rule for rule in ev.CORE_RULES}
WITH_THE_LOCK = Change(
    name="time-outs-act-without-the-lock",
    wrong="The function of a state's timer compares the state without the application's lock; when it fires its event, the state may be another one.",
    shown="time-outs-end-their-own-state",
    why=(
        "The function of a state's timer holds the lock of the application from the comparison until it has acted, as "
        "from release 1.0.0 on (YUNIKORN-1164)."
    ),
    repairs=[
        *("time-outs-end-their-own-state", "completing-ends", "completed-expires"),
        *("completing-has-nothing", "nothing-left-completes", "completed-after-its-time", "completed-has-nothing"),
    ],
    drops=[*[row.name for row in ROWS], compare.name, miss.name, *[rule.name for rule in RULES[:2]]],
    adds=[
        Row(Wakeup, "arrive", "under_way", "free", line=20, application=NONE, of_state="Starting"),
        ev.wake,
        OF_APPLICATIONS,
        IN_ONE_STEP["a time-out ends Starting"],
        STARTING_TIMES_OUT,
    ],
)

LOCKED_TIMERS = replace(
    UNLOCKED_TIMERS.amend(
        "locked-timers",
        "the repaired core, where a timer's function holds the lock of its application",
        [*[replace(change, repairs=[], weakens={}) for change in OF_THE_CORE], WITH_THE_LOCK],
        refuted=frozenset(),
        machines=[WAKEUP],
        configurations=partial(
            configurations, shipped=True, among=[*SEVERAL_TIME_OUTS, replace(FAILS_LATE, wakeups=2)]
        ),
    ),
    properties=REPAIRED.properties,
)
