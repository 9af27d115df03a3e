"""HiveD's pod groups and cells, read from "HiveD State Machines" (hived-state-machines.md).

Read this package beside the document: ``machines`` holds the two figures, ``events`` what the
sections "Events" say, ``properties`` which sentences property something (and which module has them),
``variants`` the document as written and the repairs.
"""

from .variants import AS_WRITTEN, REPAIRED

__all__ = ["AS_WRITTEN", "REPAIRED"]
