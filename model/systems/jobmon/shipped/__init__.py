"""The machine that Jobmon shipped: four tables of moves, who asks for them, and what is written past them.

It is read from the facts about Jobmon as implemented, not from the document, so each element names the section of the facts. ``tables`` are the
tables that the server asks, ``machines`` what there is; ``client``, ``distributor``, ``worker`` and ``server`` (with the reaper, and with what time
brings) say who does what, ``couplings`` what moves along with it, ``properties`` what one would expect of it. Left out is what people do by hand past all of it: ``workflow reset``, ``task
update``, ``increase_resources`` (3.3, 3.5).
"""

from .variant import SHIPPED

__all__ = ["SHIPPED"]
