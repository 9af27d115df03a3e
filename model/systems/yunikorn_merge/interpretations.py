"""All interpretations of the document: of the two copies, of the merged design, and of its locks."""

from .lock_interpretations import LOCK_INTERPRETATIONS
from .merged_interpretations import MERGED_INTERPRETATIONS
from .readings import READINGS

INTERPRETATIONS = (*READINGS, *MERGED_INTERPRETATIONS, *LOCK_INTERPRETATIONS)
