"""YuniKorn's cache and scheduler, from the proposal to merge them (yunikorn-cache-scheduler-merge.md).

Read this package beside the document. "Facts" are the known facts about YuniKorn's code beside the document.

- ``sorts`` and ``machines``: the objects of the resource manager, and their copies; ``flows``: the table of events.
- ``rm``, ``cache`` and ``scheduler``: what each component does with the events that ``deliveries`` brings.
- ``properties`` and ``progress``: the properties; ``repairs``: what has to change.
- ``readings``: the interpretations of the text; ``contradictions``: where it contradicts itself.
- ``variants``: the model's variants; ``configurations``: the configurations to explore.
- ``merged`` and ``merged_...``: the merged design; ``merged_proposals``: with a proposal and its commit in two steps.
- ``locks/`` and ``deadlocks/``: the locks of the merged design.
"""

from .merged import MERGED
from .merged_proposals import MERGED_PROPOSALS, MERGED_PROPOSALS_REPAIRED
from .variants import TWO_COPY, TWO_COPY_REPAIRED

__all__ = ["MERGED", "MERGED_PROPOSALS", "MERGED_PROPOSALS_REPAIRED", "TWO_COPY", "TWO_COPY_REPAIRED"]
