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

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any, NoReturn

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
from .arguments import declaration, method
from .declarations import FIELDS
from .errors import calling_place
from .library import attribute_of, kind_of
from .terms import Fires

__all__ = ["TIMES", "TimerKind", "Timers"]

TIMES = ("any", "order", "ticks")
"""What a model says of time: nothing, which of two timers expires first, or how many ticks each one has left."""

ATTRIBUTES = frozenset({"kind", "late", "least", "most", "punctual", "anew", "waits", "remains"})
"""The attributes of timers beside their owners."""


@declaration
@dataclass(frozen=True)
class TimerKind:
    """A kind of timer.

    Args:
        name: the name.
        of: the attribute that names its owner.
    """

    name: str
    of: str


@declaration
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
        ModelError: ``time`` is none of these, a kind names an unknown owner, an owner has no kind, or an argument has another type.
    """

    timers: Sort
    calls: Sort
    kinds: Sequence[TimerKind]
    owners: Mapping[str, Sort]
    time: str = "any"
    line: int | None = None
    fact: str = ""

    def __post_init__(self) -> None:
        self._check_sorts()
        self._check_owners()
        self._check_kinds()
        if self.time not in TIMES:
            self._refuse(f"time is {shown(self.time)}", choose_from(self.time, TIMES), name="time")

    def _check_sorts(self) -> None:
        for name, sort in (("timers", self.timers), ("calls", self.calls)):
            if not isinstance(sort, Sort):
                self._refuse(f"{name} is {shown(sort)}", 'write a sort, for example Sort("Timer", "t")', name=name)
            if sort.disposable:
                self._refuse(f"{name} is the disposable sort {sort}", "leave disposable out", name=name)
        if self.timers == self.calls:
            self._refuse("calls is the sort of the timers", 'write another, for example Sort("Call", "c")')

    def _check_owners(self) -> None:
        write = 'write an attribute and a sort: owners={"request": Request}'
        if not isinstance(self.owners, Mapping) or not self.owners:
            problem = "owners is empty" if isinstance(self.owners, Mapping) else f"owners is {shown(self.owners)}"
            self._refuse(problem, write, name="owners")
        for name, sort in self.owners.items():
            if not (isinstance(name, str) and isinstance(sort, Sort)):
                self._refuse(f"owners has {shown(sort)} for {shown(name)}", write, name="owners")
            if sort.disposable:
                problem = f"owners has the disposable sort {sort}, and a timer has one owner for ever"
                self._refuse(problem, f"name a sort that stays, such as what creates a {sort}", name="owners")
            if not name.isidentifier() or name.startswith("_") or name in FIELDS or name in ATTRIBUTES:
                problem = f"owners has the attribute {name!r}, a name that has another meaning"
                self._refuse(problem, "give it another name", name=name)

    def _check_kinds(self) -> None:
        write = 'write a list of kinds: kinds=[TimerKind("retry", of="request")]'
        if isinstance(self.kinds, str) or not isinstance(self.kinds, Sequence):
            self._refuse(f"kinds is {shown(self.kinds)}", write, name="kinds")
        for kind in self.kinds:
            if not isinstance(kind, TimerKind):
                self._refuse(f"kinds has {shown(kind)}", write, name="kinds")
            if not isinstance(kind.name, str) or not kind.name.strip():
                self._refuse(f"the name of a kind is {shown(kind.name)}", "write its name", name="kinds")
            if not isinstance(kind.of, str):
                self._refuse(
                    f"the owner of kind {kind.name} is {shown(kind.of)}",
                    "write the name of its attribute",
                    name="kinds",
                )
            if kind.of not in self.owners:
                problem = f"kind {kind.name} belongs to {kind.of!r}, which is not among the owners"
                self._refuse(problem, choose_from(kind.of, self.owners), name="kinds")
        names = [kind.name for kind in self.kinds]
        if twice := [name for name in names if names.count(name) > 1]:
            self._refuse(f"two kinds have the name {twice[0]!r}", "give one another name", name="kinds")
        if idle := [name for name in self.owners if name not in [kind.of for kind in self.kinds]]:
            problem = f"no kind belongs to the owner {idle[0]!r}"
            self._refuse(problem, f'write TimerKind("...", of="{idle[0]}"), or remove it from owners', name=idle[0])

    def _refuse(self, problem: str, remedy: str, *, name: str | None = None) -> NoReturn:
        raise ModelError(f"timers {self.timers}", calling_place(), problem, remedy, name=name)

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

    @method
    def kind(self, name: str) -> TimerKind:
        """The kind of that name.

        Raises:
            ModelError: there is none.
        """
        return kind_of(f"timers {self.timers}", self.kinds, name)

    @property
    def _names(self) -> list[str]:
        return [kind.name for kind in self.kinds]

    @method
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
                Attribute("anew", BoolType(), about="whether it was armed an odd number of times while it was armed"),
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
        off["anew"] = False
        # A run that arms a timer again and again is fair to its expiry, though it never expires: see running().
        armed_anew = {**armed, "anew": ~me.anew}
        rows = [
            self._sourced(timers, "arm", "off", "armed", **armed),
            self._sourced(timers, "arm", "armed", "armed", **armed_anew),
            self._sourced(timers, "arm", "due", "armed", **armed),
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
        its_owner = attribute_of(self.timer, self.kind(kind).of)
        if not isinstance(owner, Term):
            remedy = f"write a variable for the {self.kind(kind).of}, as variables(...) makes them"
            self._refuse(f"the owner of a {kind} timer is {shown(owner)}", remedy)
        return [self.timer.kind == kind, its_owner == owner]

    @method
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
        return Rule(name, on, _with(when, chosen), self.timer.fires("arm"), line=line, fact=fact)

    @method
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
        return Rule(name, on, _with(when, chosen), self.timer.fires("cancel"), line=line, fact=fact)

    @method
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
        chosen = [call.timer != NONE, call.timer.kind == self.kind(kind).name]
        return Rule(name, call.fires("run"), _with(when, chosen), fires, line=line, fact=fact)

    @method
    def running(self, kind: str, does: str, *, line: int | None = None, fact: str = "") -> list[Action]:
        """The actions of timers of ``kind``, namely ``expire_<kind>``, ``run_<kind>`` and ``run_<kind>_late``.

        Args:
            kind: the kind.
            does: what the function does, after its subject: ``sends again``.
            line, fact: where the document has it.
        """
        timer, call, earlier = self.timer, self.call, self._earlier
        it = f"the {kind} timer of {{timer.{self.kind(kind).of}}}"
        # Fairness counts each choice of parameters for itself: what arms the timer anew disables the choice.
        turn = variable(BoolType(), "turn")
        expires: list[Term] = [timer.kind == kind, timer.is_("armed"), call.is_("idle"), iff(timer.anew, turn)]
        if self._ordered:
            expires.append(~exists(earlier, timer.waits.has(earlier) & earlier.is_("armed", "due")))
        if self._ticks:
            expires.append(timer.remains + timer.least <= timer.most)

        def action(name: str, when: list[Term], fires: list[Fires], says: str, *more: Var) -> Action:
            return Action(name, [timer, call, *more], when, fires, says, line, fact=fact)

        runs, its = [call.fires("run")], [timer.kind == kind, call.timer == timer]
        late = f"{it} {does}, too late: it was stopped or armed again"
        return [
            action(
                f"expire_{kind}",
                expires,
                [timer.fires("expire"), call.fires("expire", timer=timer)],
                f"{it} expires",
                turn,
            ),
            action(f"run_{kind}", [*its, call.is_("due")], runs, f"{it} {does}"),
            action(f"run_{kind}_late", [*its, call.is_("late")], runs, late),
        ]

    @method
    def tick(self, says: str = "a unit of time passes", when: Sequence[Term] = ()) -> Action:
        """The action by which a unit of time passes. It is not enabled while the function of a punctual timer must run.

        Args:
            says: its sentence.
            when: what else must hold before time goes on.

        Raises:
            ModelError: the timers have no ticks.
        """
        if not self._ticks:
            self._refuse(f"time is {self.time!r}, which has no ticks", 'write time="ticks"')
        return Action("tick", [], _with(when, [~self.urgent]), [], says, self.line, fact=self.fact)

    @cached_property
    def urgent(self) -> Term:
        """True if a punctual timer has no time left, so that its function runs before time goes on."""
        timer = self.timer
        return exists(timer, timer.punctual & timer.is_("armed", "due") & (timer.remains == 0))

    @method
    def rules(self, tick: Action | None = None) -> list[Rule]:
        """The rules by which calls follow their timers.

        Args:
            tick: the action of :meth:`tick`, if time has ticks.

        Raises:
            ModelError: time has ticks, and ``tick`` is not that action; or it has none, and ``tick`` is given.
        """
        timer, call, earlier = self.timer, self.call, self._earlier
        if self._ticks and not (isinstance(tick, Action) and tick.name == "tick"):
            self._refuse("its rules need the action that ticks", "write rules(TIMERS.tick())")
        if tick is not None and not self._ticks:
            self._refuse(f"time is {self.time!r}, which has no ticks", 'write rules(), or time="ticks"')

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

    @method
    def shorter(self, kind: str, than: str) -> Term:
        """The formula that the function of a ``kind`` has run before a ``than`` may expire, if both are armed at once.

        Raises:
            ModelError: a kind is unknown, both are the same, or timers have no durations.
        """
        self._require_durations("shorter")
        timer, second = variables(self.timers, "timer second")
        both = (timer.kind == self.kind(kind).name) & (second.kind == self.kind(than).name)
        if kind == than:
            self._refuse(f"no {kind} timer lasts for less than itself", "name two kinds", name=kind)
        return forall([timer, second], implies(both, timer.most < second.least))

    @method
    def punctual(self, kind: str) -> Term:
        """The formula that the functions of timers of ``kind`` run in time.

        Raises:
            ModelError: the kind is unknown, or timers have no durations.
        """
        self._require_durations("punctual")
        timer = self.timer
        return forall(timer, implies(timer.kind == self.kind(kind).name, timer.punctual))

    @method
    def stops_in_time(self, kind: str) -> Term:
        """The formula that stopping a timer of ``kind`` is never too late.

        Raises:
            ModelError: the kind is unknown.
        """
        timer = self.timer
        return forall(timer, implies(timer.kind == self.kind(kind).name, ~timer.late))

    def _require_durations(self, what: str) -> None:
        if not self._lasts:
            self._refuse(f"{what} is about durations, and time is {self.time!r}", 'write time="order" or time="ticks"')

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

    @method
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
            lasts: the shortest and the longest time that each kind lasts; a function also gets the owner's number.
            late: the kinds of which stopping may come too late.
            unpunctual: the kinds whose functions may run at any later time.

        Raises:
            ModelError: an owner or a kind is unknown or left out, or a duration is not two numbers of which the first is not
                greater.
        """
        self._check_numbers(owners)
        self._check_named("late", late)
        self._check_named("unpunctual", unpunctual)
        listed = [(kind, number) for kind in self.kinds for number in range(owners[kind.of])]
        sort = self.timers.name
        rigid: dict[tuple[str, str], list[Any]] = {
            (sort, "kind"): [kind.name for kind, _ in listed],
            **{(sort, name): [number if kind.of == name else None for kind, number in listed] for name in self.owners},
            (sort, "late"): [kind.name in late for kind, _ in listed],
        }
        if self._lasts:
            times = self._times(lasts, listed)
            rigid[sort, "least"] = [least for least, _ in times]
            rigid[sort, "most"] = [most for _, most in times]
            rigid[sort, "punctual"] = [kind.name not in unpunctual for kind, _ in listed]
        return rigid

    def _check_numbers(self, owners: Mapping[str, int]) -> None:
        example = ", ".join(f'"{name}": 2' for name in self.owners)
        write = f"write the number of each: {{{example}}}"
        if not isinstance(owners, Mapping):
            self._refuse(f"the owners of a configuration are {shown(owners)}", write)
        for name in owners:
            if name not in self.owners:
                self._refuse(f"unknown owner {shown(name)}", choose_from(name, self.owners), name=name)
        for name in self.owners:
            number = owners.get(name)
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                problem = f"the number of owners {name!r} is {shown(number) if name in owners else 'missing'}"
                self._refuse(problem, write)

    def _check_named(self, argument: str, names: Sequence[str]) -> None:
        """Refuses kinds that are unknown: a timer that is late in a typing error only would be exact."""
        if isinstance(names, str) or not isinstance(names, Collection):
            self._refuse(
                f"{argument} is {shown(names)}",
                f'write a list of kinds: {argument}=["{self._names[0]}"]',
                name=argument,
            )
        for name in names:
            if name not in self._names:
                self._refuse(
                    f"{argument} has the unknown kind {shown(name)}", choose_from(name, self._names), name=argument
                )

    def _times(
        self,
        lasts: Mapping[str, tuple[int, int]] | Callable[[str, int], tuple[int, int]] | None,
        listed: Sequence[tuple[TimerKind, int]],
    ) -> list[tuple[int, int]]:
        """How long each timer lasts. A kind that is left out is refused: a timer of no length is a fast one."""
        example = ", ".join(f'"{name}": (1, 2)' for name in self._names)
        write = f"write the shortest and the longest time of each kind: lasts={{{example}}}"
        if isinstance(lasts, Mapping):
            for name in lasts:
                if name not in self._names:
                    self._refuse(
                        f"lasts has the unknown kind {shown(name)}", choose_from(name, self._names), name="lasts"
                    )
            if missing := [name for name in self._names if name not in lasts]:
                self._refuse(f"lasts does not say how long a {missing[0]} timer lasts", write, name="lasts")
            durations = [lasts[kind.name] for kind, _ in listed]
        elif callable(lasts):
            durations = [lasts(kind.name, number) for kind, number in listed]
        else:
            self._refuse("lasts is missing" if lasts is None else f"lasts is {shown(lasts)}", write)
        for (kind, _), time in zip(listed, durations, strict=True):
            numbers = time if isinstance(time, tuple | list) else ()
            if len(numbers) != 2 or any(not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in numbers):
                self._refuse(f"a {kind.name} timer lasts for {_in_words(time)}", write, name="lasts")
            if numbers[0] > numbers[1]:
                problem = f"a {kind.name} timer lasts for at least {numbers[0]} and at most {numbers[1]}"
                self._refuse(problem, "write the shortest time first", name="lasts")
        return [(least, most) for least, most in durations]


def _in_words(time: object) -> str:
    return f"({', '.join(map(shown, time))})" if isinstance(time, tuple | list) else shown(time)


def _with(when: Sequence[Term], chosen: Sequence[Term]) -> Sequence[Term]:
    """The conditions of an author and those of the library; wrong ones as they are, so that the rule refuses them."""
    return [*chosen, *when] if isinstance(when, list | tuple) else when
