"""YuniKorn's cache and scheduler, read from the proposal to merge them (yunikorn-cache-scheduler-merge.md).

Read this package beside the document: ``sorts`` and ``machines`` are the things and their copies, ``flows`` its table of events,
``rm``, ``cache`` and ``scheduler`` what each component does with those that ``deliveries`` brings; ``properties`` and ``progress``
what is promised, ``readings`` and ``contradictions`` how the text is read, ``repairs`` what has to change, ``variants`` puts it
together, and ``configurations`` is what explorations look at. ``merged`` and ``merged_...`` are the merged design, ``locks/`` and
``deadlocks/`` its locks. "Facts" are what is known of YuniKorn's code beside the document.
"""

from .merged import MERGED
from .variants import TWO_COPY, TWO_COPY_REPAIRED

__all__ = ["MERGED", "TWO_COPY", "TWO_COPY_REPAIRED"]
