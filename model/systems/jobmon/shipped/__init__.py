"""The machine that Jobmon shipped: four tables of moves, the agents that ask for them, and the writes past them.

Its source is the facts about Jobmon as implemented, not the document, so each element names its section of the facts.

* ``tables``: the tables that the server checks.
* ``machines``: the objects.
* ``client``, ``distributor``, ``worker`` and ``server`` (with the reaper and the passing of time): the actions.
* ``couplings``: the moves that follow from another move.
* ``properties``: the properties that one would expect.

Commands by which users bypass all of this are left out: ``workflow reset``, ``task update``, ``increase_resources``
(3.3, 3.5).
"""

from .variant import SHIPPED

__all__ = ["SHIPPED"]
