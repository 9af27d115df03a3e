"""A request in two steps (facts 3.6): what the server is about to write is an attribute of the object that it is about.

The first step sets the attribute, the second writes the state and clears it. Who asks has one attribute each: an object may wait for
several writes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from schedproof.model.lang import Action, Attribute, EnumType, Event, Machine, Row, Rule, Sort, Term, Var, exists, given

NOTHING = "nothing"


@dataclass(frozen=True)
class Requests:
    """The requests about the objects of a sort.

    Args:
        machine: the machine of the sort, in which a request is one step.
        writes: who asks -> name of what the server writes -> the state that it writes, and attributes that it sets with it.
        about: who asks -> what its attribute means.
    """

    machine: Machine
    writes: Mapping[str, Mapping[str, tuple[str, Mapping[str, Any]]]]
    about: Mapping[str, str]

    @property
    def sort(self) -> Sort:
        """The sort."""
        return self.machine.sort

    @property
    def states(self) -> list[str]:
        """The states of an object that is in the database."""
        return [state.name for state in self.machine.states if state.name != "Absent"]

    @property
    def waiting(self) -> Machine:
        """The machine, with what the server is about to write."""
        kinds = {asker: EnumType((NOTHING, *names)) for asker, names in self.writes.items()}
        return replace(
            self.machine,
            attributes=[
                *self.machine.attributes,
                *(Attribute(f"{asker}_request", kind, about=self.about[asker]) for asker, kind in kinds.items()),
            ],
            events=[
                *self.machine.events,
                *(Event(f"check_for_{asker}", {"write": kind}) for asker, kind in kinds.items()),
            ],
        )

    @property
    def rows(self) -> list[Row]:
        """The rows of the two steps, and of the server's death in between."""
        forgotten: dict[str, Any] = {f"{asker}_request": NOTHING for asker in self.writes}
        return [
            *(
                row
                for asker in self.writes
                for row in self._kept(f"check_for_{asker}", {f"{asker}_request": given("write")})
            ),
            *(
                Row(
                    self.sort, f"write_{name}_for_{asker}", now, to, fact="3.6", **{f"{asker}_request": NOTHING, **sets}
                )
                for asker, names in self.writes.items()
                for name, (to, sets) in names.items()
                for now in self.states
            ),
            *self._kept("forget", forgotten),
        ]

    def _kept(self, event: str, sets: Mapping[str, Any]) -> list[Row]:
        return [Row(self.sort, event, now, now, fact="3.6", **sets) for now in self.states]

    @property
    def refusals(self) -> list[Row]:
        """The rows of a second step that checks again, and refuses."""
        return [
            Row(self.sort, f"refuse_{asker}", now, now, line=56, **{f"{asker}_request": NOTHING})
            for asker in self.writes
            for now in self.states
        ]


def written_with_it(machine: Machine, targets: Iterable[str]) -> list[Row]:
    """The rows of an object that the server writes with another one, whatever its state is."""
    return [
        Row(machine.sort, f"write_{to.lower()}", state.name, to, fact="3.6")
        for to in dict.fromkeys(targets)
        for state in machine.states
    ]


def death(of: Var, pending: Term) -> tuple[Action, Rule]:
    """The server dies between the two steps, and forgets what it was about to write.

    Args:
        of: a variable for the object of a request.
        pending: whether a request about ``of`` waits to be written.
    """
    dies = Action(
        "server_dies",
        [],
        when=[exists(of, pending)],
        fires=[],
        says="the server dies before it writes, and is started again",
        crash=True,
        fact="3.6",
    )
    return dies, Rule("the server forgets what it was about to write", dies, [pending], of.fires("forget"), fact="3.6")
