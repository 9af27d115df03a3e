"""What was shipped, with the server's read and its write taken apart.

* ``instances``: requests about instances.
* ``runs``: requests about runs.
* ``variant``: the variants. Both at once have too many states.
"""

from .variant import CHECK_THEN_WRITE, READ_THEN_WRITE, RUNS_CHECK_THEN_WRITE, RUNS_READ_THEN_WRITE

__all__ = ["CHECK_THEN_WRITE", "READ_THEN_WRITE", "RUNS_CHECK_THEN_WRITE", "RUNS_READ_THEN_WRITE"]
