"""How a wrong description of locks is refused."""

from schedproof.model.lang.errors import Place


class LocksError(Exception):
    """A description that cannot be read or says something impossible: what, where, and what to write instead."""

    exit_code = 2

    def __init__(self, place: Place, problem: str, remedy: str, *, unreadable: bool = False) -> None:
        super().__init__(f"{place}: {problem}; {remedy}")
        self.place, self.problem, self.remedy, self.unreadable = place, problem, remedy, unreadable
