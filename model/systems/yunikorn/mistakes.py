"""What is wrong with the document's own text, where the release that it describes is wrong for another reason, or right.

Each mistake belongs to the change of ``repaired`` that repairs it (:mod:`schedproof.model.systems.yunikorn.variants`).
"""

from __future__ import annotations

from schedproof.model.lang import Mistake

FAILING_WITH_NOTHING_LEFT = Mistake(
    name="failing-with-nothing-left",
    wrong="Line 25 says that a Failing application still has allocations or asks. One that has none is Failing, too, when its partition is removed.",
    variant="as-written",
    violates=["failing-has-something-left"],
)

STARTING_WITHOUT_ITS_ALLOCATION = Mistake(
    name="starting-loses-its-allocation",
    wrong=(
        "Line 20 says that a Starting application has exactly one allocation. Its container can end while it has a pending "
        "ask; it then stays Starting with none."
    ),
    variant="as-written",
    violates=["starting-has-one-allocation"],
)
