"""YuniKorn's cache and scheduler, read from the proposal to merge them (yunikorn-cache-scheduler-merge.md).

Read this package beside the document: ``flows`` is its table of events, ``machines`` the copies, ``rm``, ``cache`` and
``scheduler`` what each party does.
"""

from .merged import MERGED
from .variants import TWO_COPY, TWO_COPY_REPAIRED

__all__ = ["MERGED", "TWO_COPY", "TWO_COPY_REPAIRED"]
