"""Timers: armed, stopped, expired; the calls of their functions, which may run late; durations, as an order or as ticks.

A timer belongs to an owner and has a kind: the retry timer of a request. When it expires, a *call* of its function is due.
The function runs in a later step, and once for each time that the timer expires. Stopping a timer whose call is due
takes the call back. Of a timer that may be ``late`` it comes too late: the call runs although its timer was stopped.

Time is one of three:

- ``any``: an armed timer may expire in any state. Nothing is said of durations.
- ``order``: a timer lasts from ``least`` to ``most`` units of time. If a timer was armed no later than another one and lasts
  for less, its function runs before the other one expires. The numbers are only compared.
- ``ticks``: ``remains`` has the units of time that are left. The action ``tick`` lowers it for all timers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any

from schedproof.model.errors import choose_from, shown

from . import (
    EMPTY,
    NONE,
    Action,
    Attribute,
    BoolType,
    EnumType,
    Event,
    Invariant,
    Machine,
    ModelError,
    Nat,
    Place,
    Ref,
    Rigid,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    Term,
    Var,
    exists,
    forall,
    given,
    iff,
    implies,
    me,
    those,
    variable,
    variables,
)
from .errors import calling_place
from .library import attribute_of, kind_of
from .terms import Fires

__all__ = ["TIMES", "TimerKind", "Timers"]

TIMES = ("any", "order", "ticks")
"""What a model says of time: nothing, which of two timers expires first, or how many ticks each one has left."""


@dataclass(frozen=True)
class TimerKind:
    """A kind of timer.

    Args:
        name: the name.
        of: the attribute that names its owner.
    """

    name: str
    of: str


@dataclass(frozen=True)
class Timers:
    """The timers of a model, with their machines, rules, axioms and properties.

    Args:
        timers: the sort of the timers.
        calls: the sort of the calls of their functions. A timer expires only if a call is idle: a scope has as many calls
            as can be under way.
        kinds: the kinds of timers, each with the attribute of its owner.
        owners: the owners of timers: attribute -> sort. Each owner has one timer of each of its kinds.
        time: ``any``, ``order`` or ``ticks``.
        line, fact: where the document introduces the timers.

    Raises:
        ModelError: ``time`` is none of these, or a kind names an unknown owner.
    """

    timers: Sort
    calls: Sort
    kinds: Sequence[TimerKind]
    owners: Mapping[str, Sort]
    time: str = "any"
    line: int | None = None
    fact: str = ""

    def __post_init__(self) -> None:
        place = calling_place()
        if self.time not in TIMES:
            self._refuse(place, f"time is {shown(self.time)}", choose_from(self.time, TIMES))
        for kind in self.kinds:
            if kind.of not in self.owners:
                problem = f"kind {kind.name} belongs to {kind.of!r}, which is not among the owners"
                self._refuse(place, problem, choose_from(kind.of, list(self.owners)))

    def _refuse(self, place: Place, problem: str, remedy: str) -> None:
        raise ModelError(f"timers {self.timers}", place, problem, remedy)

    @cached_property
    def timer(self) -> Var:
        """A variable for a timer."""
        return variable(self.timers, "timer")

    @cached_property
    def call(self) -> Var:
        """A variable for a call of the function of ``call.timer``."""
        return variable(self.calls, "call")

    @cached_property
    def _earlier(self) -> Var:
        return variable(self.timers, "earlier")

    def kind(self, name: str) -> TimerKind:
        """The kind of that name.

        Raises:
            ModelError: there is none.
        """
        return kind_of(f"timers {self.timers}", self.kinds, name)

    def owner(self, kind: str) -> Term:
        """The owner of ``call.timer``, a timer of this kind whose function runs."""
        return attribute_of(self.call.timer, self.kind(kind).of)

    @property
    def _lasts(self) -> bool:
        return self.time != "any"

    @property
    def _ordered(self) -> bool:
        return self.time == "order"

    @property
    def _ticks(self) -> bool:
        return self.time == "ticks"

    # --- the machines

    @cached_property
    def machines(self) -> list[Machine]:
        """The machine of a timer, and that of a call."""
        return [self._timer_machine, self._call_machine]

    @cached_property
    def _timer_machine(self) -> Machine:
        lasts = [
            Attribute("least", Nat, rigid=True, about="the units of time after which it may expire"),
            Attribute(
                "most", Nat, rigid=True, about="the units of time after which its function has run, if it is punctual"
            ),
            Attribute("punctual", BoolType(), rigid=True, about="its function runs in time", assumed=True),
        ]
        return Machine(
            self.timers,
            line=self.line,
            states=[
                State("off", about="not armed, or stopped, or its function has run"),
                State("armed"),
                State("due", about="it has expired, and its function has not run yet"),
            ],
            attributes=[
                Attribute("kind", EnumType(tuple(kind.name for kind in self.kinds)), rigid=True),
                *[Attribute(name, Ref(sort), rigid=True) for name, sort in self.owners.items()],
                Attribute(
                    "late", BoolType(), rigid=True, about="stopping it after it has expired is too late", assumed=False
                ),
                *(lasts if self._lasts else []),
                *(
                    [
                        Attribute(
                            "waits", SetOf(self.timers), about="the timers that were armed before, and last for less"
                        )
                    ]
                    if self._ordered
                    else []
                ),
                *([Attribute("remains", Nat, about="the units of time that are left")] if self._ticks else []),
            ],
            events=[Event("forget", {"earlier": Ref(self.timers)})] if self._ordered else [],
        )

    @cached_property
    def _call_machine(self) -> Machine:
        return Machine(
            self.calls,
            line=self.line,
            introduced=False,
            states=[
                State("idle"),
                State("due", about="it runs, unless its timer is stopped in time"),
                State("late", about="it runs, although its timer was stopped or armed again meanwhile"),
            ],
            attributes=[Attribute("timer", Ref(self.timers))],
            events=[Event("expire", {"timer": Ref(self.timers)})],
        )

    def _sourced(self, sort: Sort, event: str, source: str, target: str, **sets: Any) -> Row:
        return Row(sort, event, source, target, line=self.line, fact=self.fact, **sets)

    @cached_property
    def rows(self) -> list[Row]:
        """The rows of timers and of calls."""
        timers, calls, earlier = self.timers, self.calls, self._earlier
        armed: dict[str, Term] = {}
        off: dict[str, Any] = {}
        if self._ordered:
            shorter = earlier.punctual & (earlier.most < me.least)
            armed["waits"] = those(earlier, earlier.is_("armed", "due") & shorter)
            off["waits"] = EMPTY
        if self._ticks:
            armed["remains"] = me.most
        no_time = {"remains": 0} if self._ticks else {}
        rows = [
            *[self._sourced(timers, "arm", state, "armed", **armed) for state in ("off", "armed", "due")],
            self._sourced(timers, "cancel", "off", "off"),
            self._sourced(timers, "cancel", "armed", "off", **off, **no_time),
            self._sourced(timers, "cancel", "due", "off", **no_time),
            self._sourced(timers, "expire", "armed", "due", **off),
            self._sourced(timers, "end", "due", "off", **no_time),
            self._sourced(calls, "expire", "idle", "due", timer=given("timer")),
            self._sourced(calls, "drop", "due", "idle", timer=NONE),
            self._sourced(calls, "miss", "due", "late"),
            *[self._sourced(calls, "run", state, "idle", timer=NONE) for state in ("due", "late")],
        ]
        if self._ordered:
            rows.append(self._sourced(timers, "forget", "armed", "armed", waits=me.waits.without(given("earlier"))))
        if self._ticks:
            rows += [self._sourced(timers, "tick", state, state, remains=me.remains - 1) for state in ("armed", "due")]
        return rows

    # --- what the author calls

    def _of(self, kind: str, owner: Term) -> list[Term]:
        return [self.timer.kind == kind, attribute_of(self.timer, self.kind(kind).of) == owner]

    def arming(
        self,
        name: str,
        on: Action | Fires,
        when: Sequence[Term],
        kind: str,
        owner: Term,
        *,
        line: int | None = None,
        fact: str = "",
    ) -> Rule:
        """The rule by which ``on`` and ``when`` arm the timer of ``kind`` of ``owner``; anew if it is armed."""
        chosen = self._of(kind, owner)
        return Rule(name, on, [*when, *chosen], self.timer.fires("arm"), line=line, fact=fact)

    def stopping(
        self,
        name: str,
        on: Action | Fires,
        when: Sequence[Term],
        kind: str,
        owner: Term,
        *,
        line: int | None = None,
        fact: str = "",
    ) -> Rule:
        """The rule by which ``on`` and ``when`` stop the timer of ``kind`` of ``owner``; a timer that is off stays so."""
        chosen = [*self._of(kind, owner), ~self.timer.fires("arm")]
        return Rule(name, on, [*when, *chosen], self.timer.fires("cancel"), line=line, fact=fact)

    def function(
        self,
        name: str,
        kind: str,
        when: Sequence[Term],
        fires: Fires,
        *,
        line: int | None = None,
        fact: str = "",
    ) -> Rule:
        """The rule by which the function of a timer of ``kind`` fires ``fires``, if ``when`` holds; see :meth:`owner`."""
        call = self.call
        chosen = [call.timer != NONE, call.timer.kind == kind]
        return Rule(name, call.fires("run"), [*chosen, *when], fires, line=line, fact=fact)

    def running(self, kind: str, does: str, *, line: int | None = None, fact: str = "") -> list[Action]:
        """The actions of timers of ``kind``, namely ``expire_<kind>``, ``run_<kind>`` and ``run_<kind>_late``.

        Args:
            kind: the kind.
            does: what the function does, after its subject: ``sends again``.
            line, fact: where the document has it.
        """
        timer, call, earlier = self.timer, self.call, self._earlier
        it = f"the {kind} timer of {{timer.{self.kind(kind).of}}}"
        expires: list[Term] = [timer.kind == kind, timer.is_("armed"), call.is_("idle")]
        if self._ordered:
            expires.append(~exists(earlier, timer.waits.has(earlier) & earlier.is_("armed", "due")))
        if self._ticks:
            expires.append(timer.remains + timer.least <= timer.most)

        def action(name: str, when: list[Term], fires: list[Fires], says: str) -> Action:
            return Action(name, [timer, call], when, fires, says, line, fact=fact)

        runs, its = [call.fires("run")], [timer.kind == kind, call.timer == timer]
        late = f"{it} {does}, too late: it was stopped or armed again"
        return [
            action(
                f"expire_{kind}", expires, [timer.fires("expire"), call.fires("expire", timer=timer)], f"{it} expires"
            ),
            action(f"run_{kind}", [*its, call.is_("due")], runs, f"{it} {does}"),
            action(f"run_{kind}_late", [*its, call.is_("late")], runs, late),
        ]

    def tick(self, says: str = "a unit of time passes", when: Sequence[Term] = ()) -> Action:
        """The action by which a unit of time passes. It is not enabled while the function of a punctual timer must run.

        Args:
            says: its sentence.
            when: what else must hold before time goes on.

        Raises:
            ModelError: the timers have no ticks.
        """
        if not self._ticks:
            self._refuse(calling_place(), f"time is {self.time!r}, which has no ticks", 'write time="ticks"')
        return Action("tick", [], [~self.urgent, *when], [], says, self.line, fact=self.fact)

    @cached_property
    def urgent(self) -> Term:
        """True if a punctual timer has no time left, so that its function runs before time goes on."""
        timer = self.timer
        return exists(timer, timer.punctual & timer.is_("armed", "due") & (timer.remains == 0))

    def rules(self, tick: Action | None = None) -> list[Rule]:
        """The rules by which calls follow their timers.

        Args:
            tick: the action of :meth:`tick`, if time has ticks.

        Raises:
            ModelError: time has ticks, and ``tick`` is not given.
        """
        timer, call, earlier = self.timer, self.call, self._earlier
        if self._ticks and tick is None:
            self._refuse(calling_place(), "its rules need the action that ticks", "write rules(TIMERS.tick())")

        def rule(name: str, on: Action | Fires, when: Sequence[Term], fires: Fires) -> Rule:
            return Rule(name, on, when, fires, line=self.line, fact=self.fact)

        its_call = [call.is_("due"), call.timer == timer]
        in_between = [*its_call, ~call.fires("run")]
        not_armed_anew = [~timer.fires("arm"), ~timer.fires("cancel")]
        made = [
            rule(
                "a function that has run ends its timer",
                call.fires("run"),
                [*its_call, *not_armed_anew],
                timer.fires("end"),
            ),
        ]
        for event, of in (("cancel", "stopped"), ("arm", "armed again")):
            made += [
                rule(
                    f"a timer that is {of} takes its call back",
                    timer.fires(event),
                    [*in_between, ~timer.late],
                    call.fires("drop"),
                ),
                rule(
                    f"a timer that is {of} too late", timer.fires(event), [*in_between, timer.late], call.fires("miss")
                ),
            ]
        if self._ordered:
            waiting = [timer.is_("armed"), timer.waits.has(earlier), *not_armed_anew, ~timer.fires("expire")]
            made.append(
                rule(
                    "no timer waits for one that is armed later",
                    earlier.fires("arm"),
                    waiting,
                    timer.fires("forget", earlier=earlier),
                )
            )
        if tick is not None:
            passing = [timer.is_("armed", "due"), timer.remains > 0]
            made.append(rule("a tick takes a unit of time from each timer", tick, passing, timer.fires("tick")))
        return made

    # --- formulas

    @cached_property
    def axioms(self) -> list[Term]:
        """The axioms that a timer has one owner, and that an owner has one timer of each of its kinds."""
        timer, second = variables(self.timers, "timer second")
        same: Term = timer.kind == second.kind
        for name in self.owners:
            same = same & (attribute_of(timer, name) == attribute_of(second, name))
        axioms = [forall([timer, second], implies(same, timer == second))]
        for name in self.owners:
            its = [timer.kind == kind.name for kind in self.kinds if kind.of == name]
            axioms.append(forall(timer, iff(attribute_of(timer, name) != NONE, reduce(or_, its))))
        for kind in self.kinds:
            owner = variable(self.owners[kind.of], "owner")
            has_one = exists(timer, (timer.kind == kind.name) & (attribute_of(timer, kind.of) == owner))
            axioms.append(forall(owner, has_one))
        return [*axioms, *([forall(timer, timer.least <= timer.most)] if self._lasts else [])]

    def shorter(self, kind: str, than: str) -> Term:
        """The formula that the function of a ``kind`` has run before a ``than`` may expire, if both are armed at once."""
        timer, second = variables(self.timers, "timer second")
        both = (timer.kind == self.kind(kind).name) & (second.kind == self.kind(than).name)
        return forall([timer, second], implies(both, timer.most < second.least))

    def punctual(self, kind: str) -> Term:
        """The formula that the functions of timers of ``kind`` run in time."""
        timer = self.timer
        return forall(timer, implies(timer.kind == self.kind(kind).name, timer.punctual))

    def stops_in_time(self, kind: str) -> Term:
        """The formula that stopping a timer of ``kind`` is never too late."""
        timer = self.timer
        return forall(timer, implies(timer.kind == self.kind(kind).name, ~timer.late))

    @cached_property
    def properties(self) -> list[Invariant]:
        """The invariants by which a function is called once for each time that its timer expires.

        They have no premises, so none is vacuous in a model where nothing is late.
        """
        timer, call, earlier = self.timer, self.call, self._earlier
        second = variable(self.calls, "second")
        made = [
            Invariant(
                name="calls-have-timers",
                says="a call that is due or late is of a timer",
                over=[call],
                then=implies(call.is_("due", "late"), call.timer != NONE),
            ),
            Invariant(
                name="due-calls-are-of-due-timers",
                says="a call is due only as long as its timer has neither been stopped nor armed again",
                over=[call],
                then=implies(call.is_("due"), (call.timer != NONE) & call.timer.is_("due")),
            ),
            Invariant(
                name="late-calls-are-of-late-timers",
                says="a call is late only if stopping its timer may be too late",
                over=[call],
                then=implies(call.is_("late"), (call.timer != NONE) & call.timer.late),
            ),
            Invariant(
                name="timers-fire-once",
                says="of one timer, no two calls are due",
                over=[call, second],
                then=implies(call.is_("due") & second.is_("due") & (call.timer == second.timer), call == second),
            ),
            Invariant(
                name="due-timers-have-calls",
                says="a timer that has expired has a call that is due: it is not lost",
                over=[timer],
                then=implies(timer.is_("due"), exists(call, call.is_("due") & (call.timer == timer))),
            ),
        ]
        if self._ordered:
            shorter = timer.is_("armed") & earlier.punctual & (earlier.most < timer.least)
            made.append(
                Invariant(
                    name="timers-wait-for-shorter-ones",
                    says="a timer waits for another one only while it is armed, and if the other one lasts for less",
                    over=[timer, earlier],
                    then=implies(timer.waits.has(earlier), shorter),
                )
            )
        if self._ticks:
            made.append(
                Invariant(
                    name="time-left",
                    says="a timer has no more time left than it lasts, and none if it is off",
                    over=[timer],
                    then=(timer.remains <= timer.most) & implies(timer.is_("off"), timer.remains == 0),
                )
            )
        return made

    # --- configurations

    def configuration(
        self,
        owners: Mapping[str, int],
        *,
        lasts: Mapping[str, tuple[int, int]] | Callable[[str, int], tuple[int, int]] | None = None,
        late: Sequence[str] = (),
        unpunctual: Sequence[str] = (),
    ) -> Rigid:
        """The rigid attributes of the timers of a configuration, one timer of each kind for each owner.

        Args:
            owners: the number of objects of each owner's sort: {"request": 2}.
            lasts: the shortest and the longest time that a kind lasts; a function also gets the owner's number.
            late: the kinds of which stopping may come too late.
            unpunctual: the kinds whose functions may run at any later time.
        """
        given_lasts = lasts or {}
        lasting = given_lasts if callable(given_lasts) else lambda kind, _: given_lasts.get(kind, (0, 0))
        listed = [(kind, number) for kind in self.kinds for number in range(owners.get(kind.of, 0))]
        sort = self.timers.name
        rigid: dict[tuple[str, str], list[Any]] = {
            (sort, "kind"): [kind.name for kind, _ in listed],
            **{(sort, name): [number if kind.of == name else None for kind, number in listed] for name in self.owners},
            (sort, "late"): [kind.name in late for kind, _ in listed],
        }
        if self._lasts:
            rigid[sort, "least"] = [lasting(kind.name, number)[0] for kind, number in listed]
            rigid[sort, "most"] = [lasting(kind.name, number)[1] for kind, number in listed]
            rigid[sort, "punctual"] = [kind.name not in unpunctual for kind, _ in listed]
        return rigid
