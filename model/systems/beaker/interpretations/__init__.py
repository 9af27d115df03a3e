"""Where the proposal is silent or allows two answers: the answer of ``as-written``, and what the other one changes.

One module for each topic. Each element of an alternative replaces the rule, action, row or property of the same name.
"""

from .concurrency import CONCURRENCY
from .conditions import CONDITIONS
from .current_scheduler import BATCH
from .ends import ENDS
from .execution import EXECUTION
from .guests import GUESTS
from .labs import LABS
from .new_jobs import NEW_JOBS
from .priorities import PRIORITIES
from .requirements import WORDS
from .retained_loop import RETAINED_LOOP

INTERPRETATIONS = (
    *WORDS,
    *CONCURRENCY,
    *NEW_JOBS,
    *LABS,
    *PRIORITIES,
    *EXECUTION,
    *GUESTS,
    *ENDS,
    *CONDITIONS,
    *RETAINED_LOOP,
    *BATCH,
)
