"""The changes with which the shipped machine satisfies its properties, and those of the document.

* ``machines``: the changes of the tables.
* ``instances`` and ``runs``: the changes of the actions.
* ``properties``: the stronger properties that then hold.
* ``variant``: the list of changes, each with its reason.

Letters and names are those of ``shipped``.
"""

from .variant import REPAIRED

__all__ = ["REPAIRED"]
