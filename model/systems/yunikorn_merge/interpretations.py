"""All interpretations of the document: of the two copies, of the merged design and its proposals, and of its locks."""

from .copies_interpretations import COPIES_INTERPRETATIONS
from .lock_interpretations import LOCK_INTERPRETATIONS
from .merged_interpretations import MERGED_INTERPRETATIONS
from .proposal_interpretations import PROPOSAL_INTERPRETATIONS
from .readings import READINGS

INTERPRETATIONS = (
    *READINGS,
    *COPIES_INTERPRETATIONS,
    *MERGED_INTERPRETATIONS,
    *PROPOSAL_INTERPRETATIONS,
    *LOCK_INTERPRETATIONS,
)
