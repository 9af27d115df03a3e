"""HiveD's pod groups and cells, after "HiveD State Machines" (hived-state-machines.md).

Read this package beside the document:

- ``machines``: the two figures.
- ``events``: the sections "Events".
- ``properties``: the sentences that require something, and the module that has each of them.
- ``variants``: the document as written, and the repairs.
"""

from .variants import AS_WRITTEN, REPAIRED

__all__ = ["AS_WRITTEN", "REPAIRED"]
